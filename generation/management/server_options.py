"""The options of commands that name a model behind a server, whether it is listed or not."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from generation.choices.declaration import ChoiceError
from generation.model_specs import BackendError, ModelSpec
from generation.models import Checkpoint
from generation.server_addresses import check_key, server_address
from generation.services.checkpoints import as_listed_now

SERVER = "openai"


def add_server_arguments(parser: ArgumentParser, prefix: str = "") -> None:
    """Add the options that say where a server is. `spec_behind` reads them.

    Args:
        parser: the parser of a command, or a group of its arguments.
        prefix: the beginning of the options, as 'ask-', where a command has several models.
    """
    parser.add_argument(
        f"--{prefix}server", metavar="URL", help="Address of an OpenAI-compatible server."
    )
    parser.add_argument(
        f"--{prefix}key-variable",
        metavar="NAME",
        help="Environment variable with the server's key.",
    )
    parser.add_argument(
        f"--{prefix}key-over-http",
        action="store_true",
        help="Send the key over plain http too. Others on the network can then read it.",
    )


def server_options(options: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the options that say where a server is, without their prefix.

    Raises:
        ChoiceError: there is a key, but no server.
    """
    given = {
        name: options[f"{prefix}{name}".replace("-", "_")]
        for name in ("server", "key_variable", "key_over_http")
    }
    if not given["server"] and (given["key_variable"] or given["key_over_http"]):
        raise ChoiceError(
            "key_variable", "A key is only for a server. Say where the server is with --server."
        )
    return given


def spec_behind(given: Mapping[str, Any], served_name: str | None, name: str) -> ModelSpec:
    """Return the model behind the server that options name.

    Args:
        given: the result of `server_options`.
        served_name: what the server calls the model.
        name: what runs and signatures call it.

    Raises:
        ChoiceError: a name or the address is wrong, the name is that of another listed model, or a
            key would be sent where others can read it.
    """
    server = given["server"]
    try:
        server_address(server)
    except BackendError as error:
        raise ChoiceError("server", f"{error}.") from error
    if not served_name:
        raise ChoiceError(
            "model", "The name of the model is missing. Give the name that the server knows."
        )
    spec = ModelSpec(
        SERVER,
        name,
        server,
        served_name=served_name,
        key_variable=given["key_variable"] or "",
        key_over_http=given["key_over_http"],
    )
    spec = as_listed_now(not_another(spec))
    try:
        check_key(spec)
    except BackendError as error:
        raise ChoiceError(
            "key_over_http", f"{error}. To allow that, give --key-over-http."
        ) from error
    return spec


def not_another(spec: ModelSpec) -> ModelSpec:
    """Return a model that no admin has listed, unless another model is listed under its name.

    Runs are found by this name, so that scores of both models would be mixed in one run.

    Raises:
        ChoiceError: another model is listed under this name.
    """
    listed = Checkpoint.objects.filter(name=spec.name).first()
    if listed is None:
        return spec
    there = (listed.backend, listed.location, listed.served_name, listed.key_variable)
    if there != (spec.backend, spec.location, spec.served_name, spec.key_variable):
        raise ChoiceError(
            "model",
            f"Another model is listed with the name {spec.name}. To use that one, give --model "
            "alone; to use this one, rename it.",
        )
    return spec

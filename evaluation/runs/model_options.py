"""The options that name the model of a command: a listed one, other files, or a server."""

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.backends.registry import BACKENDS
from generation.choices.declaration import ChoiceError
from generation.limits import LONGEST_NAME
from generation.model_specs import BackendError, ModelSpec
from generation.models import Checkpoint
from generation.server_addresses import check_key, server_address
from generation.services.checkpoints import as_listed_now

SERVER = "openai"


def add_model_arguments(parser: ArgumentParser) -> None:
    """Add the options that name a model to a parser. `spec_from` reads them."""
    parser.add_argument(
        "--backend",
        choices=BACKENDS,
        help="The backend that uses the model. Default: the backend of the listed model.",
    )
    parser.add_argument(
        "--model",
        help="Name of a listed model, a folder, or a name on the hub (owner/name or "
        "owner/name@revision). With --server: the name that the server knows.",
    )
    parser.add_argument("--precision", help="fp32 or bf16. Default: the backend's usual one.")
    parser.add_argument(
        "--entailment-index",
        type=int,
        metavar="N",
        help="Number of the output that means entailment, from 0. Give it only if the model's "
        "config does not name that output.",
    )
    parser.add_argument("--server", metavar="URL", help="Address of an OpenAI-compatible server.")
    parser.add_argument(
        "--key-variable", metavar="NAME", help="Environment variable with the server's key."
    )
    parser.add_argument(
        "--key-over-http",
        action="store_true",
        help="Send the key over plain http too. Others on the network can then read it.",
    )


def spec_from(options: Mapping[str, Any]) -> ModelSpec | None:
    """Return the model that the options name; None when they name neither model nor backend.

    Raises:
        ChoiceError: there is no such model, or some options are not possible together.
    """
    backend, model, server = options["backend"], options["model"], options["server"]
    if server:
        spec = _behind(server, backend, model, options)
    elif options["key_variable"] or options["key_over_http"]:
        raise ChoiceError(
            "key_variable", "A key is only for a server. Say where the server is with --server."
        )
    elif model:
        spec = _listed(model, backend) or _of_files(model, backend)
    elif backend is None:
        spec = None
    elif BACKENDS[backend].needs_model:
        raise ChoiceError("model", f"The backend {backend} needs a model. Name one.")
    else:
        spec = ModelSpec(backend)
    index = options["entailment_index"]
    if index is None:
        return spec
    if spec is None or not BACKENDS[spec.backend].needs_model:
        raise ChoiceError(
            "entailment_index", "Only a model has outputs. Name a model, or leave this option out."
        )
    return spec._replace(entailment_index=index)


def _behind(
    server: str, backend: str | None, model: str | None, options: Mapping[str, Any]
) -> ModelSpec:
    if backend not in (None, SERVER):
        raise ChoiceError("backend", f"Found {backend}; a server needs the backend {SERVER}.")
    try:
        server_address(server)
    except BackendError as error:
        raise ChoiceError("server", f"{error}.") from error
    if not model:
        raise ChoiceError(
            "model", "The name of the model is missing. Give the name that the server knows."
        )
    name = _named(model)
    spec = ModelSpec(
        SERVER,
        name,
        server,
        served_name=model,
        key_variable=options["key_variable"] or "",
        key_over_http=options["key_over_http"],
    )
    spec = as_listed_now(_not_another(spec))
    try:
        check_key(spec)
    except BackendError as error:
        raise ChoiceError(
            "key_over_http", f"{error}. To allow that, give --key-over-http."
        ) from error
    return spec


def _listed(model: str, backend: str | None) -> ModelSpec | None:
    checkpoint = Checkpoint.objects.filter(name=model).first()
    if checkpoint is None:
        return None
    if backend not in (None, checkpoint.backend):
        raise ChoiceError(
            "backend", f"Found {backend}; {model} is listed for the backend {checkpoint.backend}."
        )
    return checkpoint.spec()


def _of_files(model: str, backend: str | None) -> ModelSpec:
    """Return a model that no admin has listed: from a folder, or from the hub at a revision.

    Raises:
        ChoiceError: the backend is missing or does not load files, or the path cannot be read.
    """
    if backend is None:
        known = ", ".join(Checkpoint.objects.values_list("name", flat=True)) or "none"
        raise ChoiceError(
            "model",
            f"No listed model is named {model} (listed: {known}). To use files, give --backend "
            "too.",
        )
    if not BACKENDS[backend].needs_model:
        raise ChoiceError(
            "model",
            f"The backend {backend} uses no model. Leave --model out, or give another --backend.",
        )
    if BACKENDS[backend].is_server:
        raise ChoiceError("server", f"{model} is not listed. Give the address of its server.")
    try:
        folder = Path(model).expanduser()
        is_folder = folder.is_dir()
    except (OSError, RuntimeError) as error:
        raise ChoiceError("model", f"{model!r}: {error}") from error
    if is_folder:
        name = _named(folder.resolve().name)
        return _not_another(ModelSpec(backend, name, str(folder.resolve())))
    location, _, revision = model.partition("@")
    return _not_another(ModelSpec(backend, _named(model), location, revision=revision))


def _named(name: str) -> str:
    if name in BACKENDS:
        raise ChoiceError(
            "model", f"{name} is the name of a backend, so no model can have it. Rename the model."
        )
    return name[:LONGEST_NAME]


def _not_another(spec: ModelSpec) -> ModelSpec:
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

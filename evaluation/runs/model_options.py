"""The options that name the model of a command: a listed one, other files, or a server."""

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.backends.registry import BACKENDS
from generation.choices.declaration import ChoiceError
from generation.limits import LONGEST_NAME
from generation.management.server_options import (
    SERVER,
    add_server_arguments,
    not_another,
    server_options,
    spec_behind,
)
from generation.model_specs import ModelSpec
from generation.models import Checkpoint


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
    add_server_arguments(parser)


def spec_from(options: Mapping[str, Any]) -> ModelSpec | None:
    """Return the model that the options name; None when they name neither model nor backend.

    Raises:
        ChoiceError: there is no such model, or some options are not possible together.
    """
    backend, model, given = options["backend"], options["model"], server_options(options)
    if given["server"]:
        if backend not in (None, SERVER):
            raise ChoiceError("backend", f"Found {backend}; a server needs the backend {SERVER}.")
        spec = spec_behind(given, model, _named(model or ""))
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
        return not_another(ModelSpec(backend, name, str(folder.resolve())))
    location, _, revision = model.partition("@")
    return not_another(ModelSpec(backend, _named(model), location, revision=revision))


def _named(name: str) -> str:
    if name in BACKENDS:
        raise ChoiceError(
            "model", f"{name} is the name of a backend, so no model can have it. Rename the model."
        )
    return name[:LONGEST_NAME]

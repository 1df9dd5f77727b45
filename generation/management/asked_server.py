"""A server whose models a command asks: they are listed, so that workers can help and go on."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from generation.backends.registry import LANGUAGE_MODELS
from generation.choices.declaration import ChoiceError
from generation.limits import LONGEST_NAME
from generation.management.server_options import server_options, spec_behind
from generation.services.checkpoints import list_server_model

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


@contextmanager
def models_to_ask(
    options: Mapping[str, Any], models: Sequence[str], prefix: str = ""
) -> Iterator[list[str]]:
    """Yield the names of the models to ask. Models behind a server are listed first.

    A model gets the name that its server knows, with '-' for characters that no name may have. It
    stays listed, so that the same command goes on with it, but not after a dry run.

    Args:
        options: the options of the command. They include those of `add_server_arguments`.
        models: the names given. With a server, they are the names that the server knows.
        prefix: that of `add_server_arguments`.

    Raises:
        CommandError: an option is wrong. Nothing is listed.
    """
    is_dry_run = options.get("dry_run")
    with transaction.atomic() if is_dry_run else nullcontext():
        try:
            names = _listed(server_options(options, prefix), models)
        except ChoiceError as error:
            option = "models" if prefix and error.field == "model" else f"{prefix}{error.field}"
            flag = option.replace("_", "-")
            raise CommandError(f"--{flag}: {error}\nNothing was asked.") from error
        yield names
        if is_dry_run:
            transaction.set_rollback(True)


@transaction.atomic
def _listed(given: Mapping[str, Any], models: Sequence[str]) -> list[str]:
    if not given["server"]:
        return list(models)
    names = [_NOT_IN_NAMES.sub("-", model).strip("-")[:LONGEST_NAME] for model in models]
    for model, name in zip(models, names, strict=True):
        if name.lower() in LANGUAGE_MODELS:
            raise ChoiceError("model", f"{name} is the name of a kind of model. Use add_model.")
        list_server_model(spec_behind(given, model, name))
    return names

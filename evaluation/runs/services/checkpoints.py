"""The list of models that runs and grids may use: its changes, and the checks of new models."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction

from accounts.models import User
from accounts.services import record as record_in_audit_trail
from evaluation.backends.registry import BACKENDS
from evaluation.models import MetricRun
from generation.backends.model_files import (
    COMMIT,
    is_chat_model,
    size_in_files,
    what_is_wrong,
    wrong_kind,
)
from generation.backends.registry import LANGUAGE_MODELS
from generation.model_sizes import MOST_PARAMETERS
from generation.model_specs import MOST_PRICE, USUAL_CALLS_AT_ONCE, BackendError, ModelSpec
from generation.models import Checkpoint, GridSetup
from generation.server_addresses import check_key, server_address
from generation.services.checkpoints import list_model

WITH_LABELS = "transformers"  # the backend of models whose labels name the output of entailment
HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", re.ASCII)
NAMES_OF_ENTAILMENT = ("entail", "support")  # beginnings of the label of the wanted output
LARGEST_CONFIG = 1024**2  # bytes
MOST_CALLS_PER_MINUTE = 1_000_000
MOST_CALLS_AT_ONCE = 10_000


class CheckpointError(Exception):
    """A checkpoint that cannot be used, changed or deleted, with the field of the problem."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class CallLimits(NamedTuple):
    """The limits of the calls of a language model, the price of its tokens, and its size."""

    calls_per_minute: int | None = None  # those of all grids and constructions; None: no limit
    calls_at_once: int = USUAL_CALLS_AT_ONCE  # those of all work, if it is behind a server
    input_price: float | None = None  # a million tokens; None: not known
    output_price: float | None = None  # likewise
    n_parameters: int | None = None  # typed if it is behind a server, else read; None: not known


@transaction.atomic
def add_checkpoint(
    name: str,
    location: str,
    actor: User | None,
    *,
    limits: CallLimits,
    backend: str = "transformers",
    entailment_index: int | None = None,
    served_name: str = "",
    key_variable: str = "",
    key_over_http: bool = False,
) -> Checkpoint:
    """Let runs and grids use a model: a folder here, a name on the hub, or one behind a server.

    Args:
        name: the model's name in Attest.
        location: the folder, the name on the hub, or the server's address. A name on the hub may
            end in @commit. Without it, the commit of today is used.
        actor: the user who adds the model, if any.
        limits: the limits of its calls; the usual ones, if it is no language model.
        backend: the kind of model.
        entailment_index: the output that means entailment, if its label does not say it.
        served_name: the model's name on its server.
        key_variable: the environment variable that holds the server's key.
        key_over_http: whether the key may go over plain http to another machine.

    Raises:
        CheckpointError: the name is taken, or there is no model of this kind at the location, or
            another value is not possible.
    """
    kind = BACKENDS.get(backend)
    if kind is None or not kind.needs_model:
        raise CheckpointError(f"Found {backend}; expected a backend that uses a model.", "backend")
    _check_limits(backend, limits)
    revision = ""
    if kind.is_server:
        _check_server(location, served_name)
        _check_key(location, key_variable, key_over_http)
    else:
        location, revision = _without_revision(location)
        check_location(location, entailment_index, backend)
        limits = limits._replace(n_parameters=size_in_files(location, ""))
    described = {
        "backend": backend,
        "location": location,
        "revision": revision,
        "is_chat": _is_chat(backend, location),
        "entailment_index": entailment_index,
        "served_name": served_name,
        "key_variable": key_variable,
        "key_over_http": key_over_http,
        **limits._asdict(),
    }
    try:
        with transaction.atomic():
            return list_model(name, actor, **described)
    except IntegrityError as exc:
        raise CheckpointError(
            f"There is already a model named {name}. Choose another name.", "name"
        ) from exc


@transaction.atomic
def change_limits(checkpoint: Checkpoint, limits: CallLimits, actor: User | None) -> None:
    """Change the limits of the calls of a language model, its prices or its size.

    Calls that are already reserved keep their times, and pieces of work that ask the model go on.
    The same limits again change nothing.

    Raises:
        CheckpointError: the model is not a language model, or a number is outside its range.
    """
    _check_limits(checkpoint.backend, limits)
    locked = Checkpoint.objects.select_for_update().get(pk=checkpoint.pk)
    before = CallLimits(*(getattr(locked, name) for name in CallLimits._fields))
    if limits == before:
        return
    Checkpoint.objects.filter(pk=checkpoint.pk).update(**limits._asdict())
    record_in_audit_trail(
        actor,
        "checkpoint.limited",
        checkpoint.name,
        before=before._asdict(),
        after=limits._asdict(),
    )


@transaction.atomic
def let_key_go_over_http(checkpoint: Checkpoint, is_allowed: bool, actor: User | None) -> None:
    """Allow or forbid that a model's key is sent over plain http, where others can read it.

    Raises:
        CheckpointError: the model has no key that is sent over plain http.
    """
    if not checkpoint.sends_key_openly:
        raise CheckpointError(f"{checkpoint.name} has no key that could go over plain http.")
    others = Checkpoint.objects.filter(pk=checkpoint.pk).exclude(key_over_http=is_allowed)
    if others.update(key_over_http=is_allowed):
        action = "checkpoint.key_over_http"
        record_in_audit_trail(actor, action, checkpoint.name, is_allowed=is_allowed)


def _check_limits(backend: str, limits: CallLimits) -> None:
    per_minute, at_once, *prices, size = limits
    if limits != CallLimits() and backend not in LANGUAGE_MODELS:
        raise CheckpointError(
            "Only language models have limits of calls and prices.", "calls_per_minute"
        )
    if (prices[0] is None) != (prices[1] is None):
        missing = "input_price" if prices[0] is None else "output_price"
        raise CheckpointError("Give both prices, or none.", missing)
    if not all(0 <= price <= MOST_PRICE for price in prices if price is not None):
        raise CheckpointError(
            f"Found {prices[0]:g} and {prices[1]:g}; expected 0 to {MOST_PRICE:,}.", "input_price"
        )
    if per_minute is not None and not 1 <= per_minute <= MOST_CALLS_PER_MINUTE:
        raise CheckpointError(
            f"Found {per_minute}; expected 1 to {MOST_CALLS_PER_MINUTE:,} calls a minute.",
            "calls_per_minute",
        )
    if size is not None and not 1 <= size <= MOST_PARAMETERS:
        raise CheckpointError(
            f"Found {size}; expected 1 to {MOST_PARAMETERS:,} parameters.", "n_parameters"
        )
    if not 1 <= at_once <= MOST_CALLS_AT_ONCE:
        raise CheckpointError(
            f"Found {at_once}; expected 1 to {MOST_CALLS_AT_ONCE:,} calls at once.", "calls_at_once"
        )


@transaction.atomic
def delete_checkpoint(checkpoint: Checkpoint, actor: User | None) -> None:
    """Remove a model from the list.

    Raises:
        CheckpointError: runs or grids have used the model. It is kept, because their scores and
            responses have its name.
    """
    runs = MetricRun.objects.filter(model_name=checkpoint.name, is_imported=False)
    cells = GridSetup.objects.filter(setup__model=checkpoint.name).order_by()
    n_grids = cells.values("grid").distinct().count()
    for n, thing in [(runs.count(), "run"), (n_grids, "grid")]:
        if n:
            uses = f"{thing}s use" if n > 1 else f"{thing} uses"
            raise CheckpointError(f"{checkpoint.name} cannot be removed: {n} {uses} it.")
    checkpoint.delete()
    record_in_audit_trail(
        actor, "checkpoint.deleted", checkpoint.name, location=checkpoint.location
    )


def _check_server(location: str, served_name: str) -> None:
    """Refuse a text that is not an address, or that holds more than an address, such as a key.

    A key must be in the environment.
    """
    try:
        server_address(location)
    except BackendError as exc:
        raise _not_there(f"{exc}.") from exc
    if not served_name:
        raise CheckpointError(
            "The name of the model is missing. Give the name that the server knows.", "served_name"
        )


def _check_key(location: str, key_variable: str, key_over_http: bool) -> None:
    spec = ModelSpec(
        location=location, key_variable=key_variable, key_over_http=key_over_http, backend=""
    )
    try:
        check_key(spec)
    except BackendError as exc:
        raise CheckpointError(f"{exc}.", "key_over_http") from exc


def _without_revision(location: str) -> tuple[str, str]:
    """Return a name on the hub and the revision after its @. A path is returned unchanged."""
    name, at, revision = location.partition("@")
    if not at or not HUB_NAME.fullmatch(name):
        return location, ""
    if not COMMIT.fullmatch(revision):
        raise _not_there(f"{location}: expected a commit of 40 hexadecimal digits after the @.")
    return name, revision


def check_location(location: str, entailment_index: int | None, backend: str) -> None:
    """Check that a path leads to a model of this kind. A name on the hub is not checked.

    Raises:
        CheckpointError: there is no such model.
    """
    if HUB_NAME.fullmatch(location):
        return
    folder = Path(location)
    if not folder.is_absolute():
        raise _not_there(
            f"{location} is neither a full path nor a name on the hub; expected "
            "/folder/of/the/model, or owner/name."
        )
    try:
        is_folder = folder.is_dir()
        found = "a file" if folder.exists() else "nothing"
    except OSError as exc:
        raise _not_there(f"{location} cannot be read: {exc.strerror}.") from exc
    if not is_folder:
        raise _not_there(f"Found {found} at {location}; expected the folder of a model.")
    config = _config(folder, BACKENDS[backend].architectures)
    if backend == WITH_LABELS:
        _check_labels(config, entailment_index)
    if problem := what_is_wrong(folder):
        raise _not_there(f"{folder}: {problem}.")


def _is_chat(backend: str, location: str) -> bool | None:
    """Return whether a language model takes messages; None: it is none, or a name on the hub."""
    kind = LANGUAGE_MODELS.get(backend)
    if kind is None:
        return None
    if kind.is_server:
        return server_address(location)[1] == "chat"
    return None if HUB_NAME.fullmatch(location) else is_chat_model(Path(location))


def _config(folder: Path, expected: tuple[str, ...]) -> dict[str, Any]:
    """Return the config.json of a folder, if its model is of one of the expected kinds.

    Raises:
        CheckpointError: it cannot be read, or its model is of another kind.
    """
    path = folder / "config.json"
    try:
        if path.stat().st_size > LARGEST_CONFIG:
            raise _not_there(f"{path} is larger than {LARGEST_CONFIG:,} bytes.")
        config = json.loads(path.read_text("utf-8"))
    except FileNotFoundError as exc:
        raise _not_there(f"Found no config.json in {folder}; expected a model's folder.") from exc
    except RecursionError as exc:
        raise _not_there(f"{path} cannot be read as JSON: its brackets are too deep.") from exc
    except (OSError, ValueError) as exc:
        raise _not_there(f"{path} cannot be read as JSON: {exc}.") from exc
    if not isinstance(config, dict):
        config = {}
    if found := wrong_kind(config, expected):
        wanted = " or ".join(expected)
        raise _not_there(f"Found {found} in {path}; expected one that ends in {wanted}.")
    return dict(config)


def _check_labels(config: dict[str, Any], entailment_index: int | None) -> None:
    """Check that a label means entailment, or that the index of an existing label was given.

    Raises:
        CheckpointError: neither is so.
    """
    given = config.get("id2label")
    named = given if isinstance(given, dict) else {}
    labels = {str(key): str(label) for key, label in named.items()}
    listed = ", ".join(f"{key} {label}" for key, label in labels.items()) or "no labels"
    if entailment_index is None:
        if not any(label.lower().startswith(NAMES_OF_ENTAILMENT) for label in labels.values()):
            raise CheckpointError(
                f"Found {listed} in its config.json: none says entailment, so the index is needed.",
                "entailment_index",
            )
    elif labels and str(entailment_index) not in labels:
        raise CheckpointError(
            f"Found {listed} in its config.json: there is no output {entailment_index}.",
            "entailment_index",
        )


def _not_there(message: str) -> CheckpointError:
    return CheckpointError(message, "location")

"""Models that runs and grids may use: which there are, and what makes one usable."""

import json
import re
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction

from accounts.models import User
from accounts.services import record as record_in_audit_trail
from evaluation.backends.registry import BACKENDS
from evaluation.models import MetricRun
from generation.backends.model_files import COMMIT, what_is_wrong, wrong_kind
from generation.backends.registry import LANGUAGE_MODELS
from generation.model_specs import BackendError, ModelSpec
from generation.models import Checkpoint, GridSetup
from generation.server_addresses import check_key, server_address

WITH_LABELS = "transformers"  # the backend whose model says which output means entailment
HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", re.ASCII)
NAMES_OF_ENTAILMENT = ("entail", "support")  # how the label of the output we want begins
LARGEST_CONFIG = 1024**2  # bytes
MOST_CALLS_PER_MINUTE = 1_000_000


class CheckpointError(Exception):
    """A checkpoint that cannot be used or deleted, with the field that says so."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


@transaction.atomic
def add_checkpoint(
    name: str,
    location: str,
    actor: User | None,
    *,
    backend: str = "transformers",
    entailment_index: int | None = None,
    served_name: str = "",
    key_variable: str = "",
    key_over_http: bool = False,
    calls_per_minute: int | None = None,
) -> Checkpoint:
    """Let runs and grids use a model: a folder here, a name on the hub, or one behind a server.

    Args:
        location: of a name on the hub with @commit, if not today's is wanted.
        key_variable: the environment variable that holds the server's key.
        key_over_http: it may go over plain http to another machine.
        calls_per_minute: that grids may make of a language model; None: no limit.

    Raises:
        CheckpointError: the name is taken, or what is there is no model of that kind.
    """
    kind = BACKENDS.get(backend)
    if kind is None or not kind.needs_model:
        raise CheckpointError(f"{backend} is no kind of model.", "backend")
    _check_pace(backend, calls_per_minute)
    revision = ""
    if kind.is_server:
        _check_server(location, served_name)
        _check_key(location, key_variable, key_over_http)
    else:
        location, revision = _without_revision(location)
        check_location(location, entailment_index, backend)
    described = {
        "backend": backend,
        "location": location,
        "revision": revision,
        "entailment_index": entailment_index,
        "served_name": served_name,
        "key_variable": key_variable,
        "key_over_http": key_over_http,
        "calls_per_minute": calls_per_minute,
    }
    try:
        with transaction.atomic():
            checkpoint = Checkpoint.objects.create(name=name, added_by=actor, **described)
    except IntegrityError as exc:
        raise CheckpointError(f"There already is a model named {name}.", "name") from exc
    record_in_audit_trail(actor, "checkpoint.added", name, **described)
    return checkpoint


@transaction.atomic
def change_pace(checkpoint: Checkpoint, calls_per_minute: int | None, actor: User | None) -> None:
    """Change how many calls a minute grids may make of a language model; None: no limit.

    Places for calls that are reserved already stay. The same number again changes nothing.

    Raises:
        CheckpointError: it is no language model, or that is no number of calls.
    """
    _check_pace(checkpoint.backend, calls_per_minute)
    before = Checkpoint.objects.select_for_update().get(pk=checkpoint.pk).calls_per_minute
    if calls_per_minute == before:
        return
    Checkpoint.objects.filter(pk=checkpoint.pk).update(calls_per_minute=calls_per_minute)
    record_in_audit_trail(
        actor, "checkpoint.paced", checkpoint.name, before=before, after=calls_per_minute
    )


@transaction.atomic
def let_key_go_over_http(checkpoint: Checkpoint, is_allowed: bool, actor: User | None) -> None:
    """Allow or forbid that a key is sent where others can read it on its way.

    Raises:
        CheckpointError: it has no key that would be.
    """
    if not checkpoint.sends_key_openly:
        raise CheckpointError(f"{checkpoint.name} sends no key over plain http.")
    others = Checkpoint.objects.filter(pk=checkpoint.pk).exclude(key_over_http=is_allowed)
    if others.update(key_over_http=is_allowed):
        action = "checkpoint.key_over_http"
        record_in_audit_trail(actor, action, checkpoint.name, is_allowed=is_allowed)


def _check_pace(backend: str, calls_per_minute: int | None) -> None:
    if calls_per_minute is None:
        return
    if backend not in LANGUAGE_MODELS:
        raise CheckpointError("Only language models have a limit of calls.", "calls_per_minute")
    if not 1 <= calls_per_minute <= MOST_CALLS_PER_MINUTE:
        raise CheckpointError(
            f"Found {calls_per_minute}; expected 1 to {MOST_CALLS_PER_MINUTE:,} calls a minute.",
            "calls_per_minute",
        )


@transaction.atomic
def delete_checkpoint(checkpoint: Checkpoint, actor: User | None) -> None:
    """Take a model away from the choices.

    One that runs or grids have used stays: it names their scores and responses.
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
    """Refuse what is no address, or more than one: a key belongs into the environment."""
    try:
        server_address(location)
    except BackendError as exc:
        raise _not_there(f"Found {exc}.") from exc
    if not served_name:
        raise CheckpointError("Expected the name by which the server knows it.", "served_name")


def _check_key(location: str, key_variable: str, key_over_http: bool) -> None:
    spec = ModelSpec(
        location=location, key_variable=key_variable, key_over_http=key_over_http, backend=""
    )
    try:
        check_key(spec)
    except BackendError as exc:
        raise CheckpointError(f"{exc}.", "key_over_http") from exc


def _without_revision(location: str) -> tuple[str, str]:
    """Return a name on the hub and the revision behind its @; a path is what it is."""
    name, at, revision = location.partition("@")
    if not at or not HUB_NAME.fullmatch(name):
        return location, ""
    if not COMMIT.fullmatch(revision):
        raise _not_there(f"{location}: expected a commit of 40 hexadecimal digits behind the @.")
    return name, revision


def check_location(location: str, entailment_index: int | None, backend: str) -> None:
    """Look for a model of that kind where a path leads; a name on the hub is taken as it is."""
    if HUB_NAME.fullmatch(location):
        return
    folder = Path(location)
    if not folder.is_absolute():
        raise _not_there(
            f"{location} is neither a whole path nor a name on the hub; expected "
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


def _config(folder: Path, expected: tuple[str, ...]) -> dict[str, Any]:
    """Return config.json of a folder, if it is of a model of one of these kinds."""
    path = folder / "config.json"
    try:
        if path.stat().st_size > LARGEST_CONFIG:
            raise _not_there(f"{path} is larger than {LARGEST_CONFIG:,} bytes.")
        config = json.loads(path.read_text("utf-8"))
    except FileNotFoundError as exc:
        raise _not_there(f"Found no config.json in {folder}; expected a model's folder.") from exc
    except (OSError, ValueError, RecursionError) as exc:
        raise _not_there(f"{path} cannot be read as JSON: {exc}.") from exc
    if not isinstance(config, dict):
        config = {}
    if found := wrong_kind(config, expected):
        wanted = " or ".join(expected)
        raise _not_there(f"Found {found} in {path}; expected one that ends in {wanted}.")
    return dict(config)


def _check_labels(config: dict[str, Any], entailment_index: int | None) -> None:
    """Check that a label means entailment, or that the index of one was given."""
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

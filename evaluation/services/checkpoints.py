"""Entailment models that runs may use: which there are, and what makes one usable."""

import json
import re
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction

from accounts.models import User
from accounts.services import record as record_in_audit_trail
from evaluation.models import Checkpoint, MetricRun

CLASSIFIER = "ForSequenceClassification"
HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", re.ASCII)
NAMES_OF_ENTAILMENT = ("entail", "support")  # how the label of the output we want begins
LARGEST_CONFIG = 1024**2  # bytes


class CheckpointError(Exception):
    """A checkpoint that cannot be used or deleted, with the field that says so."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


@transaction.atomic
def add_checkpoint(
    name: str, location: str, entailment_index: int | None, actor: User | None
) -> Checkpoint:
    """Let runs use a model: a folder on the server that holds a classifier, or a hub name.

    Raises:
        CheckpointError: the name is taken, or the folder holds no classifier that says which of
            its outputs means entailment.
    """
    check_location(location, entailment_index)
    try:
        with transaction.atomic():
            checkpoint = Checkpoint.objects.create(
                name=name, location=location, entailment_index=entailment_index, added_by=actor
            )
    except IntegrityError as exc:
        raise CheckpointError(f"There already is a model named {name}.", "name") from exc
    record_in_audit_trail(
        actor, "checkpoint.added", name, location=location, entailment_index=entailment_index
    )
    return checkpoint


@transaction.atomic
def delete_checkpoint(checkpoint: Checkpoint, actor: User | None) -> None:
    """Take a model away from the choices. One that runs have used stays: it names their scores."""
    if n_runs := MetricRun.objects.filter(model_name=checkpoint.name, is_imported=False).count():
        raise CheckpointError(
            f"{checkpoint.name} stays: {n_runs} run{'s use' if n_runs > 1 else ' uses'} it."
        )
    checkpoint.delete()
    record_in_audit_trail(
        actor, "checkpoint.deleted", checkpoint.name, location=checkpoint.location
    )


def check_location(location: str, entailment_index: int | None) -> None:
    """Look for a classifier where a path leads; the name of one on the hub is taken as it is."""
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
    _check_labels(_classifier_config(folder), entailment_index)


def _classifier_config(folder: Path) -> dict[str, Any]:
    """Return config.json of a folder, if it is a sequence classifier's."""
    path = folder / "config.json"
    try:
        if path.stat().st_size > LARGEST_CONFIG:
            raise _not_there(f"{path} is larger than {LARGEST_CONFIG:,} bytes.")
        config = json.loads(path.read_text("utf-8"))
    except FileNotFoundError as exc:
        raise _not_there(f"Found no config.json in {folder}; expected a model's folder.") from exc
    except (OSError, ValueError, RecursionError) as exc:
        raise _not_there(f"{path} cannot be read as JSON: {exc}.") from exc
    named = config.get("architectures") if isinstance(config, dict) else None
    names = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
    if not any(name.endswith(CLASSIFIER) for name in names):
        found = ", ".join(names) or "no architecture"
        raise _not_there(f"Found {found} in {path}; expected one that ends in {CLASSIFIER}.")
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

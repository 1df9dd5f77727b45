"""Checks of a model's files, so that a problem is found before a run starts and not after."""

import os
from pathlib import Path

from evaluation.backends.registry import BACKENDS
from generation.backends.memory import free_memory
from generation.backends.model_files import (
    check_memory,
    config_of,
    is_hub_name,
    what_is_wrong,
    wrong_kind,
)
from generation.model_specs import BackendError, ModelSpec

GPUS = "/proc/driver/nvidia/gpus"  # exists on Linux if the machine has NVIDIA GPUs
TAUGHT = "distilled"  # the backend whose only output has the name of the metric it was taught


def why_unusable(spec: ModelSpec, metric: str) -> str:
    """Return why a model cannot be used, in a sentence without its location; "": no problem found.

    No model is loaded, no server is asked and nothing is downloaded. Problems of a model on the hub
    or behind a server, or of one that is too large for a worker's memory, are found only when a
    worker opens the model.
    """
    folder = _folder(spec)
    if folder is None:
        return ""
    if not folder.exists():
        return (
            f"{spec.name}: its folder does not exist here. The site and the workers must see the "
            "same folder."
        )
    if problem := what_is_wrong(folder):
        return f"{spec.name}: {problem}."
    config = config_of(folder)
    wanted = BACKENDS[spec.backend].architectures
    if found := wrong_kind(config, wanted):
        return f"{spec.name}: found {found}; expected a kind that ends in {' or '.join(wanted)}."
    if spec.backend == TAUGHT and (taught := _outputs(config)) != [metric]:
        said = ", ".join(taught) or "nothing"
        return f"{spec.name} was trained for {said}, so it cannot score {metric}."
    return ""


def too_large_here(spec: ModelSpec) -> str:
    """Return a message if a model with complete files is too large for this machine's memory.

    Return "" if it is not. The message is only a hint, because a worker may have more memory. A
    worker without enough memory reports it itself.
    """
    folder = _folder(spec)
    if folder is None or Path(GPUS).is_dir() or what_is_wrong(folder):
        return ""
    try:
        check_memory(folder, spec.precision, spec.name, free_memory(), "this machine")
    except BackendError as error:
        return f"{error}."
    return ""


def _folder(spec: ModelSpec) -> Path | None:
    """Return the folder of a model, which may be missing.

    Return None for a backend without a model, a model behind a server, and a name on the hub.
    """
    kind = BACKENDS[spec.backend]
    if not kind.needs_model or kind.is_server or not spec.location:
        return None
    return None if is_on_hub(spec) else Path(os.path.expanduser(spec.location))


def is_on_hub(spec: ModelSpec) -> bool:
    """Return whether a model is named as on the Hugging Face hub, so that it may be downloaded."""
    kind = BACKENDS[spec.backend]
    if not kind.needs_model or kind.is_server or not spec.location:
        return False
    folder = Path(os.path.expanduser(spec.location))
    return not folder.exists() and is_hub_name(spec.location)


def _outputs(config: dict[str, object]) -> list[str]:
    """Return the names of a model's outputs."""
    named = config.get("id2label")
    return [str(name) for name in named.values()] if isinstance(named, dict) else []

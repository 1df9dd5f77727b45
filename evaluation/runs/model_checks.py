"""Whether a model can be used, as far as its files say: told before a run starts, not after."""

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

GPUS = "/proc/driver/nvidia/gpus"  # what Linux lists where there are some
TAUGHT = "distilled"  # the backend whose only output is called as the metric that it was taught


def why_unusable(spec: ModelSpec, metric: str) -> str:
    """Return why a model cannot be used, in a sentence without its location; "" if nothing says so.

    No model is loaded, no server asked and nothing downloaded: what is on the hub, behind a server
    or too large for a worker's memory shows when a worker opens it.
    """
    folder = _folder(spec)
    if folder is None:
        return ""
    if not folder.exists():
        return f"{spec.name}: its folder is not there (site and workers must see it alike)."
    if problem := what_is_wrong(folder):
        return f"{spec.name}: {problem}."
    config = config_of(folder)
    wanted = BACKENDS[spec.backend].architectures
    if found := wrong_kind(config, wanted):
        return f"{spec.name}: {found}, expected a model whose kind ends in {' or '.join(wanted)}."
    if spec.backend == TAUGHT and (taught := _outputs(config)) != [metric]:
        said = ", ".join(taught) or "nothing"
        return f"{spec.name} was taught {said}, and is asked about {metric}."
    return ""


def too_large_here(spec: ModelSpec) -> str:
    """Return that a model whose files are whole does not fit into this machine's memory; or "".

    Only a hint: a worker may have more, and says so itself where it has not.
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
    """Return where a model lies; None where it needs none, or it is behind a server or a name."""
    kind = BACKENDS[spec.backend]
    if not kind.needs_model or kind.is_server or not spec.location:
        return None
    folder = Path(os.path.expanduser(spec.location))
    return None if not folder.exists() and is_hub_name(spec.location) else folder


def _outputs(config: dict[str, object]) -> list[str]:
    """Return what a model's outputs are called."""
    named = config.get("id2label")
    return [str(name) for name in named.values()] if isinstance(named, dict) else []

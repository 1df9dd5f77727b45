"""A cache of opened models: one that computes here, and a few servers.

All uses share it: a metric that judges with a model and a grid that the model answers get the same
one.
"""

import gc
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

from generation.backends.model_files import commit_of, fingerprint
from generation.model_specs import ModelSpec
from work.worker_records import note_model

Opened = TypeVar("Opened")


def kept_open(
    spec: ModelSpec, open_model: Callable[[ModelSpec], Opened], *, is_server: bool
) -> Opened:
    """Return a model that is ready to be asked.

    A process keeps only the last model that computes here in memory. A model whose files have
    changed since it was opened is opened again.

    Raises:
        BackendError: the model cannot be used.
    """
    opened: Opened
    if is_server:
        opened = _connected(spec, open_model)
        return opened
    files = fingerprint(spec.location)
    # Only a name on the hub has revisions to choose from; a folder has none. If no revision is
    # pinned, this is the commit that was today's when the process first asked.
    revision = "" if files else spec.revision or _todays(spec.location)
    opened = _opened(spec._replace(revision=revision), open_model, files)
    return opened


@lru_cache(maxsize=16)
def _todays(location: str) -> str:
    return commit_of(location)


@lru_cache(maxsize=1)
def _opened(spec: ModelSpec, open_model: Callable[[ModelSpec], Any], files: str) -> Any:
    _opened.cache_clear()  # memory may have no room for two models, even while one is loaded
    gc.collect()  # models have many reference cycles, which would keep the last one alive
    if torch := sys.modules.get("torch"):
        torch.cuda.empty_cache()
    note_model()  # none, while this one is being opened
    model = open_model(spec)
    note_model(spec.name or spec.location, model.device.removeprefix("cuda: "))
    return model


@lru_cache(maxsize=4)
def _connected(spec: ModelSpec, open_model: Callable[[ModelSpec], Any]) -> Any:
    return open_model(spec)

"""Backends by name: entailment models, baselines, and the language models of `generation`."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from evaluation.backends.base import Backend
from evaluation.backends.classifier import SequenceClassifier
from evaluation.backends.lexical import Lexical
from generation.backends.base import BackendError, ModelSpec
from generation.backends.model_files import fingerprint
from generation.backends.registry import LANGUAGE_MODELS


class BackendKind(NamedTuple):
    """A kind of backend: how it is opened, and what people should know before."""

    title: str
    open: Callable[[ModelSpec], Backend]
    needs_model: bool = True
    is_server: bool = False  # its location is an address
    precisions: tuple[str, ...] = ("fp32",)  # the first by default
    longest_call_seconds: float = 0.0  # that one answer may take; a worker counts as alive so long


BACKENDS: dict[str, BackendKind] = {
    "lexical": BackendKind(
        "Lexical overlap, a baseline", lambda spec: Lexical(), needs_model=False
    ),
    "transformers": BackendKind(
        "Entailment classifier", SequenceClassifier, precisions=("fp32", "bf16")
    ),
    **{
        key: BackendKind(
            kind.title,
            kind.open,
            is_server=kind.is_server,
            precisions=kind.precisions,
            longest_call_seconds=kind.longest_call_seconds,
        )
        for key, kind in LANGUAGE_MODELS.items()
    },
}


def open_backend(spec: ModelSpec) -> Backend:
    """Return a backend that is ready to be asked; a process keeps the last two that it opened.

    A model whose files have changed since is opened anew.

    Raises:
        BackendError: there is no such backend, or it cannot be used.
    """
    if spec.backend not in BACKENDS:
        raise BackendError(f"backend {spec.backend!r}, expected one of {', '.join(BACKENDS)}")
    kind = BACKENDS[spec.backend]
    files = fingerprint(spec.location) if kind.needs_model and not kind.is_server else ""
    # A folder is what it is: only a name on the hub has revisions to choose from.
    return _opened(spec._replace(revision="") if files else spec, files)


@lru_cache(maxsize=2)
def _opened(spec: ModelSpec, files: str) -> Backend:
    return BACKENDS[spec.backend].open(spec)

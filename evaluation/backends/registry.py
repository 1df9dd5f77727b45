"""Entailment backends by name."""

from collections.abc import Callable
from functools import lru_cache

from evaluation.backends.base import BackendError, EntailmentBackend
from evaluation.backends.huggingface import SequenceClassifier
from evaluation.backends.lexical import Lexical

# From the model's location and the index of its entailment label, which not every backend needs.
BACKENDS: dict[str, Callable[[str, int | None], EntailmentBackend]] = {
    "lexical": lambda location, entailment_index: Lexical(),
    "transformers": SequenceClassifier,
}


def open_backend(
    key: str, location: str = "", entailment_index: int | None = None
) -> EntailmentBackend:
    """Return a backend that is ready to be asked; a process keeps the last two that it opened.

    Args:
        location: of the model, for `transformers`: a folder, or a name on the Hugging Face hub.
        entailment_index: which of the model's outputs means entailment, where its labels have no
            names.

    Raises:
        BackendError: there is no such backend, or it cannot be used.
    """
    if key not in BACKENDS:
        raise BackendError(f"backend {key!r}, expected one of {', '.join(sorted(BACKENDS))}")
    return _opened(key, location, entailment_index)


@lru_cache(maxsize=2)
def _opened(key: str, location: str, entailment_index: int | None) -> EntailmentBackend:
    return BACKENDS[key](location, entailment_index)

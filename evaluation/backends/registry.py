"""Backends by name: entailment models, baselines, and the language models of `generation`."""

from collections.abc import Callable
from typing import NamedTuple

from evaluation.backends.added_words import AddedWords
from evaluation.backends.base import Backend
from evaluation.backends.classifier import SequenceClassifier
from evaluation.backends.distilled_classifier import Distilled
from evaluation.backends.heuristic import Heuristic
from evaluation.backends.lexical import Lexical
from evaluation.backends.seq2seq import Seq2SeqClassifier
from generation.backends.open_models import kept_open
from generation.backends.registry import LANGUAGE_MODELS
from generation.model_specs import BackendError, ModelSpec
from generation.text.languages import NOT_SAID
from generation.text.tokens import TOKENISER


class BackendKind(NamedTuple):
    """A kind of backend: the function that opens it, and facts needed before it is opened."""

    title: str
    open: Callable[[ModelSpec], Backend]
    needs_model: bool = True
    tells_words: bool = False  # whether its numbers depend on what a word is: a baseline
    is_server: bool = False  # whether its location is an address
    precisions: tuple[str, ...] = ("fp32",)  # the first is the default
    least_at_once: int = 1  # number of asks that take hardly longer than one, unless on a CPU
    # The endings of architecture names in config.json; if empty, every architecture is tried.
    architectures: tuple[str, ...] = ()


BACKENDS: dict[str, BackendKind] = {
    "added_words": BackendKind(
        "Added words, a baseline",
        lambda spec: AddedWords(spec.language),
        needs_model=False,
        tells_words=True,
    ),
    "lexical": BackendKind(
        "Word overlap, a baseline",
        lambda spec: Lexical(spec.language),
        needs_model=False,
        tells_words=True,
    ),
    "heuristic": BackendKind(
        "Words and whole sentences, a baseline near chance",
        lambda spec: Heuristic(spec.language),
        needs_model=False,
        tells_words=True,
    ),
    "distilled": BackendKind(
        "Distilled sensibleness", Distilled, architectures=("ForSequenceClassification",)
    ),
    "transformers": BackendKind(
        "Entailment classifier",
        SequenceClassifier,
        precisions=("fp32", "bf16"),
        architectures=("ForSequenceClassification",),
    ),
    "seq2seq": BackendKind(
        "Entailment from text to text, as TRUE's T5",
        Seq2SeqClassifier,
        precisions=("fp32", "bf16"),
        architectures=("ForConditionalGeneration",),
    ),
    **{
        key: BackendKind(
            kind.title,
            kind.open,
            is_server=kind.is_server,
            precisions=kind.precisions,
            least_at_once=kind.least_at_once,
            architectures=kind.architectures,
        )
        for key, kind in LANGUAGE_MODELS.items()
        if kind.needs_model  # a kind without a model cannot judge
    },
}


def words_rule(backend: str) -> str:
    """Return the rule by which a baseline tells words, as signatures of runs name it; else ""."""
    kind = BACKENDS.get(backend)
    return f"tokens:{TOKENISER}" if kind and kind.tells_words else ""


def open_backend(spec: ModelSpec) -> Backend:
    """Return a backend that is ready to be asked.

    A process keeps only the model opened last in memory. If its files have changed since, the
    model is opened again.

    Raises:
        BackendError: there is no such backend, or it cannot be used.
    """
    if spec.backend not in BACKENDS:
        raise BackendError(
            f"Found the backend {spec.backend!r}; expected one of {', '.join(BACKENDS)}"
        )
    kind = BACKENDS[spec.backend]
    if not kind.needs_model:
        return kind.open(spec)
    # A model reads texts of any language, so it is not opened again for those of another one.
    any_language = spec._replace(language=NOT_SAID)
    return kept_open(any_language, kind.open, is_server=kind.is_server)

"""The base of metrics that ask an entailment model about pairs of premise and hypothesis."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

from evaluation.backends.base import Backend, Entailment, EntailmentBackend
from evaluation.backends.judge import judge_of
from evaluation.measures.entailment import Pair
from evaluation.metrics.base import AutoMetric

_HAS_WORDS = re.compile(r"\w")


class PairMetric(AutoMetric):
    """A metric whose asks are pairs. A subclass that overrides nothing has no choices."""

    backends: ClassVar[tuple[str, ...]] = (
        "lexical",
        "transformers",
        "seq2seq",
        "language-model",
        "openai",
    )
    asks_pairs = True

    @classmethod
    def made(cls, parameters: Mapping[str, Any]) -> Self:
        return cls()

    @property
    def parameters(self) -> dict[str, Any]:
        return {}

    @property
    def signature_part(self) -> str:
        return ""

    def ready(self, backend: Any) -> Backend:
        """Return the backend; a language model becomes a judge of pairs."""
        return backend if hasattr(backend, "entailment") else judge_of(backend)

    def answers(self, backend: EntailmentBackend, asks: Sequence[Pair]) -> Iterable[Entailment]:
        return backend.entailment(asks)


def has_words(sentence: str) -> bool:
    """Return whether a sentence has words, so that it could entail something."""
    return _HAS_WORDS.search(sentence) is not None


def problem_among(answers: Iterable[Entailment]) -> str:
    """Return why the first pair without a probability has none; "" if all pairs have one."""
    return next(filter(None, map(_problem, answers)), "")


def _problem(answer: Entailment) -> str:
    if answer.problem or not math.isnan(answer.probability):
        return answer.problem
    return "the backend gave no probability"

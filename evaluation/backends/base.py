"""What an entailment backend is."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from evaluation.metrics.entailment import Pair


class BackendError(Exception):
    """A backend that cannot be used at all: where, what was found, what was expected."""


class Entailment(NamedTuple):
    """What a backend says about one pair."""

    probability: float  # in [0, 1]; NaN when there is none
    is_truncated: bool = False  # the premise was longer than the model reads
    problem: str = ""  # why there is no probability


class EntailmentBackend(Protocol):
    """Anything that can say how strongly a premise entails a hypothesis."""

    signature: str  # every choice that changes a number, apart from which model: "lexical|v:1"
    revision: str  # of the model's files; "" without a model

    def entailment(self, pairs: Sequence[Pair]) -> list[Entailment]:
        """Return P(entailment) for each pair, in the same order.

        The same pair gives the same number whatever stands beside it (models: to about 1e-5).
        """
        ...

"""What an entailment backend is."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from evaluation.measures.entailment import Pair

LONGEST_SIGNATURE = 100  # characters of a backend's, as runs keep it


class Entailment(NamedTuple):
    """What a backend says about one pair."""

    probability: float  # in [0, 1]; NaN when there is none
    is_truncated: bool = False  # the premise was longer than the model reads
    problem: str = ""  # why there is no probability


class EntailmentBackend(Protocol):
    """Anything that can say how strongly a premise entails a hypothesis."""

    signature: str  # every choice that changes a number, apart from which model: "lexical|v:1"
    revision: str  # of the model's files; "" without a model
    files: dict[str, str]  # name → SHA-256 of what the model was loaded from
    device: str  # where it computes: "cpu", "cuda: NVIDIA …", "server"

    def entailment(self, pairs: Sequence[Pair]) -> Iterable[Entailment]:
        """Return P(entailment) for each pair, in the same order.

        An iterator where a pair takes long: a worker gives signs of life between two of them.

        The same pair gives the same number whatever stands beside it (models: to about 1e-5).
        """
        ...


class Reply(NamedTuple):
    """A response in its dialog: the turns before it, the last user question included."""

    turns: tuple[tuple[str, str], ...]  # speaker, text
    text: str


class Judged(NamedTuple):
    """What a backend says about one reply."""

    score: float  # in [0, 1]; NaN when there is none
    is_truncated: bool = False  # the dialog was longer than the model reads
    problem: str = ""  # why there is no score


class Backend(Protocol):
    """What every backend says of itself, whatever it can be asked: one of those above, or another.

    Which metric asks which backend is written in the metric's `backends`.
    """

    signature: str
    revision: str
    files: dict[str, str]
    device: str

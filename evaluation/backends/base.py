"""The interfaces of backends, and the answers that they give."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from evaluation.measures.entailment import Pair

LONGEST_SIGNATURE = 100  # characters of a backend's signature that a run can store


class Entailment(NamedTuple):
    """A backend's answer for one pair."""

    probability: float  # in [0, 1]; NaN when there is none
    is_truncated: bool = False  # whether the premise was longer than the model reads
    problem: str = ""  # why there is no probability


class EntailmentBackend(Protocol):
    """Anything that can compute how strongly a premise entails a hypothesis."""

    signature: str  # every choice that changes a number, apart from the model: "lexical|v:1"
    revision: str  # revision of the model's files; "" without a model
    files: dict[str, str]  # name → SHA-256 of each file that the model was loaded from
    device: str  # the device that computes: "cpu", "cuda: NVIDIA …", "server"

    def entailment(self, pairs: Sequence[Pair]) -> Iterable[Entailment]:
        """Return P(entailment) for each pair, in the same order.

        The result is an iterator where a pair takes long, so that a worker can report that it is
        alive between two pairs.

        A pair gives the same number with any other pairs beside it (for models: to about 1e-5).
        """
        ...


class Reply(NamedTuple):
    """A response in its dialog: the turns before it, including the last user question."""

    turns: tuple[tuple[str, str], ...]  # speaker, text
    text: str


class Judged(NamedTuple):
    """A backend's answer for one reply."""

    score: float  # in [0, 1]; NaN when there is none
    is_truncated: bool = False  # whether the dialog was longer than the model reads
    problem: str = ""  # why there is no score


class Backend(Protocol):
    """The attributes that every backend has; see `EntailmentBackend` for their meaning.

    The attribute `backends` of a metric lists the backends that it can ask.
    """

    signature: str
    revision: str
    files: dict[str, str]
    device: str

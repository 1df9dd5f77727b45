"""What an auto-metric is: its choices, the questions it asks, and its scores."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self

from evaluation.backends.base import Backend
from evaluation.measures.entailment import EvidencePassage
from generation.evidence import EvidenceChoice
from generation.text.citations import ParsedCitation
from generation.text.flat_graph import Triple, flat_graph

NO_DIALOG = "the dialog is not known"
EMPTY = "the response is empty"

Ask = Hashable  # a named tuple of texts and numbers: what a backend is asked once


class ScoringMaterial(NamedTuple):
    """A response to be scored, or a citation of it, with all that a metric may look at."""

    target: int
    text: str
    turns: tuple[tuple[str, str], ...] | None  # speaker, text; None: the dialog is not known
    passages: list[EvidencePassage]  # of the evidence choice of the run
    evidence: str = "shown"  # that choice
    is_evidence_stated: bool = True  # what the model was shown is known
    graph: tuple[Triple, ...] = ()  # that the model was shown
    evidence_graph: tuple[Triple, ...] | None = None  # of that choice; None: shown, what was shown
    model: str = ""  # that wrote it
    removed: tuple[Triple, ...] | None = None  # from the graph before; None: it is not known
    citation: ParsedCitation | None = None  # the one that is scored, where a metric judges those

    @property
    def evidence_texts(self) -> list[EvidencePassage]:
        """The passages, then the graph of the evidence choice as flat text: what raters see.

        The texts of document nodes are among its triples.
        """
        triples = self.evidence_graph
        if triples is None:
            triples = self.graph if self.evidence == EvidenceChoice.SHOWN else ()
        graph = flat_graph(triples)
        return [*self.passages, EvidencePassage(None, graph)] if graph else self.passages

    @property
    def says_nothing(self) -> bool:
        """Whether the response has no words: it is neither sensible nor attributable, unasked."""
        return not self.text.strip()

    @property
    def user_question(self) -> str | None:
        """The last turn of the user, else the last turn; None: the dialog is not known."""
        return user_question(self.turns) if self.turns else None


def user_question(turns: Sequence[tuple[str, str]]) -> str:
    """Return the last turn of the user in a dialog, else its last turn."""
    of_user = [text for speaker, text in turns if speaker.lower() == "user"]
    return of_user[-1] if of_user else turns[-1][1]


class Refused(NamedTuple):
    """Nothing can be asked: the response has no score, for this reason."""

    problem: str


class Assumed(NamedTuple):
    """Nothing needs to be asked: the score is 0 by definition."""

    details: Mapping[str, Any] = {}  # as of `ResponseScore`


class ScoreRequest(NamedTuple):
    """What is asked about one response. `asks` alone, with the signature, decide its score."""

    asks: Sequence[Ask]
    context: Any = None  # whatever the metric needs to read the answers


class ResponseScore(NamedTuple):
    """What the answers make of a response: a score, or why there is none."""

    score: float | None
    problem: str = ""
    n_truncated: int = 0  # asks that were cut to what the model reads
    # For researchers' pages; see AutoScore. An entry that names a passage also has the place of
    # its window among all windows, `window`, by which `AutoMetric.windows_again` finds it.
    windows: Sequence[Mapping[str, Any]] = ()
    details: Mapping[str, Any] = {}  # replies, modes, what else is worth keeping


class Option(NamedTuple):
    """One choice of a metric, as forms, the command and the API offer it."""

    name: str  # of the field of `Choices`
    label: str
    choices: Sequence[tuple[str, str]] = ()  # value, in words; none: a whole number
    low: int = 0
    high: int = 0
    help: str = ""


class AutoMetric(ABC):
    """One auto-metric with its choices made. A frozen class in a file of its own, in METRICS."""

    key: ClassVar[str]  # what runs, commands and reports call it
    title: ClassVar[str]
    lede: ClassVar[str]  # what its score says, in a sentence
    backends: ClassVar[tuple[str, ...]]  # keys of those that can answer, the first by default
    options: ClassVar[tuple[Option, ...]] = ()
    judges: ClassVar[Literal["responses", "citations"]] = "responses"  # what has a score each
    assumed_when: ClassVar[str] = "nothing was shown"  # why a score is 0 without asking
    needs_evidence: ClassVar[bool] = False  # without: no evidence choice is asked for
    needs_removed: ClassVar[bool] = False  # only of responses from whose graph triples were removed
    scale: ClassVar[tuple[float, float]] = (0.0, 1.0)  # of its scores
    threshold: ClassVar[float] = 0.5  # by default
    is_yes_at_threshold: ClassVar[bool] = False  # else only above it
    family: ClassVar[str] = ""  # what metrics stand under together where one is chosen
    asks_pairs: ClassVar[bool] = False  # of premise and hypothesis: pages count those
    usual_sample: ClassVar[int | None] = None  # responses of each model, to begin with; None: all
    version: ClassVar[int] = 1  # of how scores are made; a new one makes new runs

    @classmethod
    @abstractmethod
    def made(cls, parameters: Mapping[str, Any]) -> Self:
        """Return the metric with the choices that a run's parameters name; others by default.

        Raises:
            ValueError: a choice that it does not have.
        """

    @property
    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """The choices by name, as JSON knows them: `made` of them is this metric again."""

    @property
    @abstractmethod
    def signature_part(self) -> str:
        """The choices as a signature has them: 'v3|localized:2|whole'."""

    @property
    def in_title(self) -> Sequence[str]:
        """What tells runs apart on pages, beside the metric: 'v3', 'localized K = 2'."""
        return ()

    @property
    def described_choices(self) -> Sequence[tuple[str, str]]:
        """Every choice by its name, for the page of a run."""
        return ()

    def asked_of(self, backend: str) -> Self:
        """Return the metric without the choices that this kind of backend has no use for."""
        return self

    def ready(self, backend: Any) -> Backend:
        """Return what is asked, made from the backend that was opened: here itself.

        Raises:
            BackendError: it cannot be used for this.
        """
        made: Backend = backend
        return made

    @abstractmethod
    def asked(self, material: ScoringMaterial) -> ScoreRequest | Refused | Assumed:
        """Return what to ask about a response."""

    @abstractmethod
    def answers(self, backend: Any, asks: Sequence[Any]) -> Iterable[Any]:
        """Return a backend's answer to each ask, in order. Asks come without repeats.

        An iterator lets the worker give signs of life between two answers.
        """

    @abstractmethod
    def scored(self, asked: ScoreRequest, answers: Sequence[Any]) -> ResponseScore:
        """Return what the answers, one per ask and in order, make of a response."""

    def windows_again(
        self, asked: ScoreRequest, windows: Sequence[Mapping[str, Any]]
    ) -> Sequence[Mapping[str, Any]]:
        """Return windows that were stored for the same asks, with this response's passages."""
        return windows


def digest_of(asks: Iterable[Ask]) -> str:
    """Return the SHA-256 of what is asked, as JSON; made piece by piece, as asks may be many."""
    digest = hashlib.sha256(b"[")
    before = ""
    for ask in asks:
        digest.update(f"{before}{json.dumps(ask, ensure_ascii=False)}".encode())
        before = ", "
    digest.update(b"]")
    return digest.hexdigest()


def content_key(signature: str, digest: str) -> str:
    """Return what two responses share that must have the same score: 32 hexadecimal digits.

    Args:
        signature: all that fixes a score, whatever it is about.
        digest: of what is asked, whole.
    """
    return hashlib.sha256(f"{signature}\0{digest}".encode()).hexdigest()[:32]


def failed(problem: str) -> ResponseScore:
    """Return that a response has no score."""
    return ResponseScore(None, problem)

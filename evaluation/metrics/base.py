"""The interface of an auto-metric: its choices, the questions it asks, and its scores."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self

from evaluation.backends.base import Backend
from evaluation.measures.entailment import EvidencePassage
from evaluation.models import ControlScore
from generation.evidence import EvidenceChoice
from generation.text.citations import ParsedCitation
from generation.text.flat_graph import Triple, flat_graph
from generation.text.user_questions import user_question

NO_DIALOG = "the dialog is not known"
EMPTY = "the response is empty"

Ask = Hashable  # one question to a backend: a named tuple of texts and numbers


class ScoringMaterial(NamedTuple):
    """A response to be scored, or a citation of it, with all data that a metric may use."""

    target: int
    text: str
    turns: tuple[tuple[str, str], ...] | None  # speaker, text; None: the dialog is not known
    passages: list[EvidencePassage]  # the passages of the run's evidence choice
    evidence: str = "shown"  # the run's evidence choice
    is_evidence_stated: bool = True  # whether it is known what the model was shown
    graph: tuple[Triple, ...] = ()  # the graph that the model was shown
    # The graph of the evidence choice. None means `graph` if the choice is 'shown', else no graph.
    evidence_graph: tuple[Triple, ...] | None = None
    model: str = ""  # the model that wrote the response
    removed: tuple[Triple, ...] | None = None  # triples removed from the graph; None: not known
    citation: ParsedCitation | None = None  # the scored citation, if the metric judges citations
    language: str = ""  # codes of the languages of the texts, as the run was asked for
    golden_answer: str = ""  # the answer of its example, only where controls are made

    @property
    def evidence_texts(self) -> list[EvidencePassage]:
        """The passages, then the graph of the evidence choice as flat text, as raters see them.

        The triples of the graph include the texts of document nodes.
        """
        graph = flat_graph(self.judged_graph)
        return [*self.passages, EvidencePassage(None, graph)] if graph else self.passages

    @property
    def judged_graph(self) -> tuple[Triple, ...]:
        """The triples that the response is judged against."""
        if self.evidence_graph is not None:
            return self.evidence_graph
        return self.graph if self.evidence == EvidenceChoice.SHOWN else ()

    @property
    def says_nothing(self) -> bool:
        """Whether the response is empty. Then it is neither sensible nor attributable."""
        return not self.text.strip()

    @property
    def user_question(self) -> str | None:
        """The last turn of the user, else the last turn; None if the dialog is not known."""
        return user_question(self.turns) if self.turns else None


class Refused(NamedTuple):
    """The reason why nothing can be asked about a response, so that it has no score."""

    problem: str


class Assumed(NamedTuple):
    """A score of 0 by definition, for a response about which nothing needs to be asked."""

    details: Mapping[str, Any] = {}  # see `ResponseScore.details`


class ScoreRequest(NamedTuple):
    """The questions about one response. Only `asks` and the signature decide its score."""

    asks: Sequence[Ask]
    context: Any = None  # data that the metric needs to read the answers


class ResponseScore(NamedTuple):
    """The score of a response, made from the answers, or the reason why there is none."""

    score: float | None
    problem: str = ""
    n_truncated: int = 0  # asks that were cut to the length that the model reads
    # For researchers' pages; see AutoScore. An entry that names a passage also has `window`, the
    # place of its window among all windows, by which `AutoMetric.windows_again` finds it.
    windows: Sequence[Mapping[str, Any]] = ()
    details: Mapping[str, Any] = {}  # replies, modes and other data worth keeping


class MadeControl(NamedTuple):
    """A control that was made: the material that is judged."""

    material: ScoringMaterial
    form: str = ""  # the form of a text that says nothing


class Control(NamedTuple):
    """One kind of control of a metric."""

    kind: ControlScore.Kind
    title: str
    said: str  # what it is: 'the response with the evidence of another dialog'
    # From the material of a target, that of a target of another dialog, and a drawn whole number.
    # Return None if nothing can be made.
    make: Callable[[ScoringMaterial, ScoringMaterial, int], MadeControl | None]
    otherwise: str  # why nothing can be made
    # Whether a target of another dialog may stand in; None: the control needs none.
    may_stand_in: Callable[[ScoringMaterial, ScoringMaterial], bool] | None = None


class Option(NamedTuple):
    """One choice of a metric, offered by forms, the command and the API."""

    name: str  # the name of the parameter
    label: str
    choices: Sequence[tuple[str, str]] = ()  # value, in words; empty: the value is a whole number
    low: int = 0
    high: int = 0
    help: str = ""


class AutoMetric(ABC):
    """One auto-metric with its choices made. Each is a frozen class that is listed in METRICS."""

    key: ClassVar[str]  # its name in runs, commands and reports
    title: ClassVar[str]
    lede: ClassVar[str]  # the meaning of its score, in one sentence
    backends: ClassVar[tuple[str, ...]]  # keys of the possible backends; the first is the default
    options: ClassVar[tuple[Option, ...]] = ()
    judges: ClassVar[Literal["responses", "citations"]] = "responses"  # the targets of its scores
    assumed_when: ClassVar[str] = "no evidence shown"  # why a score is 0 without asking
    needs_evidence: ClassVar[bool] = False  # if false, no evidence choice is asked for
    needs_removed: ClassVar[bool] = False  # it scores only responses whose graph lost triples
    scale: ClassVar[tuple[float, float]] = (0.0, 1.0)  # lowest and highest possible score
    threshold: ClassVar[float] = 0.5  # the default threshold
    is_yes_at_threshold: ClassVar[bool] = False  # if false, only a higher score is a yes
    family: ClassVar[str] = ""  # the title of its group in lists of metrics
    asks_pairs: ClassVar[bool] = False  # it asks premise and hypothesis, and pages count pairs
    usual_sample: ClassVar[int | None] = None  # responses of each model suggested first; None: all
    controls: ClassVar[Sequence[Control]] = ()  # see `evaluation.metrics.controls`
    asks_again: ClassVar[str] = ""  # when a language model is called more often than there are asks
    version: ClassVar[int] = 1  # version of the scoring rule; a new one makes new runs

    @classmethod
    @abstractmethod
    def made(cls, parameters: Mapping[str, Any]) -> Self:
        """Return the metric with the choices in a run's parameters; the others have defaults.

        Raises:
            ValueError: the metric has no such choice.
        """

    @classmethod
    def usual_choices(cls, *, knows_questions: bool) -> Mapping[str, Any]:
        """Return the parameters that are not their defaults when nothing is chosen.

        Args:
            knows_questions: whether any question about the scored responses is known.
        """
        return {}

    @property
    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """The choices by name, as JSON values: `made` returns this metric again from them."""

    @property
    @abstractmethod
    def signature_part(self) -> str:
        """The choices in the form used in a signature: 'v3|localized:2|whole'."""

    @property
    def in_title(self) -> Sequence[str]:
        """The words that distinguish runs on pages, beside the metric: 'v3', 'localized K = 2'."""
        return ()

    @property
    def described_choices(self) -> Sequence[tuple[str, str]]:
        """Every choice by its name, for the page of a run."""
        return ()

    @classmethod
    def options_for(cls, backend: str) -> Sequence[Option]:
        """Return the options that apply to a kind of backend; here all of them."""
        return cls.options

    def asked_of(self, backend: str) -> Self:
        """Return the metric without the choices that this kind of backend does not use."""
        return self

    def ready(self, backend: Any) -> Backend:
        """Return the object to ask, made from the opened backend: here the backend itself.

        Raises:
            BackendError: the backend cannot be used for this metric.
        """
        made: Backend = backend
        return made

    @abstractmethod
    def asked(self, material: ScoringMaterial) -> ScoreRequest | Refused | Assumed:
        """Return the questions to ask about a response, or why none is asked."""

    @abstractmethod
    def answers(self, backend: Any, asks: Sequence[Any]) -> Iterable[Any]:
        """Return a backend's answer to each ask, in order. No ask is repeated.

        If the result is an iterator, the worker can report that it is alive between two answers.
        """

    @abstractmethod
    def scored(self, asked: ScoreRequest, answers: Sequence[Any]) -> ResponseScore:
        """Return the score of a response from the answers, one per ask and in order."""

    def windows_again(
        self, asked: ScoreRequest, windows: Sequence[Mapping[str, Any]]
    ) -> Sequence[Mapping[str, Any]]:
        """Return windows that were stored for the same asks, but with this response's passages."""
        return windows


def digest_of(asks: Iterable[Ask]) -> str:
    """Return the SHA-256 of the asks as JSON. It is computed piece by piece: asks may be many."""
    digest = hashlib.sha256(b"[")
    before = ""
    for ask in asks:
        digest.update(f"{before}{json.dumps(ask, ensure_ascii=False)}".encode())
        before = ", "
    digest.update(b"]")
    return digest.hexdigest()


def content_key(signature: str, digest: str) -> str:
    """Return a key of 32 hexadecimal digits. Responses with equal keys must have the same score.

    Args:
        signature: all choices that decide a score, apart from the questions.
        digest: the whole digest of the asks.
    """
    return hashlib.sha256(f"{signature}\0{digest}".encode()).hexdigest()[:32]


def failed(problem: str) -> ResponseScore:
    """Return the result for a response without a score."""
    return ResponseScore(None, problem)

"""The records that readers yield: one for each row of a file, or the problem of that row."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple


class Where(NamedTuple):
    """A place in an imported file. `line` counts from 1; in a JSON list it counts the entries."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}, line {self.line:,}"


class Problem(NamedTuple):
    """A row that cannot be read, and how to fix it."""

    where: Where
    field: str
    found: str
    expected: str

    def __str__(self) -> str:
        field = f", {self.field}" if self.field else ""
        return f"{self.where}{field}: found {self.found}; expected {self.expected}"


class TurnRecord(NamedTuple):
    """One turn of a dialog. `parent` is the index of the turn that it answers, -1 for the first."""

    speaker: str
    text: str
    parent: int


class PassageRecord(NamedTuple):
    """One piece of evidence of an example. Without a `key`, its text identifies it."""

    key: str
    text: str
    title: str
    url: str
    is_golden: bool


class CollectionPassageRecord(NamedTuple):
    """One passage of a dataset's collection, whether or not an example names it as evidence."""

    where: Where
    key: str
    text: str
    title: str
    url: str


class ExampleRecord(NamedTuple):
    """A dialog up to its last user question. `dialog` names the conversation (default: `key`)."""

    where: Where
    key: str
    dialog: str
    turns: tuple[TurnRecord, ...]
    golden_answer: str | None
    evidence: tuple[PassageRecord, ...]
    meta: Mapping[str, Any]


class SetupRecord(NamedTuple):
    """Everything that fixes how a response was made. Sometimes only `name` is known."""

    name: str
    model: str
    temperature: float | None
    prompt: str
    run: str
    settings: Mapping[str, Any]
    made_with: Mapping[str, Any] = {}  # see `Setup.made_with`; not part of a response's digest


TripleText = tuple[str, str, str]  # qid, relation, value


class ResponseRecord(NamedTuple):
    """One response. In `evidence_shown` and graphs, None: the file does not say; (): nothing."""

    where: Where
    key: str
    example: str
    setup: SetupRecord
    text: str
    evidence_shown: tuple[str, ...] | None
    graph_shown: tuple[TripleText, ...] | None
    removed: tuple[TripleText, ...] | None
    meta: Mapping[str, Any]
    chosen_from: str = ""  # for an aggregate: key of the response that was chosen


class EntityTriple(NamedTuple):
    relation: str
    value: str
    value_qid: str


class EntityRecord(NamedTuple):
    """One entity of a knowledge graph with the triples it is the subject of."""

    where: Where
    qid: str
    label: str
    type: str
    aliases: tuple[str, ...]
    text: str
    triples: tuple[EntityTriple, ...]


class MinimumTripleRecord(NamedTuple):
    """One member of a minimum knowledge set; `round` is the construction round that added it."""

    qid: str
    relation: str
    value: str
    round: int | None


class KGQuestionRecord(NamedTuple):
    where: Where
    key: str
    question: str
    entities: tuple[str, ...]
    retrieved: tuple[str, ...] | None
    minimum: tuple[MinimumTripleRecord, ...] | None
    is_minimum_made_up: bool = False
    is_ad_hoc: bool = False


class SampledRecord(NamedTuple):
    """One example of a sample with the verdict given by hand: keep, drop, or "" for none."""

    example: str
    verdict: str
    reason: str  # why it was dropped
    at: datetime | None


class SampleRecord(NamedTuple):
    """A sample as it was drawn (see `generation.models.Sample`). Members are in the order drawn."""

    where: Where
    name: str
    parameters: Mapping[str, Any]
    cascade: Mapping[str, Any]  # {}: the file does not say what the filters left
    n_examples: int  # number of examples of the dataset when it was drawn
    members: tuple[SampledRecord, ...]


class RankedPassageRecord(NamedTuple):
    """A passage that a retriever has found for an example; `rank` counts from 1, the best."""

    where: Where
    ranking: str
    example: str
    passage: str
    rank: int


class RaterRecord(NamedTuple):
    """The facts that a file states about a rater. None: the file does not say."""

    where: Where
    rater: str
    is_excluded: bool | None
    gold_score: float | None
    is_simulated: bool | None
    excluded_reason: str | None


class VoteRecord(NamedTuple):
    """One vote as the file spells it. `answer` is checked against the scheme later."""

    where: Where
    response: str
    rater: str
    question: str
    answer: str
    arm: str
    citation: int | None
    position: int | None
    seconds: float | None
    at: datetime | None
    is_implied: bool
    source_id: str = ""  # the vote's id in the system that it comes from
    is_told: bool = False  # a mapping says that the answer is one, also if it says 'None'
    columns: tuple[str, str] = ("question", "answer")  # messages name these
    item: str | None = None  # the response, as messages name it. None: by its id
    rest: str = ""  # what else its row in a table says


class FlagRecord(NamedTuple):
    """One rater's statement that a response is malformed, so that no judgement is possible."""

    where: Where
    response: str
    rater: str
    arm: str
    reason: str


class AdjudicationRecord(NamedTuple):
    """A researcher's decision about one question and one target, and the reason.

    `answer` is checked against the scheme later; empty: the question cannot be decided.
    """

    where: Where
    response: str
    question: str
    answer: str
    note: str
    by: str  # a code of the researcher
    at: datetime
    citation: int | None


class ScoreRecord(NamedTuple):
    where: Where
    response: str
    metric: str
    score: float | None
    citation: int | None
    signature: str
    is_assumed: bool = False  # the score is 0 without asking a model, as nothing was shown
    problem: str = ""  # why there is no score
    n_truncated: int = 0  # pairs whose premise was cut
    details: Mapping[str, Any] = {}  # other facts that its metric stores


Record = (
    CollectionPassageRecord
    | ExampleRecord
    | ResponseRecord
    | EntityRecord
    | KGQuestionRecord
    | SampleRecord
    | RankedPassageRecord
    | RaterRecord
    | VoteRecord
    | FlagRecord
    | AdjudicationRecord
    | ScoreRecord
)

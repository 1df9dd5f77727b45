"""The uses that a dataset allows while it is imported, and what it lacks for the others."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from generation.importers.rater_codes import NOMINAL
from generation.records import (
    CollectionPassageRecord,
    EntityRecord,
    ExampleRecord,
    KGQuestionRecord,
    RankedPassageRecord,
    Record,
    ResponseRecord,
    ScoreRecord,
    VoteRecord,
)

MOST_NAMES = 1_000  # setups and raters that are counted, at most of each


class Contents:
    """Counts of what a dataset's uses depend on, made in one pass over its good rows."""

    def __init__(self) -> None:
        self.setups: set[str] = set()
        self.raters: set[str] = set()
        self.arms: set[str] = set()
        self.n_with_evidence = self.n_golden = self.n_passages = self.n_ranked = 0
        self.n_scores = self.n_entities = self.n_kg_questions = self.n_cited = 0

    def note(self, records: Iterable[Record]) -> None:
        """Count some rows."""
        for record in records:
            match record:
                case CollectionPassageRecord():
                    self.n_passages += 1
                case ExampleRecord():
                    self.n_golden += any(passage.is_golden for passage in record.evidence)
                case ResponseRecord():
                    if len(self.setups) < MOST_NAMES:
                        self.setups.add(record.setup.name)
                    self.n_with_evidence += bool(record.evidence_shown or record.graph_shown)
                    self.n_cited += bool(record.graph_shown)
                case VoteRecord():
                    self.arms.add(record.arm)
                    if record.rater != NOMINAL and len(self.raters) < MOST_NAMES:
                        self.raters.add(record.rater)
                case ScoreRecord():
                    self.n_scores += 1
                case EntityRecord():
                    self.n_entities += 1
                case RankedPassageRecord():
                    self.n_ranked += 1
                case KGQuestionRecord():
                    self.n_kg_questions += 1


class Use(NamedTuple):
    """A use of a dataset, and what is missing in a dataset that does not allow it."""

    title: str
    is_possible: Callable[[Contents], bool]
    lacks: str


USES = (
    Use("Rating by SSA", lambda c: bool(c.setups), "responses"),
    Use(
        "Rating by AIS",
        lambda c: bool(c.n_with_evidence or (c.setups and c.n_golden)),
        "responses with evidence",
    ),
    Use("Agreement between raters", lambda c: len(c.raters) > 1, "votes of two raters"),
    Use(
        "Agreement of metrics with people",
        lambda c: bool(c.arms and c.setups),
        "votes to compare the scores of metrics with",
    ),
    Use(
        "Merged against separate", lambda c: {"separate", "merged"} <= c.arms, "votes of both arms"
    ),
    Use("Comparison of setups and trade-offs", lambda c: len(c.setups) > 1, "two setups"),
    Use(
        "Recall of retrieval",
        lambda c: bool(c.n_ranked or (c.n_golden and c.n_passages)),
        "golden evidence, and passages to search",
    ),
    Use("Citations of a graph", lambda c: bool(c.n_cited), "responses with the graph shown"),
    Use("Questions about a graph", lambda c: bool(c.n_kg_questions), "a graph with questions"),
)


def uses_of(contents: Contents) -> list[tuple[str, str]]:
    """Return each use with what the data lack for it; "" where they lack nothing."""
    return [(use.title, "" if use.is_possible(contents) else use.lacks) for use in USES]

"""The rows of a table that repeat a response, and what they say that its first row does not."""

from array import array
from collections.abc import Iterable
from typing import Any

from generation.importers.mapped.mapped_rows import MappedRow
from generation.importers.mapped.roles import is_of_rows, named_columns

REPEATED = "rows that repeat a response, which is stored once"
UNLESS = (
    "which are lost unless you choose a column of votes (without raters, none is taken for one) or "
    "one that tells the responses apart"
)
EMPTY = (None, "")
_Shape = tuple[tuple[str, str], ...]  # kind (cell or score) and name
FIRST_EVIDENCE = (
    "rows with votes on a response that was shown with other evidence, which is lost: only the "
    "evidence of its first row is stored"
)
FIRST_SCORES = "which are lost: only the scores of its first row are stored"


class RepeatedRows:
    """Counts of the rows that repeat a response, made in one pass over all rows.

    Args:
        has_votes: whether the rows have votes. Then they differ in what a rater did besides voting,
            and nothing that a report needs is lost.
    """

    def __init__(self, *, has_votes: bool) -> None:
        self._has_votes = has_votes
        self._shapes: dict[_Shape, _Shape] = {}  # each set of cells that a row has, kept once
        # response → the cells that its first row has, and their hashes
        self._first: dict[str, tuple[_Shape, array[int]]] = {}
        self._n_repeated = 0
        self._n_with_scores = 0
        self._n_with_evidence = 0
        self._n_otherwise = 0
        self._metrics: dict[str, None] = {}
        self._columns: dict[str, None] = {}

    def note(
        self, response: str, row: MappedRow, scores: Iterable[tuple[str, float | None]]
    ) -> None:
        """Count a row of a response. Its first row is remembered."""
        cells = row.compared.items()
        said: dict[tuple[str, str], Any] = {
            ("cell", name): value for name, value in cells if not is_of_rows(name)
        }
        if self._has_votes and row.shown:
            said["evidence", ""] = [passage.key for passage in row.shown]
        said |= {("score", metric): score for metric, score in scores if score is not None}
        hashes = {what: hash(repr(value)) for what, value in said.items() if value not in EMPTY}
        if response not in self._first:
            shape = tuple(hashes)
            shape = self._shapes.setdefault(shape, shape)
            self._first[response] = shape, array("q", hashes.values())
            return
        shape, first = self._first[response]
        there = dict(zip(shape, first, strict=True))
        others = [what for what, hashed in hashes.items() if there.get(what) != hashed]
        if not self._has_votes:  # a cell may say something by its being empty
            others += [what for what in there if what[0] == "cell" and what not in hashes]
        columns = dict.fromkeys(name for kind, name in others if kind == "cell")
        metrics = dict.fromkeys(name for kind, name in others if kind == "score")
        self._n_repeated += 1
        self._n_otherwise += bool(columns)
        self._n_with_scores += bool(metrics)
        self._n_with_evidence += ("evidence", "") in others
        self._columns |= columns
        self._metrics |= metrics

    @property
    def losses(self) -> dict[str, int]:
        """The values, evidence and scores that are lost if the rows are stored so, by name."""
        found = {}
        if self._n_otherwise and not self._has_votes:
            found[_with_other("values", self._columns) + UNLESS] = self._n_otherwise
        if self._n_with_evidence:
            found[FIRST_EVIDENCE] = self._n_with_evidence
        if self._n_with_scores:
            found[_with_other("scores", self._metrics) + FIRST_SCORES] = self._n_with_scores
        return found

    @property
    def notes(self) -> dict[str, int]:
        """Facts about the rows, by name."""
        if not self._has_votes:
            return {REPEATED: self._n_repeated}
        name = named_columns([*self._columns]) if self._columns else ""
        return {
            f"rows with votes that say something else in {name} than the first row of their "
            "response, whose meta keeps only that": self._n_otherwise
        }


def _with_other(what: str, names: Iterable[str]) -> str:
    return f"rows that repeat a response with other {what} in {named_columns([*names])}, "

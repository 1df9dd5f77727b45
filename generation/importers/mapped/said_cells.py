"""The votes and scores of one row of a table, as its mapping reads their cells."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from generation.importers.cell_meanings import ScoreCell, meaning_of, score_in
from generation.importers.fields import Row
from generation.importers.interchange_rows import LONGEST_QUESTION
from generation.importers.mapped.cells import scores_of
from generation.importers.mapped.mapping import ColumnMapping
from generation.limits import LONGEST_NAME


class SaidVote(NamedTuple):
    """A vote as its cell says it.

    Attributes:
        rater: the rater whose column it is. "": each row names its rater.
        is_told: whether the mapping says that this is an answer.
        column: the column of the answer.
    """

    rater: str
    question: str
    answer: str
    is_told: bool
    column: str


def votes_in(
    row: Row, mapping: ColumnMapping, note_missing: Callable[[str], None]
) -> Iterator[SaidVote]:
    """Yield the votes of a row.

    Args:
        note_missing: called with what a cell says that is no vote: nothing, or a word of which the
            mapping says so. Other words for nothing depend on the scale of the question, so they
            are yielded.
    """
    asked = mapping.one("asked")
    for column in (*mapping.of("vote"), *mapping.of("rater_votes")):
        if row.is_empty(column):
            note_missing("")
        if row.values.get(column) is None or row.is_empty(column):
            continue
        word = row.word(column)
        told = meaning_of(word, mapping.meanings(column))
        if told == "":
            note_missing(word)
            continue
        question = mapping.name_of(column)
        question = row.key(asked, longest=LONGEST_QUESTION) if asked else question
        if len(question) > LONGEST_QUESTION:
            row.refuse(
                column, f"a name of {len(question):,} characters", f"at most {LONGEST_QUESTION}"
            )
        rater = mapping.rater_of(column)
        answer = word if told is None else told
        yield SaidVote(rater, question, answer, told is not None, column)


def scores_in(row: Row, mapping: ColumnMapping) -> Iterator[tuple[str, ScoreCell]]:
    """Yield the metric and the cell of each score of a row."""
    for column in mapping.of("score"):
        if row.is_csv or column in row.values:
            yield mapping.name_of(column), score_in(row.values.get(column), mapping.decimal)
    for column in mapping.of("scores"):
        for metric, cell in scores_of(row, column):
            if not 0 < len(metric) <= LONGEST_NAME:
                row.refuse(column, metric[:80], f"a name of 1 to {LONGEST_NAME} characters")
            yield metric, cell

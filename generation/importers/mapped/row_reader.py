"""One row of a table, read by its mapping: what it says of its examples, responses and votes."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from generation.importers.fields import LONGEST_KEY, Row
from generation.importers.mapped.cells import (
    SYSTEM,
    conversation_of,
    golden_answer_of,
    nested,
    response_of,
    says_nothing,
    seconds_in,
    system_messages_in,
    texts_of,
    turns_of,
)
from generation.importers.mapped.encoded_texts import DECODED, decoded
from generation.importers.mapped.mapped_rows import MappedResponse, MappedRow
from generation.importers.mapped.mapping import ColumnMapping
from generation.importers.mapped.proposal import value_of_vote
from generation.importers.mapped.response_keys import hash_of
from generation.importers.mapped.roles import HOLD_VOTES, NAMES, OF_MESSAGES, ROLES
from generation.importers.mapped.said_cells import scores_in, votes_in
from generation.importers.mapped.table_files import beside, value_at
from generation.importers.messages import last_speaker, unsaid
from generation.importers.rater_codes import without_persons
from generation.limits import LONGEST_NAME
from generation.records import TurnRecord

ONE_SETUP = "answers"  # the setup of a table that names none


class MappedRowReader:
    """Reads rows by a mapping.

    Args:
        texts: the columns that hold texts or messages.
        encoded: those of them whose texts are encoded twice.
        line_of: returns the line of the first row that says the same, see `ResponseKeys`.
        has_raters: whether the table is about raters, of whom it may tell no name and no address.
    """

    def __init__(
        self,
        mapping: ColumnMapping,
        texts: Sequence[str],
        encoded: Collection[str],
        *,
        line_of: Callable[..., int],
        has_raters: bool,
    ) -> None:
        self._mapping = mapping
        self._of = {role: mapping.of(role) for role in ROLES}  # needed for each cell
        self._texts = texts
        self._encoded = encoded
        self._first_line_of = line_of
        self._has_votes = any(self._of[role] for role in HOLD_VOTES)
        self._has_raters = has_raters

    def read(self, raw: Row) -> MappedRow:
        """Return what a row says. Its problems are added to those of the row itself."""
        columns = self._mapping.columns
        values = {
            column: value
            for column, role in columns.items()
            if (value := _value_in(raw, column, role)) is not None or column in raw.values
        }
        encoded = [column for column in self._encoded if values.get(column)]
        values |= {column: decoded(values[column]) or None for column in encoded}
        row = Row(
            raw.where,
            values,
            is_csv=raw.is_csv,
            max_nesting=raw.max_nesting,
            problems=raw.problems,
            notes=[DECODED] * len(encoded),
        )
        turns, said = self._dialog(row)
        dialog = self._key(row, "dialog")
        golden_answers = self._columns(row, "golden_answer")
        shown = texts_of(row, self._of["shown"])
        golden = texts_of(row, self._of["golden"])
        if self._mapping.system_messages:
            of_system = system_messages_in(row, [c for role in OF_MESSAGES for c in self._of[role]])
            row.notes[:] = [what for what in row.notes if what != SYSTEM]
            if self._mapping.system_messages == "shown":
                shown = tuple({each.key: each for each in (*shown, *of_system)}.values())
            else:
                golden = tuple({each.key: each for each in (*golden, *of_system)}.values())
        told_by = [turn.text for turn in turns] or [each.key for each in (*golden, *shown)]
        answers, n_without = self._answers(row, said)
        if not told_by:
            told_by = [str(self._line_of(row, dialog, answers))]
        example = self._key(row, "example") or hash_of(dialog, *told_by)
        missing: list[str] = []
        votes = tuple(votes_in(row, self._mapping, missing.append))
        meta = beside(raw.values, columns)
        meta, of_persons = without_persons(meta) if self._has_raters else (meta, [])
        for column in self._texts:
            if further := unsaid(row.values.get(column)):
                meta[column] = further
        evidence = () if self._has_votes else self._of["shown"]
        return MappedRow(
            where=row.where,
            example=example,
            dialog=dialog or example,
            turns=turns,
            golden_answer=golden_answer_of(row, golden_answers[0]) if golden_answers else None,
            golden=tuple(passage._replace(is_golden=True) for passage in golden),
            shown=shown,
            answers=answers,
            n_without=n_without,
            scores=tuple(scores_in(row, self._mapping)),
            votes=votes,
            missing=tuple(missing),
            rater=self._key(row, "rater", LONGEST_NAME) or self._mapping.constants.get("rater", ""),
            vote_id=self._key(row, "vote_id"),
            seconds=seconds_in(row, self._columns(row, "seconds"), self._mapping.decimal),
            at=next((row.moment(c) for c in self._columns(row, "at")), None),
            meta=meta,
            notes=tuple(row.notes),
            of_persons=tuple(of_persons),
            compared={**meta, **{column: row.values.get(column) for column in evidence}},
        )

    def _line_of(self, row: Row, dialog: str, answers: Sequence[MappedResponse]) -> int:
        """Return the line that names the example of a row without a question and evidence.

        Where the rows name their raters, equal responses are one.
        """
        if not self._columns(row, "rater"):
            return row.where.line
        said = (text for answer in answers for text in (answer.setup, answer.text))
        return self._first_line_of(row.where.line, dialog, *said)

    def _dialog(self, row: Row) -> tuple[tuple[TurnRecord, ...], str | None]:
        """Return the turns up to a question, and the response if a conversation ends with it."""
        history = next(iter(self._columns(row, "history")), None)
        for column in self._columns(row, "messages"):
            is_asked = last_speaker(nested(row, column)) == "user"
            if is_asked and self._columns(row, "response"):  # the response stands beside them
                return turns_of(row, column, history), None
            return conversation_of(row, column)
        for column in self._columns(row, "question") or self._of["question"][:1]:
            return turns_of(row, column, history), None
        return (), None

    def _columns(self, row: Row, role: str) -> list[str]:
        """Return the columns of a role that are not empty in this row.

        In ids, names and times, a word for nothing is as an empty cell.
        """
        columns = self._of[role]
        there = [c for c in columns if row.values.get(c) not in (None, "")] if columns else []
        return [c for c in there if not says_nothing(row.values[c])] if role in NAMES else there

    def _answers(self, row: Row, said: str | None) -> tuple[tuple[MappedResponse, ...], int]:
        columns = self._of["response"]
        if len(columns) < 2 or said is not None:
            setup = self._key(row, "setup", LONGEST_NAME)
            setup = setup or self._mapping.constants.get("setup", ONE_SETUP)
            text = said if said is not None else response_of(row, columns[0]) if columns else ""
            return (MappedResponse(self._key(row, "response_id"), setup, text),), 0
        there = [column for column in columns if row.values.get(column) not in (None, "")]
        name_of = self._mapping.name_of
        answers = (
            MappedResponse("", name_of(column), response_of(row, column)) for column in there
        )
        return tuple(answers), len(columns) - len(there)

    def _key(self, row: Row, role: str, longest: int = LONGEST_KEY) -> str:
        """Return the id or name in a column. "": there is no such column, or it is empty."""
        return next((row.key(c, longest=longest) for c in self._columns(row, role)), "")


def _value_in(row: Row, column: str, role: str) -> Any:
    return value_of_vote(row, column) if role in HOLD_VOTES else value_at(row.values, column)

"""The records of a table whose columns a mapping names. Our readings:

- Rows with the same question (and dialog, if a column names it) are responses to one example.
- Rows with one example, setup and text are one response. What else they say is a vote or counted.
  In the files of a tool that lists responses, each row is one.
- Without a column for the dialog, each example is a conversation of its own.
"""

from collections import Counter
from collections.abc import Iterator

from generation.importers.cell_meanings import is_missing, without
from generation.importers.errors import DatasetError, excerpt
from generation.importers.mapped.encoded_texts import encoded_columns
from generation.importers.mapped.mapped_rows import (
    ALONE,
    CODED,
    EMPTY,
    GUESSED,
    LEFT_OUT,
    LONG,
    LONG_TEXT,
    NO_RESPONSE,
    OF_NOBODY,
    OF_PERSONS,
    OTHERWISE,
    PASSED_OVER,
    RESPELLED,
    WITHOUT_EVIDENCE,
    MappedResponse,
    MappedRow,
)
from generation.importers.mapped.mapping import ColumnMapping
from generation.importers.mapped.only_table import open_table
from generation.importers.mapped.proposal import (
    UnmappedError,
    look_at,
)
from generation.importers.mapped.repeated_rows import RepeatedRows
from generation.importers.mapped.response_keys import ResponseKeys, hash_of
from generation.importers.mapped.roles import (
    HOLD_VOTES,
    OF_TEXTS,
    ROLES,
    expected_columns,
    named_columns,
)
from generation.importers.mapped.row_reader import MappedRowReader
from generation.importers.mapped.table_files import value_at
from generation.importers.mapped.votes_in_cells import STAY
from generation.importers.material import Material
from generation.importers.rater_codes import NOMINAL, RaterNames, is_address, without_addresses
from generation.importers.sources import Source
from generation.limits import LONGEST_NAME
from generation.records import (
    CollectionPassageRecord,
    ExampleRecord,
    Problem,
    Record,
    ResponseRecord,
    ScoreRecord,
    SetupRecord,
    VoteRecord,
)

WITH_LATE_RATERS = (
    "with raters whom no mapping and none of the first rows names: those votes stay in meta"
)
MODELS = ("model", "model_name")  # columns that name a model; others name a setup


class MappedMaterial(Material):
    """One table with at least a column of questions and a column of responses.

    The problems of its rows come with the responses.

    Args:
        mapping: the mapping of its columns. None: a recipe, or their names and contents, decide.

    Raises:
        UnmappedError: it is not known which columns hold questions and responses.
        DatasetError: there is no table, or it does not fit the mapping.
    """

    format = "table"

    def __init__(self, source: Source, mapping: ColumnMapping | None = None) -> None:
        super().__init__(source)
        look = look_at(source, mapping)
        if look is None:
            raise DatasetError(source.path.name, "no table", expected_columns())
        if not look.is_told:
            raise UnmappedError(look, expected_columns())
        table = open_table(source, look.mapping)
        if table is None:
            raise DatasetError(source.path.name, "no table", expected_columns())
        if next(table.rows(), None) is None:
            raise DatasetError(table.name, "a header without rows", "at least one row")
        self._table = table
        self.look = look
        self._mapping = look.mapping
        self._unread = look.unread
        self._columns = {column.name for column in look.columns}
        self._of = {role: look.mapping.of(role) for role in ROLES}
        self._has_votes = any(self._of[role] for role in HOLD_VOTES)
        names = (column.name for column in look.columns)
        self._has_raters = self._has_votes or bool(self._of["rater"]) or any(map(is_address, names))
        self._has_shown = bool(self._of["shown"]) or look.mapping.system_messages == "shown"
        # The files of a tool without raters have a row for each response.
        is_by_row = bool(self._mapping.reader) and not self._has_raters
        self.kinds = tuple(
            kind
            for kind, roles in {
                "passages": ("shown",),
                "examples": ("response", "messages"),
                "responses": ("response", "messages"),
                "votes": HOLD_VOTES,
                "scores": ("score", "scores"),
            }.items()
            if any(self._mapping.one(role) for role in roles)
            or (kind == "passages" and self._has_shown)
        )
        self.ignored = source.ignored + [name for name in source.sizes if name not in table.names]
        self.ignored += table.place.not_read if table.place else []
        self._keys = ResponseKeys(is_by_row=is_by_row, has_votes=self._has_votes)
        texts = [column for role in OF_TEXTS for column in self._of[role]]
        self._read = MappedRowReader(
            look.mapping,
            texts,
            encoded_columns(() if look.mapping.reader else table.rows(), texts),
            line_of=self._keys.line_of,
            has_raters=self._has_raters,
        ).read

    @property
    def bytes_total(self) -> int:
        return sum(self._source.sizes[name] for name in self._table.names) * len(self.kinds)

    def records(self, kind: str) -> Iterator[Record | Problem]:
        read = {
            "passages": self._passages,
            "examples": self._examples,
            "responses": self._responses,
            "votes": self._votes,
            "scores": self._scores,
        }
        return read[kind]() if kind in self.kinds else iter(())

    def _passages(self) -> Iterator[Record]:
        seen: set[str] = set()
        n_long = 0
        for row in self._good_rows():
            for shown in row.shown:
                if shown.key not in seen:
                    seen.add(shown.key)
                    self._refuse_more(len(seen))
                    n_long += len(shown.text) > LONG_TEXT
                    key, text, title = shown.key, shown.text, shown.title
                    yield CollectionPassageRecord(row.where, key, text, title, "")
        self._note(LONG, n_long)

    def _examples(self) -> Iterator[Record]:
        first: dict[str, str] = {}  # key → hash of its content
        n_otherwise = 0
        for row in self._good_rows():
            example = _example(row)
            said = hash_of(repr(example[2:]))
            if example.key not in first:
                self._refuse_more(len(first) + 1)
                yield example
            n_otherwise += first.setdefault(example.key, said) != said
        self._note(OTHERWISE, n_otherwise)
        self._note(ALONE, 0 if self._of["dialog"] else len(first))

    def _responses(self) -> Iterator[Record | Problem]:
        n_without_evidence = n_empty = n_without = 0
        counted: Counter[str] = Counter()
        of_persons: Counter[str] = Counter()
        unread: Counter[str] = Counter()
        late: Counter[str] = Counter()
        perhaps, passed_over = self.look.passed_over if self.look else (), Counter[str]()
        repeated = RepeatedRows(has_votes=self._has_votes)
        for row in self._rows():
            if isinstance(row, Problem):
                yield row
                continue
            n_without += row.n_without
            unread.update(column for column in self._unread if row.meta.get(column))
            late.update(self._of_late_raters(row))
            counted.update(row.notes)
            of_persons.update(row.of_persons)
            passed_over.update(c for c in perhaps if value_at(row.meta, c) not in (None, ""))
            for answer, is_new in self._named(row):
                scores = ((metric, cell.score) for metric, cell in row.scores)
                repeated.note(answer.key, row, scores)
                if is_new:
                    n_without_evidence += not row.shown
                    n_empty += not answer.text.strip()
                    yield self._response(row, answer)
        self._note(WITHOUT_EVIDENCE, n_without_evidence)
        self._note(EMPTY, n_empty)
        self.losses |= repeated.losses
        self.losses |= {f"cells of {column}, {STAY}": n for column, n in unread.items()}
        self.losses |= {f"cells of {column} {WITH_LATE_RATERS}": n for column, n in late.items()}
        for what, n in repeated.notes.items():
            self._note(what, n)
        if n_without:
            counted[NO_RESPONSE] = n_without
        for what, n in counted.items():
            (self.n_left_out if what in LEFT_OUT else self.notes)[what] = n
        self.n_left_out |= self._table.left_out
        for column, n in passed_over.items():
            self._note(f"cells of {without_addresses(column)}, {PASSED_OVER}", n)
        for column, n in of_persons.items():
            self.n_left_out[f"cells of {column}, {OF_PERSONS}"] = n

    def _votes(self) -> Iterator[Record]:
        raters: set[str] = set()
        names = RaterNames()
        shown = {c: without_addresses(c) for role in HOLD_VOTES for c in self._of[role]}
        asked = self._mapping.one("asked")
        missing: Counter[str] = Counter()
        n_of_nobody = n_votes = 0
        for row in self._good_rows():
            missing.update(row.missing)
            told_by = [
                names.first_spelling((vote.rater or row.rater)[:LONGEST_NAME]) for vote in row.votes
            ]
            codes = {name: self.rater_code(name) if name else NOMINAL for name in told_by}
            raters |= {name for name, code in codes.items() if name and not name.startswith(code)}
            n_of_nobody += sum(codes[name] == NOMINAL for name in told_by)
            said = [vote for vote in row.votes if vote.is_told or not is_missing(vote.answer)]
            n_votes += len(said) * len(row.answers)
            for answer, _ in self._named(row):
                for name, vote in zip(told_by, row.votes, strict=True):
                    yield VoteRecord(
                        where=row.where,
                        response=answer.key,
                        rater=codes[name],
                        question=vote.question,
                        answer=vote.answer,
                        arm="separate",
                        citation=None,
                        position=None,
                        seconds=row.seconds,
                        at=row.at,
                        is_implied=False,
                        source_id=row.vote_id,
                        is_told=vote.is_told,
                        columns=(asked or shown[vote.column], shown[vote.column]),
                        item=excerpt(answer.text),
                        rest=row.rest,
                    )
        self._note(OF_NOBODY, n_of_nobody)
        self._note(CODED, len(raters))
        self._note(RESPELLED, names.n_respelled)
        self.notes |= {without("vote", word): n for word, n in missing.items()}
        if self.look and self.look.guessed:
            columns = without_addresses(named_columns(self.look.guessed))
            self._note(f"votes in {columns}, {GUESSED}", n_votes)

    def _scores(self) -> Iterator[Record]:
        counted: Counter[str] = Counter()
        for row in self._good_rows():
            for answer, is_new in self._named(row):
                for metric, cell in row.scores if is_new else ():
                    counted[cell.note] += bool(cell.note)
                    if not cell.is_empty:
                        yield ScoreRecord(
                            where=row.where,
                            response=answer.key,
                            metric=metric,
                            score=cell.score,
                            citation=None,
                            signature="",
                            problem=cell.problem,
                        )
        self.notes |= +counted

    def _of_late_raters(self, row: MappedRow) -> Iterator[str]:
        """Yield the objects of votes with a name that none of the first rows has."""
        columns = self._of["rater_votes"]
        for name in dict.fromkeys(column.rpartition(".")[0] for column in columns):
            rest = row.meta.get(name) if name else None
            if isinstance(rest, dict) and any(f"{name}.{key}" not in self._columns for key in rest):
                yield name

    def _named(self, row: MappedRow) -> Iterator[tuple[MappedResponse, bool]]:
        """Yield the responses of a row with their keys, and whether each of them is new."""
        for named in self._keys.named(row):
            self._refuse_more(len(self._keys))
            yield named

    def _refuse_more(self, n_rows: int) -> None:
        self._source.refuse_more_in_memory(self._table.name, n_rows)

    def _note(self, what: str, n: int) -> None:
        if n:
            self.notes[what] = n

    def _good_rows(self) -> Iterator[MappedRow]:
        return (row for row in self._rows() if not isinstance(row, Problem))

    def _rows(self) -> Iterator[MappedRow | Problem]:
        self._keys.clear()
        for row in self._table.rows():
            if isinstance(row, Problem):
                yield row
                continue
            found = self._read(row)
            if row.problems:
                yield from row.problems
            else:
                yield found

    def _response(self, row: MappedRow, answer: MappedResponse) -> ResponseRecord:
        model = answer.setup if {*self._of["setup"]} & {*MODELS} else ""
        shown = tuple(passage.key for passage in row.shown)
        return ResponseRecord(
            where=row.where,
            key=answer.key,
            example=row.example,
            setup=SetupRecord(answer.setup, model, None, "", "", {}),
            text=answer.text,
            evidence_shown=shown if self._has_shown else None,
            graph_shown=None,
            removed=None,
            meta=row.meta,
        )


def recognises(source: Source) -> bool:
    """Return whether this is one table whose columns of questions and responses are known."""
    look = look_at(source)
    return look is not None and look.is_told


def _example(row: MappedRow) -> ExampleRecord:
    return ExampleRecord(
        where=row.where,
        key=row.example,
        dialog=row.dialog,
        turns=row.turns,
        golden_answer=row.golden_answer,
        evidence=row.golden,
        meta={},
    )

"""A table of questions and answers, as people have it: CSV, TSV or JSON Lines, a response a row.

A column is told by its name (`table_columns`); all others stay in `meta`. Our readings:

- Rows with the same question (and dialog, where a column names it) are responses to one example.
- A cell of evidence is a text, a JSON list of texts, or one of objects with a `text`.
- A question may be a list of messages, as chat tools write it; the last one is the user's.
- Without a column for the dialog each example is a conversation of its own.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from generation.importers.errors import DatasetError, excerpt
from generation.importers.fields import LONGEST_KEY, Row
from generation.importers.interchange_rows import passage_key
from generation.importers.json_text import JSONTrouble, parse_json
from generation.importers.material import FileMaterial
from generation.importers.short_keys import short_key
from generation.importers.sources import Source
from generation.importers.table_columns import (
    NEEDED,
    columns_of,
    expected_columns,
    is_json,
)
from generation.importers.tables import csv_rows, json_rows
from generation.limits import LONGEST_NAME
from generation.records import (
    CollectionPassageRecord,
    ExampleRecord,
    PassageRecord,
    Problem,
    Record,
    ResponseRecord,
    SetupRecord,
    TurnRecord,
    Where,
)

ONE_SETUP = "answers"  # of a table that does not say who has answered
MODELS = ("model", "model_name")  # columns that name a model, where others name a setup
SPEAKERS = {
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "ai", "model", "bot"), "assistant"),
}
NOT_SAID = ("system", "tool", "developer")  # messages that no raters see
TEXTS = ("text", "content", "page_content", "context")  # what an object calls its text
ALONE = "examples that stand alone, as no column names their dialog"
OTHERWISE = "rows that say something else of their example than its first row"
EMPTY = "responses without a text, which count as empty answers"
WITHOUT_EVIDENCE = "responses without evidence, so that AIS cannot be rated"


class FlatRow(NamedTuple):
    """One row, checked."""

    where: Where
    example: str
    dialog: str
    turns: tuple[TurnRecord, ...]
    golden_answer: str | None
    golden: tuple[PassageRecord, ...]
    shown: tuple[PassageRecord, ...]
    setup: str
    response: str
    meta: Mapping[str, Any]


class FlatTableMaterial(FileMaterial):
    """One table with a column of questions and one of responses.

    The problems of its rows come with the responses.
    """

    format = "table"
    one_file = "one table of questions and answers"

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        found = columns_of(source, self._file)
        if any(needed not in found for needed in NEEDED):
            raise DatasetError(self._file, "no table of questions and answers", expected_columns())
        self._columns = found
        evidence = ("passages",) if "shown" in found else ()
        self.kinds = (*evidence, "examples", "responses")

    @property
    def bytes_total(self) -> int:
        return self._source.sizes[self._file] * len(self.kinds)

    def records(self, kind: str) -> Iterator[Record | Problem]:
        read = {
            "passages": self._passages,
            "examples": self._examples,
            "responses": self._responses,
        }
        return read[kind]() if kind in self.kinds else iter(())

    def _passages(self) -> Iterator[Record]:
        seen: set[str] = set()
        for row in self._good_rows():
            for shown in row.shown:
                if shown.key not in seen:
                    seen.add(shown.key)
                    self._source.refuse_more_in_memory(self._file, len(seen))
                    key, text, title = shown.key, shown.text, shown.title
                    yield CollectionPassageRecord(row.where, key, text, title, "")

    def _examples(self) -> Iterator[Record]:
        first: dict[str, str] = {}  # key → a hash of what is said
        n_otherwise = 0
        for row in self._good_rows():
            example = _example(row)
            said = _hash_of(repr(example[2:]))
            if example.key not in first:
                self._source.refuse_more_in_memory(self._file, len(first) + 1)
                yield example
            n_otherwise += first.setdefault(example.key, said) != said
        self._note(OTHERWISE, n_otherwise)
        self._note(ALONE, 0 if "dialog" in self._columns else len(first))

    def _responses(self) -> Iterator[Record | Problem]:
        seen: Counter[str] = Counter()
        n_without = n_empty = 0
        for row in self._rows():
            if isinstance(row, Problem):
                yield row
                continue
            key = f"{row.example}|{row.setup}"
            seen[key] += 1
            self._source.refuse_more_in_memory(self._file, len(seen))
            n_without += not row.shown
            n_empty += not row.response.strip()
            yield self._response(row, key if seen[key] == 1 else f"{key}|{seen[key]}")
        self._note(WITHOUT_EVIDENCE, n_without)
        self._note(EMPTY, n_empty)

    def _note(self, what: str, n: int) -> None:
        if n:
            self.notes[what] = n

    def _good_rows(self) -> Iterator[FlatRow]:
        return (row for row in self._rows() if not isinstance(row, Problem))

    def _rows(self) -> Iterator[FlatRow | Problem]:
        for row in self._table():
            if isinstance(row, Problem):
                yield row
                continue
            found = self._checked(row)
            if row.problems:
                yield from row.problems
            else:
                yield found

    def _table(self) -> Iterator[Row | Problem]:
        if is_json(self._source, self._file):
            return json_rows(self._source, self._file)
        needed = tuple(self._columns[each] for each in NEEDED)
        return csv_rows(self._source, self._file, needed, frozenset(self._columns.values()))

    def _checked(self, row: Row) -> FlatRow:
        turns = _turns(row, self._columns["question"])
        dialog = self._key(row, "dialog")
        example = self._key(row, "example") or _hash_of(dialog, *(turn.text for turn in turns))
        answers = _texts(row, self._columns.get("golden_answer"))
        return FlatRow(
            where=row.where,
            example=example,
            dialog=dialog or example,
            turns=turns,
            golden_answer=answers[0].text if answers else None,
            golden=tuple(
                passage._replace(is_golden=True)
                for passage in _texts(row, self._columns.get("golden"))
            ),
            shown=_texts(row, self._columns.get("shown")),
            setup=self._key(row, "setup", LONGEST_NAME) or ONE_SETUP,
            response=row.text(self._columns["response"], ""),
            meta=row.unknown(self._columns.values()),
        )

    def _response(self, row: FlatRow, key: str) -> ResponseRecord:
        shown = tuple(passage.key for passage in row.shown)
        model = row.setup if self._columns.get("setup") in MODELS else ""
        return ResponseRecord(
            where=row.where,
            key=short_key(key),
            example=row.example,
            setup=SetupRecord(row.setup, model, None, "", "", {}),
            text=row.response,
            evidence_shown=shown if "shown" in self._columns else None,
            graph_shown=None,
            removed=None,
            meta=row.meta,
        )

    def _key(self, row: Row, what: str, longest: int = LONGEST_KEY) -> str:
        """Return the id or name in a column; "" where there is no such column, or nothing in it."""
        name = self._columns.get(what)
        is_there = name is not None and row.values.get(name) not in (None, "")
        return row.key(str(name), longest=longest) if is_there else ""


def recognises(source: Source) -> bool:
    """Return whether this is one table with a column of questions and one of responses."""
    name = source.only_data_file()
    return name is not None and all(needed in columns_of(source, name) for needed in NEEDED)


def _hash_of(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def _turns(row: Row, name: str) -> tuple[TurnRecord, ...]:
    """Return a question as the turns of its dialog; notes a problem where it is none."""
    messages = _listed(row, name)
    if messages is None:
        return (TurnRecord("user", row.filled_text(name), -1),)
    turns: list[TurnRecord] = []
    for message in row.objects(name, messages):
        role = message.values.get("role", message.values.get("type"))
        if role in NOT_SAID:
            continue
        if not isinstance(role, str) or role not in SPEAKERS:
            message.refuse("role", excerpt(role), " or ".join(SPEAKERS))
            continue
        turns.append(TurnRecord(SPEAKERS[role], message.filled_text("content"), len(turns) - 1))
    if not row.problems and (not turns or turns[-1].speaker != "user"):
        row.refuse(name, excerpt(messages), "messages of which the last one is the user's")
    return tuple(turns)


def _texts(row: Row, name: str | None) -> tuple[PassageRecord, ...]:
    """Return the texts in a cell, each once: one of them, or a list; blank ones are none."""
    if name is None or row.values.get(name) is None:
        return ()
    items = _listed(row, name)
    found: dict[str, PassageRecord] = {}
    for number, item in enumerate([row.values[name]] if items is None else items, 1):
        title = ""
        if isinstance(item, dict):
            title = item["title"] if isinstance(item.get("title"), str) else ""
            item = next((item[each] for each in TEXTS if each in item), None)
        if not isinstance(item, str):
            row.refuse(f"{name}[{number}]", excerpt(item), "a text, or an object with a text")
        elif item.strip():
            key = passage_key(title, item)
            found[key] = PassageRecord(key, item, title, "", False)
    return tuple(found.values())


def _listed(row: Row, name: str) -> list[Any] | None:
    """Return the list in a cell, of CSV too; None where it is something else."""
    value = row.values.get(name)
    if row.is_csv and isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = parse_json(value, row.max_nesting)
        except JSONTrouble:
            return None  # a text that begins with a bracket
        if not isinstance(value, list) or any(isinstance(each, int | float) for each in value):
            return None
    return value if isinstance(value, list) else None


def _example(row: FlatRow) -> ExampleRecord:
    return ExampleRecord(
        where=row.where,
        key=row.example,
        dialog=row.dialog,
        turns=row.turns,
        golden_answer=row.golden_answer,
        evidence=row.golden,
        meta={},
    )

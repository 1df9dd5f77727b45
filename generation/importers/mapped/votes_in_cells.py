"""Votes inside the cells of a table: its rows are opened, so that each vote stands in a row.

- A list of objects (`ratings: [{"rater": "r1", "score": 4}]`) has a row for each of them, with the
  columns `ratings[].rater` and `ratings[].score`.
- Lists beside each other (`raters: ["r1", "r2"]`, `scores: [4, 5]`) have a row for each place, with
  the columns `raters[]` and `scores[]`.
- An object in the text of a cell (`votes: {"r1": 4}`) is as the same object in JSON: it has the
  columns `votes.r1`, …

A list or an object may be the text of a cell. A mapping that names such a column opens the same
cells. Without one, they are told by the first rows.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from generation.importers.cell_meanings import NO, YES, folded
from generation.importers.errors import excerpt
from generation.importers.fields import Row
from generation.importers.mapped.cells import nested
from generation.importers.mapped.encoded_texts import as_json
from generation.importers.mapped.mapping import ColumnMapping
from generation.importers.mapped.roles import (
    ENTRY,
    PERHAPS_RATERS,
    ROLES,
    is_named_as_votes,
    is_of_ratings,
    plain_name,
    roles_by_name,
)
from generation.importers.mapped.table_files import Rows, TableFile, beside, value_at
from generation.importers.mapped.task_answers import COLUMN as TASK_ANSWERS
from generation.importers.mapped.task_answers import opened_answers
from generation.records import Problem

LONGEST = 40  # characters of a vote
STAY = "which look like votes of several raters and stay in meta, because nothing names the raters"
_BARE = re.compile(r"\[([^\[\]{}\"']*)\]")  # [r1, r2]


class OpenedCells(NamedTuple):
    """The columns of a table whose cells are opened.

    Attributes:
        lists: columns of lists of which the entries at one place belong together.
        objects: columns of texts that are objects.
        has_task_answers: whether there are answers to a form of Mechanical Turk.
    """

    lists: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    has_task_answers: bool = False


def with_opened_cells(table: TableFile, mapping: ColumnMapping | None) -> TableFile:
    """Return a table with a row for each vote inside a cell. Any other table stays as it is."""
    first = table.first_rows()
    columns = table.columns(first)
    if mapping is not None and mapping.columns:
        opened = _named(columns, mapping)
    else:
        opened = _likely(columns, first)
    if opened == OpenedCells():
        return table
    rows = partial(_opened_rows, table.rows, opened)
    if (header := table.header) is None:
        return table._replace(rows=rows)
    closed = {*opened.lists, *opened.objects, *([TASK_ANSWERS] * opened.has_task_answers)}
    return table._replace(
        rows=rows, header=lambda: [column for column in header() if column not in closed]
    )


def likely_votes_in_cells(columns: Sequence[str], first: Sequence[Row]) -> tuple[str, ...]:
    """Return the columns of cells that look like votes of raters whom nothing names."""
    return tuple(
        column
        for column in columns
        if (is_of_ratings(column) or is_named_as_votes(f"{column}{ENTRY}"))
        and any(map(_are_votes, _lists(column, first)))
    )


def _are_votes(entries: list[Any]) -> bool:
    """Return whether entries are votes on one thing, and no tags of it."""
    if entries and all(isinstance(each, dict) for each in entries):
        return all(any(map(is_named_as_votes, each)) for each in entries)
    words = [folded(str(each)) for each in entries]
    are_answers = all(word in YES | NO or _is_number(word) for word in words)
    is_short = all(len(word) <= LONGEST for word in words)
    return len(words) > 1 and is_short and (are_answers or len({*words}) < len(words))


def _is_number(word: str) -> bool:
    return re.fullmatch(r"[+-]?\d{1,3}(?:[.,]\d{1,2})?", word) is not None


def _named(columns: Sequence[str], mapping: ColumnMapping) -> OpenedCells:
    """Return the columns whose cells have to be opened for a mapping."""
    named = mapping.columns
    lists = {column.partition(ENTRY)[0] for column in named if ENTRY in column}
    objects = [
        column
        for column in columns
        if column not in named and any(each.startswith(f"{column}.") for each in named)
    ]
    return OpenedCells(
        lists=tuple(column for column in columns if column in lists),
        objects=tuple(objects),
        has_task_answers=TASK_ANSWERS in columns and TASK_ANSWERS not in named,
    )


def _likely(columns: Sequence[str], first: Sequence[Row]) -> OpenedCells:
    """Return the columns whose cells are told to have votes, by their names and the first rows."""
    lists = _of_objects(columns, first) or _side_by_side(columns, first)
    objects = [
        column
        for column in columns
        if is_of_ratings(column) and column not in lists and _are_objects_in_texts(column, first)
    ]
    return OpenedCells(lists, tuple(objects), TASK_ANSWERS in columns)


def _of_objects(columns: Sequence[str], first: Sequence[Row]) -> tuple[str, ...]:
    for column in columns:
        entries = [each for cell in _lists(column, first) for each in cell]
        if entries and all(isinstance(each, dict) for each in entries):
            names = {plain_name(name) for each in entries for name in each}
            if len(names) > 1 and any(_is_rater(name, is_of_ratings(column)) for name in names):
                return (column,)
    return ()


def _side_by_side(columns: Sequence[str], first: Sequence[Row]) -> tuple[str, ...]:
    raters = next((c for c in columns if _is_rater(plain_name(c + ENTRY), is_sure=True)), None)
    if raters is None or not any(_lists(raters, first)):
        return ()
    of_texts = roles_by_name(columns)
    others = [c for c in columns if c != raters and c not in of_texts and _fits(c, raters, first)]
    return tuple(c for c in columns if c == raters or c in others) if others else ()


def _is_rater(name: str, is_sure: bool) -> bool:
    """Return whether a name is a rater's. Some names are where it is sure that these are votes."""
    return name in ROLES["rater"].possible_names() and (
        is_sure or not name.startswith(PERHAPS_RATERS)
    )


def _fits(column: str, raters: str, first: Sequence[Row]) -> bool:
    """Return whether most cells are lists of short words or numbers, with one for each rater."""
    pairs = [(_entries(row, column), _entries(row, raters)) for row in first]
    there = [(said, who) for said, who in pairs if said is not None and who]
    are_short = all(
        each is None or (isinstance(each, str | int | float) and len(str(each)) <= LONGEST)
        for said, _ in there
        for each in said
    )
    n_fitting = sum(len(said) == len(who) for said, who in there)
    return are_short and 2 * n_fitting > len(there)


def _are_objects_in_texts(column: str, first: Sequence[Row]) -> bool:
    cells = [(value_at(row.values, column), _cell(row, column)) for row in first]
    there = [(text, value) for text, value in cells if text not in (None, "")]
    return bool(there) and all(isinstance(t, str) and isinstance(v, dict) for t, v in there)


def _opened_rows(rows: Rows, opened: OpenedCells) -> Iterator[Row | Problem]:
    for row in rows():
        if isinstance(row, Problem):
            yield row
            continue
        values: Mapping[str, Any] = row.values
        if opened.has_task_answers:
            values = opened_answers(row)
        objects = {c: v for c in opened.objects if isinstance(v := _cell(row, c), dict)}
        rest = {**beside(values, (*opened.lists, *objects)), **objects}
        for entry in _places(row, opened.lists):
            yield Row(
                row.where,
                {**rest, **entry},
                is_csv=row.is_csv,
                max_nesting=row.max_nesting,
                problems=[*row.problems],
            )


def _places(row: Row, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the fields of each place of lists. Where there are none, yield no field once.

    Lists that do not fit are a problem of the row.
    """
    lists: dict[str, list[Any]] = {}
    for column in columns:
        entries = _entries(row, column)
        if entries is None:
            row.refuse(column, excerpt(value_at(row.values, column)), "a list")
        lists[column] = entries or []
    sizes = {column: len(entries) for column, entries in lists.items()}
    if not row.problems and len({*sizes.values()}) > 1:
        found = " and ".join(f"{size:,} in {column}" for column, size in sizes.items())
        row.refuse(next(iter(sizes)), found, "as many entries in each of these lists")
    if row.problems or not any(sizes.values()):
        yield {}
        return
    for place in zip(*lists.values(), strict=True):
        yield _fields(dict(zip(lists, place, strict=True)))


def _fields(place: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for column, entry in place.items():
        if isinstance(entry, dict):
            found |= {f"{column}{ENTRY}.{name}": value for name, value in entry.items()}
        else:
            found[f"{column}{ENTRY}"] = entry
    return found


def _lists(column: str, first: Sequence[Row]) -> list[list[Any]]:
    return [entries for row in first if (entries := _entries(row, column))]


def _entries(row: Row, column: str) -> list[Any] | None:
    """Return the entries of the list in a cell, of which an empty one has none. None: no list."""
    value = _cell(row, column)
    if isinstance(value, str):
        text = value
        value = as_json(text) if text.strip() else []
        if value is None and (bare := _BARE.fullmatch(text.strip())):
            value = [word.strip() for word in bare[1].split(",")]
    return [] if value is None else value if isinstance(value, list) else None


def _cell(row: Row, column: str) -> Any:
    cell = {column: value_at(row.values, column)}
    return nested(Row(row.where, cell, max_nesting=row.max_nesting), column)

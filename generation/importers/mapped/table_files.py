"""The rows of a table in any kind of file. `table_in` tells the kind by its content."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from generation.importers.archives import is_workbook
from generation.importers.encodings import ENCODINGS, UTF_8
from generation.importers.errors import DatasetError, excerpt
from generation.importers.fields import Row
from generation.importers.json_items import json_items
from generation.importers.json_text import JSONTrouble, parse_row
from generation.importers.mapped.arrow_files import parquet_rows
from generation.importers.mapped.cells import answer_in
from generation.importers.mapped.csv_tables import csv_layout
from generation.importers.mapped.json_tables import (
    are_lists,
    form_of,
    formed_rows,
    numbered_rows,
    one_row,
)
from generation.importers.mapped.likely_headers import TablePlace
from generation.importers.mapped.mapping import ColumnMapping
from generation.importers.mapped.readers.counts import LeftOut
from generation.importers.mapped.roles import NEEDED, is_of_ratings, roles_by_name
from generation.importers.mapped.workbooks import KIND, workbook_place, workbook_rows
from generation.importers.messages import are_messages, is_message
from generation.importers.sources import Source
from generation.importers.tables import DELIMITERS, csv_rows, json_rows
from generation.records import Problem, Where

ROWS_LOOKED_AT = 100
MOST_COLUMNS = 1_000
MOST_DEPTH = 3  # levels of nested objects whose fields are columns
_HEAD_BYTES = 1 << 20
_PARQUET = b"PAR1"
_ZIP = b"PK\x03\x04"

Rows = Callable[[], Iterator[Row | Problem]]


class TableFile(NamedTuple):
    """A file of rows.

    Attributes:
        name: the name of the file; for a folder, of its first file.
        kind: its kind, in words.
        names: the names of all files that are read.
        rows: yields its rows from the beginning. It may be called several times.
        header: returns its columns if they are stated before its rows. None: the rows state them.
        path: the path to its list of rows, inside a JSON file.
        place: where it is in its file. None: a file of this kind has no other place.
        left_out: the data that its rows leave out, counted by name; complete after a pass.
    """

    name: str
    kind: str
    names: tuple[str, ...]
    rows: Rows
    header: Callable[[], list[str]] | None = None
    is_json: bool = False
    left_out: LeftOut = {}
    path: str = ""
    place: TablePlace | None = None

    def first_rows(self) -> list[Row]:
        """Return the first good rows, as many as are looked at."""
        found: list[Row] = []
        for n, row in enumerate(self.rows()):
            if isinstance(row, Row):
                found.append(row)
            if len(found) == ROWS_LOOKED_AT or n >= 2 * ROWS_LOOKED_AT:
                break
        return found

    def columns(self, first: list[Row]) -> list[str]:
        """Return the names of the columns, in their order.

        Raises:
            DatasetError: there are too many.
        """
        found = dict.fromkeys(self.header() if self.header else ())
        for row in first:
            found |= dict.fromkeys(_columns_of(row.values))
        if len(found) > MOST_COLUMNS:
            raise DatasetError(self.name, f"{len(found):,} columns", f"at most {MOST_COLUMNS:,}")
        return list(found)


def table_in(source: Source, name: str, mapping: ColumnMapping | None = None) -> TableFile | None:
    """Return the table in a file, read by a mapping or as it looks. None: there is none."""
    if not source.sizes[name]:
        return None
    head = source.head(name, _HEAD_BYTES)
    if head.startswith(_PARQUET):
        return TableFile(name, "Parquet", (name,), partial(parquet_rows, source, name))
    if head.startswith(_ZIP):
        with source.whole_file(name) as stream:
            if not is_workbook(stream):
                return None
        return _workbook_table(source, name, mapping)
    begins = head.lstrip()[:1]
    if begins == b"[":
        rows = partial(numbered_rows if are_lists(source, name) else json_items, source, name)
        return TableFile(name, "JSON", (name,), rows, is_json=True)
    if begins == b"{":
        return _object_table(source, name, head, mapping)
    return _csv_table(source, name, mapping)


def _object_table(
    source: Source, name: str, head: bytes, mapping: ColumnMapping | None
) -> TableFile:
    """Return the table in a file of JSON objects: one that holds all of it, or one on each line."""
    path = mapping.rows if mapping else ""
    if not path and not _has_more_lines(head, source.limits.max_nesting):
        value = _whole(source, name)
        if form := form_of(value):
            cut: LeftOut = {}
            rows = partial(formed_rows, source, name, form, cut)
            kind = f"JSON ({form.name})"
            return TableFile(name, kind, (name,), rows, is_json=True, left_out=cut)
        if mapping is None and not _is_a_row(value):
            path = _longest_list(value)
        if isinstance(value, dict) and not path and b"\n" in head.strip():
            return TableFile(name, "JSON", (name,), partial(one_row, source, name), is_json=True)
    if path:
        rows = partial(listed_rows, source, name, path)
        return TableFile(name, "JSON", (name,), rows, is_json=True, path=path)
    rows = partial(json_rows, source, name)
    return TableFile(name, "JSON Lines", (name,), rows, is_json=True)


def _workbook_table(source: Source, name: str, mapping: ColumnMapping | None) -> TableFile:
    place = workbook_place(source, name, mapping)
    rows = partial(workbook_rows, source, name, place)
    kind = KIND + place.description
    return TableFile(name, kind, (name,), rows, partial(_header, rows), place=place)


def _csv_table(source: Source, name: str, mapping: ColumnMapping | None) -> TableFile | None:
    source.recognise_encoding(name)
    layout = csv_layout(source, name, mapping)
    if layout is None:
        return None
    delimiter, place = layout
    line = place.header_line
    rows = partial(csv_rows, source, name, (), frozenset(), delimiter=delimiter, header_line=line)
    written = f"CSV with {DELIMITERS.get(delimiter, excerpt(delimiter))}"
    if source.encoding != UTF_8:
        written += f", {ENCODINGS[source.encoding]}"
    written += place.description
    return TableFile(name, written, (name,), rows, partial(_header, rows), place=place)


def _header(rows: Callable[[Callable[[str], None]], Iterator[Row | Problem]]) -> list[str]:
    """Return the names in the header of rows, which call a function with each of them."""
    columns: list[str] = []
    next(rows(columns.append), None)
    return columns


def _has_more_lines(head: bytes, max_nesting: int) -> bool:
    """Return whether a file has an object on its first line and something on further lines."""
    first, _, rest = head.decode("utf-8", "replace").lstrip().partition("\n")
    try:
        return bool(rest.strip()) and isinstance(parse_row(first, max_nesting), dict)
    except JSONTrouble:
        return False


def _whole(source: Source, name: str) -> Any:
    try:
        return source.whole_json(name)
    except DatasetError:  # no JSON, or too large; the reader of its lines reports it
        return None


def _is_a_row(value: Any) -> bool:
    """Return whether an object is a row by itself, whatever lists of objects are in it."""
    is_row = isinstance(value, dict) and {*roles_by_name(value).values()} >= {*NEEDED}
    return is_row or _holds_messages(value)


def _holds_messages(value: Any, depth: int = 1) -> bool:
    return isinstance(value, dict) and any(
        are_messages(each) or (depth < MOST_DEPTH and _holds_messages(each, depth + 1))
        for each in value.values()
    )


def _longest_list(value: Any) -> str:
    """Return the path to the longest list of objects inside an object. "": there is none."""
    lists = dict(_lists_in(value))
    return max(lists, key=lambda path: lists[path], default="")


def _lists_in(value: Any, before: str = "", depth: int = 1) -> Iterator[tuple[str, int]]:
    """Yield the path and the length of each list of objects inside an object."""
    for key, inside in value.items() if isinstance(value, dict) else ():
        if isinstance(inside, list) and all(isinstance(each, dict) for each in inside):
            yield f"{before}{key}", len(inside)
        elif depth < MOST_DEPTH:
            yield from _lists_in(inside, f"{before}{key}.", depth + 1)


def listed_rows(source: Source, name: str, path: str) -> Iterator[Row | Problem]:
    """Yield the objects of a list inside a JSON file. The file is read as a whole."""
    found = value_at(source.whole_json(name), path)
    if not isinstance(found, list):
        raise DatasetError(f"{name}, {path}", excerpt(found), "a list of rows")
    source.begin_rows(name)
    for number, item in enumerate(found, 1):
        source.count_row(name)
        where = Where(name, number)
        if isinstance(item, dict):
            yield Row(where, item)
        else:
            yield Problem(where, "", excerpt(item), "an object")


def value_at(values: Any, column: str) -> Any:
    """Return the value of a column: by its name, or else inside objects by a path of names."""
    if isinstance(values, dict) and column in values:
        return values[column]
    for name in column.split("."):
        values = values.get(name) if isinstance(values, dict) else None
    return values


def beside(values: Mapping[str, Any], columns: Iterable[str]) -> dict[str, Any]:
    """Return the fields of a row that none of some columns holds, also inside its objects."""
    inside: dict[str, list[str]] = {}
    for column in columns:
        if column in values:
            inside[column] = []
        else:
            top, _, path = column.partition(".")
            inside.setdefault(top, []).append(path)
    rest: dict[str, Any] = {}
    for name, value in values.items():
        if name not in inside:
            rest[name] = value
        elif inside[name] and isinstance(value, dict) and (left := beside(value, inside[name])):
            rest[name] = left
    return rest


def _columns_of(values: Any, before: str = "", depth: int = 1) -> Iterator[str]:
    """Yield the columns of a row.

    The fields of an object are columns, unless all are numbers that may be scores, or it is an
    answer or a message.
    """
    for key, value in values.items():
        inside = value.values() if isinstance(value, dict) else ()
        has_columns = any(isinstance(each, str | dict | list) for each in inside)
        has_columns |= isinstance(value, dict) and bool(value) and is_of_ratings(key)
        is_one = answer_in(value) is not None or is_message(value)
        if has_columns and not is_one and depth < MOST_DEPTH:
            yield from _columns_of(value, f"{before}{key}.", depth + 1)
        else:
            yield f"{before}{key}"

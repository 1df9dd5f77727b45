"""The rows of a table in any kind of file. `table_in` tells the kind by its content."""

from collections.abc import Callable, Iterator, Mapping
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
from generation.importers.mapped.mapping import ColumnMapping
from generation.importers.mapped.readers.counts import LeftOut
from generation.importers.mapped.roles import NEEDED, roles_by_name
from generation.importers.mapped.workbooks import workbook_rows
from generation.importers.sources import Source
from generation.importers.tables import DELIMITERS, csv_columns, csv_rows, delimiter_of, json_rows
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
        return TableFile(name, "an Excel workbook", (name,), partial(workbook_rows, source, name))
    begins = head.lstrip()[:1]
    if begins == b"[":
        return TableFile(name, "JSON", (name,), partial(json_items, source, name), is_json=True)
    if begins == b"{":
        path = mapping.rows if mapping else ""
        if mapping is None and not _is_json_lines(head, source.limits.max_nesting):
            path = _path_to_rows(source, name)
        if path:
            rows = partial(listed_rows, source, name, path)
            return TableFile(name, "JSON", (name,), rows, is_json=True, path=path)
        rows = partial(json_rows, source, name)
        return TableFile(name, "JSON Lines", (name,), rows, is_json=True)
    return _csv_table(source, name, mapping.delimiter if mapping else "")


def _csv_table(source: Source, name: str, delimiter: str) -> TableFile | None:
    source.recognise_encoding(name)
    first = next(source.lines(name), None)
    if first is None or len(csv_columns(first.text, delimiter)) < 2:
        return None
    delimiter = delimiter or delimiter_of(first.text)
    rows = partial(csv_rows, source, name, (), frozenset(), delimiter=delimiter)

    def header() -> list[str]:
        columns: list[str] = []
        next(rows(columns.append), None)
        return columns

    written = f"CSV with {DELIMITERS[delimiter]}"
    if source.encoding != UTF_8:
        written += f", {ENCODINGS[source.encoding]}"
    return TableFile(name, written, (name,), rows, header)


def _is_json_lines(head: bytes, max_nesting: int) -> bool:
    """Return whether each line holds an object, and not the file one object with a list."""
    first, _, rest = head.decode("utf-8", "replace").lstrip().partition("\n")
    try:
        value = parse_row(first, max_nesting)
    except JSONTrouble:
        return False
    is_row = isinstance(value, dict) and {*roles_by_name(value).values()} >= {*NEEDED}
    return bool(rest.strip()) or is_row or not any(_lists_in(value))


def _path_to_rows(source: Source, name: str) -> str:
    """Return the path to the longest list of objects inside a JSON file. "": there is none."""
    try:
        lists = dict(_lists_in(source.whole_json(name)))
    except DatasetError:  # no JSON, or too large; the reader of its lines reports it
        return ""
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


def top_of(values: Mapping[str, Any], column: str) -> str:
    """Return the name in a row of a column, or of the object that the column is in."""
    return column if column in values else column.partition(".")[0]


def _columns_of(values: Any, before: str = "", depth: int = 1) -> Iterator[str]:
    """Yield the columns of a row. The fields of an object are columns, unless all are numbers."""
    for key, value in values.items():
        inside = value.values() if isinstance(value, dict) else ()
        has_columns = any(isinstance(each, str | dict | list) for each in inside)
        if has_columns and answer_in(value) is None and depth < MOST_DEPTH:
            yield from _columns_of(value, f"{before}{key}.", depth + 1)
        else:
            yield f"{before}{key}"

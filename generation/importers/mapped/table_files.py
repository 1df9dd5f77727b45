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
from generation.importers.mapped.mapping import ColumnMapping
from generation.importers.mapped.readers.counts import LeftOut
from generation.importers.mapped.roles import NEEDED, roles_by_name
from generation.importers.mapped.workbooks import workbook_rows
from generation.importers.messages import are_messages, is_message
from generation.importers.sources import Source
from generation.importers.tables import DELIMITERS, csv_columns, csv_rows, delimiter_of, json_rows
from generation.records import Problem, Where

ROWS_LOOKED_AT = 100
MOST_COLUMNS = 1_000
MOST_DEPTH = 3  # levels of nested objects whose fields are columns
VIEWED = "rows"  # the list in what the viewer of Hugging Face answers
CUT = "ends of cells that the viewer of Hugging Face has cut off"
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
        is_lines = _is_json_lines(head, source.limits.max_nesting)
        if mapping is None and not is_lines:
            path = _path_to_rows(source, name)
        if path:
            cut: LeftOut = {}
            rows = partial(listed_rows, source, name, path, cut)
            return TableFile(name, "JSON", (name,), rows, is_json=True, left_out=cut, path=path)
        if not is_lines and _is_one_record(source, name):
            rows = partial(_one_record, source, name)
            return TableFile(name, "JSON", (name,), rows, is_json=True)
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
        value = source.whole_json(name)
        if isinstance(value, dict) and _are_of_the_viewer(value.get(VIEWED)):
            return VIEWED
        lists = dict(_lists_in(value))
    except DatasetError:  # no JSON, or too large; the reader of its lines reports it
        return ""
    return max(lists, key=lambda path: lists[path], default="")


def _is_one_record(source: Source, name: str) -> bool:
    """Return whether a whole file is one object, over several lines."""
    try:
        return isinstance(source.whole_json(name), dict)
    except DatasetError:  # the reader of its lines reports it
        return False


def _one_record(source: Source, name: str) -> Iterator[Row | Problem]:
    """Yield the only record of a file."""
    found = source.whole_json(name)
    source.begin_rows(name)
    source.count_row(name)
    yield Row(Where(name, 1), found if isinstance(found, dict) else {})


def _lists_in(value: Any, before: str = "", depth: int = 1) -> Iterator[tuple[str, int]]:
    """Yield the path and the length of each list of objects inside an object.

    An object with a list of messages is a record, and has no rows.
    """
    if before or not _holds_messages(value):
        yield from _all_lists_in(value, before, depth)


def _holds_messages(value: Any, depth: int = 1) -> bool:
    return isinstance(value, dict) and any(
        are_messages(each) or (depth < MOST_DEPTH and _holds_messages(each, depth + 1))
        for each in value.values()
    )


def _all_lists_in(value: Any, before: str, depth: int) -> Iterator[tuple[str, int]]:
    for key, inside in value.items() if isinstance(value, dict) else ():
        if isinstance(inside, list) and all(isinstance(each, dict) for each in inside):
            yield f"{before}{key}", len(inside)
        elif depth < MOST_DEPTH:
            yield from _all_lists_in(inside, f"{before}{key}.", depth + 1)


def _are_of_the_viewer(rows: Any) -> bool:
    """Return whether rows come from the viewer of Hugging Face, each inside an object."""
    return isinstance(rows, list) and bool(rows) and all(map(_is_of_the_viewer, rows))


def _is_of_the_viewer(item: Any) -> bool:
    return isinstance(item, dict) and "row_idx" in item and isinstance(item.get("row"), dict)


def listed_rows(source: Source, name: str, path: str, cut: LeftOut) -> Iterator[Row | Problem]:
    """Yield the objects of a list inside a JSON file. The file is read as a whole.

    Args:
        cut: the cells of which the viewer of Hugging Face shows only the beginning are counted
            here.
    """
    found = value_at(source.whole_json(name), path)
    if not isinstance(found, list):
        raise DatasetError(f"{name}, {path}", excerpt(found), "a list of rows")
    source.begin_rows(name)
    n_cut = 0
    for number, item in enumerate(found, 1):
        source.count_row(name)
        where = Where(name, number)
        if _is_of_the_viewer(item):
            truncated = item.get("truncated_cells")
            n_cut += len(truncated) if isinstance(truncated, list) else 0
            yield Row(where, item["row"])
        elif isinstance(item, dict):
            yield Row(where, item)
        else:
            yield Problem(where, "", excerpt(item), "an object")
    if n_cut:
        cut[CUT] = n_cut


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

    The fields of an object are columns, unless all are numbers, or it is an answer or a message.
    """
    for key, value in values.items():
        inside = value.values() if isinstance(value, dict) else ()
        has_columns = any(isinstance(each, str | dict | list) for each in inside)
        is_one = answer_in(value) is not None or is_message(value)
        if has_columns and not is_one and depth < MOST_DEPTH:
            yield from _columns_of(value, f"{before}{key}.", depth + 1)
        else:
            yield f"{before}{key}"

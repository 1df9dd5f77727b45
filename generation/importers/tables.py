"""Rows of CSV and JSON Lines files, streamed, each with the line on which it begins."""

import csv
import re
from collections.abc import Callable, Iterator
from itertools import chain

from generation.importers.errors import excerpt
from generation.importers.fields import Row
from generation.importers.json_text import (
    MOST_VALUES,
    JSONTrouble,
    first_repeated,
    parse_row,
)
from generation.importers.sources import Source, TextLine
from generation.importers.spreadsheet import original_text
from generation.records import Problem, Where

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
# A first line that names the delimiter, as Excel reads and many tools write it: sep=;
_NAMES_DELIMITER = re.compile(r"""\s*"?sep=([^\w\s"']|\t)"?,*\s*""", re.IGNORECASE)


def json_rows(source: Source, name: str) -> Iterator[Row | Problem]:
    """Yield one row for each line that is not blank."""
    max_nesting = source.limits.max_nesting
    for line in source.lines(name):
        if line.problem:
            source.count_row(name)
            yield line.problem
            continue
        if line.text.isspace():
            continue
        source.count_row(name)
        where = Where(name, line.number)
        try:
            value = parse_row(line.text, max_nesting)
        except JSONTrouble as trouble:
            yield Problem(where, "", trouble.found, trouble.expected)
            continue
        if isinstance(value, dict):
            yield Row(where, value)
        else:
            yield Problem(where, "", excerpt(value), "one JSON object a line")


def csv_rows(
    source: Source,
    name: str,
    required: tuple[str, ...],
    known: frozenset[str],
    unknown: Callable[[str], None] = lambda column: None,
    delimiter: str = "",
    header_line: int = 1,
    cell: Callable[[str], str] = original_text,
) -> Iterator[Row | Problem]:
    """Yield one row for each CSV record, without empty cells.

    The delimiter is `,` `;` tab or `|`: the one that a line `sep=;` names, or else the one that
    occurs most in the header line. Column names are stripped. A known name may differ in case or
    have spaces for underscores. If the header lacks a required column, that is the only problem of
    the file.

    Args:
        unknown: a function that is called with each column that is not among the `known` ones.
        delimiter: replaces the one that the file tells.
        header_line: the line of the header. Lines above it are not read.
        cell: what is made of the text of a cell.
    """
    header: list[str] = []
    feed = _feed(source, name, delimiter, header_line)
    if feed is None:
        expected = "a header line with " + ", ".join(required)
        yield Problem(Where(name, 1), "", "an empty file", expected)
        return
    for number, cells in _records(feed):
        where = Where(name, number)
        if feed.problems:
            source.count_row(name)
            yield from feed.problems
            if not header:
                return
            continue
        if isinstance(cells, str):
            source.count_row(name)
            yield Problem(
                where, "", cells, "a CSV row of usual length, with quotes closed and doubled inside"
            )
            if not header:
                return
            continue
        if not cells:
            continue
        if not header:
            header = [_column(name, known) for name in cells]
            if problem := header_problem(where, header, required):
                yield problem
                return
            for column in header:
                if column not in known:
                    unknown(column)
            continue
        source.count_row(name)
        if len(cells) != len(header):
            found = f"{len(cells):,} cells"
            yield Problem(where, "", found, f"{len(header):,}, as the header has")
            continue
        if problem := header_again(where, header, cells):
            yield problem
            continue
        texts = map(cell, cells)
        values = {column: text for column, text in zip(header, texts, strict=True) if text}
        yield Row(where, values, is_csv=True, max_nesting=source.limits.max_nesting)


def tsv_rows(
    source: Source, name: str, columns: tuple[str, ...], unknown: Callable[[str], None]
) -> Iterator[Row | Problem]:
    """Yield one row for each line of a plain TSV file, without empty cells.

    A quote is an ordinary character there: nothing is quoted, and no cell spans lines. If the
    header lacks one of the columns, that is the only problem of the file.

    Args:
        unknown: a function that is called with each further column.
    """
    header: list[str] = []
    for line in source.lines(name):
        where = Where(name, line.number)
        if line.text.count("\t") >= MOST_VALUES:
            source.count_row(name)
            yield Problem(where, "", f"more than {MOST_VALUES:,} cells", "fewer in one row")
            continue
        cells = line.text.rstrip("\r\n").split("\t")
        if line.problem or cells == [""]:
            if line.problem:
                source.count_row(name)
                yield line.problem
            continue
        if not header:
            header = [_column(cell, frozenset(columns)) for cell in cells]
            if problem := header_problem(where, header, columns):
                yield problem
                return
            for column in header:
                if column not in columns:
                    unknown(column)
            continue
        source.count_row(name)
        if len(cells) != len(header):
            found = f"{len(cells):,} cells"
            yield Problem(where, "", found, f"{len(header):,}, as the header has")
            continue
        yield Row(where, {column: text for column, text in zip(header, cells, strict=True) if text})


def delimiter_of(first_line: str) -> str:
    """Return the delimiter of a table: the one that occurs most in its header."""
    return max(DELIMITERS, key=first_line.count)


def named_delimiter(first_line: str) -> str:
    """Return the delimiter that a line before the header names. "": it is no such line."""
    found = _NAMES_DELIMITER.fullmatch(first_line)
    return found[1] if found else ""


def csv_columns(head: str, delimiter: str = "") -> list[str]:
    """Return the stripped column names in the first line of a text. If it is no CSV: none.

    A line that only names the delimiter is not the first.
    """
    first_line, _, rest = head.replace("\r", "\n").partition("\n")
    if named := named_delimiter(first_line):
        delimiter = delimiter or named
        first_line = rest.lstrip("\n").partition("\n")[0]
    try:
        cells = next(csv.reader([first_line], delimiter=delimiter or delimiter_of(first_line)), [])
    except csv.Error:
        return []
    return [cell.strip() for cell in cells]


def csv_records(source: Source, name: str, delimiter: str = "") -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the cells of each CSV record, of which none is required to be a header.

    A record that cannot be read has no cells.
    """
    feed = _feed(source, name, delimiter)
    for number, cells in _records(feed) if feed else ():
        yield number, cells if isinstance(cells, list) else []


class _RowTooLong(Exception):
    """A row is too large for memory. The message says what it has too much of."""


class _Feed(Iterator[str]):
    """The lines of a CSV file for `csv.reader`, with the problems of the present row."""

    def __init__(self, lines: Iterator[TextLine], max_row: int, delimiter: str) -> None:
        self._lines = lines
        self.max_row = max_row
        self.delimiter = delimiter
        self._before_values = {delimiter, *",[{"}  # signs before cells and JSON values
        self.begin_row()

    def begin_row(self) -> None:
        self.number = 0
        self._length = self._n_values = 0
        self.problems: list[Problem] = []

    def __next__(self) -> str:
        line = next(self._lines)
        self.number = self.number or line.number
        if line.problem:
            self.problems.append(line.problem)
        self._length += len(line.text)
        if self._length > self.max_row:  # an open quote must not swallow the file
            raise _RowTooLong(f"a row of more than {self.max_row:,} characters")
        self._n_values += sum(map(line.text.count, self._before_values))
        if self._n_values >= MOST_VALUES:
            raise _RowTooLong(f"a row of more than {MOST_VALUES:,} values")
        return line.text


def _feed(source: Source, name: str, delimiter: str, header_line: int = 1) -> _Feed | None:
    """Return the lines of a CSV file from its header on. None: there is no such line."""
    lines = source.lines(name)
    first = next(lines, None)
    if first and (named := named_delimiter(first.text)):
        delimiter = delimiter or named
        first = next(lines, None)
    while first and first.number < header_line:
        first = next(lines, None)
    if first is None:
        return None
    delimiter = delimiter or delimiter_of(first.text)
    return _Feed(chain([first], lines), source.limits.max_line_bytes, delimiter)


def _records(feed: _Feed) -> Iterator[tuple[int, list[str] | str]]:
    """Yield the first line and the cells of each record. A text in place of cells is a problem."""
    # The limit is one for the whole process, so it is only ever raised. `_Feed` bounds a row.
    csv.field_size_limit(max(csv.field_size_limit(), feed.max_row))
    reader = csv.reader(feed, delimiter=feed.delimiter, strict=True)
    while True:
        feed.begin_row()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except _RowTooLong as error:
            yield feed.number, str(error)
        except csv.Error as error:
            yield feed.number, f"a row that is not CSV ({error})"
        else:
            yield feed.number, cells


def header_again(where: Where, header: list[str], cells: list[str]) -> Problem | None:
    """Return the problem that a row repeats the header. None: it does not."""
    if [cell.strip() for cell in cells] != header:
        return None
    return Problem(where, "", "the header again", "one header, in the first row")


def _column(cell: str, known: frozenset[str]) -> str:
    name = cell.strip()
    if name in known:
        return name
    plain = name.lower().replace(" ", "_")
    return plain if plain in known else name


def header_problem(where: Where, header: list[str], required: tuple[str, ...]) -> Problem | None:
    """Return what is wrong with the column names of a table. None: nothing is wrong."""
    found = excerpt(header)
    missing = [column for column in required if column not in header]
    if missing:
        expected = "columns " + ", ".join(required)
        return Problem(where, missing[0], f"no such column (the header is {found})", expected)
    if len(header) > 2 and not header[0] and not header[-1] and all(header[1:-1]):
        ends = f"an empty column at both ends, as in a table of Markdown (the header is {found})"
        named = ",".join(header[1:-1])
        return Problem(where, "", ends, f"rows without bars around them, such as {excerpt(named)}")
    twice = first_repeated(header)
    if twice == "":
        n_blank = header.count("")
        nameless = f"{n_blank:,} columns without a name (the header is {found})"
        expected = "the names of the columns in the first row, and no title above them"
        return Problem(where, "", nameless, expected)
    if twice is not None:
        return Problem(where, twice, "two columns with this name", "each column once")
    return None

"""Rows of a sheet of an Excel workbook, read by openpyxl. Cells are texts as Excel shows them."""

import json
import re
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import islice
from typing import Any

from openpyxl import load_workbook

from generation.importers.errors import DatasetError, TooLargeError, excerpt
from generation.importers.fields import Row
from generation.importers.json_text import unstorable_character
from generation.importers.mapped.likely_headers import (
    LINES_LOOKED_AT,
    HeadLine,
    PlaceError,
    Sheet,
    TablePlace,
    known_names,
    likely_header,
    likely_sheet,
)
from generation.importers.mapped.mapping import ColumnMapping
from generation.importers.sources import Source
from generation.importers.tables import header_again, header_problem
from generation.records import Problem, Where

KIND = "an Excel workbook"
NOTHING_FOUND = "#N/A"  # the error that says nothing, as a text of CSV says it
MOST_CELLS = 1_000  # cells of a row
MOST_LINES = 1 << 20  # lines of a sheet, in Excel
_LITERAL = re.compile(r'"[^"]*"|\\.')  # in the format of a number
_SOUND = "a workbook that Excel opens: save it again, or save the sheet as 'CSV UTF-8'"
_NO_FORMULA = "a value: in Excel, copy the column and paste it over itself as values"

_Spooled = tuple[int, list[str], list[list[str]]]  # line, cells, problems


def workbook_place(source: Source, name: str, mapping: ColumnMapping | None) -> TablePlace:
    """Return the place of the table in a workbook, by a mapping or as it looks.

    Raises:
        PlaceError: the mapping names a sheet or a line that is not there.
        DatasetError: all sheets are empty.
    """
    sheets = _sheets(source, name)
    if not sheets:
        expected = "a sheet with a header and rows below it"
        raise DatasetError(name, "a workbook whose sheets are empty", expected)
    is_known = known_names(mapping)
    titles = tuple(sheet.title for sheet in sheets)
    told, line = (mapping.sheet, mapping.header_line) if mapping else ("", 0)
    sheet = next((each for each in sheets if each.title == told), None)
    if sheet is None:
        sheet = likely_sheet(sheets, is_known)
    header_line = line or likely_header(sheet.lines, is_known).number
    place = TablePlace(sheet.title, header_line, sheet.lines, titles)
    if told not in ("", sheet.title):
        found = f"the sheets {', '.join(map(excerpt, titles))}"
        raise PlaceError(name, found, f"a sheet {excerpt(told)}", kind=KIND, place=place)
    is_among = len(sheet.lines) == LINES_LOOKED_AT or line <= sheet.lines[-1].number
    if not is_among:
        where = f"{name}, sheet {excerpt(sheet.title)}"
        found = f"{sheet.lines[-1].number:,} lines"
        raise PlaceError(where, found, f"a header in line {line:,}", kind=KIND, place=place)
    return place


def workbook_rows(
    source: Source,
    name: str,
    place: TablePlace,
    on_column: Callable[[str], None] = lambda column: None,
) -> Iterator[Row | Problem]:
    """Yield the rows below the header of a sheet. Cells are texts, and empty ones are left out.

    Reading a workbook takes long, so its cells are read once and kept by the source.

    Args:
        on_column: a function that is called with each name in the header.
    """
    lines = source.spooled(
        f"{name}/{place.sheet}",
        lambda: (json.dumps(row) + "\n" for row in _cells_of(source, name, place.sheet)),
    )
    source.begin_rows(name)
    header: list[str] = []
    for line, cells, troubles in map(json.loads, lines):
        where = Where(name, line)
        if line < place.header_line:
            continue
        if not header:
            header = [cell.strip() for cell in cells]
            if problem := header_problem(where, header, ()):
                yield problem
                return
            for column in header:
                on_column(column)
            continue
        source.count_row(name)
        if troubles:
            yield from (Problem(where, *trouble) for trouble in troubles)
            continue
        if len(cells) > len(header):
            yield Problem(where, "", f"{len(cells):,} cells", f"{len(header):,}, as the header has")
            continue
        if problem := header_again(where, header, cells):
            yield problem
            continue
        values = {column: cell for column, cell in zip(header, cells, strict=False) if cell}
        yield Row(where, values, is_csv=True, max_nesting=source.limits.max_nesting)


def _sheets(source: Source, name: str) -> list[Sheet]:
    """Return the sheets that are not empty, each with its first lines. They are read once."""

    def heads() -> Iterator[str]:
        with _opened(source, name) as book:
            for sheet in book.worksheets:
                rows = islice(_rows_of(source, name, sheet), LINES_LOOKED_AT)
                lines = [(line, cells) for line, cells, _ in rows]
                yield json.dumps([sheet.title, lines, sheet.sheet_state != "visible"]) + "\n"

    found = map(json.loads, source.spooled(name, heads))
    return [
        Sheet(title, [HeadLine(*line) for line in lines], is_hidden)
        for title, lines, is_hidden in found
        if lines
    ]


def _cells_of(source: Source, name: str, title: str) -> Iterator[_Spooled]:
    with _opened(source, name) as book:
        sheet = next(each for each in book.worksheets if each.title == title)
        yield from _rows_of(source, name, sheet)


@contextmanager
def _opened(source: Source, name: str) -> Iterator[Any]:
    """Open a workbook. Errors of openpyxl become a `DatasetError`."""
    source.begin_rows(name)
    with source.whole_file(name) as stream, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about styles and extensions that hold no data
        try:
            with zipfile.ZipFile(stream) as members:
                source.refuse_unpacked(name, sum(info.file_size for info in members.infolist()))
            with closing(load_workbook(stream, read_only=True)) as book:
                yield book
        except (DatasetError, MemoryError):
            raise
        except Exception as error:  # any error that a library meets in a file that no program wrote
            found = f"a damaged Excel workbook ({excerpt(str(error))})"
            raise DatasetError(name, found, _SOUND) from error


def _rows_of(source: Source, name: str, sheet: Any) -> Iterator[_Spooled]:
    """Yield each row that is not blank: its number, its cells as text, and its problems.

    All rows count, also those that the file leaves out because they are blank.
    """
    sheet.reset_dimensions()  # the file's own numbers may be wrong
    for line, row in enumerate(sheet.iter_rows(max_row=MOST_LINES + 1), 1):
        if line > MOST_LINES:
            where = f"{name}, sheet {excerpt(sheet.title)}"
            found = f"a row whose number is above {MOST_LINES:,}"
            raise TooLargeError(where, found, "as many rows as Excel has, or fewer")
        source.count_row(name)
        if not row:
            continue
        cells, troubles = _texts(row)
        if any(cells) or troubles:
            yield line, cells, troubles


def _texts(row: tuple[Any, ...]) -> tuple[list[str], list[list[str]]]:
    """Return a row's cells as text, without empty ones at its end, and their problems."""
    cells: list[str] = []
    troubles: list[list[str]] = []
    for cell in row[:MOST_CELLS]:
        if cell.data_type == "f":
            troubles.append([cell.coordinate, f"a formula {excerpt(str(cell.value))}", _NO_FORMULA])
        elif cell.data_type == "e" and cell.value != NOTHING_FOUND:
            troubles.append([cell.coordinate, f"an error {excerpt(str(cell.value))}", "a value"])
        cells.append(text_of(cell.value, is_percent=_is_percent(cell)))
        if trouble := unstorable_character(cells[-1]):
            troubles.append([cell.coordinate, trouble, "text without this character"])
    while cells and not cells[-1]:
        cells.pop()
    return cells, troubles


def _is_percent(cell: Any) -> bool:
    is_number = cell.data_type == "n" and cell.value is not None
    return is_number and "%" in _LITERAL.sub("", cell.number_format)


def text_of(value: Any, *, is_percent: bool = False) -> str:
    """Return a cell's value as Excel shows it, without rounding."""
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | float() if is_percent:
            return f"{_plain(Decimal(repr(value)).scaleb(2))}%"
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta():
            return str(value.total_seconds())
    return str(value)


def _plain(number: Decimal) -> str:
    """Return a number without zeros at its end."""
    return f"{number.normalize():f}"

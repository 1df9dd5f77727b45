"""Rows of an Excel workbook, read by openpyxl: those of the first sheet that has any."""

import json
import warnings
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Any

from openpyxl import load_workbook

from generation.importers.errors import DatasetError, excerpt
from generation.importers.fields import Row
from generation.importers.json_text import unstorable_character
from generation.importers.sources import Source
from generation.importers.tables import header_again, header_problem
from generation.records import Problem, Where

MOST_CELLS = 1_000  # cells of a row
_SOUND = "a workbook that Excel opens: save it again, or save the sheet as 'CSV UTF-8'"
_NO_FORMULA = "a value: in Excel, copy the column and paste it over itself as values"

_Spooled = tuple[int, list[str], list[list[str]]]  # line, cells, problems


def workbook_rows(source: Source, name: str) -> Iterator[Row | Problem]:
    """Yield a workbook's rows. Cells are texts as in CSV, and empty ones are left out.

    Reading a workbook takes long, so its cells are read once and kept by the source.
    """
    lines = source.spooled(
        name, lambda: (json.dumps(row) + "\n" for row in _cells_of(source, name))
    )
    source.begin_rows(name)
    header: list[str] = []
    for line, cells, troubles in map(json.loads, lines):
        where = Where(name, line)
        if not header:
            header = [cell.strip() for cell in cells]
            if problem := header_problem(where, header, ()):
                yield problem
                return
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


def _cells_of(source: Source, name: str) -> Iterator[_Spooled]:
    """Yield each row that is not blank: its number, its cells as text, and its problems."""
    with source.whole_file(name) as stream, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about styles and extensions that hold no data
        try:
            with zipfile.ZipFile(stream) as members:
                source.refuse_unpacked(name, sum(info.file_size for info in members.infolist()))
            book = load_workbook(stream, read_only=True)
            for sheet in book.worksheets:
                sheet.reset_dimensions()  # the file's own numbers may be wrong
                is_empty = True
                for line, row in enumerate(sheet.iter_rows(), 1):
                    cells, troubles = _texts(row)
                    if any(cells) or troubles:
                        is_empty = False
                        yield line, cells, troubles
                if not is_empty:
                    return
        except (DatasetError, MemoryError):
            raise
        except Exception as error:  # any error that a library meets in a file that no program wrote
            found = f"a damaged Excel workbook ({excerpt(str(error))})"
            raise DatasetError(name, found, _SOUND) from error


def _texts(row: tuple[Any, ...]) -> tuple[list[str], list[list[str]]]:
    """Return a row's cells as text, without empty ones at its end, and their problems."""
    cells: list[str] = []
    troubles: list[list[str]] = []
    for cell in row[:MOST_CELLS]:
        if cell.data_type == "f":
            troubles.append([cell.coordinate, f"a formula {excerpt(str(cell.value))}", _NO_FORMULA])
        elif cell.data_type == "e":
            troubles.append([cell.coordinate, f"an error {excerpt(str(cell.value))}", "a value"])
        cells.append(text_of(cell.value))
        if trouble := unstorable_character(cells[-1]):
            troubles.append([cell.coordinate, trouble, "text without this character"])
    while cells and not cells[-1]:
        cells.pop()
    return cells, troubles


def text_of(value: Any) -> str:
    """Return a cell's value as CSV has it."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta():
            return str(value.total_seconds())
    return str(value)

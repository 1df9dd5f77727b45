"""The likely header of a table, and the likely sheet of a workbook, judged by their first lines.

Above a header there may be titles and notes. They fill at most half as many cells as the lines of
the table. A line whose names are known is a header whatever else is above it.
"""

from collections.abc import Callable, Sequence
from statistics import median_low
from typing import NamedTuple

from generation.importers.errors import DatasetError, excerpt
from generation.importers.mapped.mapping import ColumnMapping
from generation.importers.mapped.roles import NEEDED, roles_by_name

LINES_LOOKED_AT = 50  # lines of a table, or of each sheet, that are not blank

IsKnown = Callable[[Sequence[str]], bool]  # tells whether names are those of a header


class HeadLine(NamedTuple):
    """A line at the beginning of a table that is not blank: its number and its cells."""

    number: int
    cells: list[str]

    @property
    def names(self) -> list[str]:
        """The cells as names of columns."""
        return [cell.strip() for cell in self.cells]

    @property
    def n_filled(self) -> int:
        """The number of cells that are not blank."""
        return sum(1 for name in self.names if name)

    @property
    def width(self) -> int:
        """The number of cells up to the last one that is not blank."""
        return max((n for n, name in enumerate(self.names, 1) if name), default=0)


class Sheet(NamedTuple):
    """A sheet of a workbook that is not empty: its title and its first lines."""

    title: str
    lines: Sequence[HeadLine]
    is_hidden: bool


class TablePlace(NamedTuple):
    """The place of a table in its file.

    Attributes:
        sheet: the title of the sheet. "": the file has no sheets.
        header_line: the line of the header.
        lines: the first lines of the sheet.
        sheets: the titles of all sheets that are not empty.
    """

    sheet: str
    header_line: int
    lines: Sequence[HeadLine]
    sheets: tuple[str, ...] = ()

    @property
    def is_first(self) -> bool:
        """Whether the table is in the first sheet and has nothing above it."""
        return self.sheets[:1] in ((), (self.sheet,)) and not self._is_below

    @property
    def description(self) -> str:
        """The end of a sentence about the kind of the file. "": there is nothing to say."""
        sheet = f", sheet {excerpt(self.sheet)}" if len(self.sheets) > 1 else ""
        return sheet + (f", header in line {self.header_line:,}" if self._is_below else "")

    @property
    def not_read(self) -> list[str]:
        """The parts of the file that are not the table, in words."""
        others = [f"sheet {excerpt(title)}" for title in self.sheets if title != self.sheet]
        if not self._is_below:
            return others
        first, last = self.lines[0].number, self.header_line - 1
        above = f"line {first:,}" if first == last else f"lines {first:,} to {last:,}"
        return [*others, f"{above}, above the header"]

    @property
    def header(self) -> HeadLine:
        """The line of the header, if it is one of the first lines; else a line without cells."""
        at = (line for line in self.lines if line.number >= self.header_line)
        return next(at, HeadLine(self.header_line, []))

    @property
    def _is_below(self) -> bool:
        return any(line.number < self.header_line for line in self.lines)


class PlaceError(DatasetError):
    """The table is not where the mapping or the file seems to say, so another place is needed.

    Attributes:
        kind: the kind of the file, in words.
        place: where a table was looked for.
    """

    def __init__(
        self, where: str, found: str = "", expected: str = "", *, kind: str, place: TablePlace
    ) -> None:
        super().__init__(where, found, expected)
        self.kind = kind
        self.place = place


def known_names(mapping: ColumnMapping | None) -> IsKnown:
    """Return a test of names: are they those of the mapping, or of a question and a response?"""
    if mapping and mapping.columns:
        return {*mapping.needed}.issubset
    return lambda names: {*roles_by_name(names).values()} >= {*NEEDED}


def likely_header(lines: Sequence[HeadLine], is_known: IsKnown) -> HeadLine:
    """Return the line that is likely the header; the first one if none is."""
    known = (line for line in lines if is_known(line.names))
    full = (
        line
        for place, line in enumerate(lines, 1)
        if 2 * line.n_filled > _usual_width(lines[place:])
    )
    return next(known, None) or next(full, lines[0])


def likely_sheet(sheets: Sequence[Sheet], is_known: IsKnown) -> Sheet:
    """Return the sheet that likely has the table: one with a known header, or else the widest.

    A hidden sheet is the last choice. Of several sheets, the first one counts.
    """

    def likelihood(sheet: Sheet) -> tuple[bool, bool, int]:
        header = likely_header(sheet.lines, is_known)
        return not sheet.is_hidden, is_known(header.names), header.n_filled

    return max(sheets, key=likelihood)


def _usual_width(lines: Sequence[HeadLine]) -> int:
    return median_low(line.width for line in lines) if lines else 0

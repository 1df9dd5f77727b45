"""A table in a text file: what is between its columns, and which line is its header."""

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from generation.importers.errors import excerpt
from generation.importers.mapped.likely_headers import (
    LINES_LOOKED_AT,
    HeadLine,
    IsKnown,
    PlaceError,
    TablePlace,
    known_names,
    likely_header,
)
from generation.importers.mapped.mapping import ColumnMapping
from generation.importers.sources import Source
from generation.importers.tables import (
    DELIMITERS,
    csv_columns,
    csv_records,
    delimiter_of,
    named_delimiter,
)

_MOST = 0.8  # the share of lines with as many cells as a header that is not the first line


class CsvLayout(NamedTuple):
    """The layout of a CSV file: the sign between its columns, and the place of its table."""

    delimiter: str
    place: TablePlace


def csv_layout(source: Source, name: str, mapping: ColumnMapping | None) -> CsvLayout | None:
    """Return how a CSV file is written, by a mapping or as it looks. None: it is no CSV.

    Raises:
        PlaceError: the mapping names a line that is no header.
    """
    first = next(source.lines(name), None)
    if first is None:
        return None
    told = (mapping.delimiter if mapping else "") or named_delimiter(first.text)
    if mapping and mapping.header_line:
        return _chosen(source, name, told, mapping.header_line)
    is_known = known_names(mapping)
    usual = told or delimiter_of(first.text)
    lines = _head(source, name, usual)
    if not lines:
        return None
    plain = CsvLayout(usual, TablePlace("", lines[0].number, lines))
    is_plain = len(lines[0].cells) > 1
    is_first = is_plain and likely_header(lines, is_known) is lines[0]
    if is_first and (is_known(lines[0].names) or _fits(lines[0], lines[1:])):
        return plain
    return _fitting(source, name, [told] if told else [*DELIMITERS], is_known) or (
        plain if is_plain else None
    )


def _fits(header: HeadLine, below: Sequence[HeadLine]) -> bool:
    """Return whether most lines below a header have as many cells."""
    n_fitting = sum(len(line.cells) == len(header.cells) for line in below)
    return len(header.cells) > 1 and n_fitting >= _MOST * len(below)


def _fitting(
    source: Source, name: str, delimiters: Sequence[str], is_known: IsKnown
) -> CsvLayout | None:
    """Return the layout in which most lines fit to the likely header. None: they fit to none."""
    found: list[tuple[bool, int, CsvLayout]] = []
    for delimiter in delimiters:
        lines = _head(source, name, delimiter)
        if not lines:
            continue
        header = likely_header(lines, is_known)
        below = lines[lines.index(header) + 1 :]
        has_known = is_known(header.names)
        if (below or has_known) and _fits(header, below):
            layout = CsvLayout(delimiter, TablePlace("", header.number, lines))
            found.append((has_known, len(below), layout))
    return max(found, key=lambda each: each[:2])[2] if found else None


def _chosen(source: Source, name: str, delimiter: str, header_line: int) -> CsvLayout:
    """Return the layout with the header in a line that the user chose."""
    lines = (line for line in source.lines(name) if line.number >= header_line)
    header = next((line.text for line in lines if line.text.strip()), "")
    delimiter = delimiter or delimiter_of(header)
    place = TablePlace("", header_line, _head(source, name, delimiter))
    if len(csv_columns(header, delimiter)) < 2:
        where = f"{name}, line {header_line:,}"
        found = excerpt(header.strip()) if header else "no such line"
        expected = "a header, with the names of two columns or more"
        raise PlaceError(where, found, expected, kind="CSV", place=place)
    return CsvLayout(delimiter, place)


def _head(source: Source, name: str, delimiter: str) -> list[HeadLine]:
    """Return the first lines that are not blank."""
    lines = (HeadLine(*each) for each in csv_records(source, name, delimiter))
    return [*islice((line for line in lines if line.n_filled), LINES_LOOKED_AT)]

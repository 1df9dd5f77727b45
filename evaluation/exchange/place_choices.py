"""The choice of the table in a file, for the page, the API and the commands."""

from typing import Annotated, NamedTuple

from generation.choices.declaration import Choice, unusual
from generation.importers.mapped.mapping import MOST_LINES, ColumnMapping, read_mapping


class PlaceChoices(NamedTuple):
    """The choice of a sheet and of the line of its header. What is not chosen is recognised."""

    sheet: Annotated[
        str, Choice("Sheet", help="The sheet of a workbook.", usual="the likely one")
    ] = ""
    header_line: Annotated[
        int | None,
        Choice(
            "Line with the names of the columns",
            help="The line of a workbook or CSV file with the names of the columns, from 1.",
            usual="the likely one",
            low=1,
            high=MOST_LINES,
        ),
    ] = None

    def in_mapping(self, mapping: ColumnMapping | None) -> ColumnMapping | None:
        """Return a mapping with the choices in it. None: there is no mapping and no choice."""
        chosen = unusual(self)
        return (mapping or ColumnMapping())._replace(**chosen) if chosen else mapping

    def in_text(self, text: str) -> str:
        """Return the text of a mapping ("": none) with the choices in it."""
        chosen = self.in_mapping(read_mapping(text) if text else None)
        return chosen.as_toml() if chosen else ""

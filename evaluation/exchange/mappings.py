"""Mappings of columns: how they are stored, and what an import page shows of a table."""

from typing import Any

from accounts.models import User
from generation.importers.errors import DatasetError
from generation.importers.mapped.likely_headers import PlaceError, TablePlace
from generation.importers.mapped.mapping import ColumnMapping, read_mapping
from generation.importers.mapped.proposal import Look
from generation.importers.rater_codes import without_addresses
from generation.limits import LONGEST_NAME
from generation.models import SavedMapping

MOST_LINES = 10  # lines of which one may be chosen as the header
LONGEST_LINE = 80  # characters of each of them


def save_mapping(name: str, text: str, user: User) -> SavedMapping:
    """Store a mapping under a name, and replace a mapping that already has this name.

    Raises:
        DatasetError: the text is not a mapping, or the name cannot be used.
    """
    read_mapping(text)
    if not 0 < len(name.strip()) <= LONGEST_NAME:
        raise DatasetError("name", repr(name[:LONGEST_NAME]), f"1 to {LONGEST_NAME} characters")
    saved, _ = SavedMapping.objects.update_or_create(
        name=name.strip(), defaults={"text": text, "saved_by": user}
    )
    return saved


def look_as_json(look: Look) -> dict[str, Any]:
    """Return a first look at a table as an import's row stores it for the import page."""
    return {
        "kind": look.kind,
        "recipe": look.recipe,
        "columns": [column._asdict() for column in look.columns],
        "mapping": look.mapping.as_toml(),
        "asks": look.asks,
        "has_system_messages": look.has_system_messages,
        "is_complete": look.mapping.is_complete,
        "lacks": look.mapping.what_is_missing,
        "place": _place_as_json(look.place) if look.place else None,
    }


def wrong_place_as_json(error: PlaceError) -> dict[str, Any]:
    """Return what an import's row stores of a file whose table was not where it was looked for."""
    look = Look("", error.kind, (), ColumnMapping(), "", is_told=False, place=error.place)
    return look_as_json(look)


def _place_as_json(place: TablePlace) -> dict[str, Any]:
    """Return the place of a table and the other places, of which a person may choose one."""
    texts = {line.number: ", ".join(filter(None, line.names)) for line in place.lines[:MOST_LINES]}
    lines = [
        (number, f"{number}: {without_addresses(text)[:LONGEST_LINE]}")
        for number, text in texts.items()
    ]
    return {
        "sheet": place.sheet,
        "sheets": place.sheets,
        "header_line": place.header_line,
        "lines": lines,
    }

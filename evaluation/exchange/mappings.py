"""Mappings of columns: how they are stored, and what an import page shows of a table."""

from typing import Any

from accounts.models import User
from generation.importers.errors import DatasetError
from generation.importers.mapped.mapping import read_mapping
from generation.importers.mapped.proposal import Look
from generation.limits import LONGEST_NAME
from generation.models import SavedMapping


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
    }

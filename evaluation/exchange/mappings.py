"""Mappings of columns: kept under a name, and what a look at a table leaves for its page."""

from typing import Any

from accounts.models import User
from generation.importers.errors import DatasetError
from generation.importers.mapped.mapping import read_mapping
from generation.importers.mapped.proposal import Look
from generation.limits import LONGEST_NAME
from generation.models import SavedMapping


def save_mapping(name: str, text: str, user: User) -> SavedMapping:
    """Keep a mapping under a name; one that has that name is replaced.

    Raises:
        DatasetError: it is no mapping, or has no usable name.
    """
    read_mapping(text)
    if not 0 < len(name.strip()) <= LONGEST_NAME:
        raise DatasetError("name", repr(name[:LONGEST_NAME]), f"1 to {LONGEST_NAME} characters")
    saved, _ = SavedMapping.objects.update_or_create(
        name=name.strip(), defaults={"text": text, "saved_by": user}
    )
    return saved


def look_as_json(look: Look) -> dict[str, Any]:
    """Return a table at first sight as the row of an import keeps it for its page."""
    return {
        "kind": look.kind,
        "recipe": look.recipe,
        "columns": [column._asdict() for column in look.columns],
        "mapping": look.mapping.as_toml(),
        "is_complete": look.mapping.is_complete,
        "lacks": look.mapping.what_is_missing,
    }

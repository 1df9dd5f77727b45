"""Recipes: mappings of other tools' files, chosen by their columns. Each is a file here."""

from pathlib import Path

from generation.importers.mapped.mapping import read_mapping

RECIPES = tuple(
    # The mapping need not be whole, as names tell the other columns of a reader's rows.
    read_mapping(path.read_text("utf-8"), path.name, is_whole=False)
    for path in sorted(Path(__file__).parent.glob("*.toml"))
)

"""Recipes: mappings of what other tools write, told by their columns; each is a file here."""

from pathlib import Path

from generation.importers.mapped.mapping import read_mapping

RECIPES = tuple(
    # Names tell the rest of what a reader of rows gives.
    read_mapping(path.read_text("utf-8"), path.name, is_whole=False)
    for path in sorted(Path(__file__).parent.glob("*.toml"))
)

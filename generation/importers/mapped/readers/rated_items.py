"""The rated items of an export of a labelling tool: their keys, their texts and their table."""

from collections.abc import Collection, Mapping
from typing import Any

from generation.importers.fields import Row
from generation.importers.mapped.mapping import ColumnMapping
from generation.importers.mapped.roles import HOLD_RESPONSES, roles_by_name
from generation.importers.mapped.table_files import ROWS_LOOKED_AT, table_in
from generation.importers.sources import Source

ITEM, EXAMPLE, TEXT = "item", "item.example", "item.text"  # columns of the rows
_TELLING = ("question", "messages", "example")  # roles that tell which example an item belongs to


def keys_of_item(key: str, columns: Collection[str]) -> dict[str, str]:
    """Return the fields that name an item: the response, and its example if no column tells it."""
    there = {*roles_by_name(columns).values()}
    return {ITEM: key} if there.intersection(_TELLING) else {ITEM: key, EXAMPLE: key}


def text_of_item(name: str, text: Any, columns: Collection[str]) -> dict[str, Any]:
    """Return the text that was shown: it is the response, unless another column is.

    Args:
        name: what the tool calls it.
    """
    there = {*roles_by_name([column for column in columns if column != name]).values()}
    return {name if there.intersection(HOLD_RESPONSES) else TEXT: text}


def rater_of_file(name: str, of_all: Collection[str]) -> str | None:
    """Return the rater whose name a file has. None: it has the labels of several.

    Args:
        of_all: how the tool calls files of several raters.
    """
    stem = name.partition(".")[0]
    return None if stem in of_all else stem


def items_by_key(source: Source, name: str, wanted: Collection[str]) -> Mapping[str, Row]:
    """Return the rows of a table of items by its column that names most of the wanted keys.

    It is empty if no column names any of them, or two rows have the same key.
    """
    table = table_in(source, name, ColumnMapping())  # no search for a list inside an object
    rows: list[Row] = []
    for row in table.rows() if table else ():
        rows += [row] if isinstance(row, Row) else []
        source.refuse_more_in_memory(name, len(rows))
    best: dict[str, Row] = {}
    n_best = 0
    for key in table.columns(rows[:ROWS_LOOKED_AT]) if table else ():
        items = {str(row.values[key]).strip(): row for row in rows if row.values.get(key)}
        n_found = sum(each in items for each in wanted)
        if n_found > n_best and len(items) == len(rows):
            best, n_best = items, n_found
    return best

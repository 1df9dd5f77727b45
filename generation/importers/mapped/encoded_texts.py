"""Texts that were encoded as JSON twice, so that a cell has quotes and backslashes around them."""

from collections.abc import Iterable
from typing import Any

from generation.importers.fields import Row
from generation.importers.json_text import JSONTrouble, parse_row
from generation.importers.limits import Limits
from generation.importers.mapped.table_files import value_at
from generation.records import Problem

DECODED = "texts that were encoded as JSON twice, which is taken off once"


def as_json(text: str) -> Any:
    """Return the value that a text is JSON of; of null it is "". None: it is no JSON."""
    try:
        value = parse_row(text, Limits().max_nesting)
    except JSONTrouble:
        return None
    return "" if value is None else value


def are_encoded(texts: Iterable[str]) -> bool:
    """Return whether all texts that say something are JSON, and some of them a string."""
    has_string = False
    for text in texts:
        value = as_json(text) if text.strip() else ()
        if value is None:
            return False
        has_string = has_string or isinstance(value, str)
    return has_string


def decoded(text: str) -> str:
    """Return the text that a JSON string holds. Any other text stays as it is."""
    value = as_json(text)
    return value if isinstance(value, str) else text


def encoded_columns(rows: Iterable[Row | Problem], columns: Iterable[str]) -> frozenset[str]:
    """Return the columns of which each cell is a JSON string, and one has an escape in it.

    Without an escape the quotes may be those of a writer.
    """
    has_escape = dict.fromkeys(columns, False)
    for row in rows:
        if not has_escape:
            break
        if isinstance(row, Problem):
            continue
        for column in [*has_escape]:
            value = value_at(row.values, column)
            if value in (None, ""):
                continue
            if isinstance(value, str) and isinstance(as_json(value), str):
                has_escape[column] = has_escape[column] or "\\" in value
            else:
                del has_escape[column]
    return frozenset(column for column, has in has_escape.items() if has)

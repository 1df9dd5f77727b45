"""Cells that a spreadsheet program takes for text."""

import re
from datetime import datetime
from typing import Any

# What begins like this is a formula to a spreadsheet, to some also with the full-width form of the
# sign (U+FF1D …); an apostrophe before it is one that `safe_cell` wrote.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


def csv_cell(value: Any) -> Any:
    """Return a value as our CSV files write it: yes and no, ISO 8601, texts by `safe_cell`."""
    if value is True or value is False:
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return value.isoformat()
    return safe_cell(value)


def safe_cell(value: Any) -> Any:
    """Return a CSV cell that no spreadsheet runs: texts that begin like formulas get a quote.

    Numbers stay numbers. `original_text` takes the quote off again.
    """
    if isinstance(value, str) and _FORMULA.match(value):
        return f"'{value}"
    return value


def original_text(cell: str) -> str:
    """Return the text that `safe_cell` was given."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


class LineFile:
    """A file that hands back what is written to it, for `csv.writer`."""

    def write(self, text: str) -> str:
        return text

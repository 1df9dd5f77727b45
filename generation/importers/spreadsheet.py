"""CSV cells that a spreadsheet program takes for text and not for a formula."""

import re
from datetime import datetime
from typing import Any

# Spreadsheets take a text that begins like this for a formula; some also if it begins with the
# full-width form of the sign (U+FF1D …). An apostrophe before the sign was written by `safe_cell`.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


def csv_cell(value: Any) -> Any:
    """Return a value in the form of our CSV files: yes or no, ISO 8601, texts by `safe_cell`."""
    if value is True or value is False:
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return value.isoformat()
    return safe_cell(value)


def safe_cell(value: Any) -> Any:
    """Return a CSV cell that no spreadsheet runs: a text that begins like a formula gets a quote.

    Numbers stay numbers. `original_text` removes the quote.
    """
    if isinstance(value, str) and _FORMULA.match(value):
        return f"'{value}"
    return value


def original_text(cell: str) -> str:
    """Return the text that `safe_cell` was given."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


class LineFile:
    """A file for `csv.writer` whose `write` returns the written text."""

    def write(self, text: str) -> str:
        return text

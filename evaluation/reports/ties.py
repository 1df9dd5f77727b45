"""Words for figures that would be clearly different if tied responses counted half."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from evaluation.reports.columns import Column, Estimate, Format
from evaluation.reports.report import ReportRow, columns_of
from evaluation.statistics.tied_labels import is_moved

# The columns that say what a row is about, where it has them.
ABOUT = ("question", "rater", "title", "metric", "setup", "arm", "a", "b")


def is_moved_by_ties(row: ReportRow, name: str) -> bool:
    """Return whether ties that count half move a figure by more than half its interval's width."""
    figure, ties_half = row.value(name), row.value(f"{name}_ties_half")
    if not isinstance(figure, Estimate) or ties_half is None:
        return False
    value, low, high = (math.nan if each is None else each for each in figure)
    return is_moved(value, low, high, ties_half)


def n_tied(row: ReportRow) -> int:
    """Return how many tied responses the figures of a row leave out."""
    found: int = row.value("n_left_out_tied") or row.value("tied") or 0
    return found


def if_ties_count_half(n: int) -> str:
    """Return the condition in words: 'if the 7 tied responses counted half'."""
    return f"if the {n:,} tied responses counted half" if n > 1 else "if the tied one counted half"


def ties_notes(rows: Iterable[ReportRow]) -> list[str]:
    """Return a sentence for each row with a shown figure that ties move."""
    return [note for row in rows for note in _notes(row)]


def _notes(row: ReportRow) -> Iterator[str]:
    moved = [
        f"{column.title.lower()} {_with_unit(row, name, column)} would be "
        f"{_with_unit(row, f'{name}_ties_half', column)}"
        for name, column in columns_of(type(row)).items()
        if is_moved_by_ties(row, name)
    ]
    if moved:
        yield f"{_about(row)}: {' and '.join(moved)} {if_ties_count_half(n_tied(row))}."


def _about(row: ReportRow) -> str:
    said: Sequence[Any] = [row.value(name) for name in ABOUT]
    return ", ".join(str(each).replace("_", " ") for each in said if each)


def _with_unit(row: ReportRow, name: str, column: Column) -> str:
    """Return the text of a figure without its interval, with its unit."""
    text = row.text(name, column).partition(" [")[0]
    if column.format is Format.PERCENT or (
        column.format is Format.MEAN and row.value("scale") == "yes_no"
    ):
        return f"{text}\N{NO-BREAK SPACE}%"
    return f"{text} points" if column.format is Format.POINTS else text

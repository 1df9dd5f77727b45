"""A report as the table of a page: heads in groups, and cells written by their columns."""

from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from evaluation.reports.columns import Format
from evaluation.reports.formats import texts_of
from evaluation.reports.report import Report, ReportRow
from work.amounts import UNDEFINED

LONG = 16  # characters; words of so many or more need room


class Head(NamedTuple):
    """The head of one column, or of a group of columns."""

    title: str
    n_columns: int
    is_number: bool


class PageCell(NamedTuple):
    """The content of a cell: a figure, and its interval or deviation beside it."""

    text: str
    beside: str
    is_number: bool
    address: str  # address of the data behind the figure; "" for none

    @property
    def is_long(self) -> bool:
        """Whether it is words that need room, so that they do not stand below each other."""
        return len(self.text) >= LONG


class PageTable(NamedTuple):
    """The columns of a report that are not empty, and its rows."""

    groups: list[Head]  # empty if no column is in a group
    heads: list[Head]
    lines: list[list[PageCell]]
    folded: str  # title under which the table is folded; "": it is open


def page_tables(
    report: Report[Any], leads: Mapping[str, Callable[[Any], str]] | None = None
) -> list[PageTable]:
    """Return a report as tables of a page: one for each type of rows, in the order of the rows.

    Args:
        report: the report.
        leads: column → function from a row to the address of the data behind it, or "" for none.
    """
    by_type: dict[type[ReportRow], list[ReportRow]] = {}
    for row in report.rows:
        by_type.setdefault(type(row), []).append(row)
    return [_table(report._replace(rows=rows), leads or {}) for rows in by_type.values()]


def _table(report: Report[Any], leads: Mapping[str, Callable[[Any], str]]) -> PageTable:
    used, texts = texts_of(report)
    columns = list(used.values())
    groups = []
    for title, found in groupby(columns, lambda column: column.group):
        of_group = list(found)
        groups.append(Head(title, len(of_group), of_group[0].format is not Format.TEXT))
    heads = [
        Head(f"{column.title}{column.format.unit}", 1, column.format is not Format.TEXT)
        for column in columns
    ]
    leading = [leads.get(name) for name in used]
    lines = [
        [
            _cell(text, lead(row) if lead else "", is_number=head.is_number)
            for text, head, lead in zip(said, heads, leading, strict=True)
        ]
        for row, said in zip(report.rows, texts, strict=True)
    ]
    shown = groups if any(group.title for group in groups) else []
    return PageTable(shown, heads, lines, report.rows[0].folded)


def _cell(text: str, address: str, *, is_number: bool) -> PageCell:
    figure, opening, interval = text.partition(" [") if is_number else (text, "", "")
    beside = f"{opening}{interval}".strip()
    return PageCell(figure, beside, is_number, address if figure != UNDEFINED else "")

"""The parts of a report: rows whose fields are its columns, what was left out, a signature."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from types import UnionType
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, get_args, get_type_hints

from evaluation.reports.columns import Column, Estimate

LeftOut = dict[str, int]  # reason → number of things left out
Record = dict[str, Any]  # a row in the form used in JSON and CSV
R = TypeVar("R", bound="ReportRow", covariant=True)


@dataclass(frozen=True, kw_only=True)
class ReportRow:
    """A row of a report: its fields are the columns, in their order.

    An estimate `x` makes three columns: `x`, `x_low` and `x_high`. A mapping makes one column for
    each of its keys, with the key as its name. A row as a field makes its own columns in that
    place, so that columns of several reports are declared only once, such as those about a setup. A
    mapping to rows makes the columns of those rows, with the key before their names.
    """

    # The columns that name a row. None: the first columns, as far as they are text.
    named_by: ClassVar[tuple[str, ...]] = ()
    # If the report is a paper's table: the columns that the paper prints, in its order, for LaTeX.
    paper_columns: ClassVar[tuple[str, ...]] = ()
    # The title under which a page folds the table of these rows; "": the table is open.
    folded: ClassVar[str] = ""

    @classmethod
    def paper_rows(cls, rows: Sequence["ReportRow"]) -> tuple[Sequence["ReportRow"], str]:
        """Return the rows that a paper's table prints, and its caption; "" for no caption."""
        return rows, ""

    def text(self, name: str, column: Column) -> str:
        """Return the text of a column in a table of text; a dash if the row has no such field."""
        return column.write(self.value(name))

    def paper_text(self, name: str, column: Column) -> str:
        """Return the text of a column in the paper's table: a figure without its interval."""
        value = self.value(name)
        return column.format.write(value.value if isinstance(value, Estimate) else value)

    def value(self, name: str) -> Any:
        """Return the value of a column, also of a row inside this one; None without such a column.

        An estimate is returned whole.
        """
        return dict(_values_of(self)).get(name)


class Report(NamedTuple, Generic[R]):
    """One report: its rows, what was left out, and every choice that changes the numbers."""

    study: str  # the name of the study or dataset that the report is about
    report: str  # the report's key
    rows: Sequence[R]
    left_out: LeftOut
    signature: str

    @property
    def records(self) -> list[Record]:
        """The rows in the form used in JSON and CSV."""
        return [record(row) for row in self.rows]

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return self._asdict() | {"rows": self.records}


def record(row: ReportRow) -> Record:
    """Return a row in the form used in JSON and CSV: a name and a plain value for each column."""
    found: Record = {}
    for name, value in _values_of(row):
        if isinstance(value, Estimate):
            found |= zip((name, f"{name}_low", f"{name}_high"), value, strict=True)
        else:
            found[name] = value
    return found


def _values_of(row: ReportRow) -> Iterator[tuple[str, Any]]:
    """Yield the columns of a row and of the rows inside it, with their values.

    Estimates are whole.
    """
    for field in fields(row):
        value = getattr(row, field.name)
        if isinstance(value, ReportRow):
            yield from _values_of(value)
        elif isinstance(value, Mapping):
            for key, each in value.items():
                if isinstance(each, ReportRow):
                    yield from ((f"{key}_{name}", of_key) for name, of_key in _values_of(each))
                else:
                    yield key, each
        else:
            yield field.name, value


def number(figure: Any) -> float | None:
    """Return a figure as a JSON value: None, never NaN, when it is undefined."""
    return None if math.isnan(figure) else float(figure)


def columns_of(row_type: type[ReportRow]) -> dict[str, Column]:
    """Return the columns of the fields of a row that are shown, in their order."""
    found: dict[str, Column] = {}
    for name, hint in get_type_hints(row_type, include_extras=True).items():
        for part in get_args(hint) if isinstance(hint, UnionType) else (hint,):
            if isinstance(part, type) and issubclass(part, ReportRow):
                found |= columns_of(part)
        for said in getattr(hint, "__metadata__", ()):
            if isinstance(said, Column):
                found[name] = said
    return found

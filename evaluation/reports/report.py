"""What a report is made of: rows whose fields are its columns, what was left out, a signature."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from types import UnionType
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, get_args, get_type_hints

from evaluation.reports.columns import Column, Estimate

LeftOut = dict[str, int]  # by reason
Record = dict[str, Any]  # a row as JSON and CSV have it
R = TypeVar("R", bound="ReportRow", covariant=True)


@dataclass(frozen=True, kw_only=True)
class ReportRow:
    """A row of a report: its fields are the columns, in their order.

    An estimate `x` makes three of them: `x`, `x_low` and `x_high`. A mapping makes one for each of
    its keys, called as the key is, and a row in a row makes its own, in its place: what several
    reports say alike is declared once, such as what a setup is. A mapping to rows makes theirs,
    with the key before their names.
    """

    # Where the report is a paper's table: the columns that it prints, in its order, for LaTeX.
    paper_columns: ClassVar[tuple[str, ...]] = ()

    def text(self, name: str, column: Column) -> str:
        """Return what a table of text says in a column; a dash where the row has no such field."""
        return column.write(self.value(name))

    def paper_text(self, name: str, column: Column) -> str:
        """Return what the paper's table says in a column: a figure without its interval."""
        value = self.value(name)
        return column.format.write(value.value if isinstance(value, Estimate) else value)

    def value(self, name: str) -> Any:
        """Return what stands in a column, also of a row in this one; None: it has no such column.

        An estimate comes whole.
        """
        return dict(_values_of(self)).get(name)


class Report(NamedTuple, Generic[R]):
    """One report: its rows, what was left out, and every choice that changes the numbers."""

    study: str  # or the dataset: the name of what it is about
    report: str  # its key
    rows: Sequence[R]
    left_out: LeftOut
    signature: str

    @property
    def records(self) -> list[Record]:
        """The rows as JSON and CSV have them."""
        return [record(row) for row in self.rows]

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON knows it."""
        return self._asdict() | {"rows": self.records}


def record(row: ReportRow) -> Record:
    """Return a row as JSON and CSV have it: a name and a plain value for each column."""
    found: Record = {}
    for name, value in _values_of(row):
        if isinstance(value, Estimate):
            found |= zip((name, f"{name}_low", f"{name}_high"), value, strict=True)
        else:
            found[name] = value
    return found


def _values_of(row: ReportRow) -> Iterator[tuple[str, Any]]:
    """Yield the columns of a row, with those of what stands in it; estimates are whole."""
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
    """Return a figure as JSON knows it: None, never NaN, when it is undefined."""
    return None if math.isnan(figure) else float(figure)


def columns_of(row_type: type[ReportRow]) -> dict[str, Column]:
    """Return the fields of a row that are shown, in their order, and how."""
    found: dict[str, Column] = {}
    for name, hint in get_type_hints(row_type, include_extras=True).items():
        for part in get_args(hint) if isinstance(hint, UnionType) else (hint,):
            if isinstance(part, type) and issubclass(part, ReportRow):
                found |= columns_of(part)
        for said in getattr(hint, "__metadata__", ()):
            if isinstance(said, Column):
                found[name] = said
    return found

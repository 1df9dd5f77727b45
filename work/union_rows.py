"""Rows of different tables, read in one statement so that home stays cheap."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import (
    Case,
    CharField,
    Count,
    DateTimeField,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce

# Names of the columns begin with this, so that none is the name of a model's field.
PREFIX = "row_"

TEXT, NUMBER, TIME = CharField(), IntegerField(), DateTimeField(null=True)


def text(value: str = "") -> Value:
    """Return a column that has the same text in every row."""
    return Value(value, output_field=TEXT)


def number(value: int = 0) -> Value:
    """Return a column that has the same number in every row."""
    return Value(value, output_field=NUMBER)


def no_time() -> Cast:
    """Return a column of times that has none in any row. PostgreSQL asks for its type."""
    return Cast(Value(None), TIME)


def first(rows: QuerySet[Any], n: int) -> QuerySet[Any]:
    """Return the first n rows in the order of `rows`, as a part of a union.

    SQLite has no LIMIT inside a union, so the limit is inside a subquery.
    """
    found: QuerySet[Any] = rows.model._default_manager.filter(pk__in=rows.values("pk")[:n])
    return found


def n_of(rows: QuerySet[Any], field: str) -> Coalesce:
    """Return a column with the number of rows whose `field` is the outer row."""
    of_one = rows.filter(**{field: OuterRef("pk")}).order_by().values(field)
    counted = of_one.annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted, output_field=NUMBER), 0)


def comes_first(condition: Q) -> Case:
    """Return a column to order by: rows that meet the condition come before all others."""
    return Case(When(condition, then=number(0)), default=number(1))


def part(rows: QuerySet[Any], **columns: Any) -> QuerySet[Any, Any]:
    """Return rows as a part of a union. All parts must name the same columns in the same order.

    Args:
        rows: the rows of one table, without a limit.
        columns: the name of each column, with a field's name or an expression.
    """
    named = {
        f"{PREFIX}{name}": F(column) if isinstance(column, str) else column
        for name, column in columns.items()
    }
    listed: QuerySet[Any, Any] = rows.order_by().annotate(**named).values_list(*named)
    return listed


def union(parts: Sequence[QuerySet[Any, Any]]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of all parts, read in one statement, in no order."""
    begin, *others = parts
    yield from begin.union(*others, all=True)

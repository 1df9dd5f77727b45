"""Rows by the million: inserted by PostgreSQL's COPY or in bulk, and deleted in lots."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from django.db import connection
from django.db.models import Model, QuerySet
from django.db.models.deletion import Collector

AT_ONCE = 2000  # rows that Django holds in memory


def insert_rows(model: type[Model], fields: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows given as the values of these fields (`subject_id` for a foreign key).

    Nothing is returned and no field's default is filled in, so name every field but the primary
    key. PostgreSQL's COPY checks the constraints as any insert does.
    """
    if connection.vendor == "postgresql":
        columns = ", ".join(connection.ops.quote_name(_column(model, field)) for field in fields)
        table = connection.ops.quote_name(model._meta.db_table)
        with (
            connection.cursor() as cursor,
            cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy,
        ):
            for row in rows:
                copy.write_row(row)
        return
    rows = iter(rows)
    while some := list(islice(rows, AT_ONCE)):
        model._default_manager.bulk_create(
            model(**dict(zip(fields, row, strict=True))) for row in some
        )


def plan_statements_anew() -> None:
    """Have PostgreSQL plan each statement of this transaction by the present content of its tables.

    Otherwise it keeps plans of repeated statements that it made while the tables were empty.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL plan_cache_mode = force_custom_plan")


def delete_rows(rows: QuerySet[Any]) -> None:
    """Delete rows at once if the database can do it alone, or else in lots.

    Django loads rows on which others depend, and names each of them to the database, which accepts
    65,535 at most.
    """
    if Collector(using=rows.db).can_fast_delete(rows):
        rows.delete()
        return
    while some := list(rows.order_by().values_list("pk", flat=True)[:AT_ONCE]):
        rows.model._default_manager.filter(pk__in=some).delete()


def _column(model: type[Model], field: str) -> str:
    fields = model._meta.concrete_fields
    return next(str(f.column) for f in fields if field in (f.name, f.attname))

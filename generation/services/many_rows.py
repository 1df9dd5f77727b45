"""Rows by the million: PostgreSQL copies them, any other database takes them in bulk."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from django.db import connection
from django.db.models import Model

AT_ONCE = 2000


def insert_rows(model: type[Model], fields: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows given as the values of these fields (`subject_id` for a foreign key).

    Nothing comes back and no field's default is filled in: name every field but the primary key.
    Of PostgreSQL's COPY the constraints are checked as ever.
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


def _column(model: type[Model], field: str) -> str:
    fields = model._meta.concrete_fields
    return next(str(f.column) for f in fields if field in (f.name, f.attname))

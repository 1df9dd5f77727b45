"""Ids in the rows of reports, and the names that mean the same in every installation.

An id holds only in its own database. A field that is an id is declared as `RunId`, `SetupId` or
`ResponseId`, also inside a list or beside None, so that a manifest can write a name in its place.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from enum import Enum
from functools import cache
from typing import Annotated, Any, get_args, get_type_hints

from evaluation.models import MetricRun
from evaluation.reports.report import Record, Report, ReportRow, record
from generation.models import Response, Setup


class Kind(Enum):
    """The kinds of things whose ids are in rows."""

    RUN = "run"
    SETUP = "setup"
    RESPONSE = "response"


RunId = Annotated[int, Kind.RUN]
SetupId = Annotated[int, Kind.SETUP]
ResponseId = Annotated[int, Kind.RESPONSE]


def run_name(metric: str, full_signature: str) -> str:
    """Return the name of a run in every installation: its metric and its whole signature."""
    return f"{metric}: {full_signature}"


def portable_records(report: Report[Any]) -> list[Record]:
    """Return the rows as in JSON, with a name in place of each id: a query for each kind of ids."""
    columns = [dict(_id_columns(row)) for row in report.rows]
    records = [record(row) for row in report.rows]
    ids: dict[Kind, set[int]] = {kind: set() for kind in Kind}
    for row, of_row in zip(records, columns, strict=True):
        for name, kind in of_row.items():
            ids[kind].update(_each(row[name]))
    names = {
        Kind.RUN: _runs(ids[Kind.RUN]),
        Kind.SETUP: _setups(ids[Kind.SETUP]),
        Kind.RESPONSE: _responses(ids[Kind.RESPONSE]),
    }
    return [
        row | {name: _named(row[name], names[kind]) for name, kind in of_row.items()}
        for row, of_row in zip(records, columns, strict=True)
    ]


def runs_in(report: Report[Any]) -> set[int]:
    """Return the ids of the runs that the rows of a report name."""
    return {
        pk
        for row in report.rows
        for name, kind in _id_columns(row)
        if kind is Kind.RUN
        for pk in _each(record(row)[name])
    }


def _each(value: Any) -> Sequence[int]:
    if value is None:
        return ()
    return value if isinstance(value, list) else (value,)


def _named(value: Any, names: Mapping[int, str]) -> Any:
    if isinstance(value, list):
        return [names.get(pk, "deleted") for pk in value]
    return None if value is None else names.get(value, "deleted")


def _runs(ids: set[int]) -> dict[int, str]:
    runs = MetricRun.objects.filter(pk__in=ids)
    return {run.pk: run_name(run.metric, run.full_signature) for run in runs}


def _setups(ids: set[int]) -> dict[int, str]:
    return dict(Setup.objects.filter(pk__in=ids).values_list("pk", "name"))


def _responses(ids: set[int]) -> dict[int, str]:
    return dict(Response.objects.filter(pk__in=ids).values_list("pk", "key"))


def _id_columns(row: ReportRow, prefix: str = "") -> Iterator[tuple[str, Kind]]:
    """Yield the columns of a row that are ids, by the names that they have in JSON."""
    kinds = id_fields(type(row))  # type: ignore[arg-type]  # mypy looks at the hash of rows
    for field in fields(row):
        value = getattr(row, field.name)
        if isinstance(value, ReportRow):
            yield from _id_columns(value, prefix)
        elif isinstance(value, Mapping):
            for key, each in value.items():
                if isinstance(each, ReportRow):
                    yield from _id_columns(each, f"{prefix}{key}_")
        elif field.name in kinds:
            yield f"{prefix}{field.name}", kinds[field.name]


@cache
def id_fields(row_type: type[ReportRow]) -> dict[str, Kind]:
    """Return the fields of a type of rows that are ids or lists of ids."""
    hints = get_type_hints(row_type, include_extras=True)
    found = {name: _kind_in(hint) for name, hint in hints.items()}
    return {name: kind for name, kind in found.items() if kind}


def _kind_in(hint: Any) -> Kind | None:
    for said in getattr(hint, "__metadata__", ()):
        if isinstance(said, Kind):
            return said
    return next(filter(None, map(_kind_in, get_args(hint))), None)

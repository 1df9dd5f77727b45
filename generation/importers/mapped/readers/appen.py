"""Appen (Figure Eight, CrowdFlower): the full report and the aggregated report of a job, as CSV.

A unit is a response, and what was uploaded with it are columns. In the full report a row is one
worker's judgement: each field that has a column of its known answers (`supported_gold`) is a
question, and its answer a vote. The aggregated report has one label of all workers for each unit,
with its confidence (`supported:confidence`). These are no votes, and stay in `meta`.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from generation.importers.errors import DatasetError
from generation.importers.fields import Row
from generation.importers.mapped.mapping import ColumnMapping
from generation.importers.mapped.readers.counts import LeftOut
from generation.importers.mapped.readers.rated_items import keys_of_item
from generation.importers.mapped.table_files import TableFile, table_in
from generation.importers.sources import Source
from generation.records import Problem

AGGREGATED = "labels that Appen made of several judgements: they are no votes and stay in meta"
TEST_QUESTIONS = "judgements on test questions: their answers count as votes"
TAINTED = "judgements that Appen has marked as tainted: their answers count as votes"
_FULL = {"_unit_id", "_worker_id", "_trust"}
_OF_UNITS = {"_unit_id", "_trusted_judgments"}
_GOLD = "_gold"
_MADE_OF_SEVERAL = (":confidence", ":variance")
_OF_APPEN = "_"  # before the names of its own columns
_TIME = "%m/%d/%Y %H:%M:%S"  # in UTC
_RATING_STARTED, _RATED = "_started_at", "_created_at"


def files(source: Source) -> tuple[str, ...]:
    """Return the report. Empty: this is another file, or it does not tell what was asked."""
    name = source.only_data_file()
    try:
        columns = _columns(_table(source, name)) if name else []
    except DatasetError:  # this is a file of another kind
        return ()
    is_full = {*columns} >= _FULL and bool(_asked(columns))
    return (name,) if name and (is_full or {*columns} >= _OF_UNITS) else ()


def rows(source: Source, names: tuple[str, ...], left_out: LeftOut) -> Iterator[Row | Problem]:
    """Yield a row for each judgement, or for each unit of an aggregated report."""
    table = _table(source, names[0])
    columns = _columns(table)
    is_full = {*columns} >= _FULL
    asked = _asked(columns) if is_full else []
    counted: Counter[str] = Counter()
    for row in table.rows() if table else ():
        if isinstance(row, Problem):
            yield row
            continue
        unit = row.key("_unit_id")
        if row.problems:
            yield from row.problems
            continue
        rest = {name: value for name, value in row.values.items() if name not in asked}
        said = {f"asked.{name}": row.values.get(name) for name in asked}
        times = _times(row) if is_full else {}
        counted[TEST_QUESTIONS] += is_full and _is_yes(row, "_golden")
        counted[TAINTED] += is_full and _is_yes(row, "_tainted")
        counted[AGGREGATED] += 0 if is_full else len(_aggregated(row))
        yield Row(
            row.where, {**rest, **said, **times, **keys_of_item(unit, columns)}, is_csv=row.is_csv
        )
    left_out |= +counted


def _table(source: Source, name: str) -> TableFile | None:
    return table_in(source, name, ColumnMapping())  # no search for a list inside an object


def _columns(table: TableFile | None) -> Sequence[str]:
    return table.header() if table and table.header else []


def _asked(columns: Sequence[str]) -> list[str]:
    """Return the fields that workers filled in: those of which there are known answers."""
    there = {*columns}
    return [name for name in columns if name + _GOLD in there and not name.startswith(_OF_APPEN)]


def _aggregated(row: Row) -> list[str]:
    """Return the columns of labels that were made of several judgements."""
    return [
        name
        for name, value in row.values.items()
        if value not in (None, "") and any(name + end in row.values for end in _MADE_OF_SEVERAL)
    ]


def _is_yes(row: Row, name: str) -> bool:
    return str(row.values.get(name)).lower() == "true"


def _times(row: Row) -> dict[str, object]:
    """Return when a worker judged, and the seconds since the worker began, where this is known."""
    rated, began = (_moment(row.values.get(name)) for name in (_RATED, _RATING_STARTED))
    if rated is None:
        return {}
    found: dict[str, object] = {"judgement.at": rated.isoformat()}
    if began is not None and began <= rated:
        found["judgement.seconds"] = (rated - began).total_seconds()
    return found


def _moment(value: object) -> datetime | None:
    try:
        return datetime.strptime(str(value), _TIME).replace(tzinfo=UTC)
    except ValueError:
        return None

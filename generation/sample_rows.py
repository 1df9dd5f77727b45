"""Samples as rows of files: what a row says, and whether a row can be stored."""

from collections.abc import Iterable, Mapping
from datetime import UTC
from typing import Any

from django.db.models import QuerySet

from generation.filters import DROP, FILTER_KEYS, KEEP
from generation.importers.errors import excerpt
from generation.importers.fields import NOTHING, Row
from generation.limits import LARGEST_INTEGER, LARGEST_SEED
from generation.models import IS_ASKED, Dataset, Sample
from generation.records import Problem, SampledRecord, SampleRecord, Where
from generation.sample_choices import PARTS
from generation.text.tokens import TOKENIZERS

_PARAMETERS = ("filters", "part", "size", "seed", "split_seed")
_FILTERS = ("on", "max_evidence_tokens", "tokenizer", "exact_match")
_COLUMNS = {  # columns of the filters' table
    "filter": str,
    "is_on": bool,
    "is_applicable": bool,
    "n_not_applicable": int,
    "n_dropped": int,
    "n_left": int,
}


def exported_samples(dataset: Dataset) -> QuerySet[Sample]:
    """Return the samples that an export holds: those that are drawn, in the order of creation.

    A single question that was asked on a page is stored as a sample too. It is left out, because
    researchers neither draw nor verify it.
    """
    drawn = dataset.samples.filter(state=Sample.State.DONE)
    return drawn.exclude(name__regex=IS_ASKED).order_by("pk")


def sample_record(sample: Sample) -> SampleRecord:
    """Return a stored sample in the form of a file's record."""
    columns = ("example__key", "verdict", "reason", "at")
    members = sample.members.order_by("position").values_list(*columns)
    return SampleRecord(
        where=Where("", 0),
        name=sample.name,
        parameters=sample.parameters,
        cascade=sample.cascade,
        n_examples=sample.n_done,
        members=tuple(SampledRecord(*member) for member in members),
    )


def sample_content(record: SampleRecord) -> list[Any]:
    """Return the content of a sample as JSON has it, without its place in a file."""
    members = [
        (*member[:3], member.at and member.at.astimezone(UTC).isoformat())
        for member in record.members
    ]
    return [record.name, record.parameters, record.cascade, record.n_examples, members]


def sample_problem(record: SampleRecord) -> Problem | None:
    """Return the first problem in how a file says a sample was drawn. None: there is no problem."""
    problems: list[Problem] = []
    chosen = Row(record.where, record.parameters, prefix="parameters.", problems=problems)
    _refuse_unknown(chosen, _PARAMETERS)
    _choice(chosen, "part", PARTS)
    if "size" not in chosen.values:
        chosen.refuse(
            "size", NOTHING, "the largest number that was drawn, or null for all that passed"
        )
    chosen.whole("size", 1, LARGEST_INTEGER)
    _whole(chosen, "seed", 0, LARGEST_SEED)
    _whole(chosen, "split_seed", 0, LARGEST_SEED)
    by = chosen.optional_object("filters")
    filters = Row(record.where, by, prefix="parameters.filters.", problems=problems)
    _refuse_unknown(filters, _FILTERS)
    for key in filters.required_list("on", "filters"):
        if key not in FILTER_KEYS:
            filters.refuse("on", excerpt(key), "some of " + ", ".join(FILTER_KEYS))
    _whole(filters, "max_evidence_tokens", 1, LARGEST_INTEGER)
    _choice(filters, "tokenizer", TOKENIZERS)
    _choice(filters, "exact_match", (KEEP, DROP))
    if record.cascade and not _is_table(record.cascade):
        expected = "the table of its filters as an export writes it, or nothing"
        problems.append(Problem(record.where, "cascade", excerpt(record.cascade), expected))
    return problems[0] if problems else None


def _refuse_unknown(row: Row, known: Iterable[str]) -> None:
    for name in row.unknown(tuple(known)):
        row.refuse(name, "an unknown key", "one of " + ", ".join(known))


def _whole(row: Row, name: str, lowest: int, highest: int) -> None:
    if row.whole(name, lowest, highest) is None and row.values.get(name) is None:
        row.refuse(name, NOTHING, f"a whole number from {lowest} to {highest}")


def _choice(row: Row, name: str, legal: Iterable[str]) -> None:
    if (value := row.values.get(name)) not in tuple(legal):
        row.refuse(name, NOTHING if value is None else excerpt(value), " or ".join(legal))


def _is_table(cascade: Mapping[str, Any]) -> bool:
    """Return whether a table has exactly the columns that pages read, and only known filters."""
    rows = cascade.get("rows")
    return (
        set(cascade) == {"n", "rows"}
        and type(cascade["n"]) is int
        and isinstance(rows, list)
        and all(
            isinstance(row, dict)
            and {name: type(value) for name, value in row.items()} == _COLUMNS
            and row["filter"] in FILTER_KEYS
            for row in rows
        )
    )

"""Copies of the work behind an export: its runs, grids and calls, in a scratch database.

In an ordinary import, runs count as made elsewhere, and grids and calls are not read. A report that
is made again needs them as they were, because it names models and adds up costs.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.db import transaction

from evaluation.exchange.export_content import ExportContent
from evaluation.models import MetricRun
from evaluation.votes.made_here import CALL_COLUMNS, RUN_FIELDS
from generation.importers.errors import DatasetError, excerpt
from generation.importers.fields import Row
from generation.models import Call, Dataset, Grid, GridSetup
from generation.records import Where

RUNS, GRIDS, CALLS = "runs.jsonl", "grids.jsonl", "calls.csv"
BATCH = 5000
MOST_COUNTED = 2**31 - 1  # the largest in the database
_COUNTS = {name: column for name, column in CALL_COLUMNS.items() if column.startswith("n_")}


class _RunRow(NamedTuple):
    metric: str
    signature: str
    own_signature: str
    facts: Mapping[str, Any]  # name in `RUN_FIELDS` → value


class _GridRow(NamedTuple):
    name: str
    sample: str | None
    choices: Mapping[str, Any]
    state: str
    setups: tuple[str, ...]


class _CallRow(NamedTuple):
    where: Where
    grid: str
    setup: str
    example: str
    response: str  # "": there is none
    facts: Mapping[str, Any]


def announce_runs(dataset: Dataset, export: ExportContent) -> None:
    """Make the runs of an export before its scores are imported, so that they keep their order.

    Raises:
        DatasetError: a row of the file of runs cannot be used.
    """
    MetricRun.objects.bulk_create(
        MetricRun(dataset=dataset, metric=run.metric, signature=run.signature, is_imported=True)
        for run in export.records(RUNS, _run)
    )


@transaction.atomic
def complete_runs(dataset: Dataset, export: ExportContent) -> None:
    """Give the imported runs of an export everything that its file says about them.

    Raises:
        DatasetError: a row of the file of runs cannot be used.
    """
    for run in export.records(RUNS, _run):
        same = MetricRun.objects.filter(dataset=dataset, metric=run.metric, signature=run.signature)
        own = run.signature if run.facts["is_imported"] else run.own_signature
        same.update(signature=own, **run.facts)


@transaction.atomic
def store_grids(dataset: Dataset, export: ExportContent) -> None:
    """Store the grids of an export, with their setups as far as these have responses.

    Raises:
        DatasetError: a row of the file of grids cannot be used.
    """
    setups = dict(dataset.setups.values_list("name", "pk"))
    samples = dict(dataset.samples.values_list("name", "pk"))
    for row in export.records(GRIDS, _grid):
        grid = Grid.objects.create(
            dataset=dataset,
            name=row.name,
            sample_id=samples.get(row.sample or ""),
            choices=row.choices,
            state=row.state,
        )
        GridSetup.objects.bulk_create(
            GridSetup(grid=grid, setup_id=setups[name], position=position)
            for position, name in enumerate(row.setups)
            if name in setups
        )


@transaction.atomic
def store_calls(dataset: Dataset, export: ExportContent) -> None:
    """Store the calls of an export, which have no prompts.

    Raises:
        DatasetError: a row of the file of calls cannot be used, or names what is not there.
    """
    grids = dict(Grid.objects.filter(dataset=dataset).values_list("name", "pk"))
    setups = dict(dataset.setups.values_list("name", "pk"))
    examples = dict(dataset.examples.values_list("key", "pk"))
    responses: dict[str, int | None] = dict(dataset.responses.values_list("key", "pk"))
    responses[""] = None
    Call.objects.bulk_create(
        (
            Call(
                grid_id=_known(grids, call, "grid", call.grid),
                setup_id=setups[call.setup],
                example_id=_known(examples, call, "example", call.example),
                response_id=_known(responses, call, "response", call.response),
                **call.facts,
            )
            for call in export.records(CALLS, _call)
            if call.setup in setups
        ),
        batch_size=BATCH,
    )


def _known(ids: Mapping[str, Any], call: _CallRow, what: str, name: str) -> Any:
    if name not in ids:
        raise DatasetError(f"{call.where}, {what}", excerpt(name), f"a {what} of the export")
    return ids[name]


def _run(row: Row) -> _RunRow:
    is_imported = row.yes_no("is_imported")
    threshold = row.optional_number("threshold")
    if threshold is None and not is_imported:
        row.refuse("threshold", "nothing", "a number, as the run was made here")
    facts = {
        "is_imported": is_imported,
        "backend": row.text("backend", "", longest=20),
        "model_name": row.text("model_name", "", longest=100),
        "backend_signature": row.text("backend_signature", "", longest=100),
        "revision": row.text("revision", "", longest=64),
        "model_files": row.optional_object("model_files"),
        "device": row.text("device", "", longest=100),
        "parameters": row.optional_object("parameters"),
        "threshold": threshold,
        "is_yes_at_threshold": row.yes_no("is_yes_at_threshold"),
        "state": row.choice("state", tuple(MetricRun.State.values), MetricRun.State.DONE),
    }
    return _RunRow(
        row.key("metric", longest=100),
        row.text("signature", longest=500),
        row.text("own_signature", "", longest=500),
        {name: facts[name] for name in RUN_FIELDS},
    )


def _grid(row: Row) -> _GridRow:
    return _GridRow(
        row.key("name", longest=100),
        row.optional_text("sample"),
        row.optional_object("choices"),
        row.choice("state", tuple(Grid.State.values), Grid.State.DONE),
        row.keys("setups", row.required_list("setups", "names")),
    )


def _call(row: Row) -> _CallRow:
    response, problem = row.key("response", ""), row.text("problem", "")
    if bool(response) == bool(problem):
        row.refuse("problem", excerpt(problem), "a response or a problem, and not both")
    facts: dict[str, Any] = {
        "problem": problem,
        "is_cut": row.yes_no("is_cut"),
        "seconds": row.optional_number("seconds"),
    }
    facts |= {column: row.whole(name, 0, MOST_COUNTED) or 0 for name, column in _COUNTS.items()}
    return _CallRow(
        row.where, row.key("grid"), row.key("setup"), row.key("example"), response, facts
    )

"""Copies of the work behind an export: its runs, grids and calls, in a scratch database.

In an ordinary import, runs count as made elsewhere, and grids and calls are not read. A report that
is made again needs them as they were, because it names models and adds up costs.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction

from evaluation.models import MetricRun
from evaluation.votes.made_here import CALL_COLUMNS, RUN_FIELDS
from generation.models import Call, Dataset, Grid, GridSetup

Row = Mapping[str, Any]

BATCH = 5000
_COUNTS = {name: column for name, column in CALL_COLUMNS.items() if column.startswith("n_")}


def announce_runs(dataset: Dataset, rows: Iterable[Row]) -> None:
    """Make the runs of an export before its scores are imported, so that they keep their order."""
    MetricRun.objects.bulk_create(
        MetricRun(
            dataset=dataset, metric=row["metric"], signature=row["signature"], is_imported=True
        )
        for row in rows
    )


@transaction.atomic
def complete_runs(dataset: Dataset, rows: Iterable[Row]) -> None:
    """Give the imported runs of an export everything that its file says about them."""
    for row in rows:
        runs = MetricRun.objects.filter(
            dataset=dataset, metric=row["metric"], signature=row["signature"]
        )
        own = row["signature"] if row["is_imported"] else row["own_signature"]
        runs.update(signature=own, **{name: row[name] for name in RUN_FIELDS})


@transaction.atomic
def store_grids(dataset: Dataset, rows: Iterable[Row]) -> None:
    """Store the grids of an export, with their setups as far as these have responses."""
    setups = dict(dataset.setups.values_list("name", "pk"))
    samples = dict(dataset.samples.values_list("name", "pk"))
    for row in rows:
        grid = Grid.objects.create(
            dataset=dataset,
            name=row["name"],
            sample_id=samples.get(row["sample"]),
            choices=row["choices"],
            state=row["state"],
        )
        GridSetup.objects.bulk_create(
            GridSetup(grid=grid, setup_id=setups[name], position=position)
            for position, name in enumerate(row["setups"])
            if name in setups
        )


@transaction.atomic
def store_calls(dataset: Dataset, rows: Iterable[Row]) -> None:
    """Store the calls of an export, which have no prompts."""
    grids = dict(Grid.objects.filter(dataset=dataset).values_list("name", "pk"))
    setups = dict(dataset.setups.values_list("name", "pk"))
    examples = dict(dataset.examples.values_list("key", "pk"))
    responses = dict(dataset.responses.values_list("key", "pk"))
    Call.objects.bulk_create(
        (
            Call(
                grid_id=grids[row["grid"]],
                setup_id=setups[row["setup"]],
                example_id=examples[row["example"]],
                response_id=responses[row["response"]] if row["response"] else None,
                problem=row["problem"],
                is_cut=row["is_cut"] == "True",
                seconds=float(row["seconds"]) if row["seconds"] else None,
                **{column: int(row[name]) for name, column in _COUNTS.items()},
            )
            for row in rows
            if row["setup"] in setups
        ),
        batch_size=BATCH,
    )

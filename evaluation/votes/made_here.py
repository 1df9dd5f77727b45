"""The files of an export about work that was done here: metric runs, grids, and calls of models.

An ordinary import does not read them: its runs count as made elsewhere. `manage.py reproduce` reads
them, and so do people who want to know which model and revision made a score.
"""

from collections.abc import Iterator
from typing import Any

from django.db.models import Exists, OuterRef

from evaluation.models import AutoScore, MetricRun
from generation.models import Call, Dataset, Grid

Row = dict[str, Any]

# Fields of a run that say how its scores were made, by their names in runs.jsonl.
RUN_FIELDS = (
    "is_imported",
    "backend",
    "model_name",
    "backend_signature",
    "revision",
    "model_files",
    "device",
    "parameters",
    "threshold",
    "is_yes_at_threshold",
    "state",
)
CALL_COLUMNS = {
    "grid": "grid__name",
    "setup": "setup__name",
    "example": "example__key",
    "response": "response__key",
    "problem": "problem",
    "dialog_tokens": "n_dialog_tokens",
    "evidence_tokens": "n_evidence_tokens",
    "instruction_tokens": "n_instruction_tokens",
    "tokens": "n_tokens",
    "turns_left_out": "n_turns_left_out",
    "sentences_left_out": "n_sentences_left_out",
    "model_prompt_tokens": "n_model_prompt_tokens",
    "model_completion_tokens": "n_model_completion_tokens",
    "is_cut": "is_cut",
    "seconds": "seconds",
}


def runs_of(dataset: Dataset) -> list[MetricRun]:
    """Return the runs of a dataset that have scores, oldest first."""
    has_scores = Exists(AutoScore.objects.filter(run=OuterRef("pk")))
    return list(MetricRun.objects.filter(has_scores, dataset=dataset).order_by("pk"))


def run_row(run: MetricRun) -> Row:
    """Return what is known about a run. `signature` is the one that scores.csv has."""
    return {
        "metric": run.metric,
        "signature": run.full_signature,
        "own_signature": run.signature,
        **{name: getattr(run, name) for name in RUN_FIELDS},
    }


def grid_rows(dataset: Dataset) -> Iterator[Row]:
    """Yield the grids of a dataset, oldest first, with the names of their setups in their order."""
    grids = Grid.objects.filter(dataset=dataset).select_related("sample").order_by("pk")
    for grid in grids:
        cells = grid.cells.order_by("position", "pk")
        yield {
            "name": grid.name,
            "sample": grid.sample.name if grid.sample else None,
            "choices": grid.choices,
            "state": grid.state,
            "setups": list(cells.values_list("setup__name", flat=True)),
        }


def call_rows(dataset: Dataset) -> Iterator[tuple[Any, ...]]:
    """Yield the values of `CALL_COLUMNS` of each call of a model, without its prompt."""
    calls = Call.objects.filter(grid__dataset=dataset).order_by("pk")
    yield from calls.values_list(*CALL_COLUMNS.values()).iterator(chunk_size=5000)

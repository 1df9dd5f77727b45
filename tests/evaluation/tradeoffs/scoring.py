"""Datasets for grids to ask about, and runs over their responses in the test's own process."""

from pathlib import Path

from django.db.models import QuerySet

from evaluation.metrics.registry import METRICS
from evaluation.models import MetricRun
from evaluation.runs.plan import RunPlan
from evaluation.runs.services.runs import request_metric_run
from evaluation.tradeoffs.axes import Axes, axes_of, usual
from generation.evidence import EvidenceChoice
from generation.model_specs import ModelSpec
from generation.models import Dataset, Response
from tests.evaluation.metric_runs import work
from tests.makers import import_rows
from tests.tradeoff_texts import example_row


def scored(
    dataset: Dataset, metric: str, backend: str, responses: QuerySet[Response] | None = None
) -> MetricRun:
    """Return a finished run over a dataset, or some of its responses, against golden evidence."""
    plan = RunPlan(
        ModelSpec(backend),
        evidence=EvidenceChoice.GOLDEN,
        metric=METRICS[metric].made({}).asked_of(backend),
    )
    chosen = Response.objects.filter(dataset=dataset) if responses is None else responses
    run = work(request_metric_run(dataset, plan, chosen, None))
    assert (run.state, run.error) == (MetricRun.State.DONE, "")
    return run


def constructed_dataset(folder: Path, n_examples: int) -> Dataset:
    """Return a dataset of examples of the grid of known truth, without responses."""
    outcome = import_rows(folder, "own", examples=[example_row(n) for n in range(n_examples)])
    assert outcome.dataset is not None
    return outcome.dataset


def usual_axes(dataset: Dataset) -> Axes:
    """Return the axes of a dataset that are taken when a researcher chooses none."""
    axes = usual(axes_of(dataset))
    assert axes is not None
    return axes

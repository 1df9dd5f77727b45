"""The readiness of a dataset for the figure: what its axes need, and what is being scored.

This module only reads.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from django.db.models import Count, Exists, OuterRef, QuerySet

from annotation.models import Study, Vote
from annotation.schemes import load_scheme
from evaluation.models import AutoScore, MetricRun, SavedView
from evaluation.runs.main_metrics import SIDES, Side, set_aside
from evaluation.statistics.labels import label_rule
from evaluation.tradeoffs.axes import Axes, Axis, usual_axis
from generation.models import Dataset, Response, Setup


def missing_sides(axes: Sequence[Axis], running: Collection[MetricRun] = ()) -> list[Side]:
    """Return the sides without a usual axis: neither a run nor raters have judged them.

    Args:
        axes: those of a dataset.
        running: runs whose metrics count as judging, because their scores are on their way.
    """
    coming = {run.metric for run in running}
    unjudged = [side for side in SIDES if usual_axis(axes, side) is None]
    return [side for side in unjudged if coming.isdisjoint(side.metrics)]


def running_runs(dataset: Dataset, axes: Axes | None) -> list[MetricRun]:
    """Return the runs that are still scoring this dataset for an axis.

    With axes, these are the runs of the axes. Without axes, these are all runs that could make one.
    """
    running = MetricRun.objects.filter(dataset=dataset, state=MetricRun.State.RUNNING)
    if axes is None:
        running = running.filter(metric__in=[metric for side in SIDES for metric in side.metrics])
    else:
        running = running.filter(pk__in=[axis.run.pk for axis in axes if axis.run])
    return list(running.order_by("pk"))


# --- the list of datasets -------------------------------------------------------------------


class Offered(NamedTuple):
    """A dataset that has responses, and the parts of a trade-off that it has."""

    dataset: Dataset
    n_setups: int
    n_responses: int
    missing: Sequence[Side]
    n_views: int


def offered_datasets() -> list[Offered]:
    """Return the datasets that have responses, by name, with a fixed number of queries."""
    n_responses = _counts(Response.objects.of_benchmark().values_list("dataset"))
    n_setups = _counts(Setup.objects.answered().values_list("dataset"))
    n_views = _counts(SavedView.objects.values_list("dataset"))
    metrics, questions = _metrics(), _questions()
    return [
        Offered(
            dataset,
            n_setups.get(dataset.pk, 0),
            n_responses[dataset.pk],
            [s for s in SIDES if not s.is_known(metrics[dataset.pk], questions[dataset.pk])],
            n_views.get(dataset.pk, 0),
        )
        for dataset in Dataset.objects.filter(pk__in=n_responses).order_by("name", "pk")
    ]


def _counts(rows: QuerySet[Any, Any]) -> dict[int, int]:
    return dict(rows.order_by().annotate(n=Count("pk")))


def _metrics() -> dict[int, set[str]]:
    """Return by dataset the metrics with scores, apart from runs that are set aside."""
    has_scores = Exists(AutoScore.objects.filter(run=OuterRef("pk"), target__citation=None))
    found: dict[int, set[str]] = defaultdict(set)
    runs = MetricRun.objects.filter(has_scores).exclude(pk__in=set_aside())
    for dataset, metric in runs.values_list("dataset", "metric"):
        found[dataset].add(metric)
    return found


def _questions() -> dict[int, set[str]]:
    """Return the questions of rated studies that ask about whole responses, by dataset."""
    found: dict[int, set[str]] = defaultdict(set)
    rated = Study.objects.filter(Exists(Vote.objects.filter(arm__study=OuterRef("pk"))))
    for dataset, scheme, settings in rated.values_list("dataset", "scheme", "settings"):
        loaded = load_scheme(scheme)
        if loaded.target == "response":
            questions = loaded.questions
            found[dataset] |= {each.key for each in questions if not label_rule(each, settings).why}
    return found

"""The choice of the metric run that the table of an experiment reads. This module only reads."""

from collections.abc import Collection

from django.db.models import Q

from evaluation.graphs.reports.alignment import newest_of
from evaluation.graphs.reports.quality import QUALITIES
from evaluation.models import MetricRun
from generation.models import Dataset


def runs_read(dataset: Dataset, metrics: Collection[str]) -> dict[str, MetricRun]:
    """Return the run that tables use for each metric. Metrics without a finished run are left out.

    `newest_of` chooses the run. For text quality, which is judged by samples, it is the newest
    finished run whatever its sample. Other runs need a threshold. This takes one query.
    """
    every = MetricRun.objects.filter(dataset=dataset, metric__in=metrics)
    every = every.filter(Q(metric__in=QUALITIES) | Q(threshold__isnull=False))
    by_metric: dict[str, list[MetricRun]] = {metric: [] for metric in metrics}
    for each in every.select_related("dataset").order_by("pk"):
        by_metric[each.metric].append(each)
    chosen = {
        metric: _newest_done(of) if metric in QUALITIES else newest_of(of)
        for metric, of in by_metric.items()
    }
    return {metric: run for metric, run in chosen.items() if run}


def _newest_done(runs: Collection[MetricRun]) -> MetricRun | None:
    return max(
        (run for run in runs if run.state == MetricRun.State.DONE),
        key=lambda run: run.pk,
        default=None,
    )

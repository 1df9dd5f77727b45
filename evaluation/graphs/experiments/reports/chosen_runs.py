"""Which metric run the table of an experiment reads, of those that there are. Reads only."""

from collections.abc import Collection

from evaluation.graphs.reports.alignment import newest_of
from evaluation.graphs.reports.quality import QUALITIES
from evaluation.models import MetricRun
from generation.models import Dataset


def runs_read(dataset: Dataset, metrics: Collection[str]) -> dict[str, MetricRun]:
    """Return the run that speaks for each metric, of those that have one that is done; one query.

    That of `newest_of`; of text quality, which is judged by samples, the newest whatever its
    sample.
    """
    every = MetricRun.objects.filter(dataset=dataset, metric__in=metrics)
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

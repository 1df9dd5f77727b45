"""The list of metric runs: its search, sorts, filters and tabs."""

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Lower

from accounts.listing import Compared, ListFilter, Listing, Options, Sort, containing, has_any, n_of
from evaluation.metrics.registry import METRICS
from evaluation.models import AutoScore, MetricRun
from generation.models import Dataset

STATE = MetricRun.State
HAS_FAILED = Q(state=STATE.FAILED) | Q(state=STATE.DONE, has_failed_scores=True)
STATES: Options = {
    "running": ("Running", Q(state=STATE.RUNNING)),
    "cancelled": ("Cancelled", Q(state=STATE.CANCELLED)),
    "failed": ("Failed", HAS_FAILED),
    "done": ("Done", Q(state=STATE.DONE) & ~HAS_FAILED),
}


def with_failures(runs: QuerySet[MetricRun]) -> QuerySet[MetricRun]:
    """Return runs with `has_failed_scores`: whether one of their scores has failed."""
    failed = AutoScore.objects.filter(run=OuterRef("pk"), score=None)
    return runs.annotate(has_failed_scores=Exists(failed))


def _found(word: str) -> Q:
    """Return the runs that a word finds, also by the title of their metric, or by a study.

    A study's runs are those of its dataset.
    """
    by_title = [key for key, metric in METRICS.items() if word.lower() in metric.title.lower()]
    of_study = Dataset.objects.filter(studies__name__icontains=word).values("pk")
    by_field = containing("metric", "signature", "model_name", "dataset__name")
    return by_field(word) | Q(metric__in=by_title) | Q(dataset__in=of_study)


def _metrics() -> Options:
    keys = MetricRun.objects.order_by("metric").values_list("metric", flat=True).distinct()
    titles = {key: METRICS[key].title if key in METRICS else key for key in keys}
    return {key: (title, Q(metric=key)) for key, title in titles.items()}


def _datasets() -> Options:
    with_runs = Dataset.objects.filter(has_any(MetricRun.objects.all(), "dataset"))
    named = with_runs.values_list("pk", "slug", "name")
    return {slug: (name, Q(dataset=pk)) for pk, slug, name in named}


RUNS = Listing(
    "runs",
    finds=_found,
    sorts=(
        Sort("date", "Date", "created_at", Compared.DATE),
        Sort("metric", "Metric", Lower("metric"), Compared.TEXT),
        Sort("dataset", "Dataset", Lower("dataset__name"), Compared.TEXT),
        Sort("scores", "Scores", n_of(AutoScore.objects.all(), "run"), Compared.COUNT),
    ),
    filters=(ListFilter("metric", "Metric", _metrics), ListFilter("dataset", "Dataset", _datasets)),
    tabs=STATES,
    per_page=20,
)

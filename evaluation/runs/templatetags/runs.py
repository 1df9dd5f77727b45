"""How metric runs are written on pages: names, rates and durations."""

from collections.abc import Callable

from django import template

from annotation.models import Study
from evaluation.metrics.registry import METRICS, is_of_earlier_rule
from evaluation.models import AutoScore, MetricRun
from evaluation.runs.progress import RunProgress
from evaluation.runs.study_targets import first_plan
from generation.amounts import UNDEFINED, about

register = template.Library()
register.filter(about)

TAGS = {
    "done": "ok",
    "running": "on",
    "cancelled": "warn",
    "failed": "bad",
    "failed in part": "bad",
}


@register.filter
def state_tag(state: str) -> str:
    """Return the class of a state's tag; a queued run has none."""
    return f"tag--{TAGS[state]}" if state in TAGS else ""


@register.filter
def rate(progress: RunProgress) -> str:
    """Return how fast a run is: '31.4 pairs a second', of what is no entailment in responses."""
    pairs = asks_pairs(progress.run)
    figure = progress.pairs_per_second if pairs else progress.responses_per_second
    if figure is None:
        return UNDEFINED
    number = f"{figure:,.0f}" if figure >= 100 else f"{figure:.1f}"
    return f"{number} {'pairs' if pairs else 'responses'} a second"


@register.filter
def asks_pairs(run: MetricRun) -> bool:
    """Return whether a run asks about pairs of premise and hypothesis."""
    return run.metric in METRICS and METRICS[run.metric].asks_pairs


@register.filter
def judged(run: MetricRun) -> str:
    """Return what a run gives a score each: 'response' or 'citation'."""
    kind = None if run.is_imported else METRICS.get(run.metric)
    return kind.judges.removesuffix("s") if kind else "response"


@register.filter
def assumed_when(run: MetricRun) -> str:
    """Return why a run's score may be 0 without asking: 'nothing was shown'."""
    kind = METRICS.get(run.metric)
    return kind.assumed_when if kind else "nothing was shown"


register.filter(is_of_earlier_rule)


@register.filter
def said_besides(score: AutoScore) -> list[tuple[str, str]]:
    """Return what a metric keeps with a score, by name: words and numbers."""
    return _named(score, lambda value: not isinstance(value, list | dict))


@register.filter
def said_at_length(score: AutoScore) -> list[tuple[str, str]]:
    """Return the lists that a metric keeps with a score, by name, apart from replies."""
    return _named(score, lambda value: isinstance(value, list | dict))


def _named(score: AutoScore, is_wanted: Callable[[object], bool]) -> list[tuple[str, str]]:
    return [
        (name.replace("_", " "), _plain(value))
        for name, value in score.details.items()
        if name != "replies" and value not in (None, "", [], {}) and is_wanted(value)
    ]


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_plain(part)}" for key, part in value.items())
    if isinstance(value, list):
        return ", ".join(map(_plain, value))
    return str(value)


@register.filter
def small(change: float) -> str:
    """Return how much a score changes: '0.0123'; '<0.0001' of what is less but not nothing."""
    return "<0.0001" if 0 < change < 0.0001 else f"{change:.4f}"


@register.filter
def percent_scored(progress: RunProgress) -> int:
    """Return how much of a run is scored; what failed is not."""
    return 100 * progress.n_scored // progress.n_targets if progress.n_targets else 100


@register.filter
def first_metric(study: Study) -> str:
    """Return the metric that a study can run at once: 'Auto-AIS'."""
    return first_plan(study).metric.title


@register.filter
def has_default_run(progress: list[RunProgress]) -> bool:
    """Return whether somebody has run the metric that needs no model."""
    return any(each.run.backend == "lexical" and not each.run.is_imported for each in progress)


@register.filter
def going_on(progress: list[RunProgress]) -> list[RunProgress]:
    """Return those that wait for a worker or have one."""
    return [each for each in progress if each.run.state == MetricRun.State.RUNNING]

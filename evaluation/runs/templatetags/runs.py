"""Template filters that write metric runs on pages: states, rates, scores and their details."""

from collections.abc import Callable

from django import template

from annotation.models import Study
from evaluation.backends.registry import BACKENDS
from evaluation.metrics.registry import METRICS, is_of_earlier_rule
from evaluation.models import AutoScore, MetricRun
from evaluation.runs.progress import RunProgress
from evaluation.runs.study_targets import first_plan
from work.amounts import UNDEFINED, about

register = template.Library()
register.filter(about)


@register.filter
def rate(progress: RunProgress) -> str:
    """Return the speed of a run, such as '31.4 pairs a second'.

    It is counted in responses when the metric does not ask about pairs.
    """
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
    """Return the kind of target that a run scores: 'response' or 'citation'."""
    kind = None if run.is_imported else METRICS.get(run.metric)
    return kind.judges.removesuffix("s") if kind else "response"


@register.filter
def assumed_when(run: MetricRun) -> str:
    """Return the reason why a run's score may be 0 without asking, such as 'nothing was shown'."""
    kind = METRICS.get(run.metric)
    return kind.assumed_when if kind else "nothing was shown"


register.filter(is_of_earlier_rule)


@register.filter
def said_besides(score: AutoScore) -> list[tuple[str, str]]:
    """Return the words and numbers that a metric stores with a score, each with its name."""
    return _named(score, lambda value: not isinstance(value, list | dict))


@register.filter
def said_at_length(score: AutoScore) -> list[tuple[str, str]]:
    """Return the lists that a metric stores with a score, each with its name, without replies."""
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
    """Return the change of a score as text: '0.0123', or '<0.0001' when it is less but not 0."""
    return "<0.0001" if 0 < change < 0.0001 else f"{change:.4f}"


@register.filter
def percent_scored(progress: RunProgress) -> int:
    """Return the percentage of a run's targets that have a score. Failed targets have none."""
    return 100 * progress.n_scored // progress.n_targets if progress.n_targets else 100


@register.filter
def first_metric(study: Study) -> str:
    """Return the title of the metric that a study can run at once, such as 'Auto-AIS'."""
    return first_plan(study).metric.title


@register.filter
def first_backend(study: Study) -> str:
    """Return the name of the baseline that this metric asks, such as 'added words'."""
    return BACKENDS[first_plan(study).spec.backend].title.partition(",")[0].lower()


@register.filter
def has_default_run(progress: list[RunProgress], study: Study) -> bool:
    """Return whether one of the runs is the one that a study can have at once."""
    signature = first_plan(study).signature
    return any(each.run.signature == signature and not each.run.is_imported for each in progress)


@register.filter
def going_on(progress: list[RunProgress]) -> list[RunProgress]:
    """Return the runs that wait for a worker or that a worker is scoring."""
    return [each for each in progress if each.run.state == MetricRun.State.RUNNING]

"""Template filters that write metric runs on pages: states, rates, scores and their details."""

from collections.abc import Callable

from django import template

from annotation.models import Study
from evaluation.backends.registry import BACKENDS
from evaluation.metrics.registry import METRICS, is_of_earlier_rule
from evaluation.models import AutoScore, MetricRun
from evaluation.runs.budget import spent_in_words
from evaluation.runs.names import run_parts
from evaluation.runs.progress import RunProgress, asks_pairs, judged
from evaluation.runs.study_targets import first_plan

register = template.Library()


register.filter(asks_pairs)
register.filter(judged)
register.filter(run_parts)


@register.filter
def assumed_when(run: MetricRun) -> str:
    """Return the reason why a run's score may be 0 without asking, such as 'no evidence shown'."""
    kind = METRICS.get(run.metric)
    return kind.assumed_when if kind else "no evidence shown"


register.filter(is_of_earlier_rule)
register.filter(spent_in_words)


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

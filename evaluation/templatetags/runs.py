"""How metric runs are written on pages: names, rates and durations."""

from django import template

from evaluation.models import MetricRun
from evaluation.runs.progress import RunProgress
from evaluation.templatetags.figures import UNDEFINED

register = template.Library()

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
    """Return how fast a run is: '31.4 pairs a second'."""
    figure = progress.pairs_per_second
    if figure is None:
        return UNDEFINED
    return f"{figure:,.0f} pairs a second" if figure >= 100 else f"{figure:.1f} pairs a second"


@register.filter
def percent_scored(progress: RunProgress) -> int:
    """Return how much of a run is scored; what failed is not."""
    return 100 * progress.n_scored // progress.n_targets if progress.n_targets else 100


@register.filter
def about(seconds: float | None) -> str:
    """Return a duration as people say it: 'about 6 min'."""
    if seconds is None:
        return UNDEFINED
    if seconds < 59.5:
        return f"about {max(1, round(seconds))} s"
    if seconds < 3570:
        return f"about {round(seconds / 60)} min"
    return f"about {seconds / 3600:.1f} h"


@register.filter
def has_default_run(progress: list[RunProgress]) -> bool:
    """Return whether somebody has run the metric that needs no model."""
    return any(each.run.backend == "lexical" and not each.run.is_imported for each in progress)


@register.filter
def going_on(progress: list[RunProgress]) -> list[RunProgress]:
    """Return those that wait for a worker or have one."""
    return [each for each in progress if each.run.state == MetricRun.State.RUNNING]

"""Filters and tags that write figures on pages. Undefined is a dash, an interval a small band."""

import hashlib
from collections.abc import Sequence
from typing import Any

from django import template
from django.http import QueryDict
from django.template import Context
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from annotation.models import arm_name
from annotation.schemes import Question, Scale, Scheme
from evaluation.reports.columns import Estimate, Format
from evaluation.reports.exclusions import reason_text
from evaluation.reports.figures.builders import few
from evaluation.reports.numbers import (
    coefficient,
    decimal,
    mse,
    p_value,
    percent,
    points,
    seconds,
    signed,
    temperature,
)
from work.amounts import UNDEFINED

register = template.Library()
for write in (
    arm_name,
    coefficient,
    decimal,
    reason_text,
    mse,
    p_value,
    percent,
    points,
    seconds,
    signed,
    temperature,
):
    register.filter(write)

AROUND = 80  # px, about what the axis, its title and the legend of a chart take beside its plot
PLACE = '<canvas height="{}" width="{}" aria-hidden="true"></canvas>'  # in place of a chart
WIDTH, INSET = 74, 1  # width and margin of an interval band, in px


@register.filter
def with_some(lines: Sequence[Any]) -> list[Any]:
    """Return the lines whose number of left-out things is not 0."""
    return [line for line in lines if line.n]


@register.filter
def with_none(lines: Sequence[Any]) -> list[str]:
    """Return the things that no line leaves out."""
    some = {line.what for line in with_some(lines)}
    return list(dict.fromkeys(line.what for line in lines if line.what not in some))


@register.filter
def interval(estimate: Estimate, format: str) -> str:
    """Return the interval of an estimate in a format: '81.0–91.2'; "" without one."""
    return Format[format.upper()].interval(estimate)


@register.filter
def nth(place: int, values: Sequence[Any]) -> Any:
    """Return an item by its place, counted from 0, which is known only in the template."""
    return values[place]


@register.filter
def tenth(share: float | None) -> int:
    """Return a share as a whole number of tenths, which chooses one of ten shades."""
    return 0 if share is None else round(10 * share)


@register.filter
def short_hash(text: str) -> str:
    """Return six digits that identify a signature where there is no room for all of it."""
    return hashlib.sha256(text.encode()).hexdigest()[:6]


@register.filter
def item(mapping: dict[str, Any], key: str) -> Any:
    """Return an item of a mapping by a name that is known only in the template."""
    return mapping.get(key)


@register.filter
def pairs(mapping: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return names and values of imported metadata, in which one name may be 'items'."""
    return list(mapping.items())


@register.filter
def plain(value: Any) -> str:
    """Return a value of imported metadata as text. Lists are joined, and no value is a dash."""
    if isinstance(value, list):
        return ", ".join(map(plain, value)) or UNDEFINED
    if isinstance(value, dict):
        return ", ".join(f"{key} {plain(part)}" for key, part in value.items()) or UNDEFINED
    if isinstance(value, bool):
        return "yes" if value else "no"
    return UNDEFINED if value in (None, "") else str(value)


@register.filter
def spaced(key: str) -> str:
    """Return a key as words: 'evidence_relevant' → 'Evidence relevant', and SSA stays SSA."""
    return key[:1].upper() + key[1:].replace("_", " ")


@register.filter
def rows_in_words(kind: str) -> str:
    """Return a kind of rows in the interchange format as words: 'Questions about the graph'."""
    return "Questions about the graph" if kind == "kg_questions" else spaced(kind)


@register.simple_block_tag(takes_context=True, end_name="endchart_room")
def chart_room(context: Context, content: str, name: str) -> SafeString:
    """Return the room of a chart, about as large as the chart will be, so that nothing moves.

    Args:
        context: the template's, which has the charts of the page in `plots`.
        content: what the chart shows, for readers who cannot see it.
        name: the name of the chart.
    """
    spec = (context.get("plots") or {}).get("charts", {}).get(name, {})
    sides = [spec.get(side) for side in ("height", "width")]
    # Without a number of its own, a chart is as wide as its room.
    height, width = (round(each) + AROUND if isinstance(each, int | float) else 1 for each in sides)
    place = format_html(PLACE, height, width) if height > 1 else ""
    label = mark_safe(" ".join(content.split()))
    return format_html('<div class="chart-room" role="img" aria-label="{}">{}</div>', label, place)


@register.inclusion_tag("evaluation/reports/_interval_bar.html")
def interval_bar(
    estimate: Estimate,
    start: float = 0,
    end: float = 1,
    *,
    is_on: bool = False,
    n: int | None = None,
) -> dict[str, Any]:
    """Draw a figure as a tick and its interval as a band, on a rail from `start` to `end`.

    With `is_on` it has the accent colour, which means that it clearly differs from 0. If it is
    drawn from fewer than five dialogs or items, of which there are `n`, it is dashed and says so.
    """
    figure, low, high = estimate

    def x(value: float) -> float:
        share = (min(max(value, start), end) - start) / (end - start)
        return round(INSET + share * (WIDTH - 2 * INSET), 1)

    return {
        "width": WIDTH,
        "tick": None if figure is None else round(x(figure) - 1.25, 2),
        "low": None if low is None else x(low),
        "high": None if high is None else x(high),
        "zero": x(0) if start < 0 else None,
        "is_on": is_on,
        "n_few": few(estimate, n).get("few"),
    }


@register.filter
def answer_label(scale: Scale, answer: int) -> str:
    """Return the word for a stored answer."""
    return scale.label(answer)


@register.filter
def question(scheme: Scheme, key: str) -> Question | None:
    """Return the question with this key."""
    return scheme.question(key)


@register.filter
def place(scheme: Scheme, key: str) -> int:
    """Return the number of a question in its scheme, from 1."""
    return scheme.keys.index(key) + 1


@register.filter
def last_value(question: Question) -> int:
    """Return the upper end of a question's scale."""
    return question.scale.values[-1]


@register.filter
def has_gates(scheme: Scheme) -> bool:
    """Return whether any question is asked only after another."""
    return any(question.after for question in scheme.questions)


@register.filter
def parameters(query: QueryDict) -> list[tuple[str, str | list[object]]]:
    """Return the parameters of an address. In a template, `.items` may be a parameter's name."""
    return list(query.items())

"""Template filters and tags that write rows of a study's reports on its page."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.urls import reverse

from accounts.http import query_string
from annotation.models import Study
from annotation.schemes import Scale
from evaluation.reports.base import Choices
from evaluation.reports.columns import Format
from evaluation.reports.numbers import decimal, percent
from evaluation.studies.disagreements.worklist import TIED
from evaluation.studies.reports.direction import Direction
from evaluation.studies.reports.raters import RatersRow
from generation.choices.declaration import unusual

register = template.Library()

BAR = 120  # width of a bar of shares, in px


@register.filter
def as_query(choices: Choices) -> str:
    """Return the choices that are not the usual ones, as the query of an address."""
    return query_string(unusual(choices))


@register.simple_tag
def tied_address(study: Study, question: str, arm: str, choices: Choices) -> str:
    """Return the address of the tied targets on a question in an arm.

    They are those that the choices count.
    """
    asked = {
        "kind": TIED,
        "question": question,
        "truth": arm,
        "setup": choices.setup,
        "with_excluded": "on" if choices.with_excluded else "",
    }
    query = query_string({name: value for name, value in asked.items() if value})
    return f"{reverse('evaluation:disagreements', args=[study.slug])}{query}"


@register.filter
def mean_vote(figure: float | None, scale: Scale) -> str:
    """Return the mean of votes in the form of their scale: percent of yes, or points."""
    return percent(figure) if scale.kind == "yes_no" else decimal(figure)


@register.filter
def directions(found: Direction, short: Mapping[str, str]) -> str:
    """Return in words which setups merging favours, helps and harms.

    Args:
        found: the direction in a row of the report on uncertainty.
        short: the short names of setups, by name.
    """

    def called(names: str) -> str:
        parts = [names] if names in short else names.split(", ")
        return ", ".join(short.get(name, name) for name in parts)

    said = {"favours": found.favours, "helps": found.helps, "harms": found.harms}
    return "; ".join(f"{word} {called(names)}" for word, names in said.items() if names)


@register.inclusion_tag("evaluation/reports/_share_bar.html")
def share_bar(row: RatersRow, scale: Scale) -> dict[str, Any]:
    """Draw the share of each answer among the votes of a report row, in the scale's order."""
    segments, x = [], 0.0
    for place, label in enumerate(scale.labels):
        share = row.shares[f"share_{label}"] or 0.0
        tone = round(0.15 + 0.75 * place / (len(scale.labels) - 1), 2)
        segments.append({"x": round(x, 1), "width": round(BAR * share, 1), "tone": tone})
        x += BAR * share
    return {"width": BAR, "segments": segments}


@register.filter
def spread(row: RatersRow, scale: Scale) -> str:
    """Return the share of each answer among the votes of a report row, in words."""
    shares = [(label, row.shares[f"share_{label}"]) for label in scale.labels]
    return ", ".join(f"{label} {percent(share, 0)} %" for label, share in shares)


@register.filter
def majorities(row: RatersRow, scale: Scale) -> str:
    """Return, in words, how many items have each answer as their majority."""
    return ", ".join(f"{label}: {row.majorities[f'majority_{label}']:,}" for label in scale.labels)


@register.filter
def mean(row: RatersRow) -> str:
    """Return the mean of a report row in the form of its scale: percent of yes, or points."""
    return _format_of_mean(row).write(row.mean.value)


@register.filter
def mean_range(row: RatersRow) -> str:
    """Return the interval of a report row's mean, in the same form as `mean`."""
    return _format_of_mean(row).interval(row.mean)


def _format_of_mean(row: RatersRow) -> Format:
    return Format.PERCENT if row.scale == "yes_no" else Format.DECIMAL

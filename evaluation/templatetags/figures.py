"""How figures are written on pages: undefined is a dash, an interval is a small band."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django import template
from django.http import QueryDict

from annotation.schemes import Question, Scale, Scheme
from evaluation.reports.columns import Estimate, Format
from evaluation.reports.left_out import in_words
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
from generation.amounts import UNDEFINED

register = template.Library()
for write in (
    coefficient,
    decimal,
    in_words,
    mse,
    p_value,
    percent,
    points,
    seconds,
    signed,
    temperature,
):
    register.filter(write)

WIDTH, INSET = 74, 1  # of an interval band, in px
DIRECTIONS = ("favours", "helps", "harms")
BAR = 120  # width of a bar of shares, in px


@register.filter
def mean_vote(figure: float | None, scale: Scale) -> str:
    """Return the mean of votes as their scale asks: percent of yes, or points."""
    return percent(figure) if scale.kind == "yes_no" else decimal(figure)


@register.filter
def directions(row: dict[str, Any], short: Mapping[str, str]) -> str:
    """Return what merging does to which setups, by a row of the report on uncertainty.

    Args:
        short: how setups are called here.
    """

    def called(names: str) -> str:
        parts = [names] if names in short else names.split(", ")
        return ", ".join(short.get(name, name) for name in parts)

    return "; ".join(f"{word} {called(row[word])}" for word in DIRECTIONS if row.get(word))


WRITERS: dict[str, Callable[[float | None], str]] = {
    "percent": percent,
    "points": points,
    "coefficient": coefficient,
    "mse": mse,
}


@register.filter
def with_some(lines: Sequence[Any]) -> list[Any]:
    """Return the lines that leave something out."""
    return [line for line in lines if line.n]


@register.filter
def with_none(lines: Sequence[Any]) -> list[str]:
    """Return what is nowhere left out."""
    some = {line.what for line in with_some(lines)}
    return list(dict.fromkeys(line.what for line in lines if line.what not in some))


@register.filter
def written(figure: float | None, kind: str) -> str:
    """Return a figure as its kind is written: percent, points, coefficient or mse."""
    return WRITERS[kind](figure)


@register.filter
def interval(estimate: Estimate, format: str) -> str:
    """Return the interval of an estimate as its format writes it: '81.0–91.2'; "" without one."""
    return Format[format.upper()].interval(estimate)


@register.filter
def range_of(row: Any, name: str) -> str:
    """Return the interval of a figure of a row, as percent or as points: '81.0–91.2'."""
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    if low is None or high is None:
        return ""
    if name.startswith(("minus_", "shift", "effect", "optimism", "gain", "delta")):
        return f"{points(low)} to {points(high)}"
    return f"{percent(low)}–{percent(high)}"


@register.filter
def without_score(row: dict[str, Any]) -> int:
    """Return how many of the rated targets a run has no score of its own for, for any reason."""
    return int(row["unscored"] + row["failed"] + row["assumed"])


@register.filter
def any_of(counts: Iterable[int]) -> bool:
    """Return whether one of the counts is not 0."""
    return any(counts)


@register.filter
def nth(place: int, values: Sequence[Any]) -> Any:
    """Return an item by a place that only the template knows, from 0."""
    return values[place]


@register.filter
def tenth(share: float | None) -> int:
    """Return a share as a whole number of tenths: what a shade of ten steps is chosen by."""
    return 0 if share is None else round(10 * share)


@register.filter
def short_hash(text: str) -> str:
    """Return six digits that stand for a signature where the whole of it has no room."""
    return hashlib.sha256(text.encode()).hexdigest()[:6]


@register.filter
def item(mapping: dict[str, Any], key: str) -> Any:
    """Return an item of a mapping by a name that only the template knows."""
    return mapping.get(key)


@register.filter
def pairs(mapping: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return names and values of imported meta data, where one name may be 'items'."""
    return list(mapping.items())


@register.filter
def plain(value: Any) -> str:
    """Return a value of imported meta data as text: lists joined, nothing as a dash."""
    if isinstance(value, list):
        return ", ".join(map(plain, value)) or UNDEFINED
    if isinstance(value, dict):
        return ", ".join(f"{key} {plain(part)}" for key, part in value.items()) or UNDEFINED
    if isinstance(value, bool):
        return "yes" if value else "no"
    return UNDEFINED if value in (None, "") else str(value)


@register.filter
def spaced(key: str) -> str:
    """Return a key as words: 'evidence_relevant' → 'Evidence relevant'."""
    return key.replace("_", " ").capitalize()


@register.filter
def rows_in_words(kind: str) -> str:
    """Return a kind of rows of the interchange format as words: 'Questions about the graph'."""
    return "Questions about the graph" if kind == "kg_questions" else spaced(kind)


@register.inclusion_tag("evaluation/reports/_interval_bar.html")
def interval_bar(
    figure: float | None,
    low: float | None,
    high: float | None,
    start: float = 0,
    end: float = 1,
    *,
    is_on: bool = False,
) -> dict[str, Any]:
    """Draw a figure as a tick and its interval as a band, on a rail from `start` to `end`.

    `is_on` draws it in the accent: a test says that it is not by chance.
    """

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
    }


@register.filter
def answer_label(scale: Scale, answer: int) -> str:
    """Return the word for a stored answer."""
    return scale.label(answer)


@register.inclusion_tag("evaluation/reports/_share_bar.html")
def share_bar(row: dict[str, Any], scale: Scale) -> dict[str, Any]:
    """Draw how the votes of a report row spread over the answers of its scale, in their order."""
    segments, x = [], 0.0
    for place, label in enumerate(scale.labels):
        share = row[f"share_{label}"] or 0.0
        tone = round(0.15 + 0.75 * place / (len(scale.labels) - 1), 2)
        segments.append({"x": round(x, 1), "width": round(BAR * share, 1), "tone": tone})
        x += BAR * share
    return {"width": BAR, "segments": segments}


@register.filter
def spread(row: dict[str, Any], scale: Scale) -> str:
    """Return how the votes of a report row spread over its answers, in words."""
    return ", ".join(f"{label} {percent(row[f'share_{label}'], 0)} %" for label in scale.labels)


@register.filter
def majorities(row: dict[str, Any], scale: Scale) -> str:
    """Return how many items have which majority, in words."""
    return ", ".join(f"{label}: {row[f'majority_{label}']:,}" for label in scale.labels)


@register.filter
def n_of_mean(row: dict[str, Any] | None) -> int | str:
    """Return how many items the mean of a row of the report on scenarios is over."""
    if not row or not (row["n"] or row["n_assumed"]):
        return UNDEFINED
    n: int = row["n"] if row.get("n_mean") is None else row["n_mean"]
    return n


@register.filter
def mean(row: dict[str, Any]) -> str:
    """Return the mean of a report row as its scale asks: percent of yes, or points."""
    return percent(row.get("mean")) if row["scale"] == "yes_no" else decimal(row.get("mean"))


@register.filter
def mean_range(row: dict[str, Any]) -> str:
    """Return the interval of a report row's mean, as `mean` writes it."""
    low, high = row.get("mean_low"), row.get("mean_high")
    if low is None or high is None:
        return ""
    if row["scale"] == "yes_no":
        return f"{percent(low)}–{percent(high)}"
    return f"{decimal(low)}–{decimal(high)}"


@register.filter
def question(scheme: Scheme, key: str) -> Question | None:
    """Return the question of that key."""
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
    """Return the parameters of an address: `.items` would be the one of that name, if there is."""
    return list(query.items())

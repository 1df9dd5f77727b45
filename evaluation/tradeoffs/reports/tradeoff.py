"""The report on a trade-off: where each setup stands, its F1, and what may flatter it."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from evaluation.measures.tradeoff import attribution_from, f1_from, sensibleness_from
from evaluation.reports.base import LeftOut, Report, Row, number
from evaluation.reports.registry import Column, Format, ReportKind, columns
from evaluation.statistics.intervals import Figure, Floats, Measure, share_from
from evaluation.tradeoffs.axes import Axes
from evaluation.tradeoffs.dots import CLUSTER_TITLES, TOP_RIGHT, Dot
from evaluation.tradeoffs.flattered import chosen_by, marks_of, short_of
from evaluation.tradeoffs.material import NO_RESPONSE, Material
from evaluation.tradeoffs.reports.axes_choices import (
    AxesChoices,
    ByScore,
    cached_material_on,
    material_on,
)
from evaluation.tradeoffs.titles import setup_title
from evaluation.tradeoffs.view import (
    View,
    function_key,
    model_key,
    prompt_key,
    shown,
)
from generation.amounts import UNDEFINED
from generation.models import Dataset

POOL = " of "  # before the pool, in the title of an aggregate


def tradeoff_report(material: Material, view: View) -> Report:
    """Return a row for each setup that a view shows, best F1 first.

    Shares labelled yes, or mean scores where the view says so, are over the examples for which both
    axes say something (`n`; the other responses of the setup are `n_left_out`), and F1 is that of
    the two. Shares have Wilson intervals, F1 and mean scores bootstrap intervals over dialogs.
    `attribution_score` and `sensibleness_score` are mean scores in either case; of the n examples
    `attribution_assumed` and `sensibleness_assumed` are a no that nobody was asked for.
    `is_flattered_x` and `is_flattered_y` say that an aggregate was chosen by what that axis shows,
    `is_same_metric_x` and `is_same_metric_y` that it was by the same metric with another model. The
    title of an aggregate names its pool where the view shows another one by the same function.
    """
    places = shown(material, view)
    chosen = material.of_dots(places)
    rows = sorted(_rows(chosen, by_score=view.by_score), key=_best_first)
    left_out: LeftOut = {
        **material.left_out,
        "setups_not_shown": len(material.dots) - len(places),
        "setups_without_figures": sum(row["n"] == 0 for row in rows),
    }
    said = "mean scores" if view.by_score else "shares labelled yes"
    signature = material.signature("tradeoff", said)
    return Report(material.dataset.name, "tradeoff", rows, left_out, signature)


def bands(rows: Sequence[Row]) -> list[Row]:
    """Return the F1 of each model and temperature, over setups with history and golden evidence.

    Args:
        rows: of the report.

    Returns:
        A row each with `model`, `temperature`, `n` setups, and the mean, least and most of their
        F1 (`f1_mean`, `f1_least`, `f1_most`); lowest mean first. Setups without F1 have no part.
    """
    found: dict[tuple[str, float | None], list[float]] = defaultdict(list)
    for row in rows:
        if row["cluster"] == TOP_RIGHT and row["f1"] is not None:
            found[row["model"], row["temperature"]].append(row["f1"])
    made: list[Row] = [
        {
            "model": model,
            "temperature": temperature,
            "n": len(values),
            "f1_mean": sum(values) / len(values),
            "f1_least": min(values),
            "f1_most": max(values),
        }
        for (model, temperature), values in found.items()
    ]
    return sorted(made, key=lambda row: (row["f1_mean"], row["model"], row["temperature"] or 0.0))


class _Planned(NamedTuple):
    """What the figures of a setup are made of."""

    statistics: Floats  # (n_examples, 3), of labels or of scores
    by_score: Floats  # the same of scores
    figures: dict[str, Figure]


def _rows(material: Material, *, by_score: bool) -> Iterator[Row]:
    planned = [_planned(material, place, by_score) for place in range(len(material.dots))]
    figures = [figure for each in planned for figure in each.figures.values()]
    intervals = iter(material.intervals(figures) if figures else ())
    pools = Counter(_function_of(dot) for dot in material.dots if dot.is_aggregate)
    for place, (dot, each) in enumerate(zip(material.dots, planned, strict=True)):
        row = setup_row(dot)
        if dot.is_aggregate and pools[_function_of(dot)] > 1:
            row["prompt_title"] = setup_title(dot)
        n_responses = int(np.count_nonzero(material.responses[place] != NO_RESPONSE))
        row["n"] = round(float(each.statistics[:, 2].sum()))
        row["n_left_out"] = n_responses - row["n"]
        is_counted = each.statistics[:, 2] > 0
        for name, is_assumed in zip(material.axes._fields, material.is_assumed, strict=True):
            row[f"{name}_assumed"] = int(np.count_nonzero(is_assumed[place] & is_counted))
        for name, figure in each.figures.items():
            interval = next(intervals)
            row[name] = number(figure.measure(figure.statistics.sum(axis=0)))
            row[f"{name}_low"], row[f"{name}_high"] = number(interval.low), number(interval.high)
        sums = each.by_score.sum(axis=0)
        row["attribution_score"] = number(attribution_from(sums))
        row["sensibleness_score"] = number(sensibleness_from(sums))
        yield row | _of_aggregate(dot, material.axes)


def _planned(material: Material, place: int, by_score: bool) -> _Planned:
    """Return the figures of one setup: shares are said to be shares, for their intervals."""
    scores = material.statistics(place, by_score=True)
    rows = scores if by_score else material.statistics(place)

    def figure(measure: Measure, columns: Sequence[int]) -> Figure:
        if by_score:
            return Figure(rows, material.dialogs, measure)
        return Figure(rows[:, columns], material.dialogs, share_from)

    figures = {
        "attribution": figure(attribution_from, [0, 2]),
        "sensibleness": figure(sensibleness_from, [1, 2]),
        "f1": Figure(rows, material.dialogs, f1_from),
    }
    return _Planned(rows, scores, figures)


def setup_row(dot: Dot) -> Row:
    """Return what a setup is, apart from its figures."""
    cluster = dot.cluster
    function = function_key(dot) if dot.is_aggregate else ""
    function_title = aggregate_title(dot) if dot.is_aggregate else ""
    if dot.is_aggregate:
        title = function_title
    else:
        title = setup_title(dot) if dot.kind else dot.setup.prompt or UNDEFINED
    return {
        "setup": dot.setup.name,
        "setup_id": dot.setup.pk,
        "model": model_key(dot),
        "temperature": dot.setup.temperature,
        "prompt": dot.setup.prompt,
        "prompt_title": title,
        "prompt_family": "" if dot.is_aggregate else prompt_key(dot),  # as views filter
        "cluster": cluster or "",
        "cluster_title": CLUSTER_TITLES[cluster] if cluster else "",
        "label": dot.label,
        "is_aggregate": dot.is_aggregate,
        "is_restricted": dot.is_restricted,
        "dialog_share": number(dot.dialog_share),
        "evidence_share": number(dot.evidence_share),
        "context_tokens": number(dot.context_tokens),
        "n_calls": dot.n_calls,
        "function": function,
        "function_title": function_title,
    }


def aggregate_title(dot: Dot) -> str:
    """Return what an aggregate was chosen by, with its weights and without its pool."""
    return setup_title(dot).rpartition(POOL)[0]


def _function_of(dot: Dot) -> tuple[str, float | None, str]:
    """Return what aggregates of several pools have in common."""
    return model_key(dot), dot.setup.temperature, function_key(dot)


def _of_aggregate(dot: Dot, axes: Axes) -> Row:
    """Return how an aggregate was chosen, and which axis shows what it was chosen by."""
    said = list(dict.fromkeys(chosen_by(dot).values()))
    return {
        "pool_size": len(dot.pool) or None,
        "chosen_by": "; ".join(said),
        "chosen_by_title": ", ".join(dict.fromkeys(map(short_of, said))),
        **marks_of(said, axes),
    }


def _best_first(row: Row) -> tuple[float, str]:
    return (1.0 if row["f1"] is None else -row["f1"]), row["setup"]


class TradeoffChoices(NamedTuple):
    """What a reader may choose about the table of the trade-off."""

    axes: AxesChoices = AxesChoices()
    by_score: ByScore = False


def _in_view(material: Material, choices: TradeoffChoices) -> Report:
    return tradeoff_report(material, View(by_score=choices.by_score))


TRADEOFF = ReportKind(
    key="tradeoff",
    title="Trade-off",
    lede="Attribution, sensibleness and F1 of each setup.",
    about=Dataset,
    choices=TradeoffChoices,
    make=lambda dataset, chosen: _in_view(material_on(dataset, chosen.axes), chosen),
    cached=lambda dataset, chosen: _in_view(cached_material_on(dataset, chosen.axes), chosen),
    columns=columns(
        "prompt_title",
        "model",
        Column("temperature", Format.AS_GIVEN),
        "n",
        "attribution",
        "sensibleness",
        "f1",
        "n_calls",
    ),
)

"""The chart of a recipe: F1 against calls per example, with single calls and a large model."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.reports.figures.builders import (
    SHARES,
    FigureAxis,
    as_vega_lite,
    estimate_text,
    inline,
    line_in_band,
    whisker,
)
from evaluation.reports.figures.themes import Spec
from evaluation.tradeoffs.reports.recipe import RecipeRow

WIDTH, HEIGHT = 520, 280  # px, of the plot itself
FEW_CALLS = 12  # up to this number, an axis has a number for each call
LARGE_LABEL = "Largest model, golden evidence"


def recipe_chart(rows: Sequence[RecipeRow]) -> Spec | None:
    """Draw F1 by calls per example from the report on a recipe; None where it is undefined."""
    import altair as alt

    made = {row.n_calls: row.calls_made for row in rows if row.kind == "calls"}
    curve = _points(rows, "calls", made, "the first {row.n_calls} re-ranked")
    if not curve:
        return None
    single = _points(rows, "single", made, "{row.label}, alone")
    large = _points(rows, "large", made, "{row.label}, {row.model}")
    n_calls = math.ceil(max(point["at"] for point in [*curve, *single]))
    across = alt.Scale(domain=[0.5, n_calls + 0.5], nice=False, zero=False)
    counts: dict[str, Any] = (
        {"values": list(range(1, n_calls + 1))} if n_calls <= FEW_CALLS else {"tickCount": 8}
    )
    axis = alt.Axis(format="d", grid=False, **counts)
    x = alt.X("at:Q", scale=across, title="Calls per example", axis=axis)
    figures = FigureAxis("y", "F1, %").over([*curve, *single, *large], SHARES)
    layers = line_in_band(alt.Chart(inline(curve)).encode(x=x), figures)
    if single:
        alone = alt.Chart(inline(single)).mark_point(style="dot", filled=False)
        layers.insert(1, alone.encode(x=x, **figures.at(), tooltip="said:N"))
    if large:
        reference = alt.Chart(inline(large))
        layers += [
            reference.mark_rule(style="baseline").encode(**figures.at()),
            reference.mark_text(
                style="reference-label", align="right", baseline="bottom", dy=-4, dx=-4
            ).encode(
                x=alt.value(WIDTH), **figures.at(), text=alt.value(LARGE_LABEL), tooltip="said:N"
            ),
        ]
    description = f"F1 by calls per example, from 1 to {n_calls}, with 95 % intervals"
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT, description=description)
    return as_vega_lite(chart)


def _points(
    rows: Sequence[RecipeRow], kind: str, made: Mapping[int | None, float | None], said_of: str
) -> list[dict[str, Any]]:
    """Return the points of one kind of rows whose F1 is defined, with their words.

    Args:
        made: first so many calls → mean of the calls really made. The point of a single call is
            where the curve has this call.
        said_of: a format for the name of a point, which is filled from its row.
    """
    points = []
    for row in rows:
        if row.kind != kind or row.f1.value is None:
            continue
        name = said_of.format(row=row)
        words = f"{name}: F1 {estimate_text(row.f1)} %, n = {row.n}"
        words += ", rated in part" * row.is_rated_in_part
        at = made.get(row.call or row.n_calls)
        points.append({**whisker(row.f1), "at": at, "said": words})
    return points

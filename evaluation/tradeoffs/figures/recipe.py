"""The chart of a recipe: F1 against calls per example, with single calls and a large model."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.reports.figures.builders import as_vega_lite, inline, said, whisker
from evaluation.reports.figures.themes import Spec
from evaluation.tradeoffs.reports.recipe import RecipeRow

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT = 520, 280  # px, of the plot itself
FEW_CALLS = 12  # an axis has a number for each of them
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
    ends = [point[name] for point in [*curve, *single, *large] for name in ("low", "high", "value")]
    known = [end for end in ends if end is not None]
    lowest, highest = max(0.0, min(known) - 3), min(100.0, max(known) + 6)
    across = alt.Scale(domain=[0.5, n_calls + 0.5], nice=False, zero=False)
    counts: dict[str, Any] = (
        {"values": list(range(1, n_calls + 1))} if n_calls <= FEW_CALLS else {"tickCount": 8}
    )
    axis = alt.Axis(format="d", grid=False, **counts)
    x = alt.X("at:Q", scale=across, title="Calls per example", axis=axis)

    def y(field: str) -> "alt.Y":
        scale = alt.Scale(domain=[lowest, highest], nice=False, zero=False)
        return alt.Y(f"{field}:Q", scale=scale, title="F1, %", axis=alt.Axis(tickCount=6))

    drawn = alt.Chart(inline(curve)).encode(x=x)
    layers: list[Any] = [
        drawn.mark_area(style="band", line=False).encode(y=y("low"), y2="high"),
        drawn.mark_line(style="curve", interpolate="linear").encode(y=y("value")),
        drawn.mark_point(style="dot-on", filled=True).encode(y=y("value"), tooltip="said:N"),
    ]
    if single:
        alone = alt.Chart(inline(single)).encode(x=x)
        layers.insert(
            1, alone.mark_point(style="dot", filled=False).encode(y=y("value"), tooltip="said:N")
        )
    if large:
        reference = alt.Chart(inline(large))
        layers += [
            reference.mark_rule(style="baseline").encode(y=y("value")),
            reference.mark_text(
                style="reference-label", align="right", baseline="bottom", dy=-4, dx=-4
            ).encode(
                x=alt.value(WIDTH), y=y("value"), text=alt.value(LARGE_LABEL), tooltip="said:N"
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
        made: the mean of the calls really made, of the first so many; a call alone stands where
            the curve has it.
        said_of: what a point is called, of its row.
    """
    points = []
    for row in rows:
        if row.kind != kind or row.f1.value is None:
            continue
        name = said_of.format(row=row)
        words = f"{name}: F1 {said(row.f1)} %, n = {row.n}"
        at = made.get(row.call or row.n_calls)
        points.append({**whisker(row.f1), "at": at, "said": words})
    return points

"""The chart of a plan: the precision to expect by the number of dialogs, and the wish."""

from collections.abc import Iterator, Sequence
from typing import Any

from evaluation.reports.figures.builders import as_percent, as_vega_lite, inline, series
from evaluation.reports.figures.themes import Spec
from evaluation.studies.reports.plan_rows import DialogsDesign

WIDTH, HEIGHT = 440, 260  # px, of the plot itself
ALONE, HELPED = "Raters alone", "With the metric"
MOST_TICKS = 8


def plan_chart(rows: Sequence[Any]) -> Spec | None:
    """Draw what each number of dialogs gives, by raters alone and with the metric.

    Return None when nothing is defined.
    """
    import altair as alt

    of_dialogs = [row for row in rows if isinstance(row, DialogsDesign)]
    values = [value for row in of_dialogs for value in _points(row)]
    if not values:
        return None
    detects = of_dialogs[0].visible is not None
    title = "Smallest difference detected, points" if detects else "Half-width, points"
    numbers = [row.n_dialogs for row in of_dialogs]
    ends = [numbers[0], max(numbers[-1], numbers[0] + 1)]
    step = -(-len(numbers) // MOST_TICKS)
    x = alt.X(
        "dialogs:Q",
        title="Dialogs rated (logarithmic)",
        scale=alt.Scale(type="log", domain=ends, nice=False),
        axis=alt.Axis(values=numbers[::-step], format=",d", grid=False),
    )
    y = alt.Y("points:Q", title=title, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=6))
    told = series("by", [name for name in (ALONE, HELPED) if any(v["by"] == name for v in values)])
    base = alt.Chart(inline(values)).encode(x=x, y=y, color=told["color"])
    wish = alt.Chart(inline([{"points": as_percent(of_dialogs[0].wish), "said": "target"}]))
    named = wish.mark_text(style="reference-label", align="left", baseline="top", dx=4, dy=5)
    chart = alt.layer(
        wish.mark_rule(style="baseline").encode(y="points:Q"),
        named.encode(y="points:Q", x=alt.value(0), text="said:N"),
        base.mark_line(style="line"),
        base.mark_point(style="dot", filled=True).encode(shape=told["shape"], tooltip="said:N"),
    )
    description = f"{title}, by the number of dialogs rated"
    return as_vega_lite(chart.properties(width=WIDTH, height=HEIGHT, description=description))


def _points(row: DialogsDesign) -> Iterator[dict[str, Any]]:
    for name, reached in ((ALONE, row.reached), (HELPED, row.reached_with_metric)):
        if reached is not None:
            hours = f"{row.n_dialogs:,} dialogs, {row.hours:,.1f} rater hours"
            yield {
                "dialogs": row.n_dialogs,
                "points": as_percent(reached),
                "by": name,
                "said": f"{name}: {100 * reached:.1f} points; {hours}",
            }

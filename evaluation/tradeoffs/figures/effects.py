"""The chart of takeaways: the effect of each change of setup on F1, with its interval."""

from collections.abc import Sequence
from typing import Any

from evaluation.reports.figures.builders import (
    FigureAxis,
    as_vega_lite,
    few,
    inline,
    points,
    sized,
    zero_line,
)
from evaluation.reports.figures.themes import Spec
from evaluation.tradeoffs.effects import BEST_OF_POOL
from evaluation.tradeoffs.reports.takeaways import EffectRow

WIDTH, ROW_HEIGHT = 180, 30  # px, of the plot itself; with its names it fits a phone
SHORT = {BEST_OF_POOL: "best of pool"}


def effects_chart(rows: Sequence[EffectRow], *, on_page: bool = False) -> Spec | None:
    """Draw the difference of F1 of each effect over all its pairs; None if none is defined.

    It fills the width that it has on a page.
    """
    import altair as alt

    shown = [row for row in rows if not row.of and row.f1_difference.value is not None]
    if not shown:
        return None
    values = [_value(row) for row in shown]
    axis = FigureAxis("x", "Difference of F1", (0, 0.1), n_ticks=5, number_format="+.1f")
    axis = axis.over(values, (-1, 1))
    base = alt.Chart(inline(values))
    named = base.encode(y=alt.Y("effect:N", sort=[_name(row) for row in shown], title=None))
    layers = alt.layer(zero_line(base, axis), *points(named, axis))
    chart = sized(layers, WIDTH, on_page=on_page).properties(
        height=ROW_HEIGHT * len(shown),
        description="Effects on F1 with 95 % intervals",
    )
    return as_vega_lite(chart)


def _name(row: EffectRow) -> str:
    return f"{row.takeaway} {SHORT.get(row.effect, row.effect)}"


def _value(row: EffectRow) -> dict[str, Any]:
    f1, low, high = row.f1_difference
    said = f"{row.compared}: {f1:+.3f}"
    if low is not None and high is not None:
        said += f" [{low:+.3f}, {high:+.3f}]"
    if row.n_rated_in_part:
        said += f"; {row.n_rated_in_part:,} of {row.n_pairs:,} pairs rated in part"
    return {
        "effect": _name(row),
        "value": f1,
        "low": low,
        "high": high,
        "said": said,
        **few(row.f1_difference, row.n_dialogs),
    }

"""The chart of takeaways: what each change of setup does to F1, with its interval."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evaluation.reports.base import Row
from evaluation.reports.figures.builders import as_vega_lite, inline
from evaluation.reports.figures.themes import Spec
from evaluation.tradeoffs.effects import BEST_OF_POOL

if TYPE_CHECKING:
    import altair as alt

WIDTH, ROW_HEIGHT = 180, 30  # px, of the plot itself; with its names it fits a phone
STEP = 0.1  # an axis ends at a multiple of it
SHORT = {BEST_OF_POOL: "best of pool"}


def effects_chart(rows: Sequence[Row]) -> Spec | None:
    """Draw the difference of F1 of each effect over all its pairs; None where none is defined."""
    import altair as alt

    values = [_value(row) for row in rows if not row["of"] and row["f1_difference"] is not None]
    if not values:
        return None
    ends = [row[end] for row in values for end in ("f1", "low", "high") if row[end] is not None]
    domain = [STEP * (min(0.0, *ends) // STEP), STEP * (max(0.0, *ends) // STEP + 1)]
    across = alt.Scale(domain=domain, nice=False)
    names = [row["effect"] for row in values]
    y = alt.Y("effect:N", sort=names, title=None)

    def x(field: str) -> "alt.X":
        axis = alt.Axis(tickCount=5, format="+.1f")
        return alt.X(f"{field}:Q", scale=across, title="Difference of F1", axis=axis)

    base = alt.Chart(inline(values))
    layers: list[Any] = [
        base.mark_rule(style="zero").encode(x=alt.datum(0, type="quantitative")),
        base.mark_rule(style="whisker").encode(x=x("low"), x2="high", y=y),
        base.mark_point(style="dot", filled=True).encode(x=x("f1"), y=y, tooltip="said:N"),
    ]
    chart = alt.layer(*layers).properties(
        width=WIDTH,
        height=ROW_HEIGHT * len(values),
        description="Effects on F1 with 95 % intervals",
    )
    return as_vega_lite(chart)


def _value(row: Row) -> Row:
    f1, low, high = (row[f"f1_difference{end}"] for end in ("", "_low", "_high"))
    said = f"{row['compared']}: {f1:+.3f}"
    if low is not None and high is not None:
        said += f" [{low:+.3f}, {high:+.3f}]"
    name = f"{row['takeaway']} {SHORT.get(row['effect'], row['effect'])}"
    return {"effect": name, "f1": f1, "low": low, "high": high, "said": said}

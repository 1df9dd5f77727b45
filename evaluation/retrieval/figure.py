"""The chart of retrieval: recall and precision by how many passages are looked at."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evaluation.reports.figures.builders import as_vega_lite, inline, said, whisker
from evaluation.reports.figures.themes import Spec
from evaluation.retrieval.report import RecallRow

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT = 380, 250  # px, of the plot itself
MEASURES = ("Recall", "Precision")
BESIDE = 0.07  # of a step, so that whiskers do not cover each other


def recall_chart(rows: Sequence[RecallRow], k1: int | None = None) -> Spec | None:
    """Draw both measures of the report on retrieval by k; None where nothing is defined.

    Args:
        k1: how many passages a recipe looks at, marked where it is among the k.
    """
    import altair as alt

    values = [
        whisker(estimate)
        | {
            "place": row.k + beside,
            "measure": name,
            "said": f"{name}, k = {row.k}: {said(estimate)} %",
        }
        for row in rows
        for name, estimate, beside in (
            ("Recall", row.recall, -BESIDE),
            ("Precision", row.precision, BESIDE),
        )
        if estimate.value is not None
    ]
    if not values:
        return None
    ks = [row.k for row in rows]
    across = alt.Scale(domain=[ks[0] - 0.5, ks[-1] + 0.5], nice=False, zero=False)
    axis = alt.Axis(values=ks, format="d", grid=False)
    x = alt.X("place:Q", scale=across, title="Passages looked at, k", axis=axis)

    def y(field: str) -> "alt.Y":
        scale = alt.Scale(domain=[0, 100], nice=False)
        return alt.Y(f"{field}:Q", scale=scale, title="Mean, %", axis=alt.Axis(tickCount=6))

    names = alt.Scale(domain=list(MEASURES))
    legend = alt.Legend(orient="top", direction="horizontal")
    colour = alt.Color("measure:N", scale=names, title=None, legend=legend)
    shape = alt.Shape("measure:N", scale=names, title=None, legend=legend)
    base = alt.Chart(inline(values)).encode(x=x, color=colour)
    layers: list[Any] = _marked(k1, x) if k1 in ks else []
    chart = alt.layer(
        *layers,
        base.mark_line(style="line").encode(y=y("value")),
        base.mark_rule(style="whisker").encode(y=y("low"), y2="high"),
        base.mark_point(style="dot", filled=True).encode(
            y=y("value"), shape=shape, tooltip="said:N"
        ),
    )
    description = "Recall and precision by k with 95 % intervals"
    return as_vega_lite(chart.properties(width=WIDTH, height=HEIGHT, description=description))


def _marked(k: int | None, x: "alt.X") -> list[Any]:
    """Return the layers of a line at one k, with its name at the foot."""
    import altair as alt

    at = alt.Chart(inline([{"place": k, "said": f"K1 = {k}"}])).encode(x=x)
    named = at.mark_text(style="ceiling-label", align="left", baseline="bottom", dx=5, dy=-4)
    return [
        at.mark_rule(style="ceiling"),
        named.encode(y=alt.value(HEIGHT), text="said:N"),
    ]

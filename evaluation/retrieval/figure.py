"""The chart of retrieval: recall and precision by the number of passages that are used."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evaluation.reports.figures.builders import (
    SHARES,
    FigureAxis,
    as_vega_lite,
    estimate_text,
    few,
    inline,
    lines,
    series,
    whisker,
)
from evaluation.reports.figures.themes import Spec
from evaluation.retrieval.report import RecallRow

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT = 380, 250  # px, of the plot itself
MEASURES = ("Recall", "Precision")
BESIDE = 0.07  # distance from k, as a part of a step, so that whiskers do not cover each other


def recall_chart(rows: Sequence[RecallRow], k1: int | None = None) -> Spec | None:
    """Draw both measures of the report on retrieval by k; return None if neither is defined.

    Args:
        rows: the rows of the report.
        k1: the number of passages that a recipe uses; it is marked if it is among the k.
    """
    import altair as alt

    values = [
        whisker(estimate)
        | {
            "place": row.k + beside,
            "measure": name,
            "said": f"{name}, k = {row.k}: {estimate_text(estimate)} %",
        }
        | few(estimate, row.n_dialogs)
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
    told = series("measure", MEASURES)
    base = alt.Chart(inline(values)).encode(x=x, color=told["color"])
    mean = FigureAxis("y", "Mean, %", SHARES).over(values, SHARES)
    marked = _marked(k1, x) if k1 in ks else []
    chart = alt.layer(*marked, *lines(base, mean, shape=told["shape"]))
    description = "Recall and precision by k with 95 % intervals"
    return as_vega_lite(chart.properties(width=WIDTH, height=HEIGHT, description=description))


def _marked(k: int | None, x: "alt.X") -> list[Any]:
    """Return the layers of a line at one k, with a label above the plot."""
    import altair as alt

    at = alt.Chart(inline([{"place": k, "said": f"K1 = {k}"}])).encode(x=x)
    named = at.mark_text(style="ceiling-label", align="center", baseline="bottom", dy=-4)
    return [
        at.mark_rule(style="ceiling"),
        named.encode(y=alt.value(0), text="said:N"),
    ]

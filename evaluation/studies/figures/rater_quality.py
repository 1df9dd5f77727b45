"""The chart of one rater: agreement with the others, in the order of their work."""

from collections.abc import Sequence

from evaluation.reports.figures.builders import (
    FigureAxis,
    as_vega_lite,
    inline,
    measured,
    points,
)
from evaluation.reports.figures.themes import Spec
from evaluation.studies.rater_quality.one_rater import Block

WIDTH, HEIGHT = 560, 180  # the plot itself, in px


def course_chart(course: Sequence[Block]) -> Spec | None:
    """Draw the agreement in each block of units. Return None when there is nothing to draw."""
    import altair as alt

    values = [
        measured(block.agreement, units=f"{block.first}–{block.last}")
        for block in course
        if block.agreement.value is not None
    ]
    if len(values) < 2:
        return None
    names = [row["units"] for row in values]
    units = alt.X("units:N", sort=names, title="Units, in this rater’s order")
    base = alt.Chart(inline(values)).encode(x=units.axis(labelAngle=0))
    agreement = FigureAxis("y", "Agreement with the others, %", (0, 100))
    chart = alt.layer(
        base.mark_line(style="line").encode(**agreement.at()), *points(base, agreement)
    )
    drawn = chart.properties(width=WIDTH, height=HEIGHT)
    return as_vega_lite(drawn.properties(description="Agreement with the others over time"))

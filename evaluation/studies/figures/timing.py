"""The charts of time and of position: seconds in each arm, and the effect of the first place."""

from collections.abc import Sequence

from annotation.models import arm_name
from evaluation.reports.figures.builders import (
    FigureAxis,
    as_vega_lite,
    inline,
    measured,
    points,
    series,
    zero_line,
)
from evaluation.reports.figures.themes import Spec
from evaluation.studies.reports.timing import PositionEffect, PositionRow, SavedTime, TimeOfArm

WIDTH, ROW_HEIGHT = 420, 44  # width of the plot itself and height of one of its rows, in px
MEASURES = ("Median", "Mean")


def time_chart(rows: Sequence[TimeOfArm | SavedTime]) -> Spec | None:
    """Draw the median and the mean of the seconds per response in each arm.

    Return None when no arm has such a figure.
    """
    import altair as alt

    of_arms = [row for row in rows if isinstance(row, TimeOfArm)]
    values = [
        measured(estimate, 1, arm=arm_name(row.arm).capitalize(), measure=measure)
        for row in of_arms
        for measure, estimate in zip(MEASURES, (row.median_seconds, row.mean_seconds), strict=True)
        if estimate.value is not None
    ]
    if not values:
        return None
    arms = list(dict.fromkeys(row["arm"] for row in values))
    told = series("measure", MEASURES)
    base = alt.Chart(inline(values)).encode(
        y=alt.Y("arm:N", sort=arms, title=None),
        yOffset=alt.YOffset("measure:N", sort=list(MEASURES)),
        color=told["color"],
    )
    axis = FigureAxis("x", "Seconds per response", (0, 0)).over(values)
    chart = alt.layer(*points(base, axis, shape=told["shape"]))
    drawn = chart.properties(width=WIDTH, height=ROW_HEIGHT * len(arms))
    return as_vega_lite(drawn.properties(description="Seconds per response in each arm"))


def position_chart(rows: Sequence[PositionRow]) -> Spec | None:
    """Draw the effect of the first place on the mean vote on each question.

    Return None when no effect is defined.
    """
    import altair as alt

    effects = [row for row in rows if isinstance(row, PositionEffect)]
    values = [
        measured(row.effect, 1, n_digits=2, question=row.question.replace("_", " ").capitalize())
        for row in effects
        if row.effect.value is not None
    ]
    if not values:
        return None
    questions = [row["question"] for row in values]
    base = alt.Chart(inline(values))
    named = base.encode(y=alt.Y("question:N", sort=questions, title=None))
    effect = FigureAxis("x", "Mean vote at the first place − at later ones", (0, 0)).over(values)
    chart = alt.layer(zero_line(base, effect), *points(named, effect, caps=True))
    drawn = chart.properties(width=WIDTH, height=ROW_HEIGHT * len(questions) / 2)
    return as_vega_lite(drawn.properties(description="Effect of the position on each question"))

"""The chart of prediction-powered means: raters alone, and raters with each metric."""

from collections.abc import Sequence

from evaluation.reports.figures.builders import (
    ANY_NUMBER,
    SHARES,
    FigureAxis,
    as_vega_lite,
    inline,
    measured,
    points,
    series,
)
from evaluation.reports.figures.themes import Spec
from evaluation.reports.setups import short_names
from evaluation.studies.figures.charts import MOST_COLOURS, run_names
from evaluation.studies.reports.prediction_powered import PredictionPoweredRow

WIDTH, LINE_HEIGHT = 420, 18  # width of the plot itself and height of one point's line, in px
MOST_LINES = 120  # points of one question, at most; with more, only the table is readable
ALONE = "raters alone"


def few_labels_chart(rows: Sequence[PredictionPoweredRow]) -> Spec | None:
    """Draw the means of the first question by setup. Return None without prediction-powered means.

    Only the first runs are drawn, as many as there are colours.
    """
    import altair as alt

    of_question = [row for row in rows if row.question == rows[0].question]
    runs = {row.of_run.run: row.of_run for row in of_question if row.mean.value is not None}
    shown = dict(list(runs.items())[: MOST_COLOURS - 1])
    names = dict(zip(shown, run_names(list(shown.values())), strict=True))
    setups = short_names(of_question)
    if not shown or len(setups) * (len(shown) + 1) > MOST_LINES:
        return None
    factor = 100 if of_question[0].scale == "yes_no" else 1
    alone = {row.setup: row for row in of_question}
    values = [
        measured(row.human_mean, factor, n=row.n_labels, setup=setups[row.setup], by=ALONE)
        for row in alone.values()
    ] + [
        measured(
            row.mean,
            factor,
            n=row.n_labels,
            setup=setups[row.setup],
            by=f"with {names[row.of_run.run]}",
        )
        for row in of_question
        if row.of_run.run in names and row.mean.value is not None
    ]
    told = series("by", [ALONE, *(f"with {name}" for name in names.values())], columns=2)
    question = of_question[0].question.replace("_", " ")
    title = f"Share of yes: {question}, %" if factor == 100 else f"Mean: {question}"
    base = alt.Chart(inline(values)).encode(
        y=alt.Y("setup:N", sort=list(setups.values()), title=None),
        yOffset=alt.YOffset("by:N", sort=[row["by"] for row in values]),
        color=told["color"],
    )
    axis = FigureAxis("x", title).over(values, SHARES if factor == 100 else ANY_NUMBER)
    chart = alt.layer(*points(base, axis, shape=told["shape"]))
    height = LINE_HEIGHT * len(setups) * (len(names) + 1)
    return as_vega_lite(
        chart.properties(
            width=WIDTH,
            height=height,
            description="Means by raters alone and with each metric, with 95 % intervals",
        )
    )

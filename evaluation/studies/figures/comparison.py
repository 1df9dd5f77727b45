"""The charts of comparisons: a matrix of differences, and the order of setups by two judges."""

from collections.abc import Sequence

from evaluation.reports.figures.builders import (
    FigureAxis,
    as_vega_lite,
    inline,
    measured,
    points,
    zero_line,
)
from evaluation.reports.figures.themes import Spec
from evaluation.reports.numbers import signed
from evaluation.studies.figures.charts import MOST_LINES, run_names
from evaluation.studies.reports.comparison import ComparisonRow
from evaluation.studies.reports.comparison_sides import ORDINAL
from evaluation.studies.reports.system_correlation import SystemCorrelationRow

CELL, LABEL = 46, 260  # width and height of a cell, and the longest name of a column, in px
# With fewer sides the table is enough, and a matrix with more cannot be read.
FEWEST_SIDES, MOST_SIDES = 4, 16
LEVEL = 0.05  # differences with a p by Holm below it are bold
WIDTH, ROW_HEIGHT = 420, 36  # width of the plot of correlations and height of its rows, in px


def comparison_chart(rows: Sequence[ComparisonRow]) -> Spec | None:
    """Draw the differences of the first question and metric as a matrix: row − column.

    Only differences whose interval excludes 0 have a colour. Return None when no difference is
    defined, or there are too few or too many sides.
    """
    import altair as alt

    of_first = [
        row for row in rows if (row.question, row.metric) == (rows[0].question, rows[0].metric)
    ]
    names = list(dict.fromkeys(name for row in of_first for name in (row.a, row.b)))
    factor, n_digits = (1, 2) if rows and rows[0].scale == ORDINAL else (100, 0)
    cells = [
        {
            "row": first,
            "column": second,
            "value": sign * factor * row.difference.value,
            "said": signed(sign * factor * row.difference.value, n_digits),
            "shade": sign * factor * row.difference.value * row.difference.excludes_zero,
            "is_clear": row.p_holm is not None and row.p_holm < LEVEL,
        }
        for row in of_first
        if row.difference.value is not None
        for first, second, sign in ((row.a, row.b, 1), (row.b, row.a, -1))
    ]
    if not cells or not FEWEST_SIDES <= len(names) <= MOST_SIDES:
        return None
    most = max(abs(float(str(cell["value"]))) for cell in cells) or 1.0
    base = alt.Chart(inline(cells)).encode(
        x=alt.X(
            "column:N",
            sort=names,
            title=None,
            axis=alt.Axis(orient="top", labelAngle=-40, labelLimit=LABEL),
        ),
        y=alt.Y("row:N", sort=names, title=None),
    )
    shades = alt.Scale(domain=[-most, 0, most], range="diverging")
    chart = alt.layer(
        base.transform_filter("datum.shade !== 0")
        .mark_rect()
        .encode(color=alt.Color("shade:Q", scale=shades, legend=None)),
        base.transform_filter("datum.is_clear").mark_text(style="clear").encode(text="said:N"),
        base.transform_filter("!datum.is_clear").mark_text(style="unclear").encode(text="said:N"),
    )
    side = CELL * len(names)
    unit = "points" if factor == 100 else "on the scale"
    said = [
        f"Row minus column, {unit}.",
        "Colour: the interval excludes 0. Bold: p by Holm below .05.",
    ]
    return as_vega_lite(
        chart.properties(
            width=side,
            height=side,
            title=alt.Title(said, anchor="start", offset=12),
            description=" ".join(said),
        )
    )


def system_correlation_chart(rows: Sequence[SystemCorrelationRow]) -> Spec | None:
    """Draw Spearman’s correlation of each run with the raters, for the first question."""
    import altair as alt

    of_first = [row for row in rows if row.question == rows[0].question]
    names = run_names([row.of_run for row in of_first])
    values = [
        measured(row.spearman, 1, n=row.n_setups, n_digits=2, name=name)
        for row, name in zip(of_first, names, strict=True)
        if row.spearman.value is not None
    ]
    if not 0 < len(values) <= MOST_LINES:
        return None
    base = alt.Chart(inline(values))
    axis = FigureAxis("x", "Spearman’s correlation over setups", (-1, 1)).over(values, (-1, 1))
    marks = points(base.encode(y=alt.Y("name:N", sort=names, title=None)), axis)
    chart = alt.layer(zero_line(base, axis), *marks)
    return as_vega_lite(
        chart.properties(
            width=WIDTH,
            height=ROW_HEIGHT * len(values),
            description="Correlation of each run with raters over setups, with 95 % intervals",
        )
    )

"""The charts of reports on cited answers: a dot and whisker for each figure of each setup."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from evaluation.graphs.reports.alignment import AlignmentRow
from evaluation.graphs.reports.citations import CitationsRow
from evaluation.graphs.reports.graph_retrieval import SourceRow
from evaluation.graphs.reports.incompetence import NaRow
from evaluation.graphs.reports.quality import QualityRow
from evaluation.reports.columns import Estimate
from evaluation.reports.figures.builders import (
    FigureAxis,
    as_vega_lite,
    estimate_text,
    inline,
    measured,
    points,
    series,
    sized,
)
from evaluation.reports.figures.themes import Spec
from evaluation.reports.setups import short_names

WIDTH = 480  # px, width of the plot in a file; on a page the plot fills the available width
LINE, LEAST, AROUND = 12, 30, 12  # px: height of a figure, least height of a setup, space between
NARROW = 480  # px; below this width the legend has two columns
# A name like 'small (0.5), graph, gold' is broken after the model and its temperature.
_END = "indexof(datum.label, '), ')"
TWO_LINES = (
    f"{_END} < 0 ? datum.label "
    f": [slice(datum.label, 0, {_END} + 1), slice(datum.label, {_END} + 3)]"
)
MOST_ROWS = 40  # rows that are drawn; further rows are only in the table

DrawnRow = CitationsRow | AlignmentRow | NaRow | QualityRow | SourceRow

TITLES = {
    "citations": "Micro, %",
    "alignment": "Aligned citations, %",
    "incompetence": "[NA], micro, %",
    "retrieval": "Sub-graphs, %",
    "quality": "Mean score, 1 to 5",
}


def report_chart(report: str, rows: Sequence[DrawnRow], *, on_page: bool = False) -> Spec | None:
    """Return the chart of one of the reports, or None if no figure is defined.

    Args:
        on_page: whether the chart fills the available width of a page; else it has the width of a
            file.
    """
    names, domain = row_names(rows), (1.0, 5.0) if report == "quality" else (0.0, 100.0)
    if report == "quality":
        values = _values(rows[: 4 * MOST_ROWS], names, 1, "")
    else:
        values = _values(rows[:MOST_ROWS], names, 100, " %")
    return dots(values, TITLES[report], domain, on_page=on_page) if values else None


def row_names(rows: Sequence[DrawnRow]) -> list[str]:
    """Return the name of each row: its setup's short name, with judge and run where they differ."""
    short = short_names([row.of for row in rows if not isinstance(row, SourceRow)])
    names = [row.source if isinstance(row, SourceRow) else short[row.of.setup] for row in rows]
    scored = [row for row in rows if isinstance(row, AlignmentRow | NaRow | QualityRow)]
    if not scored:
        return names
    if len({row.by.judge for row in scored}) > 1:
        names = [f"{name}, {row.by.judge}" for name, row in zip(names, scored, strict=True)]
    metrics = [row.metric if isinstance(row, QualityRow) else "" for row in scored]
    seen = Counter(zip(names, metrics, strict=True))
    return [
        name if seen[name, metric] == 1 else f"{name}, run {row.by.metric_run}"
        for name, metric, row in zip(names, metrics, scored, strict=True)
    ]


def _values(
    rows: Sequence[DrawnRow], names: Sequence[str], factor: float, unit: str
) -> list[dict[str, Any]]:
    return [
        measured(estimate, factor, name=name, figure=figure)
        | {"said": f"{name}, {figure.lower()}: {estimate_text(estimate, factor)}{unit}"}
        for name, row in zip(names, rows, strict=False)
        for figure, estimate in _figures(row).items()
        if estimate.value is not None
    ]


def _figures(row: DrawnRow) -> dict[str, Estimate]:
    """Return the figures of a row that are drawn, by their names in the legend."""
    match row:
        case CitationsRow():
            correct = {"Correctness": row.correctness}
            return correct | {"Precision": row.precision, "Recall": row.recall, "F1": row.f1}
        case AlignmentRow():
            return {"All pairs": row.aligned, "Mean over answers": row.macro_aligned}
        case NaRow():
            return {"Precision": row.precision, "Recall": row.recall, "F1": row.f1}
        case SourceRow():
            return {"Precision": row.precision, "Recall": row.recall}
        case QualityRow():
            return {row.metric.capitalize(): row.mean}


def dots(
    values: Sequence[dict[str, Any]], title: str, domain: tuple[float, float], *, on_page: bool
) -> Spec:
    """Return a chart of points with whiskers: a band for each name, in it a line for each figure.

    Args:
        values: each has `name`, `figure`, `value`, `low`, `high` (None: no whisker) and `said`,
            the text of its tooltip.
        title: the title of the axis.
        domain: the ends of the axis.
    """
    import altair as alt

    names = list(dict.fromkeys(value["name"] for value in values))
    figures = list(dict.fromkeys(value["figure"] for value in values))
    room = "containerSize()[0]"  # px
    columns = alt.ExprRef(f"{room} < {NARROW} ? 2 : 4") if on_page else 4
    names_limit = alt.ExprRef(f"min(260, {room} * 0.42)") if on_page else 260
    names_axis = alt.Axis(labelLimit=names_limit, labelExpr=TWO_LINES)
    told = series("figure", figures, columns=columns)
    base = alt.Chart(inline(values)).encode(
        y=alt.Y("name:N", sort=names, title=None, axis=names_axis),
        yOffset=alt.YOffset("figure:N", sort=figures, scale=alt.Scale(paddingOuter=0.6)),
        color=told["color"],
    )
    axis = FigureAxis("x", title, domain, n_ticks=5).over(values, domain)
    layers = points(base, axis, shape=told["shape"])
    height = len(names) * max(LEAST, LINE * len(figures) + AROUND)
    description = f"{', '.join(figures)} by setup, with 95 % intervals"
    chart = alt.layer(*layers).properties(height=height, description=description)
    return as_vega_lite(sized(chart, WIDTH, on_page=on_page))

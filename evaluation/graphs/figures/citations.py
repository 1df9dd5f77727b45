"""The charts of reports on cited answers: a dot and whisker for each figure of each setup."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.reports.base import Row
from evaluation.reports.figures.builders import as_vega_lite, inline, interval_of
from evaluation.reports.figures.themes import Spec
from evaluation.reports.setups import short_names

if TYPE_CHECKING:
    import altair as alt

WIDTH = 480  # px, of the plot itself in a file; on a page it is as wide as its room
LINE, LEAST, AROUND = 12, 30, 12  # px: of a figure, of a setup, and between two setups
NARROW = 480  # px: in less room the legend has two rows
# Of 'small (0.5), graph, gold' the model and its temperature stand above the rest.
_END = "indexof(datum.label, '), ')"
TWO_LINES = (
    f"{_END} < 0 ? datum.label "
    f": [slice(datum.label, 0, {_END} + 1), slice(datum.label, {_END} + 3)]"
)
MOST_ROWS = 40  # more are in the table alone

# What is drawn of each report: figure → what the legend calls it.
FIGURES: Mapping[str, Mapping[str, str]] = {
    "citations": {
        "correctness": "Correctness",
        "precision": "Precision",
        "recall": "Recall",
        "f1": "F1",
    },
    "alignment": {"aligned": "All pairs", "macro_aligned": "Mean over answers"},
    "incompetence": {"precision": "Precision", "recall": "Recall", "f1": "F1"},
    "retrieval": {"precision": "Precision", "recall": "Recall"},
}
TITLES = {
    "citations": "Micro figures, %",
    "alignment": "Aligned citations, %",
    "incompetence": "[NA], micro figures, %",
    "retrieval": "Sub-graphs, %",
    "quality": "Mean score, 1 to 5",
}


def report_chart(report: str, rows: Sequence[Row], *, on_page: bool = False) -> Spec | None:
    """Draw one of the reports; None where nothing is defined.

    Args:
        on_page: as wide as the room that the page has for it; else as a file has it.
    """
    points = _of_quality(rows) if report == "quality" else _of_shares(report, rows)
    if not points:
        return None
    domain = [1, 5] if report == "quality" else [0, 100]
    return dots(points, TITLES[report], domain, on_page=on_page)


def row_names(rows: Sequence[Row]) -> list[str]:
    """Return what each row is called: its setup, in short, with judge and run where they differ."""
    short = short_names(rows)
    has_judges = len({row.get("judge") for row in rows}) > 1
    names = []
    for row in rows:
        named = short[row["setup"]] if "setup" in row else str(row.get("source", ""))
        names.append(f"{named}, {row['judge']}" if has_judges else named)
    seen = Counter((name, row.get("metric")) for name, row in zip(names, rows, strict=True))
    return [
        name if seen[name, row.get("metric")] == 1 else f"{name}, run {row.get('metric_run')}"
        for name, row in zip(names, rows, strict=True)
    ]


def _of_shares(report: str, rows: Sequence[Row]) -> list[Row]:
    return [
        {"name": name, "figure": title, "value": drawn[figure]}
        | {end: drawn[end] for end in ("low", "high")}
        | {"said": f"{name}, {title.lower()}: {drawn['said']} %"}
        for name, row in zip(row_names(rows), rows[:MOST_ROWS], strict=False)
        for figure, title in FIGURES[report].items()
        if (drawn := interval_of(row, figure))[figure] is not None
    ]


def _of_quality(rows: Sequence[Row]) -> list[Row]:
    return [
        {"name": name, "figure": row["metric"].capitalize(), "value": drawn["mean"]}
        | {end: drawn[end] for end in ("low", "high")}
        | {"said": f"{name}, {row['metric']}: {drawn['said']}"}
        for name, row in zip(row_names(rows), rows[: 4 * MOST_ROWS], strict=False)
        if (drawn := interval_of(row, "mean", 1))["mean"] is not None
    ]


def dots(points: Sequence[Row], title: str, domain: Sequence[float], *, on_page: bool) -> Spec:
    """Draw points with their whiskers: a band for each name, a line in it for each figure.

    Args:
        points: each with `name`, `figure`, `value`, `low`, `high` (None: no whisker) and `said`.
    """
    import altair as alt

    names = list(dict.fromkeys(point["name"] for point in points))
    figures = list(dict.fromkeys(point["figure"] for point in points))
    scale = alt.Scale(domain=list(domain), nice=False, zero=False)

    def x(field: str) -> "alt.X":
        return alt.X(f"{field}:Q", title=title, scale=scale, axis=alt.Axis(tickCount=5))

    room = "containerSize()[0]"  # px
    columns = alt.ExprRef(f"{room} < {NARROW} ? 2 : 4") if on_page else 4
    names_limit = alt.ExprRef(f"min(260, {room} * 0.42)") if on_page else 260
    names_axis = alt.Axis(labelLimit=names_limit, labelExpr=TWO_LINES)
    legend = alt.Legend(orient="top", direction="horizontal", columns=columns)
    of_figures = alt.Scale(domain=figures)  # the same for both: one legend
    encoded: dict[str, Any] = {
        "y": alt.Y("name:N", sort=names, title=None, axis=names_axis),
        "yOffset": alt.YOffset("figure:N", sort=figures, scale=alt.Scale(paddingOuter=0.6)),
        "color": alt.Color("figure:N", scale=of_figures, title=None, legend=legend),
    }
    shape = alt.Shape("figure:N", scale=of_figures, title=None, legend=legend)
    base = alt.Chart(inline(points)).encode(**encoded)
    with_interval = base.transform_filter("datum.low !== null")
    layers: list[Any] = [
        with_interval.mark_rule(style="whisker").encode(x=x("low"), x2="high"),
        base.mark_point(style="dot", filled=True).encode(
            x=x("value"), shape=shape, tooltip="said:N"
        ),
    ]
    height = len(names) * max(LEAST, LINE * len(figures) + AROUND)
    said = f"{', '.join(figures)} of {len(names)} setups, with 95 % intervals"
    chart = alt.layer(*layers).properties(height=height, description=said)
    if on_page:
        fit = alt.AutoSizeParams(type="fit-x", contains="padding")
        return as_vega_lite(chart.properties(width="container", autosize=fit))
    return as_vega_lite(chart.properties(width=WIDTH))

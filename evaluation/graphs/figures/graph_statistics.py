"""The charts of the statistics of a graph: centuries, countries, cities and occupations.

A bar shows a number of people. The data are the report's rows, which the tables beside the charts
show too.
"""

from collections.abc import Sequence
from typing import Any

from evaluation.graphs.reports.graph_statistics import CenturyRow, StatisticRow, ValueRow
from evaluation.reports.figures.builders import as_vega_lite, inline, sized
from evaluation.reports.figures.themes import Spec

WIDTH, HEIGHT = 560, 220  # px, size of the plot in a file; on a page it fills the available width
LINE = 22  # px, height of one value
MOST_BARS = 12  # values that are drawn; further values are not
ERAS = "century"
TITLES = {"country": "countries", "city": "cities", "occupation": "occupations"}


def statistics_chart(
    figure: str, rows: Sequence[StatisticRow], *, on_page: bool = False
) -> Spec | None:
    """Return one figure of the report on statistics, or None if it would show no person.

    Args:
        figure: 'century', 'country', 'city' or 'occupation'.
        rows: the rows of the report.
        on_page: whether the chart fills the available width of a page; else it has the width of a
            file.
    """
    centuries = [row for row in rows if isinstance(row, CenturyRow)]
    values = [row for row in rows if isinstance(row, ValueRow) and row.kind == figure]
    if not (centuries if figure == ERAS else values):
        return None
    chart = _centuries(centuries) if figure == ERAS else _values(figure, values, on_page=on_page)
    return as_vega_lite(sized(chart, WIDTH, on_page=on_page))


def _centuries(rows: Sequence[CenturyRow]) -> Any:
    """Return a pair of bars, for births and deaths, for each century."""
    import altair as alt

    values = [
        {
            "century": row.name.replace(" century", ""),
            "event": event,
            "n": n,
            "said": f"{row.name}: {n:,} {event.lower()}",
        }
        for row in rows
        for event, n in (("Births", row.n_births), ("Deaths", row.n_deaths))
    ]
    order = [row.name.replace(" century", "") for row in rows]
    legend = alt.Legend(orient="top", direction="horizontal")
    events = ["Births", "Deaths"]
    x = alt.X(
        "century:N",
        sort=order,
        title="Century",
        axis=alt.Axis(labelAngle=-45, labelOverlap=True),
    )
    bars = alt.Chart(inline(values)).mark_bar().encode(
        x=x,
        xOffset=alt.XOffset("event:N", sort=events),
        y=alt.Y("n:Q", title="People", axis=alt.Axis(tickCount=5, tickMinStep=1, format=",d")),
        color=alt.Color("event:N", scale=alt.Scale(domain=events), title=None, legend=legend),
        tooltip="said:N",
    )  # fmt: skip
    said = f"Births and deaths by century, {rows[0].name} to {rows[-1].name}"
    return bars.properties(height=HEIGHT, description=said)


def _values(figure: str, rows: Sequence[ValueRow], *, on_page: bool) -> Any:
    """Return a bar for each of the values that the most people have."""
    import altair as alt

    shown = rows[:MOST_BARS]
    values = [
        {
            "name": row.name,
            "n": row.n_people,
            "said": f"{row.name}: {row.n_people:,} of those whose {figure} is known, "
            f"{row.share:.1%}",
        }
        for row in shown
    ]
    room = "containerSize()[0]"  # px
    limit = alt.ExprRef(f"min(260, {room} * 0.35)") if on_page else 260
    bars = alt.Chart(inline(values)).mark_bar(style="bar").encode(
        x=alt.X("n:Q", title="People", axis=alt.Axis(tickCount=5, tickMinStep=1, format=",d")),
        y=alt.Y(
            "name:N",
            sort=[row.name for row in shown],
            title=None,
            axis=alt.Axis(labelLimit=limit),
        ),
        tooltip="said:N",
    )  # fmt: skip
    said = f"{TITLES[figure].capitalize()} with the most people"
    return bars.properties(height=LINE * len(shown), description=said)

"""The pictures of KaLMA's experiments: tables 3 and 4 as dots, figures 4 and 5 as lines.

A point is the mean over seeded runs. Its whisker is the 95 % interval over dialogs or, if there are
too few dialogs for one, the sample deviation over runs. Series differ in colour, shape and dashes.
Undefined values are not drawn, and a line is interrupted there.
"""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from evaluation.graphs.experiments.reports.ablations import RowOfStep
from evaluation.graphs.experiments.reports.run_rows import RowOfRuns
from evaluation.graphs.figures.citations import MOST_ROWS, dots
from evaluation.reports.columns import Estimate
from evaluation.reports.figures import builders
from evaluation.reports.figures.builders import FigureAxis, as_vega_lite, inline, sized
from evaluation.reports.figures.themes import Spec
from evaluation.runs.seeded_setups import GroupColumns

PANEL_WIDTH, PANEL_HEIGHT = 220, 170  # px, size of a plot; on a page it fills the available width
MOST_SERIES = 10
SHORT_NAME = 18  # characters; two names of this length fit beside each other
APART = 0.035  # fraction of the axis between the points of two series at the same step
DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [4, 4])


class Dots(NamedTuple):
    """The figures of a table that are drawn: figure → its name in the legend."""

    figures: Mapping[str, str]
    title: str
    domain: tuple[float, float] = (0, 100)
    factor: float = 100


class AblationLines(NamedTuple):
    """The figures drawn over the steps of an ablation: figure → title of its panel."""

    title: str
    panels: Mapping[str, str]
    is_reversed: bool = False


DOTS: Mapping[str, Dots] = {
    "citations": Dots(
        {
            "aligned": "Aligned",
            "correctness": "Correctness",
            "precision": "Precision",
            "recall": "Recall",
            "f1": "F1",
        },
        "Mean over runs, micro, %",
    ),
    "quality": Dots(
        {
            "coherence": "Coherence",
            "consistency": "Consistency",
            "fluency": "Fluency",
            "relevance": "Relevance",
        },
        "Mean score, 1 to 5",
        (1, 5),
        1,
    ),
}
LINES: Mapping[str, AblationLines] = {
    "removal": AblationLines(
        "Pieces of knowledge removed",
        {
            "na_precision": "[NA] precision, %",
            "na_recall": "[NA] recall, %",
            "na_f1": "[NA] F1, %",
            "precision": "Citation precision, %",
            "recall": "Citation recall, %",
            "f1": "Citation F1, %",
        },
    ),
    "accuracy": AblationLines(
        "Gold among the sub-graphs shown, % (nominal)",
        {
            "correctness": "Correctness, %",
            "precision": "Precision, %",
            "recall": "Recall, %",
            "f1": "F1, %",
        },
        is_reversed=True,
    ),
}


def experiment_charts(key: str, rows: Sequence[RowOfRuns]) -> dict[str, Spec]:
    """Return the pictures of an experiment for its page, by name.

    Figures that are nowhere defined have none. Each picture fills the available width.
    """
    if key in LINES:
        return {
            figure: as_vega_lite(sized(panel, PANEL_WIDTH, on_page=True))
            for figure, panel in _panels(LINES[key], _steps(rows)).items()
            if panel is not None
        }
    spec = _table(key, rows, on_page=True)
    return {"table": spec} if spec else {}


def experiment_picture(key: str, rows: Sequence[RowOfRuns]) -> Spec | None:
    """Return all of an experiment's pictures as one, for a file, or None if none is defined."""
    import altair as alt

    if key not in LINES:
        return _table(key, rows, on_page=False)
    panels = [panel for panel in _panels(LINES[key], _steps(rows)).values() if panel is not None]
    if not panels:
        return None
    columns = 3 if len(panels) in (3, 5, 6) else 2
    wide = [sized(panel, PANEL_WIDTH, on_page=False) for panel in panels]
    chart = alt.concat(*wide, columns=columns, spacing=36)
    return as_vega_lite(chart.properties(description=f"{LINES[key].title}, {len(panels)} panels"))


def group_names(rows: Sequence[RowOfRuns]) -> list[str]:
    """Return the name of each row's group: its model and temperature, as in 'small (0.5)'.

    If two groups would have the same name, prompts are added: 'small (0.5), graph, gold'. If that
    does not help either, the key of the group is added.
    """
    groups = {row.group.group: row.group for row in rows}
    for name_of in (_by_label, _by_prompt):
        names = {group: name_of(row) for group, row in groups.items()}
        if max(Counter(names.values()).values(), default=1) == 1:
            break
    seen = Counter(names.values())
    return [
        names[group] if seen[names[group]] == 1 else f"{names[group]}, {group}"
        for group in (row.group.group for row in rows)
    ]


def _by_label(group: GroupColumns) -> str:
    return group.label


def _by_prompt(group: GroupColumns) -> str:
    title = group.prompt_title
    return f"{group.label}, {title.lower()}" if title else group.label


def series_names(rows: Sequence[RowOfStep]) -> list[str]:
    """Return the name of each ablation row's series: its model and temperature.

    If two series would have the same name, the key of the family is added.
    """
    families = {row.step.family: row.group.label for row in rows}
    seen = Counter(families.values())
    return [
        row.group.label if seen[row.group.label] == 1 else f"{row.group.label}, {row.step.family}"
        for row in rows
    ]


def run_figure_text(row: RowOfRuns, figure: str, factor: float = 100) -> str:
    """Return a figure in words: '81.2 (1.3) [78.0, 84.1], 3 runs'."""
    deviation = row.deviation(figure)
    mean, *interval = builders.estimate_text(row.estimate(figure), factor).split(" ", 1)
    parts = [mean, *([f"({factor * deviation:.1f})"] if deviation is not None else []), *interval]
    n = row.runs.n_runs - row.n_undefined(figure)
    return f"{' '.join(parts)}, {n} run{'' if n == 1 else 's'}"


def whisker(
    row: RowOfRuns, figure: str, domain: tuple[float, float] = (0, 100), factor: float = 100
) -> dict[str, Any]:
    """Return a point and the ends of its whisker, cut at the ends of the axis.

    The ends are None if there is no whisker. A deviation over fewer than five runs is marked.
    """
    drawn: dict[str, Any] = builders.whisker(row.estimate(figure), factor)
    deviation = row.deviation(figure)
    mean = drawn["value"]
    if mean is not None and drawn["low"] is None and deviation is not None:
        drawn["low"] = max(round(mean - factor * deviation, 2), domain[0])
        drawn["high"] = min(round(mean + factor * deviation, 2), domain[1])
        n_runs = row.runs.n_runs - row.n_undefined(figure)
        drawn |= builders.few(Estimate(mean, drawn["low"], drawn["high"]), n_runs)
    return drawn


def _table(key: str, rows: Sequence[RowOfRuns], *, on_page: bool) -> Spec | None:
    """Return a chart of a table's figures as dots, or None if none is defined."""
    table = DOTS[key]
    points = [
        {"name": name, "figure": title}
        | drawn
        | {"said": f"{name}, {title.lower()}: {run_figure_text(row, figure, table.factor)}"}
        for name, row in zip(group_names(rows), rows[:MOST_ROWS], strict=False)
        for figure, title in table.figures.items()
        if (drawn := whisker(row, figure, table.domain, table.factor))["value"] is not None
    ]
    return dots(points, table.title, table.domain, on_page=on_page) if points else None


def _steps(rows: Sequence[RowOfRuns]) -> list[RowOfStep]:
    return [row for row in rows if isinstance(row, RowOfStep)]


def _panels(lines: AblationLines, rows: Sequence[RowOfStep]) -> dict[str, Any]:
    """Return the chart of each figure, or None for a figure that is nowhere defined."""
    return {figure: _panel(lines, rows, figure) for figure in lines.panels}


def _panel(lines: AblationLines, rows: Sequence[RowOfStep], figure: str) -> Any:
    """Return a chart of a figure over the steps: for each series, a line, points and whiskers.

    Return None if the figure is nowhere defined.
    """
    import altair as alt

    names = series_names(rows)
    series = list(dict.fromkeys(names))[:MOST_SERIES]
    points = _points(lines, rows, figure, names, series)
    if not any(point["value"] is not None for point in points):
        return None
    steps = _step_names(rows)
    room = _room(rows)
    margin = room * (len(series) / 2 + 1)
    across = alt.Scale(
        domain=[min(steps) - margin, max(steps) + margin],
        nice=False,
        zero=False,
        reverse=lines.is_reversed,
    )
    names_of = json.dumps([name.split() for name in steps.values()])  # each word on a line
    named = f"{names_of}[indexof({json.dumps(list(steps))}, datum.value)]"
    axis = alt.Axis(values=list(steps), labelExpr=named, labelOverlap=True, grid=False)
    dashes = alt.Scale(domain=series, range=_dashes(len(series)))
    columns = 2 if max(map(len, series)) <= SHORT_NAME else 1
    told = builders.series("series", series, columns=columns, labelLimit=280)
    if len(series) == 1:
        told = {name: channel.legend(None) for name, channel in told.items()}
    layers = builders.lines(
        alt.Chart(inline(points)).encode(
            x=alt.X("x:Q", scale=across, title=lines.title, axis=axis), color=told["color"]
        ),
        FigureAxis("y", None, (0, 100), n_ticks=5),
        shape=told["shape"],
        strokeDash=alt.StrokeDash("series:N", scale=dashes, legend=None),
        order="x:Q",
    )
    title = alt.Title(lines.panels[figure], anchor="start", offset=8)
    description = f"{lines.panels[figure]} by {lines.title.lower()}, {len(series)} series"
    return alt.layer(*layers).properties(height=PANEL_HEIGHT, title=title, description=description)


def _points(
    lines: AblationLines,
    rows: Sequence[RowOfStep],
    figure: str,
    names: Sequence[str],
    series: Sequence[str],
) -> list[dict[str, Any]]:
    """Return the points of a panel. Points of different series are a little apart."""
    room = _room(rows)
    places = {name: room * (place - (len(series) - 1) / 2) for place, name in enumerate(series)}
    points = []
    for name, row in zip(names, rows, strict=True):
        if name not in places or row.drawn_at is None:
            continue
        at = _step_name(row.at, {row.drawn_at})
        words = f"{name}, {lines.title.lower()} {at}: {run_figure_text(row, figure)}"
        points.append(
            {"series": name, "x": round(row.drawn_at + places[name], 3)}
            | whisker(row, figure)
            | {"said": words}
        )
    return points


def _step_names(rows: Sequence[RowOfStep]) -> dict[float, str]:
    """Return the names of the steps on the axis, by place.

    A step whose rows are at several places has its name in the middle of them.
    """
    places: dict[int, set[float]] = {}
    for row in rows:
        if row.drawn_at is not None:
            places.setdefault(row.at, set()).add(row.drawn_at)
    return {
        round((min(drawn) + max(drawn)) / 2, 3): _step_name(at, drawn)
        for at, drawn in places.items()
    }


def _step_name(at: int, drawn: Collection[float]) -> str:
    """Return where a step is drawn, with its nominal number in brackets: '77.8 (80)'."""
    ends = dict.fromkeys(f"{place:.1f}".removesuffix(".0") for place in (min(drawn), max(drawn)))
    said = "–".join(ends)
    return said if said == str(at) else f"{said} ({at})"


def _room(rows: Sequence[RowOfStep]) -> float:
    """Return the distance between series at a step, in units of the axis.

    The axis counts as at least one unit long.
    """
    steps = [row.drawn_at for row in rows if row.drawn_at is not None] or [0]
    return APART * float(max(max(steps) - min(steps), 1))


def _dashes(n: int) -> list[list[int]]:
    return [DASHES[place % len(DASHES)] for place in range(n)]

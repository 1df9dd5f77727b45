"""The chart of a threshold choice: accuracy by window, with a series for each flavor.

Lines across the plot show the ceilings and the baseline.
"""

import json
import math
from collections.abc import Sequence
from typing import Any

from evaluation.reports.figures.builders import (
    SHARES,
    FigureAxis,
    as_percent,
    as_vega_lite,
    estimate_text,
    few,
    inline,
    lines,
    series,
    whisker,
)
from evaluation.reports.figures.themes import Spec
from evaluation.studies.figures.charts import LABEL_HEIGHT
from evaluation.studies.reports.agreement import Point
from evaluation.studies.reports.ceilings import CEILINGS
from evaluation.studies.reports.threshold_choice_rows import CandidateRow, ChosenRow

HEIGHT = 250  # height of the plot itself, in px
STEP = 84  # distance from one window to the next, in px
BESIDE = 0.16  # distance from one flavor to the next, as a share of STEP
HYPOTHESES = {"whole": "Whole response", "mean": "Sentences, mean", "min": "Sentences, lowest"}


def grid_chart(candidates: Sequence[CandidateRow], chosen: ChosenRow | None) -> Spec | None:
    """Draw the accuracy of each candidate at its usual threshold.

    Return None when no candidate has an accuracy, or nothing was chosen.

    Args:
        candidates: rows of the report on threshold choice, of one family and question.
        chosen: the row of the choice among them. Its ceilings and baseline are drawn.
    """
    import altair as alt

    rows = [row for row in candidates if row.accuracy.value is not None and row.flavor]
    if not rows or chosen is None:
        return None
    windows = sorted({_window(row) for row in rows})
    values = _values(rows, windows)
    references = _references(chosen)
    accuracy = FigureAxis("y", "Accuracy, %", (50, 100)).over([*values, *references], SHARES)
    drawn = {row.hypothesis for row in rows}
    panels = {
        name: _panel([v for v in values if v["hypothesis"] == key], references, accuracy, windows)
        for key, name in HYPOTHESES.items()
        if key in drawn
    }
    [chart, *more] = panels.values()
    if more:
        titled = [panel.properties(title=name) for name, panel in panels.items()]
        chart = alt.concat(*titled, columns=1, spacing=24)
    description = "Accuracy by window and flavor with 95 % intervals"
    return as_vega_lite(chart.properties(description=description))


def _window(row: CandidateRow) -> int:
    return row.window or 0


def _values(rows: Sequence[CandidateRow], windows: Sequence[int]) -> list[Point]:
    """Return the values to draw for each candidate. Flavors are side by side at their window."""
    flavors = sorted({row.flavor or "" for row in rows})
    values = []
    for row in rows:
        beside = BESIDE * (flavors.index(row.flavor or "") - (len(flavors) - 1) / 2)
        words = f"{row.flavor}, K = {window_name(_window(row))}: {estimate_text(row.accuracy)} %"
        values.append(
            {
                **whisker(row.accuracy),
                **few(row.accuracy, row.n),
                "place": windows.index(_window(row)) + beside,
                "flavor": row.flavor,
                "hypothesis": row.hypothesis,
                "said": words,
            }
        )
    return values


def _panel(
    values: Sequence[Point],
    references: Sequence[Point],
    accuracy: FigureAxis,
    windows: Sequence[int],
) -> Any:
    """Draw the candidates of one hypothesis."""
    import altair as alt

    width = STEP * max(2, len(windows))
    names = json.dumps([window_name(window) for window in windows])
    axis = alt.Axis(values=list(range(len(windows))), labelExpr=f"{names}[datum.value]", grid=False)
    x_scale = alt.Scale(domain=[-0.5, len(windows) - 0.5], nice=False, zero=False)
    x = alt.X("place:Q", scale=x_scale, title="Window K, sentences", axis=axis)
    told = series("flavor", sorted({value["flavor"] for value in values}), "Flavor")
    base = alt.Chart(inline(values)).encode(x=x, color=told["color"])
    return alt.layer(
        *_across(references, accuracy, width), *lines(base, accuracy, shape=told["shape"])
    ).properties(width=width, height=HEIGHT)


def window_name(window: int) -> str:
    """Return the name of a window on an axis."""
    return str(window) if window else "whole"


def _references(chosen: ChosenRow) -> list[Point]:
    """Return the lines across the plot: the ceilings, and the accuracy of the majority label."""
    lines: list[Point] = []
    for key in chosen.ceilings.defined:
        name, line = CEILINGS[key].name, whisker(chosen.ceilings.of(key))
        words = f"{name[0].lower()}{name[1:]} {line['value']:.1f}"
        style = "ceiling-other" if lines else "ceiling"
        lines.append({**line, "style": style, "words": words})
    baseline = as_percent(chosen.baseline.value)
    if baseline is not None:
        words = f"majority label {baseline:.1f}"
        lines.append({"value": baseline, "style": "baseline", "words": words})
    return lines


def _across(references: Sequence[Point], accuracy: FigureAxis, width: int) -> list[Any]:
    """Return the lines across the plot. Their labels are to the right of the plot."""
    import altair as alt

    layers: list[Any] = []
    for line, top in zip(references, _tops(references, accuracy), strict=True):
        data = alt.Chart(inline([line]))
        is_main = line["style"] == "ceiling"
        if is_main and line["low"] is not None:
            layers.append(data.mark_rect(style="band").encode(**accuracy.ends()))
        style = "reference-label" if line["style"] == "baseline" else "ceiling-label"
        text = data.mark_text(style=style, align="left", baseline="middle")
        layers += [
            data.mark_rule(style=line["style"]).encode(**accuracy.at()),
            text.encode(x=alt.value(width + 8), y=alt.value(top), text="words:N"),
        ]
    return layers


def _tops(references: Sequence[Point], accuracy: FigureAxis) -> list[float]:
    """Return the position of each line's label, in px from the top: beside its line, if possible.

    From top to bottom, a label is moved down when it would overlap the label above it.
    """
    start, end = accuracy.domain
    heights = [HEIGHT * (end - line["value"]) / (end - start) for line in references]
    tops = [0.0] * len(heights)
    free = -math.inf
    for place in sorted(range(len(heights)), key=heights.__getitem__):
        tops[place] = free = max(heights[place], free)
        free += LABEL_HEIGHT
    return tops

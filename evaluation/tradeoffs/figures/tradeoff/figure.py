"""The figure of the trade-off as plain records: the place of everything, before it is drawn."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from evaluation.reports.figures.free_places import Rectangle, Text, around
from evaluation.tradeoffs.axis_floors import Floors
from evaluation.tradeoffs.chart_view import View
from evaluation.tradeoffs.figures.tradeoff.clusters import Cluster, clusters_of
from evaluation.tradeoffs.figures.tradeoff.frame import (
    DESK,
    SMALLEST_WINDOW,
    Curve,
    FigureWindow,
    FloorEdge,
    Frame,
    Tick,
    as_ticks,
    curves,
    floor_edges,
    tick_texts,
    ticks,
    window_of,
)
from evaluation.tradeoffs.figures.tradeoff.glyphs import (
    Legend,
    Palette,
    legend_of,
    palette_of,
    with_rings,
)
from evaluation.tradeoffs.figures.tradeoff.lines import (
    PlacedLine,
    legend_of_lines,
    line_texts,
    placed_lines,
)
from evaluation.tradeoffs.figures.tradeoff.marks import HALF_MARK, Mark, labelled, mark_of
from evaluation.tradeoffs.figures.tradeoff.spots import Spot, fanned
from evaluation.tradeoffs.recall_lines import RecallLine
from evaluation.tradeoffs.reports.tradeoff import TradeoffRow


class TradeoffFigure(NamedTuple):
    """Everything that is drawn."""

    window: FigureWindow
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    titles: tuple[str, str]  # titles of the axes
    curves: list[Curve]
    clusters: list[Cluster]
    lines: list[PlacedLine]
    marks: list[Mark]
    spots: list[Spot]  # places of several marks, with their counts
    legend: Legend
    line_texts: list[Text]  # what stands at lines
    line_legend: list[tuple[str, str]]  # classes, title
    n_outside: int  # setups beyond the part that is shown
    n_undefined: int  # other setups without a figure on one axis
    n_not_rated: int  # setups without a mark, because raters have answered none of their examples
    n_without_label: int  # marks without room for their label
    floors: list[FloorEdge]  # what is below the floors of the axes
    least: float = SMALLEST_WINDOW  # least share of each axis that a zoom shows

    @property
    def width(self) -> int:
        return self.window.frame.width

    @property
    def height(self) -> int:
        return self.window.frame.height

    @property
    def plot(self) -> Rectangle:
        return self.window.plot

    @property
    def plot_width(self) -> float:
        return self.plot.right - self.plot.left

    @property
    def plot_height(self) -> float:
        return self.plot.bottom - self.plot.top

    @property
    def middle(self) -> tuple[float, float]:
        """The middle of the plot, where the titles of its axes are."""
        plot = self.plot
        return (plot.left + plot.right) / 2, (plot.top + plot.bottom) / 2

    @property
    def unnamed_clusters(self) -> list[str]:
        """The titles of clusters for which the drawing has no room."""
        return [cluster.title for cluster in self.clusters if not cluster.label]

    @property
    def n_hollow(self) -> int:
        """The number of marks over a part of their setup's examples."""
        return sum(mark.row.of.is_rated_in_part for mark in self.marks)

    @property
    def alt_text(self) -> str:
        """A description of the figure for readers who cannot see it."""
        setups = "1 setup" if len(self.marks) == 1 else f"{len(self.marks):,} setups"
        axes = f"{self.titles[1]} against {self.titles[0].lower()}"
        hollow = f", {self.n_hollow:,} of them rated in part" if self.n_hollow else ""
        return f"{axes} for {setups}{hollow}, with curves of equal F1"


def figure_of(
    rows: Sequence[TradeoffRow],
    view: View,
    lines: Sequence[RecallLine] = (),
    *,
    floors: Floors = (),
    palette: Palette | None = None,
    address: Callable[[TradeoffRow], str] | None = None,
    frame: Frame = DESK,
) -> TradeoffFigure:
    """Return the figure of some rows of the report.

    Args:
        rows: rows of the setups to show.
        view: the part to see, and whether intervals, labels and clusters are drawn.
        lines: lines of restricted context.
        floors: the floors of both axes.
        palette: the palette of all setups of the dataset, so that colours do not change with
            filters; None: a palette of these rows.
        address: a function that returns the address of a mark's link; None: marks have no links.
        frame: the size of the drawing.
    """
    setups = [row.of for row in rows]
    palette = with_rings(palette or palette_of(setups), setups)
    known = [(row, point) for row in rows if (point := row.point)]
    n_not_rated = sum(0 < row.n_examples == row.n_not_rated and not row.point for row in rows)
    lowest = _lowest([row for row, _ in known], view, lines)
    window = window_of(lowest, view.x_from, view.x_to, view.y_from, view.y_to)
    x_values = ticks(window.x_from, window.x_to, frame.most_ticks)
    y_values = ticks(window.y_from, window.y_to, frame.most_ticks)
    window = window._replace(frame=frame.beside(tick_texts(y_values)))
    marks = [
        mark_of(row, point, window, palette, view.intervals, address)
        for row, point in known
        if window.holds(*point)
    ]
    marks, spots = fanned(marks, window.plot)
    taken = [around(mark.x, mark.y, HALF_MARK) for mark in marks] + [spot.box for spot in spots]
    texts = line_texts(lines, window, taken)
    clusters = list(clusters_of(marks, taken, window.plot)) if view.clusters else []
    of_equal_f1 = curves(window, taken)
    marks = labelled(marks, taken, window.plot) if view.labels else marks
    kind = " (mean score)" if view.by_score else ""
    titles = (f"Attribution{kind}", f"Sensibleness{kind}")
    # A floor is a share of labels, so that mean scores have none.
    shares = [each.fitness.floor.share if each else math.nan for each in floors]
    of_axes = [] if view.by_score else list(zip(map(str.lower, titles), shares, strict=False))
    return TradeoffFigure(
        window=window,
        x_ticks=as_ticks(x_values, [window.x(value) for value in x_values]),
        y_ticks=as_ticks(y_values, [window.y(value) for value in y_values]),
        titles=titles,
        curves=of_equal_f1,
        clusters=clusters,
        lines=placed_lines(lines, window, palette),
        marks=marks,
        spots=spots,
        legend=legend_of([mark.row.of for mark in marks], palette),
        line_texts=texts,
        line_legend=legend_of_lines(lines, palette),
        n_outside=len(known) - len(marks),
        n_undefined=len(rows) - len(known) - n_not_rated,
        n_not_rated=n_not_rated,
        n_without_label=sum(mark.label is None for mark in marks) if view.labels else 0,
        floors=floor_edges(window, of_axes),
    )


def _lowest(rows: Sequence[TradeoffRow], view: View, lines: Sequence[RecallLine]) -> float:
    """Return the lowest sensibleness that must be visible; NaN if there is none."""
    n_ends = 2 if view.intervals else 1  # the value, and with intervals the lower end
    ends = [end for row in rows for end in row.sensibleness[:n_ends]]
    values = [end for end in ends if end is not None]
    values += [y for line in lines for _, y in line.points]
    return min(values, default=math.nan)

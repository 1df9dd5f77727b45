"""The figure of the trade-off as plain records: what stands where, before anything is drawn.

A template draws it, in a page with the page's colours or in a file with light ones.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

from evaluation.reports.figures.free_places import Box, Text, around, first_free, least_covering
from evaluation.reports.numbers import decimal
from evaluation.tradeoffs.figures.tradeoff.frame import (
    HEIGHT,
    PLOT,
    SMALLEST_WINDOW,
    WIDTH,
    Curve,
    Tick,
    Window,
    as_ticks,
    curves,
    path_of,
    ticks,
    window_of,
)
from evaluation.tradeoffs.figures.tradeoff.glyphs import (
    Glyph,
    Legend,
    Palette,
    glyph_of,
    legend_of,
    palette_of,
    with_rings,
)
from evaluation.tradeoffs.reports.tradeoff import TradeoffRow
from evaluation.tradeoffs.view import View
from generation.text.temperatures import temperature_text

HALF_MARK = 6.5  # of a mark's square
PADDING = 16  # between marks and the box of their cluster
LABEL_SIZE = 11.5  # of the text beside a mark
LINE_LABELS = {  # in legends; a line of another style has none
    "golden": "Restricted context, golden",
    "non-evidence": "Restricted context, non-evidence",
    "top-1": "Simulated retrieval, top 1",
    "top-k": "Simulated retrieval, top k",
}


class Line(Protocol):
    """A line through points (attribution, sensibleness), in [0, 1]; one point is a small ring."""

    @property
    def points(self) -> Sequence[tuple[float, float]]: ...

    @property
    def style(self) -> str: ...

    @property
    def label(self) -> str: ...


class Cluster(NamedTuple):
    """The box around the marks of one cluster."""

    key: str
    box: Box
    label: Text | None

    @property
    def width(self) -> float:
        return round(self.box.right - self.box.left, 1)

    @property
    def height(self) -> float:
        return round(self.box.bottom - self.box.top, 1)


class Drawn(NamedTuple):
    """A line in its place; `path` is empty for a ring, which stands at (x, y)."""

    style: str
    label: str
    path: str
    x: float = 0.0
    y: float = 0.0


class Mark(NamedTuple):
    """One setup in its place."""

    row: TradeoffRow
    x: float
    y: float
    glyph: Glyph
    said: str  # name and figures, for who does not see it
    whiskers: str = ""  # path of its intervals
    colour: str = ""  # class of these
    label: Text | None = None
    leader: str = ""  # path from the mark to a label that stands apart
    href: str = ""

    @property
    def model(self) -> str:
        return self.row.of.model

    @property
    def temperature(self) -> str:
        """As views call it."""
        temperature = self.row.of.temperature
        return "none" if temperature is None else f"{temperature:g}"

    @property
    def prompt(self) -> str:
        """The prompt or, of an aggregate, the function, as views call it."""
        return self.row.of.function or self.row.of.prompt_family


class Figure(NamedTuple):
    """Everything that is drawn."""

    window: Window
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    titles: tuple[str, str]  # of the axes
    curves: list[Curve]
    clusters: list[Cluster]
    lines: list[Drawn]
    marks: list[Mark]
    legend: Legend
    line_legend: list[tuple[str, str]]  # style, title
    n_outside: int  # setups beyond the part that is shown
    n_undefined: int  # without a figure on one axis
    n_without_label: int  # marks that were to have one, and have no room for it
    width: int = WIDTH
    height: int = HEIGHT
    plot: Box = PLOT
    least: float = SMALLEST_WINDOW  # share of each axis that a zoom has at least

    @property
    def plot_width(self) -> float:
        return self.plot.right - self.plot.left

    @property
    def plot_height(self) -> float:
        return self.plot.bottom - self.plot.top

    @property
    def middle(self) -> tuple[float, float]:
        """The middle of the plot, where the titles of its axes stand."""
        plot = self.plot
        return (plot.left + plot.right) / 2, (plot.top + plot.bottom) / 2

    @property
    def said(self) -> str:
        """What the figure is, for who does not see it."""
        setups = "1 setup" if len(self.marks) == 1 else f"{len(self.marks):,} setups"
        axes = f"{self.titles[1]} against {self.titles[0].lower()}"
        return f"{axes} for {setups}, with curves of equal F1"


def figure_of(
    rows: Sequence[TradeoffRow],
    view: View,
    lines: Sequence[Line] = (),
    *,
    palette: Palette | None = None,
    address: Callable[[TradeoffRow], str] | None = None,
) -> Figure:
    """Return the figure of some rows of the report.

    Args:
        rows: of the setups to show.
        view: part to see, and whether intervals, labels and clusters are drawn.
        lines: of restricted context.
        palette: of all setups of the dataset, so that colours do not change with filters; None: of
            these rows.
        address: where a mark leads; None: nowhere.
    """
    setups = [row.of for row in rows]
    palette = with_rings(palette or palette_of(setups), setups)
    known = [(row, point) for row in rows if (point := row.point)]
    lowest = _lowest([row for row, _ in known], view, lines)
    window = window_of(lowest, view.x_from, view.x_to, view.y_from, view.y_to)
    marks = [
        _mark(row, point, window, palette, view.intervals, address)
        for row, point in known
        if window.holds(*point)
    ]
    taken = [around(mark.x, mark.y, HALF_MARK) for mark in marks]
    clusters = list(_clusters(marks, taken)) if view.clusters else []
    drawn = curves(window, taken)
    marks = _labelled(marks, taken) if view.labels else marks
    kind = " (mean score)" if view.by_score else ""
    x_values, y_values = (
        ticks(window.x_from, window.x_to),
        ticks(window.y_from, window.y_to),
    )
    return Figure(
        window=window,
        x_ticks=as_ticks(x_values, [window.x(value) for value in x_values]),
        y_ticks=as_ticks(y_values, [window.y(value) for value in y_values]),
        titles=(f"Attribution{kind}", f"Sensibleness{kind}"),
        curves=drawn,
        clusters=clusters,
        lines=[_drawn(line, window) for line in lines if _is_drawn(line, window)],
        marks=marks,
        legend=legend_of([mark.row.of for mark in marks], palette),
        line_legend=_line_legend(lines),
        n_outside=len(known) - len(marks),
        n_undefined=len(rows) - len(known),
        n_without_label=sum(mark.label is None for mark in marks) if view.labels else 0,
    )


def _lowest(rows: Sequence[TradeoffRow], view: View, lines: Sequence[Line]) -> float:
    """Return the lowest sensibleness that is to be seen; NaN where nothing is."""
    n_ends = 2 if view.intervals else 1  # its value, its lower end
    ends = [end for row in rows for end in row.sensibleness[:n_ends]]
    values = [end for end in ends if end is not None]
    values += [y for line in lines for _, y in line.points]
    return min(values, default=math.nan)


# --- marks ----------------------------------------------------------------------------------


def _mark(
    row: TradeoffRow,
    point: tuple[float, float],
    window: Window,
    palette: Palette,
    with_intervals: bool,
    address: Callable[[TradeoffRow], str] | None,
) -> Mark:
    glyph = glyph_of(row.of, palette)
    x, y = window.x(point[0]), window.y(point[1])
    return Mark(
        row,
        round(x, 1),
        round(y, 1),
        glyph,
        said=said_of(row),
        whiskers=_whiskers(row, x, y, window) if with_intervals else "",
        colour=glyph.classes.split()[0],
        href=address(row) if address else "",
    )


def said_of(row: TradeoffRow) -> str:
    """Return what a setup is and where it stands, in one line."""
    of, share = row.of, row.of.dialog_share
    temperature = "" if of.temperature is None else f"T {temperature_text(of.temperature)}"
    of_dialog = f"dialog share {share:.2f}" if of.is_restricted and share is not None else ""
    chosen = f"chosen in each example {chosen_of(row)}" if of.is_aggregate else ""
    name = ", ".join(filter(None, [of.prompt_title, of.model, temperature, of_dialog, chosen]))
    estimates = (row.attribution, row.sensibleness, row.f1)
    attribution, sensibleness, f1 = (decimal(each.value, 3) for each in estimates)
    return (
        f"{name}: attribution {attribution}, sensibleness {sensibleness}, F1 {f1}, "
        f"{row.n:,} examples"
    )


def chosen_of(row: TradeoffRow) -> str:
    """Return what an aggregate takes: its pool, what chose, and its inferences."""
    title, size, n_calls = row.chosen.chosen_by_title, row.chosen.pool_size, row.of.n_calls
    by = f" by {title}" if title else ""
    pool = "1 setup" if size == 1 else f"{size or 'unknown'} setups"
    calls = "1 inference" if n_calls == 1 else f"{n_calls:,} inferences"
    return f"from {pool}{by}, {calls} per example"


def _whiskers(row: TradeoffRow, x: float, y: float, window: Window) -> str:
    """Return the path of both intervals, as far as the window shows them; "" without any."""
    parts = []
    _, low, high = row.attribution
    if low is not None and high is not None:
        start, end = window.x(max(low, window.x_from)), window.x(min(high, window.x_to))
        parts.append(f"M{start:.1f} {y:.1f}H{end:.1f}")
    _, low, high = row.sensibleness
    if low is not None and high is not None:
        start, end = window.y(max(low, window.y_from)), window.y(min(high, window.y_to))
        parts.append(f"M{x:.1f} {start:.1f}V{end:.1f}")
    return "".join(parts)


# --- clusters -------------------------------------------------------------------------------


def _clusters(marks: Sequence[Mark], taken: list[Box]) -> Iterator[Cluster]:
    """Yield the boxes around the marks of each cluster; their labels are added to what is taken."""
    found: dict[str, list[Mark]] = {}
    for mark in marks:
        if mark.row.of.cluster:
            found.setdefault(mark.row.of.cluster, []).append(mark)
    boxes = {
        key: Box(
            max(min(mark.x for mark in some) - PADDING, PLOT.left + 2),
            max(min(mark.y for mark in some) - PADDING, PLOT.top + 2),
            min(max(mark.x for mark in some) + PADDING, PLOT.right - 2),
            min(max(mark.y for mark in some) + PADDING, PLOT.bottom - 2),
        )
        for key, some in found.items()
    }
    for key, box in sorted(boxes.items(), key=lambda item: -item[1].bottom):
        others = [each for name, each in boxes.items() if name != key]
        title = found[key][0].row.of.cluster_title
        label = least_covering(_around_box(box, title), [*taken, *others], PLOT)
        if label:
            taken.append(label.box)
        yield Cluster(key, Box(*(round(edge, 1) for edge in box)), label)
    taken.extend(edge for box in boxes.values() for edge in _edges(box))


def _edges(box: Box) -> Iterator[Box]:
    """Yield the four sides of a box, as what nothing should cover."""
    yield Box(box.left, box.top - 1, box.right, box.top + 1)
    yield Box(box.left, box.bottom - 1, box.right, box.bottom + 1)
    yield Box(box.left - 1, box.top, box.left + 1, box.bottom)
    yield Box(box.right - 1, box.top, box.right + 1, box.bottom)


def _around_box(box: Box, title: str) -> Iterator[Text]:
    """Yield where a box may have its title, the usual place below its left end first."""
    below, above = box.bottom + 13, box.top - 6
    yield Text(box.left + 7, below, title)
    yield Text(box.right - 7, below, title, "end")
    yield Text(box.left + 7, above, title)
    yield Text(box.right - 7, above, title, "end")
    for y in (box.bottom - 6, box.top + 14):
        yield Text(box.right + 6, y, title)
        yield Text(box.left - 6, y, title, "end")
    yield Text(box.left + 7, box.bottom - 5, title)
    yield Text(box.left + 7, box.top + 14, title)


# --- labels ---------------------------------------------------------------------------------


def _labelled(marks: Sequence[Mark], taken: list[Box]) -> list[Mark]:
    """Return the marks with labels that cover nothing; one without room for it has none."""
    done = []
    for mark in marks:
        label = first_free(_beside(mark), taken, PLOT)
        if label:
            taken.append(label.box)
        done.append(mark._replace(label=label, leader=_leader(mark, label) if label else ""))
    return done


def _beside(mark: Mark) -> Iterator[Text]:
    """Yield places for a label: right, left, above, below, then further away."""
    text = mark.row.of.label
    x, y = mark.x, mark.y + 4
    yield Text(x + 9, y, text, "start", LABEL_SIZE)
    yield Text(x - 9, y, text, "end", LABEL_SIZE)
    yield Text(x, y - 13, text, "middle", LABEL_SIZE)
    yield Text(x, y + 14, text, "middle", LABEL_SIZE)
    for distance in (16, 30, 44, 58, 72):
        for up in (-distance, distance):
            yield Text(x + 12, y + up, text, "start", LABEL_SIZE)
            yield Text(x - 12, y + up, text, "end", LABEL_SIZE)
        yield Text(x + distance, y + distance / 4, text, "start", LABEL_SIZE)
        yield Text(x - distance, y - distance / 4, text, "end", LABEL_SIZE)


def _leader(mark: Mark, label: Text) -> str:
    """Return a line to a label that is not next to its mark."""
    box = label.box
    x = min(max(mark.x, box.left), box.right)
    y = min(max(mark.y, box.top), box.bottom)
    away = math.hypot(x - mark.x, y - mark.y)
    if away <= 2 * HALF_MARK:
        return ""
    start = HALF_MARK / away
    from_x, from_y = mark.x + start * (x - mark.x), mark.y + start * (y - mark.y)
    return f"M{from_x:.1f} {from_y:.1f}L{x:.1f} {y:.1f}"


# --- lines ----------------------------------------------------------------------------------


def _is_drawn(line: Line, window: Window) -> bool:
    """Whether a line has a part to draw; what leaves the plot is cut off where it is drawn."""
    return len(line.points) > 1 or any(window.holds(x, y) for x, y in line.points)


def _drawn(line: Line, window: Window) -> Drawn:
    places = [(window.x(x), window.y(y)) for x, y in line.points]
    if len(places) > 1:
        return Drawn(line.style, line.label, path_of(places))
    [(x, y)] = places
    return Drawn(line.style, line.label, "", round(x, 1), round(y, 1))


def _line_legend(lines: Sequence[Line]) -> list[tuple[str, str]]:
    there = {line.style for line in lines}
    return [(style, title) for style, title in LINE_LABELS.items() if style in there]

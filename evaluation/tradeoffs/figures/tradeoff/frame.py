"""The frame of the trade-off: from shares to places, ticks, and curves of equal F1."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evaluation.measures.tradeoff import f1, iso_f1
from evaluation.reports.figures.free_places import Rectangle, Text, first_free
from evaluation.statistics.intervals import Floats

STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
# Steps between levels of F1; the coarsest step that gives enough curves is used.
LEVEL_STEPS = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
FEWEST_CURVES = 4
N_POINTS = 60  # points of a curve, spread along each axis
SMALLEST_WINDOW = 0.005  # a share
LABEL_SIZE = 11.0  # font size of a level's label
MOST_DIGITS = 3  # a level with so many digits or more has no room for its leading 0
TITLE_ROOM = 20  # px that the title of the y axis takes
TICK_GAP = 9  # px between the labels of the y axis and the plot
EDGE = 1e-9


class Frame(NamedTuple):
    """The size of a drawing: its plot, and the margins that hold ticks and titles."""

    width: int
    height: int
    plot: Rectangle
    most_ticks: int  # on an axis, apart from the one where it begins

    @property
    def canvas(self) -> Rectangle:
        return Rectangle(0, 0, self.width, self.height)

    def beside(self, labels: Sequence[str]) -> "Frame":
        """Return the frame with room for the labels of the y axis between its title and plot."""
        widest = max((Text(0, 0, label).box.right for label in labels), default=0.0)
        left = max(self.plot.left, math.ceil(TITLE_ROOM + widest + TICK_GAP))
        return self._replace(plot=self.plot._replace(left=left))


DESK = Frame(790, 668, Rectangle(54, 26, 756, 616), most_ticks=10)
PHONE = Frame(340, 340, Rectangle(44, 24, 312, 296), most_ticks=5)


class FigureWindow(NamedTuple):
    """The part of the unit square that a figure shows: attribution is x, sensibleness y."""

    x_from: float
    x_to: float
    y_from: float
    y_to: float
    frame: Frame = DESK

    @property
    def plot(self) -> Rectangle:
        return self.frame.plot

    def x(self, attribution: float) -> float:
        """Return the distance of a share from the left."""
        width = self.plot.right - self.plot.left
        return self.plot.left + (attribution - self.x_from) / (self.x_to - self.x_from) * width

    def y(self, sensibleness: float) -> float:
        """Return the distance of a share from the top."""
        height = self.plot.bottom - self.plot.top
        share = (sensibleness - self.y_from) / (self.y_to - self.y_from)
        return self.plot.bottom - share * height

    def holds(self, attribution: float, sensibleness: float) -> bool:
        return (
            self.x_from - EDGE <= attribution <= self.x_to + EDGE
            and self.y_from - EDGE <= sensibleness <= self.y_to + EDGE
        )


class Tick(NamedTuple):
    """A round value on an axis, and its place."""

    at: float
    text: str


class Curve(NamedTuple):
    """One curve of equal F1 in a window; its label is None if there is no room for it."""

    level: float
    path: str
    label: Text | None


class FloorEdge(NamedTuple):
    """The part of the plot below the floor of an axis. No mark in it says more than the floor."""

    x: float
    y: float
    width: float
    height: float
    said: str


def floor_edges(window: FigureWindow, floors: Sequence[tuple[str, float]]) -> list[FloorEdge]:
    """Return the edges that a window shows.

    Args:
        window: the part of the unit square that is shown.
        floors: the title and the floor of the axis of x, then of y; NaN: it has none.
    """
    found = []
    left, top, right, bottom = window.plot
    for side, (title, share) in enumerate(floors):
        said = f"Below the floor of {title}: {share:.2f}"
        if side == 0 and share > window.x_from:
            width = window.x(min(share, window.x_to)) - left
            found.append(FloorEdge(left, top, round(width, 1), bottom - top, said))
        elif side == 1 and share > window.y_from:
            upper = round(window.y(min(share, window.y_to)), 1)
            found.append(FloorEdge(left, upper, right - left, bottom - upper, said))
    return found


def window_of(
    lowest: float,
    x_from: float | None = None,
    x_to: float | None = None,
    y_from: float | None = None,
    y_to: float | None = None,
) -> FigureWindow:
    """Return the window to show: all of x, and y from a round value below the lowest mark.

    Args:
        lowest: sensibleness of the lowest mark; NaN if there is none.
        x_from: the first of four ends that a reader may choose; None: as usual. Two ends with
            nothing between them count as not chosen.
    """
    floor = 0.0 if math.isnan(lowest) else math.floor(10 * lowest - 0.3 + EDGE) / 10
    usual = min(max(floor, 0.0), 0.8)
    x_low, x_high = _ends(x_from, x_to, 0.0)
    y_low, y_high = _ends(y_from, y_to, usual)
    return FigureWindow(x_low, x_high, y_low, y_high)


def _ends(low: float | None, high: float | None, usual: float) -> tuple[float, float]:
    start = usual if low is None else min(max(low, 0.0), 1.0)
    end = 1.0 if high is None else min(max(high, 0.0), 1.0)
    if low is None and end - start < SMALLEST_WINDOW:
        start = 0.0
    return (start, end) if end - start >= SMALLEST_WINDOW else (usual, 1.0)


def ticks(start: float, end: float, most: int = DESK.most_ticks) -> list[float]:
    """Return the multiples of a round step from start to end, at most one more than `most`."""
    step = next((each for each in STEPS if (end - start) / each <= most + EDGE), STEPS[-1])
    first = math.ceil(start / step - 1e-6)
    last = math.floor(end / step + 1e-6)
    return [round(n * step, 6) for n in range(first, last + 1)]


def tick_texts(values: Sequence[float]) -> list[str]:
    """Return round values as text, all with as many digits as the finest value needs."""
    texts = [f"{value:.3f}".rstrip("0") for value in values]
    digits = max((len(text) - text.index(".") - 1 for text in texts), default=1)
    return [f"{value:.{max(digits, 1)}f}" for value in values]


def as_ticks(values: Sequence[float], places: Sequence[float]) -> list[Tick]:
    """Return the ticks of round values at their places."""
    pairs = zip(places, tick_texts(values), strict=True)
    return [Tick(round(place, 1), text) for place, text in pairs]


def levels(window: FigureWindow) -> list[float]:
    """Return the levels whose curves cross a window: tenths, or finer ones if these are few."""
    found: list[float] = []
    # F1 grows with both shares, so it is between its values at the lower left and the upper right.
    corners = f1(np.array([window.x_from, window.x_to]), np.array([window.y_from, window.y_to]))
    low, high = corners.tolist()
    for step in LEVEL_STEPS:
        first = 1 if math.isnan(low) else max(1, math.floor(low / step))
        inside = (round(n * step, 3) for n in range(first, math.ceil(high / step + EDGE)))
        found = [level for level in inside if level < 1 and len(points(level, window))]
        if len(found) >= FEWEST_CURVES:
            break
    return found


def points(level: float, window: FigureWindow) -> Floats:
    """Return the points (attribution, sensibleness) of a curve in a window, from left to right.

    Returns:
        (n, 2); without rows if the curve does not cross the window.
    """
    start, end = _span(level, window)
    if end - start <= EDGE:
        return np.empty((0, 2))
    by_attribution = np.linspace(start, end, N_POINTS)
    sensibleness = iso_f1(level, np.array([start, end]))
    # F1 is the same with the two exchanged, so the same function leads back.
    by_sensibleness = iso_f1(level, np.linspace(sensibleness[1], sensibleness[0], N_POINTS))
    attribution = np.unique(np.concatenate([by_attribution, by_sensibleness]).clip(start, end))
    rows: Floats = np.column_stack([attribution, iso_f1(level, attribution)])
    is_defined = ~np.isnan(rows).any(axis=1)
    defined: Floats = rows[is_defined]
    return defined


def _span(level: float, window: FigureWindow) -> tuple[float, float]:
    """Return the attribution at which a curve enters a window, and at which it leaves."""

    def attribution_at(sensibleness: float) -> float:
        return float(iso_f1(level, np.array([sensibleness]))[0])

    into, out = attribution_at(window.y_to), attribution_at(window.y_from)
    if math.isnan(into):  # the curve is above the window all the way
        return 0.0, 0.0
    return max(window.x_from, into), window.x_to if math.isnan(out) else min(window.x_to, out)


def curves(window: FigureWindow, taken: list[Rectangle]) -> list[Curve]:
    """Return the curves of equal F1 with their labels, which are added to `taken`.

    A curve that leaves the plot at its right edge has its label outside the plot. The label of any
    other curve is along the curve, as near to its lower end as there is room.
    """
    drawn: list[Curve] = []
    shown = levels(window)
    digits = max((len(f"{level:g}") - 2 for level in shown), default=1)
    for level in shown:
        found = points(level, window)
        places = [(window.x(x), window.y(y)) for x, y in found]
        text = f"{level:.{digits}f}"
        text = text if digits < MOST_DIGITS else text.removeprefix("0")
        label = first_free(_labels(text, places, window.plot), taken, window.frame.canvas)
        if label:
            taken.append(label.box)
        drawn.append(Curve(level, path_of(places), label))
    return drawn


def _labels(text: str, places: Sequence[tuple[float, float]], plot: Rectangle) -> list[Text]:
    x, y = places[-1]
    if x > plot.right - 1:
        return [Text(round(plot.right + 6, 1), round(y + 4, 1), text, "start", LABEL_SIZE)]
    upwards = [place for place in reversed(places) if plot.top + 20 < place[1] < plot.bottom]
    return [
        Text(round(at_x - 5, 1), round(at_y - 6, 1), text, "end", LABEL_SIZE)
        for at_x, at_y in upwards
        if at_x - 5 - 0.56 * LABEL_SIZE * len(text) > plot.left
    ]


def path_of(places: Sequence[tuple[float, float]]) -> str:
    """Return the path through places in a figure."""
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)

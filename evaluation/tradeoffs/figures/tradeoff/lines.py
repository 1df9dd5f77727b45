"""Lines through the trade-off: restricted context and simulated retrieval."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from evaluation.tradeoffs.figures.tradeoff.frame import FigureWindow, path_of

LINE_TITLES = {  # titles in legends; lines of other styles have none
    "golden": "Restricted context, golden",
    "non-evidence": "Restricted context, non-evidence",
    "top-1": "Simulated retrieval, top 1",
    "top-k": "Simulated retrieval, top k",
}
# Rings on lines of simulated retrieval show where a retriever with that recall would be.
RING_TITLES = {"top-1-mark": "At recall@1", "top-k-mark": "At recall@k"}


class DrawnLine(Protocol):
    """A line through points (attribution, sensibleness), in [0, 1]; one point is a small ring."""

    @property
    def points(self) -> Sequence[tuple[float, float]]: ...

    @property
    def style(self) -> str: ...

    @property
    def label(self) -> str: ...


class PlacedLine(NamedTuple):
    """A line in its place; a ring has an empty `path` and its centre at (x, y)."""

    style: str
    label: str
    path: str
    x: float = 0.0
    y: float = 0.0


def placed_lines(lines: Sequence[DrawnLine], window: FigureWindow) -> list[PlacedLine]:
    """Return the lines with a part to draw; what is outside the plot is cut off by the drawing."""
    seen = [
        line
        for line in lines
        if len(line.points) > 1 or any(window.holds(x, y) for x, y in line.points)
    ]
    return [_placed(line, window) for line in seen]


def _placed(line: DrawnLine, window: FigureWindow) -> PlacedLine:
    places = [(window.x(x), window.y(y)) for x, y in line.points]
    if len(places) > 1:
        return PlacedLine(line.style, line.label, path_of(places))
    [(x, y)] = places
    return PlacedLine(line.style, line.label, "", round(x, 1), round(y, 1))


def legend_of_lines(lines: Sequence[DrawnLine]) -> list[tuple[str, str]]:
    """Return the style and the title of each kind of line that is there."""
    there = {line.style for line in lines}
    return [(style, title) for style, title in LINE_TITLES.items() if style in there]

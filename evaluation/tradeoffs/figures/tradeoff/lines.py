"""Lines through the trade-off: restricted context and simulated retrieval."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from evaluation.measures.tradeoff import f1
from evaluation.reports.figures.free_places import Rectangle, Text, least_covering
from evaluation.tradeoffs.figures.tradeoff.frame import FigureWindow, path_of
from evaluation.tradeoffs.figures.tradeoff.glyphs import Palette, model_colour
from evaluation.tradeoffs.figures.tradeoff.marks import beside
from evaluation.tradeoffs.recall_lines import RecallLine, dialog_kept

LINE_TITLES = {  # titles in legends; lines of other styles have none
    "golden": "Restricted context, golden",
    "non-evidence": "Restricted context, non-evidence",
    "top-1": "Simulated retrieval, top 1",
    "top-k": "Simulated retrieval, top k",
}
# Rings on lines of simulated retrieval show where a retriever with that recall would be.
RING_TITLES = {"top-1-mark": "At recall@1", "top-k-mark": "At recall@k"}
CURVES = ("golden", "non-evidence")


class PlacedLine(NamedTuple):
    """A line in its place; a ring has an empty `path` and its centre at (x, y)."""

    style: str
    classes: str  # style, the colour of a curve's model, and whether it is faint
    label: str
    path: str
    x: float = 0.0
    y: float = 0.0
    share: float | None = None  # lines and setups of one dialog share light up together


def placed_lines(
    lines: Sequence[RecallLine], window: FigureWindow, palette: Palette
) -> list[PlacedLine]:
    """Return the lines with a part to draw; what is outside the plot is cut off by the drawing.

    Of simulated retrieval with top k, the lines of one share are drawn in full.
    """
    full = _full_share(lines)
    seen = [
        line
        for line in lines
        if len(line.points) > 1 or any(window.holds(x, y) for x, y in line.points)
    ]
    return [_placed(line, window, palette, full) for line in seen]


def _placed(
    line: RecallLine, window: FigureWindow, palette: Palette, full: float | None
) -> PlacedLine:
    places = [(window.x(x), window.y(y)) for x, y in line.points]
    is_faint = full is not None and line.share not in (None, full)
    classes = _classes(line, palette) + " is-faint" * is_faint
    if len(places) > 1:
        path = path_of(places)
        return PlacedLine(line.style, classes, line.label, path, share=line.share)
    [(x, y)] = places
    return PlacedLine(line.style, classes, line.label, "", round(x, 1), round(y, 1), line.share)


def _classes(line: RecallLine, palette: Palette) -> str:
    colour = f" {model_colour(line.model, palette)}" if line.style in CURVES else ""
    return f"line--{line.style}{colour}"


def _full_share(lines: Sequence[RecallLine]) -> float | None:
    """Return the dialog share at which top k has the best F1; None without lines of top k."""
    rings = [line for line in lines if line.style == "top-k-mark" and line.share is not None]
    points = np.array([line.points[0] for line in rings]).reshape(-1, 2)
    found = f1(points[:, 0], points[:, 1])
    return rings[int(np.nanargmax(found))].share if np.isfinite(found).any() else None


def legend_of_lines(lines: Sequence[RecallLine], palette: Palette) -> list[tuple[str, str]]:
    """Return the classes and the title of each kind of line that is there."""
    there = {line.style: _classes(line, palette) for line in lines}
    return [(there[style], title) for style, title in LINE_TITLES.items() if style in there]


def line_texts(
    lines: Sequence[RecallLine], window: FigureWindow, taken: list[Rectangle]
) -> list[Text]:
    """Return what stands at the ends of curves and at the lines in full; it is added to `taken`."""
    found = []
    for x, y, text in _said(lines):
        if text and window.holds(x, y):
            at = beside(window.x(x), window.y(y), text)
            placed = least_covering(at, taken, window.plot)
            if placed:
                taken.append(placed.box)
                found.append(placed)
    return found


def _said(lines: Sequence[RecallLine]) -> Iterator[tuple[float, float, str]]:
    """Yield places in the unit square with what is said there."""
    full = _full_share(lines)
    for line in lines:
        for (x, y), text in zip((line.points[0], line.points[-1]), line.ends, strict=True):
            yield x, y, text
        if full is not None and line.share == full and line.style == "top-k-mark":
            yield *line.points[0], dialog_kept(full)

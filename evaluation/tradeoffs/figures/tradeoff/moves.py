"""Moves between setups as arrows in the plane of the trade-off."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from evaluation.tradeoffs.chart_view import View
from evaluation.tradeoffs.figures.tradeoff.figure import TradeoffFigure, figure_of
from evaluation.tradeoffs.figures.tradeoff.frame import DESK, FigureWindow, Frame
from evaluation.tradeoffs.figures.tradeoff.lines import PlacedLine
from evaluation.tradeoffs.recall_lines import RecallLine
from evaluation.tradeoffs.reports.comparable_setups import MOVE_TITLES

HEAD, HALF_OPEN = 7.0, 0.42  # length of an arrow's head, and half of its angle
SHORTEST = 4.0  # px; what is shorter has no direction to see


class Move(NamedTuple):
    """A move from one setup to another."""

    start: tuple[float, float]  # attribution, sensibleness; in [0, 1]
    end: tuple[float, float]
    kind: str  # along, across, both
    said: str


def figure_of_moves(moves: Sequence[Move], frame: Frame = DESK) -> TradeoffFigure:
    """Return the plane with an arrow for each move, those along the curves on top."""
    upwards = sorted(moves, key=lambda move: move.kind == "along")
    lines = [RecallLine((move.start, move.end), move.kind, move.said) for move in upwards]
    figure = figure_of([], View(), lines, frame=frame)
    placed = [_arrow(move, figure.window) for move in upwards]
    there = {move.kind for move in moves}
    legend = [(str(kind), title) for kind, title in MOVE_TITLES.items() if kind in there]
    return figure._replace(lines=[each for each in placed if each], line_legend=legend)


def _arrow(move: Move, window: FigureWindow) -> PlacedLine | None:
    """Return the arrow of a move; None if it is too short to be seen."""
    (from_x, from_y), (x, y) = ((window.x(at), window.y(up)) for at, up in (move.start, move.end))
    if math.hypot(x - from_x, y - from_y) < SHORTEST:
        return None
    back = math.atan2(from_y - y, from_x - x)
    sides = [back - HALF_OPEN, back + HALF_OPEN]
    (left, left_y), (right, right_y) = (
        (x + HEAD * math.cos(side), y + HEAD * math.sin(side)) for side in sides
    )
    path = (
        f"M{from_x:.1f} {from_y:.1f}L{x:.1f} {y:.1f}"
        f"M{left:.1f} {left_y:.1f}L{x:.1f} {y:.1f}L{right:.1f} {right_y:.1f}"
    )
    return PlacedLine(move.kind, f"move move--{move.kind}", move.said, path)

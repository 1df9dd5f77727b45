"""Spots: places of several marks, which move apart so that each is seen, and are counted.

A mark that has moved is tied to its true place by a thin line, which other marks leave in sight
where there is room. Its figures and the whiskers of its intervals do not move.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from evaluation.reports.figures.free_places import Rectangle, around
from evaluation.statistics.intervals import Floats
from evaluation.tradeoffs.figures.tradeoff.marks import HALF_MARK, Mark

NEAR = 5.0  # px between two marks that cover each other so far that one may be missed
RADIUS = 7.0  # px from the middle of the disc with the count to its edge
# Distances from a spot that a mark may move to; a third of the shortest is a line to be seen.
RINGS = (24.0, 31.0, 38.0, 45.0, 52.0)
HALF_STEM, STEM_STEP = 0.75, 3.0  # half the width of a line, and px between its parts that are kept
TURNS = (0, 20, -20, 40, -40, 60, -60, 80, -80, 100, -100, 120, -120, 140, -140, 160, -160, 180)


class Spot(NamedTuple):
    """One place of several marks."""

    x: float
    y: float
    n: int  # marks

    @property
    def box(self) -> Rectangle:
        return around(self.x, self.y, RADIUS)


def fanned(marks: Sequence[Mark], plot: Rectangle) -> tuple[list[Mark], list[Spot]]:
    """Return the marks, those on one spot moved around it, and the spots.

    The order of the marks stays. A moved mark is inside the plot. It covers neither a count nor
    another mark where there is room.
    """
    groups = _near_each_other(marks)
    spots = [_spot([marks[place] for place in group]) for group in groups if len(group) > 1]
    alone = [marks[group[0]] for group in groups if len(group) == 1]
    taken = [around(mark.x, mark.y, HALF_MARK) for mark in alone] + [spot.box for spot in spots]
    moved = list(marks)
    for spot, group in zip(spots, (group for group in groups if len(group) > 1), strict=True):
        for turn, place in enumerate(group):
            x, y = _place(spot, turn, taken, plot)
            taken += _covered(spot, x, y)
            true = marks[place]
            stem = f"M{true.x:.1f} {true.y:.1f}L{x:.1f} {y:.1f}"
            moved[place] = true._replace(x=x, y=y, stem=stem)
    return moved, spots


def _near_each_other(marks: Sequence[Mark]) -> list[list[int]]:
    """Return groups of marks, each near the first of its group; a mark is given by its place."""
    groups: list[list[int]] = []
    for place, mark in enumerate(marks):
        for group in groups:
            first = marks[group[0]]
            if math.hypot(mark.x - first.x, mark.y - first.y) <= NEAR:
                group.append(place)
                break
        else:
            groups.append([place])
    return groups


def _spot(marks: Sequence[Mark]) -> Spot:
    n = len(marks)
    x, y = sum(mark.x for mark in marks) / n, sum(mark.y for mark in marks) / n
    return Spot(round(x, 1), round(y, 1), n)


def _place(
    spot: Spot, turn: int, taken: Sequence[Rectangle], plot: Rectangle
) -> tuple[float, float]:
    """Return the first free place for a mark of a spot, or the place that covers the least."""
    boxes = np.array(taken)
    best, least = (spot.x, spot.y), math.inf
    for place in _places(spot, 360 * turn / spot.n, plot):
        overlap = _overlap(np.array(_covered(spot, *place)), boxes)
        if overlap < least:
            best, least = place, overlap
        if not overlap:
            break
    return best


def _overlap(some: Floats, others: Floats) -> float:
    """Return the area that some rectangles share with others; (n, 4) and (m, 4)."""
    low = np.maximum(some[:, None, :2], others[None, :, :2])
    high = np.minimum(some[:, None, 2:], others[None, :, 2:])
    return float((high - low).clip(0).prod(axis=2).sum())


def _covered(spot: Spot, x: float, y: float) -> list[Rectangle]:
    """Return what a moved mark takes: its square, and parts of its line outside spot and square."""
    long = math.hypot(x - spot.x, y - spot.y)
    parts = []
    at = RADIUS + 2 * HALF_STEM
    while at < long - HALF_MARK:
        share = at / long
        middle = spot.x + share * (x - spot.x), spot.y + share * (y - spot.y)
        parts.append(around(*middle, HALF_STEM))
        at += STEM_STEP
    return [around(x, y, HALF_MARK), *parts]


def _places(spot: Spot, angle: float, plot: Rectangle) -> Iterator[tuple[float, float]]:
    """Yield places around a spot inside the plot, from near to far, those at an angle first.

    Args:
        angle: in degrees, from the left over the top.
    """
    for ring in RINGS:
        for turn in TURNS:
            towards = math.radians(180 + angle + turn)
            x = round(spot.x + ring * math.cos(towards), 1)
            y = round(spot.y + ring * math.sin(towards), 1)
            if plot.left <= x <= plot.right and plot.top <= y <= plot.bottom:
                yield x, y

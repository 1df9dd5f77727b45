"""Spots: places of several marks, which move apart where there is room, and are counted.

A mark moves by little more than its own size, because its place is what a figure says. It is tied
to its true place by a thin line. A mark without room stays where it is. Figures and the whiskers of
intervals do not move.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evaluation.reports.figures.free_places import Rectangle, around
from evaluation.tradeoffs.figures.tradeoff.marks import HALF_MARK, Mark

NEAR = 5.0  # px between two marks that cover each other so far that one may be missed
RADIUS = 6.5  # px from the middle of the disc with the count to its edge
MOVE = 16.0  # px that a mark moves, so that 3 px of its line are seen
BESIDE = 10.0  # px from a spot to the count that stands beside it, to the side and up
TURNS = (0, 20, -20, 40, -40, 60, -60, 80, -80, 100, -100, 120, -120, 140, -140, 160, -160, 180)


class Spot(NamedTuple):
    """One place of several marks."""

    x: float
    y: float
    names: tuple[str, ...]  # the setups
    count_place: tuple[float, float]  # the place of its count: its own, unless a mark stays there

    @property
    def n(self) -> int:
        """The number of marks."""
        return len(self.names)

    @property
    def box(self) -> Rectangle:
        """The square that the count covers."""
        return around(*self.count_place, RADIUS)


def fanned(marks: Sequence[Mark], plot: Rectangle) -> tuple[list[Mark], list[Spot]]:
    """Return the marks, those on one spot moved around it, and the spots.

    The order of the marks stays. A moved mark is inside the plot, and covers neither a count nor
    another mark. A mark for which there is no such place stays in its own.
    """
    groups = _near_each_other(marks)
    several = [group for group in groups if len(group) > 1]
    spots = [_spot([marks[place] for place in group]) for group in several]
    alone = [marks[group[0]] for group in groups if len(group) == 1]
    taken = [around(mark.x, mark.y, HALF_MARK) for mark in alone] + [spot.box for spot in spots]
    moved = list(marks)
    for number, group in enumerate(several):
        spot = spots[number]
        for turn, place in enumerate(group):
            true = marks[place]
            free = _free_place(true, 360 * turn / spot.n, taken, plot)
            if free is None:
                spots[number] = _with_count_beside(spot, taken, plot)
                taken.append(spots[number].box)
                continue
            x, y = free
            taken.append(around(x, y, HALF_MARK))
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
    place = round(x, 1), round(y, 1)
    return Spot(*place, tuple(mark.name for mark in marks), place)


def _with_count_beside(spot: Spot, taken: Sequence[Rectangle], plot: Rectangle) -> Spot:
    """Return a spot whose count stands beside it, because a mark stays there.

    Of its corners, the count takes the one where it covers the least.
    """
    corners = [
        spot._replace(count_place=(round(spot.x + x, 1), round(spot.y + y, 1)))
        for y in (-BESIDE, BESIDE)
        for x in (BESIDE, -BESIDE)
    ]
    inside = [each for each in corners if each.box.is_inside(plot)]
    return min(inside, key=lambda each: sum(map(each.box.overlap, taken)), default=corners[0])


def _free_place(
    true: Mark, angle: float, taken: Sequence[Rectangle], plot: Rectangle
) -> tuple[float, float] | None:
    """Return the first free place for a mark near its true one; None if there is none."""
    for place in _places(true, angle, plot):
        square = around(*place, HALF_MARK)
        if not any(square.overlap(box) for box in taken):
            return place
    return None


def _places(true: Mark, angle: float, plot: Rectangle) -> Iterator[tuple[float, float]]:
    """Yield places around a mark inside the plot, those at an angle first.

    Args:
        angle: in degrees, from the left over the top.
    """
    for turn in TURNS:
        towards = math.radians(180 + angle + turn)
        x = round(true.x + MOVE * math.cos(towards), 1)
        y = round(true.y + MOVE * math.sin(towards), 1)
        if plot.left <= x <= plot.right and plot.top <= y <= plot.bottom:
            yield x, y

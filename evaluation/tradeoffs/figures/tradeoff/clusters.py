"""Boxes around the marks of each cluster of setups, with a title where there is room."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evaluation.reports.figures.free_places import Rectangle, Text, least_covering
from evaluation.tradeoffs.figures.tradeoff.marks import Mark

PADDING = 16  # px between marks and the box of their cluster


class Cluster(NamedTuple):
    """The box around the marks of one cluster."""

    key: str
    box: Rectangle
    label: Text | None

    @property
    def width(self) -> float:
        return round(self.box.right - self.box.left, 1)

    @property
    def height(self) -> float:
        return round(self.box.bottom - self.box.top, 1)


def clusters_of(
    marks: Sequence[Mark], taken: list[Rectangle], plot: Rectangle
) -> Iterator[Cluster]:
    """Yield the boxes around the marks of each cluster; their labels are added to `taken`.

    A label that would cover much of what is there, as on a phone, is left out.
    """
    found: dict[str, list[Mark]] = {}
    for mark in marks:
        if mark.row.of.cluster:
            found.setdefault(mark.row.of.cluster, []).append(mark)
    boxes = {
        key: Rectangle(
            max(min(mark.x for mark in some) - PADDING, plot.left + 2),
            max(min(mark.y for mark in some) - PADDING, plot.top + 2),
            min(max(mark.x for mark in some) + PADDING, plot.right - 2),
            min(max(mark.y for mark in some) + PADDING, plot.bottom - 2),
        )
        for key, some in found.items()
    }
    for key, box in sorted(boxes.items(), key=lambda item: -item[1].bottom):
        others = [each for name, each in boxes.items() if name != key]
        title = found[key][0].row.of.cluster_title
        label = least_covering(_around_box(box, title), [*taken, *others], plot)
        if label and _covers_much(label, taken):
            label = None
        if label:
            taken.append(label.box)
        yield Cluster(key, Rectangle(*(round(edge, 1) for edge in box)), label)
    taken.extend(edge for box in boxes.values() for edge in _edges(box))


def _covers_much(label: Text, taken: Sequence[Rectangle]) -> bool:
    """Whether a label covers marks and other texts with more than a tenth of its area."""
    left, top, right, bottom = label.box
    area = (right - left) * (bottom - top)
    return sum(label.box.overlap(box) for box in taken) > area / 10


def _edges(box: Rectangle) -> Iterator[Rectangle]:
    """Yield the four sides of a box, as areas that nothing should cover."""
    yield Rectangle(box.left, box.top - 1, box.right, box.top + 1)
    yield Rectangle(box.left, box.bottom - 1, box.right, box.bottom + 1)
    yield Rectangle(box.left - 1, box.top, box.left + 1, box.bottom)
    yield Rectangle(box.right - 1, box.top, box.right + 1, box.bottom)


def _around_box(box: Rectangle, title: str) -> Iterator[Text]:
    """Yield the places that a box's title may have; the usual one, below its left end, is first."""
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

"""Boxes around the marks of each cluster of setups, with a title where there is room."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evaluation.reports.figures.free_places import Rectangle, Text, all_free, least_covering
from evaluation.tradeoffs.figures.tradeoff.marks import Mark

PADDING = 16  # px between marks and the box of their cluster
CLEARANCE = 3  # px between a label and other text
STEP = 8  # px between the places inside a box that a label may have


class Cluster(NamedTuple):
    """The box around the marks of one cluster."""

    key: str
    title: str
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

    A label covers no mark and no other text. Where there is no such place, it is left out.
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
        places = [*_around_box(box, title), *_inside_box(box, title)]
        label = least_covering(all_free(places, taken, plot), others, plot)
        if label:
            taken.append(label.box.grown(CLEARANCE))
        yield Cluster(key, title, Rectangle(*(round(edge, 1) for edge in box)), label)
    taken.extend(edge for box in boxes.values() for edge in _edges(box))


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


def _inside_box(box: Rectangle, title: str) -> Iterator[Text]:
    """Yield the places that begin inside a box, from its lower left corner to its upper right."""
    for y in range(int(box.bottom) - 5, int(box.top) + 14, -STEP):
        for x in range(int(box.left) + 7, int(box.right) - 7, STEP):
            yield Text(x, y, title)

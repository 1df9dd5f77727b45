"""Free places for text in a figure. Units are those of the figure."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

Anchor = Literal["start", "middle", "end"]
# The mean width of a character, in font sizes. It is a little more than that of Liberation Sans.
MEAN_WIDTH = 0.56


class Rectangle(NamedTuple):
    """A rectangle; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: "Rectangle") -> float:
        """Return the area that both cover."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(width, 0.0) * max(height, 0.0)

    def grown(self, by: float) -> "Rectangle":
        """Return the rectangle with a margin on all sides."""
        left, top, right, bottom = self
        return Rectangle(left - by, top - by, right + by, bottom + by)

    def is_inside(self, other: "Rectangle") -> bool:
        return (
            other.left <= self.left
            and other.top <= self.top
            and self.right <= other.right
            and self.bottom <= other.bottom
        )


class Text(NamedTuple):
    """A line of text: x of its anchor, y of its baseline."""

    x: float
    y: float
    text: str
    anchor: Anchor = "start"
    size: float = 12.0

    @property
    def box(self) -> Rectangle:
        """The rectangle that the text covers, approximately."""
        width = MEAN_WIDTH * self.size * len(self.text)
        left = self.x - {"start": 0.0, "middle": width / 2, "end": width}[self.anchor]
        return Rectangle(left, self.y - 0.8 * self.size, left + width, self.y + 0.25 * self.size)


def around(x: float, y: float, half: float) -> Rectangle:
    """Return a square around a point."""
    return Rectangle(x - half, y - half, x + half, y + half)


def all_free(
    candidates: Iterable[Text], taken: Sequence[Rectangle], area: Rectangle
) -> Iterator[Text]:
    """Yield the texts that are inside an area and cover nothing taken."""
    for text in candidates:
        if text.box.is_inside(area) and not any(text.box.overlap(box) for box in taken):
            yield text


def first_free(
    candidates: Iterable[Text], taken: Sequence[Rectangle], area: Rectangle
) -> Text | None:
    """Return the first text that is inside an area and covers nothing taken; None without one."""
    return next(all_free(candidates, taken, area), None)


def least_covering(
    candidates: Iterable[Text], taken: Sequence[Rectangle], area: Rectangle
) -> Text | None:
    """Return the first text in an area that covers the least; None if no text is inside it."""
    inside = [text for text in candidates if text.box.is_inside(area)]
    return min(inside, key=lambda text: sum(text.box.overlap(box) for box in taken), default=None)

"""The one-hop graph of an entity as a picture: the positions of boxes, lines and words.

There are two layouts of the same neighbours. The wide one has the entity in the middle and
neighbours to its left and right. The narrow one has the entity at the top and its neighbours in
one column. In neither do two boxes or words overlap, however long the names are: names are cut to
fit, and the table beside the picture shows them in full. Units are those of the picture; y grows
downwards.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from evaluation.reports.figures.free_places import Rectangle
from work.amounts import UNDEFINED

MOST_NEIGHBOURS = 24  # neighbours that are drawn; the others are only in the table
MOST_RELATIONS = 16
MOST_OF_RELATION = 3  # values of one relation that are drawn
HOUSEKEEPING = frozenset(  # relations that tell little about an entity
    {"instance of", "topic's main category", "topic's main template", "described by source"}
    | {"on focus list of wikimedia project", "maintained by wikiproject"}
)

FONT, SMALL_FONT = 13.0, 12.0  # font sizes of names and of relations
LINE = 16.0  # distance between two lines of a box
PADDING = 8.0  # space inside a box, left and right
GAP, GROUP_GAP = 6.0, 14.0  # space below a box, and below the last box of a relation
MARGIN = 2.0  # space around everything, for outlines

WIDE_WIDTH, WIDE_BOX, WIDE_RELATION, WIDE_CENTRE = 870.0, 178.0, 146.0, 130.0
FORK = 16.0  # width of the part where a line branches to the values of one relation
NARROW_WIDTH, TRUNK, INDENT = 320.0, 10.0, 26.0
RELATION_LINE = 20.0  # height of a relation in the narrow layout, where it is above its values

Side = Literal["left", "right", "below"]


class Value(NamedTuple):
    """The value of a relation. `url` is the page of the entity that it is, or "" if it is none."""

    text: str
    url: str = ""


class Spoke(NamedTuple):
    """One relation with its values, in the graph's order."""

    relation: str
    values: tuple[Value, ...]


class Name(NamedTuple):
    """A box with a name in it, which is cut to a few lines."""

    box: Rectangle
    lines: tuple[str, ...]
    full: str
    url: str = ""

    @property
    def width(self) -> float:
        return self.box.right - self.box.left

    @property
    def height(self) -> float:
        return self.box.bottom - self.box.top

    @property
    def middle(self) -> float:
        return (self.box.left + self.box.right) / 2

    @property
    def baselines(self) -> tuple[tuple[float, str], ...]:
        """The y of each line's baseline, with the line."""
        first = (self.box.top + self.box.bottom - LINE * (len(self.lines) - 1)) / 2 + 0.35 * FONT
        return tuple((first + LINE * place, line) for place, line in enumerate(self.lines))


class RelationGroup(NamedTuple):
    """A relation with the values that are drawn, and the lines that lead to them."""

    side: Side
    relation: str  # its words, cut to fit
    full: str
    label: Rectangle  # the area that the words of the relation cover
    baseline: float
    values: tuple[Name, ...]
    paths: tuple[str, ...]  # a line (SVG path) from the entity to each value
    n_more: int  # values that are only in the table


class Picture(NamedTuple):
    """The picture in one layout."""

    width: float
    height: float
    centre: Name
    groups: tuple[RelationGroup, ...]


class OneHop(NamedTuple):
    """The one-hop graph of an entity in both layouts, and how many values are not drawn."""

    wide: Picture
    narrow: Picture
    n_drawn: int  # values
    n_left_out: int  # values that are only in the table


def spokes(triples: Iterable[tuple[str, Value]]) -> list[Spoke]:
    """Return (relation, value) pairs grouped by relation, in the order of first appearance."""
    by_relation: dict[str, list[Value]] = {}
    for relation, value in triples:
        by_relation.setdefault(relation, []).append(value)
    return [Spoke(relation, tuple(values)) for relation, values in by_relation.items()]


def one_hop(label: str, all_spokes: Sequence[Spoke]) -> OneHop:
    """Return the positions of everything in both layouts.

    The first relations are drawn, each with its first values. If there are too many relations,
    those that lead to entities of the graph are preferred, and housekeeping ones are dropped first.
    """
    drawn = _drawn(all_spokes)
    n_drawn = sum(len(spoke.values) for spoke, _ in drawn)
    n_all = sum(len(spoke.values) for spoke in all_spokes)
    return OneHop(_wide(label, drawn), _narrow(label, drawn), n_drawn, n_all - n_drawn)


# --- what is drawn ------------------------------------------------------------------------


def _drawn(all_spokes: Sequence[Spoke]) -> list[tuple[Spoke, int]]:
    """Return the spokes to draw, in order, each with the number of its values that are left out."""
    room = MOST_NEIGHBOURS
    n_values: dict[int, int] = {}
    first = sorted(range(len(all_spokes)), key=lambda place: _rank(all_spokes[place]))
    for place in first[:MOST_RELATIONS]:
        n_values[place] = min(len(all_spokes[place].values), MOST_OF_RELATION, room)
        room -= n_values[place]
    return [
        (
            all_spokes[place]._replace(values=all_spokes[place].values[:n]),
            len(all_spokes[place].values) - n,
        )
        for place, n in sorted(n_values.items())
        if n
    ]


def _rank(spoke: Spoke) -> int:
    """Return the rank of a relation: 0 if it leads to an entity of the graph, 2 for housekeeping.

    All others have rank 1.
    """
    if " ".join(spoke.relation.replace("_", " ").split()).lower() in HOUSEKEEPING:
        return 2
    return 0 if any(value.url for value in spoke.values) else 1


# --- wide: left and right of the entity -----------------------------------------------------


def _wide(label: str, drawn: Sequence[tuple[Spoke, int]]) -> Picture:
    heights = {"left": MARGIN, "right": MARGIN}
    placed: list[tuple[Side, float, Spoke, int]] = []
    for spoke, n_more in drawn:
        side: Side = "left" if heights["left"] <= heights["right"] else "right"
        placed.append((side, heights[side], spoke, n_more))
        heights[side] += _stack_height(spoke, WIDE_BOX) + GROUP_GAP
    centre_lines = _wrapped(label, WIDE_CENTRE - 2 * PADDING, FONT, 3)
    centre_height = _box_height(len(centre_lines)) + LINE
    used = max(max(heights.values()) - GROUP_GAP, centre_height + MARGIN)
    left = (WIDE_WIDTH - WIDE_CENTRE) / 2
    top = (used + MARGIN - centre_height) / 2
    box = Rectangle(left, top, left + WIDE_CENTRE, top + centre_height)
    # The shorter column is centred vertically, as the entity is.
    shift = {side: (used - max(end - GROUP_GAP, MARGIN)) / 2 for side, end in heights.items()}
    groups = [
        _wide_group(side, y + shift[side], spoke, n_more, box) for side, y, spoke, n_more in placed
    ]
    return Picture(WIDE_WIDTH, used + MARGIN, Name(box, centre_lines, label), tuple(groups))


def _wide_group(
    side: Side, top: float, spoke: Spoke, n_more: int, centre: Rectangle
) -> RelationGroup:
    is_left = side == "left"
    left = MARGIN if is_left else WIDE_WIDTH - MARGIN - WIDE_BOX
    names = _stack(spoke.values, left, top, WIDE_BOX)
    middle = (names[0].box.top + names[-1].box.bottom) / 2
    near = left + WIDE_BOX if is_left else left  # the edge of the values that faces the entity
    towards = 1.0 if is_left else -1.0
    # The space for the words of the relation.
    start, end = (
        near + FORK * towards,
        near + (FORK + WIDE_RELATION) * towards,
    )
    words = _relation(spoke.relation, n_more, WIDE_RELATION - 8)
    width = text_width(words, SMALL_FONT)
    label_left = (start + end - width) / 2
    label = Rectangle(label_left, middle - 8, label_left + width, middle + 8)
    edge = centre.left if is_left else centre.right
    inside = _within(middle, centre.top + 10, centre.bottom - 10)
    bend = (end + edge) / 2
    trunk = f"M{edge:.1f} {inside:.1f}C{bend:.1f} {inside:.1f} {bend:.1f} {middle:.1f} "
    trunk += f"{end:.1f} {middle:.1f}H{start:.1f}"
    paths = tuple(f"{trunk}L{near:.1f} {(n.box.top + n.box.bottom) / 2:.1f}" for n in names)
    return RelationGroup(side, words, spoke.relation, label, middle + 4, names, paths, n_more)


# --- narrow: one column below the entity ----------------------------------------------------


def _narrow(label: str, drawn: Sequence[tuple[Spoke, int]]) -> Picture:
    room = NARROW_WIDTH - 2 * MARGIN
    lines = _wrapped(label, room - 2 * PADDING, FONT, 3)
    box = Rectangle(MARGIN, MARGIN, MARGIN + room, MARGIN + _box_height(len(lines)) + 8)
    top = box.bottom + GROUP_GAP
    groups: list[RelationGroup] = []
    for spoke, n_more in drawn:
        names = _stack(spoke.values, INDENT, top + RELATION_LINE, NARROW_WIDTH - MARGIN - INDENT)
        words = _relation(spoke.relation, n_more, NARROW_WIDTH - MARGIN - INDENT)
        label_box = Rectangle(INDENT, top + 2, INDENT + text_width(words, SMALL_FONT), top + 18)
        paths = tuple(_elbow(box.bottom, (n.box.top + n.box.bottom) / 2) for n in names)
        groups.append(
            RelationGroup("below", words, spoke.relation, label_box, top + 14, names, paths, n_more)
        )
        top = names[-1].box.bottom + GROUP_GAP
    height = (groups[-1].values[-1].box.bottom if groups else box.bottom) + MARGIN
    return Picture(NARROW_WIDTH, height, Name(box, lines, label), tuple(groups))


def _elbow(top: float, y: float) -> str:
    """Return the line that leads from the entity down and round a corner to a value."""
    return f"M{TRUNK} {top:.1f}V{y - 8:.1f}Q{TRUNK} {y:.1f} {TRUNK + 8} {y:.1f}H{INDENT}"


# --- boxes and words ------------------------------------------------------------------------


def _stack(values: Sequence[Value], left: float, top: float, width: float) -> tuple[Name, ...]:
    """Return boxes of values, one below the other."""
    names: list[Name] = []
    for value in values:
        lines = _wrapped(value.text, width - 2 * PADDING, FONT, 2)
        box = Rectangle(left, top, left + width, top + _box_height(len(lines)))
        names.append(Name(box, lines, value.text, value.url))
        top = box.bottom + GAP
    return tuple(names)


def _stack_height(spoke: Spoke, width: float) -> float:
    names = _stack(spoke.values, 0, 0, width)
    return names[-1].box.bottom


def _box_height(n_lines: int) -> float:
    return LINE * n_lines + 10


def _within(y: float, low: float, high: float) -> float:
    return min(max(y, low), high)


def _relation(relation: str, n_more: int, room: float) -> str:
    """Return the words on a line, cut to fit, with the number of values only in the table."""
    more = f" +{n_more}" if n_more else ""
    name = " ".join(relation.replace("_", " ").split())
    return _cut(name, room - text_width(more, SMALL_FONT), SMALL_FONT) + more


def text_width(text: str, size: float) -> float:
    """Return the approximate width of a text in any browser font. It is rather too large."""
    return size * sum(map(_character_width, text))


def _character_width(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if character in "ijlI.,;:!'|":
        return 0.34
    if character in "mwMW@%—…":
        return 0.95
    return 0.7 if character.isupper() or ord(character) > 0x24F else 0.58


def _cut(text: str, room: float, size: float) -> str:
    """Return a text cut to fit, with … at the end if something is missing."""
    if text_width(text, size) <= room:
        return text
    end = len(text)
    while end > 0 and text_width(text[:end].rstrip() + "…", size) > room:
        end -= 1
    return text[:end].rstrip() + "…"


def _wrapped(text: str, room: float, size: float, most: int) -> tuple[str, ...]:
    """Return a text in at most `most` lines that fit. The last line is cut if necessary."""
    rest = " ".join(text.split()[:100])[:500]  # far more than fits into any box
    lines: list[str] = []
    while rest and len(lines) < most - 1 and text_width(rest, size) > room:
        end = _break(rest, room, size)
        lines.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    if rest or not lines:
        lines.append(_cut(rest or UNDEFINED, room, size))
    return tuple(lines)


def _break(text: str, room: float, size: float) -> int:
    """Return the end of a line: after the last word that fits, or else inside the first word."""
    end, width = 0, 0.0
    while end < len(text) and (width := width + size * _character_width(text[end])) <= room:
        end += 1
    if end < len(text) and text[end] == " ":
        return end
    space = text.rfind(" ", 0, end)
    return space if space > 0 else max(end, 1)

"""Setups in their places, with the whiskers of their intervals and labels that cover nothing."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from evaluation.reports.figures.free_places import Rectangle, Text, first_free
from evaluation.reports.numbers import decimal
from evaluation.tradeoffs.dots import step_title
from evaluation.tradeoffs.figures.tradeoff.frame import FigureWindow
from evaluation.tradeoffs.figures.tradeoff.glyphs import Glyph, Palette, glyph_of, kind_of
from evaluation.tradeoffs.reports.tradeoff import TradeoffRow
from generation.text.temperatures import temperature_text

HALF_MARK = 6.5  # half the side of a mark's square
LABEL_SIZE = 11.5  # font size of the text beside a mark


class Mark(NamedTuple):
    """One setup in its place."""

    row: TradeoffRow
    x: float  # the place of the drawing
    y: float
    glyph: Glyph
    name: str  # its prompt type, model and temperature
    figures: str  # its place, F1 and examples in words
    whiskers: str = ""  # path of its intervals
    colour: str = ""  # class of the whiskers
    label: Text | None = None
    stem: str = ""  # path from its true place to a mark that has moved; see `spots`
    leader: str = ""  # path from the mark to a label that is not next to it
    href: str = ""

    @property
    def one_line(self) -> str:
        """The name and the figures of the setup."""
        return f"{self.name}: {self.figures}"

    @property
    def model(self) -> str:
        return self.row.of.model

    @property
    def temperature(self) -> str:
        """The temperature as views name it."""
        temperature = self.row.of.temperature
        return "none" if temperature is None else f"{temperature:g}"

    @property
    def share(self) -> float | None:
        """The dialog share that its prompts were asked to keep; None: they keep all of it."""
        kind = kind_of(self.row.of)
        return kind.dialog_share if kind else None

    @property
    def prompt(self) -> str:
        """The prompt or, for an aggregate, the function, as views name it."""
        return self.row.of.function or self.row.of.prompt_family


def mark_of(
    row: TradeoffRow,
    point: tuple[float, float],
    window: FigureWindow,
    palette: Palette,
    with_intervals: bool,
    address: Callable[[TradeoffRow], str] | None,
) -> Mark:
    """Return a setup in its place, without a label."""
    glyph = glyph_of(row.of, palette)
    x, y = window.x(point[0]), window.y(point[1])
    return Mark(
        row,
        round(x, 1),
        round(y, 1),
        glyph,
        name=name_of(row),
        figures=figures_of(row),
        whiskers=_whiskers(row, x, y, window) if with_intervals else "",
        colour=glyph.classes.split()[0],
        href=address(row) if address else "",
    )


def name_of(row: TradeoffRow) -> str:
    """Return what a setup is called among all setups of a figure."""
    of, share = row.of, row.of.dialog_share
    temperature = "" if of.temperature is None else f"T {temperature_text(of.temperature)}"
    of_dialog = f"really {100 * share:.0f} %" if of.is_restricted and share is not None else ""
    chosen = f"chosen in each example {chosen_of(row)}" if of.is_aggregate else ""
    title = step_title(of.prompt_title)
    return ", ".join(filter(None, [title, of_dialog, of.model, temperature, chosen]))


def figures_of(row: TradeoffRow) -> str:
    """Return the place of a setup, its F1 and its examples in words."""
    estimates = (row.attribution, row.sensibleness, row.f1)
    attribution, sensibleness, f1 = (decimal(each.value, 3) for each in estimates)
    return (
        f"attribution {attribution}, sensibleness {sensibleness}, F1 {f1}, "
        f"{_examples_of(row)}{_debris_of(row)}"
    )


def _debris_of(row: TradeoffRow) -> str:
    """Return how many replies of a setup are debris; "" if none is."""
    if not row.of.n_debris:
        return ""
    return f"; {row.of.n_debris:,} of {row.of.n_looked_at:,} replies are debris"


def _examples_of(row: TradeoffRow) -> str:
    """Return how many examples a mark is over, and of how many if raters answered only a part."""
    if not row.of.is_rated_in_part:
        return f"{row.n:,} examples"
    return (
        f"only {row.n:,} of its {row.n_examples:,} examples ({row.n / row.n_examples:.0%}), as "
        f"{row.n_not_rated:,} have no rating"
    )


def chosen_of(row: TradeoffRow) -> str:
    """Return how an aggregate was made: its pool, what chose, and its calls."""
    title, size, n_calls = row.chosen.chosen_by_title, row.chosen.pool_size, row.of.n_calls
    by = f" by {title}" if title else ""
    pool = "1 setup" if size == 1 else f"{size or 'unknown'} setups"
    calls = "1 call" if n_calls == 1 else f"{n_calls:,} calls"
    return f"from {pool}{by}, {calls} per example"


def _whiskers(row: TradeoffRow, x: float, y: float, window: FigureWindow) -> str:
    """Return the path of both intervals, as far as the window shows them; "" without any."""
    parts = []
    _, low, high = row.attribution
    if low is not None and high is not None:
        start, end = window.x(max(low, window.x_from)), window.x(min(high, window.x_to))
        parts.append(f"M{start:.1f} {y:.1f}H{end:.1f}")
    _, low, high = row.sensibleness
    if low is not None and high is not None:
        start, end = window.y(max(low, window.y_from)), window.y(min(high, window.y_to))
        parts.append(f"M{x:.1f} {start:.1f}V{end:.1f}")
    return "".join(parts)


# --- labels ---------------------------------------------------------------------------------


def labelled(marks: Sequence[Mark], taken: list[Rectangle], plot: Rectangle) -> list[Mark]:
    """Return the marks with labels that cover nothing; a mark without room has no label."""
    done = []
    for mark in marks:
        label = first_free(beside(mark.x, mark.y, mark.row.of.label), taken, plot)
        if label:
            taken.append(label.box)
        done.append(mark._replace(label=label, leader=_leader(mark, label) if label else ""))
    return done


def beside(x: float, y: float, text: str) -> Iterator[Text]:
    """Yield places for a label of a place: right, left, above, below, then further away."""
    y += 4
    yield Text(x + 9, y, text, "start", LABEL_SIZE)
    yield Text(x - 9, y, text, "end", LABEL_SIZE)
    yield Text(x, y - 13, text, "middle", LABEL_SIZE)
    yield Text(x, y + 14, text, "middle", LABEL_SIZE)
    for distance in (16, 30, 44, 58, 72):
        for up in (-distance, distance):
            yield Text(x + 12, y + up, text, "start", LABEL_SIZE)
            yield Text(x - 12, y + up, text, "end", LABEL_SIZE)
        yield Text(x + distance, y + distance / 4, text, "start", LABEL_SIZE)
        yield Text(x - distance, y - distance / 4, text, "end", LABEL_SIZE)


def _leader(mark: Mark, label: Text) -> str:
    """Return the path of a line to a label that is not next to its mark; else ""."""
    box = label.box
    x = min(max(mark.x, box.left), box.right)
    y = min(max(mark.y, box.top), box.bottom)
    away = math.hypot(x - mark.x, y - mark.y)
    if away <= 2 * HALF_MARK:
        return ""
    start = HALF_MARK / away
    from_x, from_y = mark.x + start * (x - mark.x), mark.y + start * (y - mark.y)
    return f"M{from_x:.1f} {from_y:.1f}L{x:.1f} {y:.1f}"

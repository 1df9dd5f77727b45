"""The report on comparable setups: a trade-off along the curves of equal F1, or a move across.

[A] 7.3 and 7.6 compare setups of one model and temperature under the same constraint.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from evaluation.measures.tradeoff import WIDTH
from evaluation.measures.tradeoff_effects import (
    MoveClass,
    across,
    along,
    attribution_difference,
    f1_difference,
    move_class,
    pair_statistics,
    sensibleness_difference,
)
from evaluation.reports.columns import Column, Estimate, Format
from evaluation.reports.estimates import estimate
from evaluation.reports.registry import ReportGroup, ReportKind
from evaluation.reports.report import LeftOut, Report, ReportRow, number
from evaluation.statistics.intervals import Floats, Interval, Measure
from evaluation.statistics.jackknife import FEWEST_DIALOGS
from evaluation.tradeoffs.dots import any_in_part
from evaluation.tradeoffs.material import TradeoffMaterial
from evaluation.tradeoffs.material_cache import cached_on_axes
from evaluation.tradeoffs.pairs import REASONS, ComparablePair, comparable_pairs
from evaluation.tradeoffs.reports import methods
from evaluation.tradeoffs.reports.axes_choices import AxesChoices, material_on, portable_axes
from evaluation.tradeoffs.titles import setup_title
from generation.models import Dataset
from generation.text.temperatures import temperature_text

MOST_PAIRS = 5000
BATCH = 200  # pairs whose resamples are held at once
MEASURES: dict[str, Measure] = {
    "attribution_difference": attribution_difference,
    "sensibleness_difference": sensibleness_difference,
    "f1_difference": f1_difference,
    "across": across,
    "along": along,
}
CLASSES: Sequence[MoveClass] = ("along", "across", "both", "no clear move")
MOVE_TITLES: dict[MoveClass, str] = {
    "along": "Mostly along the curve (local)",
    "across": "Mostly across (global)",
    "both": "Mixed",
}
F1_IS_0 = "F1 is 0 at both ends, so nothing is traded"


@dataclass(frozen=True, kw_only=True)
class ComparableRow(ReportRow):
    """The difference between two comparable setups, the second minus the first, and their move."""

    from_setup: str
    to_setup: str
    from_title: Annotated[str, Column("From")]
    to_title: Annotated[str, Column("To")]
    from_label: str
    to_label: str
    model: Annotated[str, Column("Model")]
    temperature: Annotated[float | None, Column("Temperature", Format.TEMPERATURE)]
    reasons: Annotated[str, Column("Comparable by")]  # joined by "; "
    from_context_tokens: float | None
    to_context_tokens: float | None
    n: Annotated[int, Column("Examples", Format.COUNT)]  # known of both setups
    is_rated_in_part: bool  # raters have answered a part of the examples of one of the two
    move: Annotated[MoveClass | None, Column("Move")]
    attribution_difference: Annotated[Estimate, Column("Attribution", Format.POINTS)]
    sensibleness_difference: Annotated[Estimate, Column("Sensibleness", Format.POINTS)]
    f1_difference: Annotated[Estimate, Column("F1", Format.SIGNED)]
    across: Annotated[Estimate, Column("Part across the curves", Format.POINTS)]
    along: Annotated[Estimate, Column("Part along the curves", Format.POINTS)]
    why: Annotated[str, Column("Why undefined")]

    @property
    def name(self) -> str:
        """The two setups by their titles, or by their own names if they share a title."""
        if self.from_title == self.to_title:
            return f"{self.from_setup} → {self.to_setup}"
        return f"{self.from_title} → {self.to_title}"

    @property
    def of_setups(self) -> str:
        """The model and the temperature that both setups have."""
        if self.temperature is None:
            return self.model
        return f"{self.model}, T {temperature_text(self.temperature)}"

    @property
    def move_title(self) -> str:
        """The move in the words of the page; "" if it is undefined."""
        return MOVE_TITLES.get(self.move, self.move) if self.move else ""


def comparable_report(material: TradeoffMaterial) -> Report[ComparableRow]:
    """Return a row for each pair of comparable setups; those that move clearly and far come first.

    A pair moves from `from_setup` to `to_setup`. Its row has `attribution_difference`,
    `sensibleness_difference` and `f1_difference`. At the middle of the two, `across` is the move
    across the curves of equal F1 (above 0: to a higher one), and `along` is the move along them
    (above 0: to more attribution). All have intervals, over the `n` examples that both axes know of
    both setups. `move` is along, across, both, no clear move, or None with the reason in `why`. A
    move between setups whose F1 is 0 is no trade-off, and has none.
    `reasons` say what makes the pair comparable. `is_rated_in_part` says that raters, who make an
    axis, have answered only a part of the examples of one of the two: these are a selection.

    Of more than 5000 pairs, those with the first reasons are kept and the others are counted.
    """
    pairs = comparable_pairs(material.dots)
    first = [REASONS.index(pair.reasons[0]) for pair in pairs]
    kept = sorted(range(len(pairs)), key=lambda place: (first[place], place))[:MOST_PAIRS]
    chosen = [pairs[place] for place in kept]
    rows = sorted(_rows(material, chosen), key=_most_interesting_first)
    left_out: LeftOut = {
        **material.left_out,
        "setups_without_model": sum(not dot.setup.model for dot in material.dots),
        "comparable_pairs_beyond_the_first": len(pairs) - len(chosen),
        "pairs_with_f1_0": sum(row.why == F1_IS_0 for row in rows),
        "pairs_without_a_move": sum(row.move is None and row.why != F1_IS_0 for row in rows),
    }
    signature = material.signature("comparable", "context within 10 %")
    return Report(material.dataset.name, "comparable", rows, left_out, signature)


class MoveCounts(NamedTuple):
    """The moves of the pairs with a reason; a pair counts under each reason that it has."""

    reason: str  # "": all pairs
    n_pairs: int
    n_along: int
    n_across: int
    n_both: int
    n_unclear: int

    @property
    def n_clear(self) -> int:
        return self.n_along + self.n_across + self.n_both

    @property
    def n_undefined(self) -> int:
        return self.n_pairs - self.n_clear - self.n_unclear

    @property
    def share_along(self) -> float | None:
        """The share of pairs that only move along, of those that move clearly; None without any."""
        return self.n_along / self.n_clear if self.n_clear else None


def moves_by_reason(rows: Sequence[ComparableRow]) -> list[MoveCounts]:
    """Return how many pairs of the report move in which way: for all, then for each reason."""
    counts = []
    for reason in ("", *REASONS):
        moves = [row.move for row in rows if not reason or reason in row.reasons.split("; ")]
        counts.append(MoveCounts(reason, len(moves), *(moves.count(name) for name in CLASSES)))
    return [each for each in counts if each.n_pairs or not each.reason]


def _rows(material: TradeoffMaterial, pairs: Sequence[ComparablePair]) -> Iterator[ComparableRow]:
    of_setups = [material.statistics(place) for place in range(len(material.dots))]
    measures = list(MEASURES.values())
    for start in range(0, len(pairs), BATCH):
        batch = pairs[start : start + BATCH]
        statistics = [
            pair_statistics(of_setups[pair.first], of_setups[pair.second]) for pair in batch
        ]
        sums = np.stack([of_pair.sum(axis=0) for of_pair in statistics])
        values = np.stack([measure(sums) for measure in measures], axis=-1)
        intervals = material.intervals_of_measures(statistics, measures)
        for pair, of_pair, figures, of_figures in zip(batch, sums, values, intervals, strict=True):
            yield _row(material, pair, of_pair, figures.tolist(), of_figures)


def _row(
    material: TradeoffMaterial,
    pair: ComparablePair,
    sums: Floats,
    values: Sequence[float],
    intervals: Sequence[Interval],
) -> ComparableRow:
    to, start = material.dots[pair.first], material.dots[pair.second]
    estimates = dict(zip(MEASURES, map(estimate, values, intervals), strict=True))
    n = int(sums[2])
    # The components of a move are the last two measures.
    move = move_class(values[-2], values[-1], intervals[-2], intervals[-1])
    why = "" if move else _why(n, estimates["across"])
    if estimates["across"].value is not None and _has_f1_0(sums):
        move, why = None, F1_IS_0
    return ComparableRow(
        from_setup=start.setup.name,
        to_setup=to.setup.name,
        from_title=setup_title(start),
        to_title=setup_title(to),
        from_label=start.label,
        to_label=to.label,
        model=to.setup.model,
        temperature=to.setup.temperature,
        reasons="; ".join(pair.reasons),
        from_context_tokens=number(start.context_tokens),
        to_context_tokens=number(to.context_tokens),
        n=n,
        is_rated_in_part=any_in_part(material.dots, (pair.first, pair.second)),
        move=move,
        **estimates,
        why=why,
    )


def _has_f1_0(sums: Floats) -> bool:
    """Return whether both setups of a pair have no attribution, or no sensibleness."""
    attributable, sensible = sums[0::WIDTH], sums[1::WIDTH]
    return not (attributable * sensible).any()


def _why(n: int, across: Estimate) -> str:
    if not n:
        return "no example has values for both setups"
    if across.value is None:
        return "neither setup has any attribution or sensibleness"
    return f"fewer than {FEWEST_DIALOGS} dialogs, or in none do the setups differ"


def _most_interesting_first(row: ComparableRow) -> tuple[int, float, str, str]:
    """Return a sort key: clear moves first, then the longest; moves of one length by name."""
    order = 2 if row.move is None else int(row.move == "no clear move")
    length = math.hypot(row.across.value or 0.0, row.along.value or 0.0)
    return order, -length, row.from_setup, row.to_setup


def cached_comparable(material: TradeoffMaterial) -> Report[ComparableRow]:
    """Return the report, cached for the next visit."""
    return cached_on_axes(
        material.dataset, "comparable", lambda: comparable_report(material), axes=material.axes
    )


COMPARABLE = ReportKind(
    key="comparable",
    title="Comparable setups",
    lede="Compares how pairs of comparable setups move against the curves of equal F1.",
    group=ReportGroup.SETUPS,
    about=Dataset,
    methods=methods.COMPARABLE,
    portable=portable_axes,
    choices=AxesChoices,
    make=lambda dataset, chosen: cached_comparable(material_on(dataset, chosen)),
    rows=(ComparableRow,),
)

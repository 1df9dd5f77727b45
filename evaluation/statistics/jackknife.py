"""Intervals of figures in a fixed range that are no shares: kappa, alpha, AUC, AC1, ICC, F1, ranks.

Such a figure is read as a share of its range, and gets Wilson's interval. Its variance is that of
the jackknife: each dialog is left out once. The number of independent items is the one that would
make a share as uncertain, as in `wilson.py`.

What an agreement beyond chance can tell depends on the rarer answer. So nothing is said where fewer
than `FEWEST_DIALOGS` dialogs hold it, and where no dialog changes the figure, the number of
independent items is that of the dialogs that hold the rarer answer. Other figures have no rarer
answer: there, both are about all dialogs that have data. An interval therefore always has a width.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from evaluation.statistics.wilson import wilson_ends

FEWEST_DIALOGS = 5  # dialogs that must hold the rarer answer, or have data where there is none

Floats = NDArray[np.float64]
NOTHING_SAID = (math.nan, math.nan)


@dataclass(frozen=True)
class BeyondChance:
    """The measure of an agreement beyond chance, in [-1, 1]: a kappa or an alpha."""

    measure: Callable[[Floats], Floats]  # takes sums (..., S), returns figures (...)
    answers: Callable[[Floats], Floats]  # takes sums (..., S), returns numbers of answers (..., k)

    def __call__(self, sums: Floats) -> Floats:
        """Return the figure from summed statistics: (..., S) to (...)."""
        return self.measure(sums)


@dataclass(frozen=True)
class InRange:
    """The measure of a figure in a fixed range that has no rarer answer: an F1, an AC1, an ICC."""

    measure: Callable[[Floats], Floats]  # takes sums (..., S), returns figures (...)
    ends: tuple[float, float] = (0.0, 1.0)  # the lowest and the highest value that it can have

    def __call__(self, sums: Floats) -> Floats:
        """Return the figure from summed statistics: (..., S) to (...)."""
        return self.measure(sums)


def ends_in_range(figure: InRange, by_dialog: Floats, level: float = 0.95) -> tuple[float, float]:
    """Return both ends of the interval of a figure in its range; NaN where it is undefined.

    It is undefined with fewer than `FEWEST_DIALOGS` dialogs that have data.

    Args:
        figure: the measure of the figure.
        by_dialog: the sums of each dialog, (n_dialogs, S). A dialog without items has zeros.
        level: the share of such intervals that hold the true figure.
    """
    if np.count_nonzero(by_dialog.any(axis=1)) < FEWEST_DIALOGS:
        return NOTHING_SAID
    value, left_out = _with_each_left_out(figure, by_dialog)
    return wilson_in_range(
        value,
        jackknife_variance(left_out),
        figure.ends,
        n_rarer=len(left_out),
        n_dialogs=len(left_out),
        level=level,
    )


def ends_beyond_chance(
    figure: BeyondChance, by_dialog: Floats, level: float = 0.95
) -> tuple[float, float]:
    """Return both ends of the interval of a kappa or an alpha; NaN where it is undefined.

    Args:
        figure: the measure of the figure.
        by_dialog: the sums of each dialog, (n_dialogs, S). A dialog without items has zeros.
        level: the share of such intervals that hold the true figure.
    """
    answers = figure.answers(by_dialog)
    n_rarer = dialogs_with_rarer_answer(answers)
    if n_rarer < FEWEST_DIALOGS:
        return NOTHING_SAID
    value, left_out = _with_each_left_out(figure, by_dialog)
    return wilson_in_range(
        value,
        jackknife_variance(left_out),
        (-1.0, 1.0),
        n_rarer=n_rarer,
        n_dialogs=n_rarer,
        level=level,
    )


def _with_each_left_out(
    figure: Callable[[Floats], Floats], by_dialog: Floats
) -> tuple[float, Floats]:
    """Return a figure, and its values without each of the dialogs that have data."""
    total, held = by_dialog.sum(axis=0), by_dialog[by_dialog.any(axis=1)]
    with np.errstate(divide="ignore", invalid="ignore"):  # a measure may divide by 0: undefined
        return float(figure(total)), figure(total - held)


def dialogs_with_rarer_answer(answers: Floats) -> int:
    """Return how many dialogs hold another answer than the most frequent one, or only that one.

    The smaller of the two numbers counts. Of two answers, it is the number of dialogs that hold the
    rarer one.

    Args:
        answers: how often each answer was given in each dialog, (n_dialogs, k).
    """
    if not answers.size:
        return 0
    frequent = answers.sum(axis=0).argmax()
    others = np.delete(answers, frequent, axis=1).any(axis=1)
    return int(min(np.count_nonzero(answers[:, frequent]), np.count_nonzero(others)))


def jackknife_variance(left_out: Floats) -> float:
    """Return the variance of a figure from its values without one dialog each (Efron, 1982).

    It is (D - 1) / D times the sum of squared deviations from the mean of the D values. NaN is left
    out, and gives NaN where fewer than two values are defined.
    """
    values = left_out[~np.isnan(left_out)]
    if len(values) < 2:
        return math.nan
    return float(((values - values.mean()) ** 2).sum() * (len(values) - 1) / len(values))


def wilson_in_range(
    value: float,
    variance: float,
    ends: tuple[float, float],
    *,
    n_rarer: int,
    n_dialogs: int,
    most_items: float = math.inf,
    level: float = 0.95,
) -> tuple[float, float]:
    """Return both ends of Wilson's interval of a figure that is read as a share of its range.

    Args:
        value: the figure.
        variance: its variance.
        ends: lowest and highest value that the figure can have.
        n_rarer: dialogs with the rarer answer, or all where there is none. It is the number of
            independent items where the figure is at an end of its range, or does not vary.
        n_dialogs: Student's t has one degree of freedom fewer.
        most_items: the upper limit of independent items.
        level: the share of such intervals that hold the true figure.
    """
    low, high = ends
    share, spread = (value - low) / (high - low), variance / (high - low) ** 2
    if math.isnan(share) or math.isnan(spread):
        return NOTHING_SAID
    share = min(1.0, max(0.0, share))
    possible = share * (1 - share)
    varies = spread > possible * 1e-18
    n_items = min(possible / spread, most_items) if possible > 0 and varies else float(n_rarer)
    t = float(stdtrit(n_dialogs - 1, (1 + level) / 2))
    lower, upper = wilson_ends(share, n_items, t)
    return low + lower * (high - low), low + upper * (high - low)

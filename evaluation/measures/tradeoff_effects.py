"""The effect of a change of setup on the trade-off: differences and movements of pairs ([A] 7).

A pair's statistics are one row per example: those of its two setups beside each other,
`(attributable, sensible, 1, attributable, sensible, 1)`. The row has zeros if one of the shares is
not known on either side, so both setups are judged on the same examples. The rows of several pairs
are again beside each other, (n_examples, 6 · P). Each figure is a measure of their sums, so that an
interval resamples all setups together.

A movement is split into two parts, at the middle between its ends. The part *across* the curves of
equal F1 is along the gradient of F1, which is proportional to (S², A²). The part *along* the curves
is at a right angle to the gradient.
"""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from evaluation.measures.tradeoff import WIDTH, attribution_from, f1_from, sensibleness_from
from evaluation.statistics.intervals import Floats, Interval, Measure, ratio

PAIR_WIDTH = 2 * WIDTH  # number of columns in a pair's statistics

MoveClass = Literal["along", "across", "both", "no clear move"]
SMALL_PART = 0.5  # a component below this share of the other's size does not name a move


def pair_statistics(of_first: Floats, of_second: Floats) -> Floats:
    """Return the statistics of a pair from those of its setups: (n_examples, 3) twice to (…, 6).

    An example that is not known in one of the two setups has zeros.
    """
    is_known = (of_first[:, -1] > 0) & (of_second[:, -1] > 0)
    return np.where(is_known[:, np.newaxis], np.hstack([of_first, of_second]), 0.0)


def beside(pairs: Sequence[Floats]) -> Floats:
    """Return the statistics of several pairs beside each other: (n_examples, 6 · P)."""
    return np.hstack(list(pairs))


def f1_difference(sums: Floats) -> Floats:
    """Return the mean over pairs of F1(first) - F1(second): (..., 6 · P) to (...), in [-1, 1].

    Pairs whose difference is undefined are left out; the mean is NaN if all are.
    """
    return _mean_over_pairs(f1_differences(sums))


def attribution_difference(sums: Floats) -> Floats:
    """Return the same mean for the shares of attributable responses."""
    first, second = _sides(sums)
    return _mean_over_pairs(attribution_from(first) - attribution_from(second))


def sensibleness_difference(sums: Floats) -> Floats:
    """Return the same mean for the shares of sensible responses."""
    first, second = _sides(sums)
    return _mean_over_pairs(sensibleness_from(first) - sensibleness_from(second))


def f1_differences(sums: Floats) -> Floats:
    """Return F1(first) - F1(second) of each pair: (..., 6 · P) to (..., P); undefined is NaN."""
    first, second = _sides(sums)
    return f1_from(first) - f1_from(second)


def mean_of(measures: Sequence[Measure], width: int) -> Measure:
    """Return a measure that is the mean of several measures, of sums (..., width · M).

    Undefined measures are left out; the mean is NaN if all are.
    """

    def mean(sums: Floats) -> Floats:
        return _mean_over_pairs(each_of(measures, width, sums))

    return mean


def each_of(measures: Sequence[Measure], width: int, sums: Floats) -> Floats:
    """Return each measure of its own part of the sums: (..., width · M) to (..., M)."""
    parts = sums.reshape(*sums.shape[:-1], len(measures), width)
    values = [measure(parts[..., place, :]) for place, measure in enumerate(measures)]
    return np.stack(values, axis=-1)


def share_favourable(differences: Floats) -> float:
    """Return the share of differences above 0, in [0, 1], among the defined ones of (P,)."""
    defined = differences[~np.isnan(differences)]
    return float((defined > 0).mean()) if defined.size else math.nan


def across(sums: Floats) -> Floats:
    """Return how far one pair moves across the curves of equal F1: (..., 6) to (...).

    The movement goes from the second setup to the first and is in [-√2, √2]; above 0 it is towards
    a higher F1. It is NaN if a share is undefined, or if attribution and sensibleness of both
    setups are 0.
    """
    by_attribution, by_sensibleness, normal = _movement(sums)
    return by_attribution * normal[..., 0] + by_sensibleness * normal[..., 1]


def along(sums: Floats) -> Floats:
    """Return how far one pair moves along the curves of equal F1: (..., 6) to (...).

    The movement goes from the second setup to the first and is in [-√2, √2]; above 0 it is towards
    attribution. It is NaN in the same cases as `across`.
    """
    by_attribution, by_sensibleness, normal = _movement(sums)
    return by_attribution * normal[..., 1] - by_sensibleness * normal[..., 0]


def move_class(
    move_across: float, move_along: float, interval_across: Interval, interval_along: Interval
) -> MoveClass | None:
    """Return how a pair moves: mostly along, mostly across, or both.

    A move is both if each component is at least half as large as the other. It is clear if a
    component that names it has an interval without 0. The result is None if a component is
    undefined, or both intervals are.
    """
    if math.isnan(move_across) or math.isnan(move_along):
        return None
    if math.isnan(interval_across.low) and math.isnan(interval_along.low):
        return None
    if abs(move_across) < SMALL_PART * abs(move_along):
        return "along" if _is_clear(interval_along) else "no clear move"
    if abs(move_along) < SMALL_PART * abs(move_across):
        return "across" if _is_clear(interval_across) else "no clear move"
    is_clear = _is_clear(interval_across) or _is_clear(interval_along)
    return "both" if is_clear else "no clear move"


def _sides(sums: Floats) -> tuple[Floats, Floats]:
    """Return the sums of the first and of the second setups: (..., 6 · P) to (..., P, 3) twice."""
    by_pair = sums.reshape(*sums.shape[:-1], -1, PAIR_WIDTH)
    return by_pair[..., :WIDTH], by_pair[..., WIDTH:]


def _mean_over_pairs(differences: Floats) -> Floats:
    """Return the mean of the defined differences: (..., P) to (...)."""
    is_defined = ~np.isnan(differences)
    total = np.where(is_defined, differences, 0.0).sum(axis=-1)
    return ratio(total, is_defined.sum(axis=-1))


def _movement(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the steps in attribution and in sensibleness, and the direction in which F1 rises.

    The direction is that at the middle of the movement: a vector (..., 2) of length 1, first
    attribution, then sensibleness.
    """
    first, second = sums[..., :WIDTH], sums[..., WIDTH:]
    attributions = attribution_from(first), attribution_from(second)
    sensiblenesses = sensibleness_from(first), sensibleness_from(second)
    # (S², A²) at the middle; a factor that both have in common does not change a direction.
    rising = np.stack([sum(sensiblenesses) ** 2, sum(attributions) ** 2], axis=-1)
    length = np.sqrt((rising**2).sum(axis=-1))[..., np.newaxis]
    return (
        attributions[0] - attributions[1],
        sensiblenesses[0] - sensiblenesses[1],
        ratio(rising, length),
    )


def _is_clear(interval: Interval) -> bool:
    """Return whether an interval leaves out 0."""
    return interval.low > 0 or interval.high < 0

"""Intervals that keep the items of a dialog together, for any measure of sums over items.

Items of one dialog are not independent, so whole dialogs are resampled. A measure has two parts:
*statistics*, one row of numbers per item that may be added up, and a function from their sums to
the figure. A resample is then a row of weights (how often each dialog was drawn), and a thousand
resamples are one matrix product.

A *share* is a figure whose measure is `share_from`: means of labels, accuracy, percent agreement.
It gets a Wilson interval, which also has a width where the share is 0 or 1. A *mix of shares*, a
sum of shares with fixed weights, gets an interval made of the intervals of its shares, for the same
reason. An agreement beyond chance, such as kappa, is a `BeyondChance` and an F1 is an `InRange`:
they get the intervals of `jackknife.py`. Every other figure gets a bootstrap over dialogs.
`benchmarks/coverage.py` measures how often each kind of interval really holds the true figure,
which should be 95 %.

No interval has a width of 0: where nothing that was seen varies, a bootstrap says nothing.

A paired difference is a measure like any other: the statistics of both sides are put next to each
other in one row, and the measure subtracts.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtrit

from evaluation.statistics.jackknife import (
    FEWEST_DIALOGS,
    BeyondChance,
    InRange,
    ends_beyond_chance,
    ends_in_range,
)
from evaluation.statistics.variance_recovery import ends_of_sum
from evaluation.statistics.wilson import independent_items, wilson_ends

SHARE_METHOD = "Wilson interval with the design effect of dialogs"
BOOTSTRAP_METHOD = "expanded percentile bootstrap over dialogs"
MIX_METHOD = "Wilson intervals of shares, put together by variance recovery"
RANGE_METHOD = "Wilson interval with the jackknife over dialogs"
METHOD = (
    f"{SHARE_METHOD} for shares, {RANGE_METHOD} for kappa, alpha, ranks and F1, "
    f"else {BOOTSTRAP_METHOD}"
)
# The size of one chunk of weights. Two are in memory while one is followed by the next.
CHUNK_BYTES = 32 * 2**20

Floats = NDArray[np.float64]
Indexes = NDArray[np.integer[Any]]
Measure = Callable[[Floats], Floats]  # takes sums (..., S), returns figures (...) or NaN: undefined


class Interval(NamedTuple):
    """Lower and upper end of an interval. Both are NaN when it is undefined."""

    low: float
    high: float


UNDEFINED = Interval(math.nan, math.nan)


class Statistic(NamedTuple):
    """One number that gets an interval: a measure of the sums of its items' statistics."""

    statistics: Floats  # (n_items, S); the row of an item that takes part has a number other than 0
    dialogs: Indexes  # (n_items,): the dialog of each item, 0 .. n_dialogs - 1
    measure: Measure


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Return numerator / denominator, or NaN where the denominator is 0; shapes are broadcast."""
    undefined = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), math.nan)
    quotient: Floats = np.divide(numerator, denominator, out=undefined, where=denominator != 0)
    return quotient


def share_from(sums: Floats) -> Floats:
    """Return a share in [0, 1] from summed statistics, part and whole: (..., 2) to (...).

    A figure with this function as its measure is a share: 0 <= part <= whole in each item.
    """
    return ratio(sums[..., 0], sums[..., 1])


@dataclass(frozen=True)
class MixOfShares:
    """The measure of a sum of shares with fixed weights, which may be negative.

    Statistics hold two columns for each share, its part and its whole, in the order of the weights.
    """

    weights: tuple[float, ...]

    def __call__(self, sums: Floats) -> Floats:
        """Return the mix from summed statistics: (..., 2 · n_shares) to (...)."""
        mix: Floats = ratio(sums[..., 0::2], sums[..., 1::2]) @ np.array(self.weights)
        return mix


def difference_of_shares(figure: Statistic, other: Statistic) -> Statistic:
    """Return one share minus another as a mix; each has its own items, and dialogs are paired."""
    here, there = figure.statistics, other.statistics
    return Statistic(
        np.block([[here, np.zeros_like(here)], [np.zeros_like(there), there]]),
        np.concatenate([figure.dialogs, other.dialogs]),
        MixOfShares((1.0, -1.0)),
    )


def method_of(figure: Statistic) -> str:
    """Return the name of the method that `bootstrap_intervals` uses for a figure."""
    if isinstance(figure.measure, MixOfShares):
        return MIX_METHOD
    if isinstance(figure.measure, BeyondChance | InRange):
        return RANGE_METHOD
    return SHARE_METHOD if figure.measure is share_from else BOOTSTRAP_METHOD


def sum_by_dialog(statistics: Floats, dialogs: Indexes, n_dialogs: int) -> Floats:
    """Return the sums of the statistics of each dialog's items: (n_items, S) to (n_dialogs, S).

    A dialog without items has zeros.

    Raises:
        ValueError: there is not one dialog per item, a dialog is outside 0 .. n_dialogs - 1, or a
            statistic is not a finite number (it would silently make every resample undefined).
    """
    if dialogs.shape != statistics.shape[:1]:
        raise ValueError(f"dialogs of shape {dialogs.shape} for {len(statistics)} items")
    if dialogs.size and not 0 <= dialogs.min() <= dialogs.max() < n_dialogs:
        raise ValueError(
            f"dialogs {dialogs.min()} to {dialogs.max()}, expected 0 to {n_dialogs - 1}"
        )
    if not np.isfinite(statistics).all():
        raise ValueError("statistics hold NaN or infinity; an item left out has zeros instead")
    sums = np.empty((n_dialogs, statistics.shape[1]))
    for column, values in enumerate(statistics.T):
        sums[:, column] = np.bincount(dialogs, weights=values, minlength=n_dialogs)
    return sums


def resample_dialogs(
    n_dialogs: int, n_resamples: int, seed: int, chunk_bytes: int = CHUNK_BYTES
) -> Iterator[Floats]:
    """Yield how often each dialog is drawn in each resample, as arrays (chunk, n_dialogs).

    Each row is one resample of `n_dialogs` dialogs with replacement, so it sums to `n_dialogs`.
    Resamples are drawn one by one, so the rows do not depend on the size of a chunk. A chunk has
    at most `chunk_bytes`, but always at least one row. Without dialogs there are no chunks.
    """
    if not n_dialogs:
        return
    chunk = max(1, chunk_bytes // (8 * n_dialogs))
    if 8 * n_dialogs * n_resamples <= CHUNK_BYTES:
        kept = _kept_resamples(n_dialogs, n_resamples, seed)
        yield from (kept[start : start + chunk] for start in range(0, n_resamples, chunk))
        return
    random = np.random.default_rng(seed)
    for start in range(0, n_resamples, chunk):
        yield _draw(random, min(chunk, n_resamples - start), n_dialogs)


@lru_cache(maxsize=2)  # the two arms of a study may have different numbers of dialogs
def _kept_resamples(n_dialogs: int, n_resamples: int, seed: int) -> Floats:
    """Return all resamples at once. They are cached: all figures of a report use the same ones."""
    weights = _draw(np.random.default_rng(seed), n_resamples, n_dialogs)
    weights.flags.writeable = False
    return weights


def _draw(random: np.random.Generator, n_resamples: int, n_dialogs: int) -> Floats:
    weights = np.empty((n_resamples, n_dialogs))
    for row in weights:
        drawn = random.integers(n_dialogs, size=n_dialogs)
        row[:] = np.bincount(drawn, minlength=n_dialogs)
    return weights


def bootstrap_intervals(
    figures: Sequence[Statistic],
    n_dialogs: int,
    *,
    seed: int,
    n_resamples: int = 1000,
    level: float = 0.95,
) -> list[Interval]:
    """Return the interval of each figure. All bootstrapped figures share the same resamples.

    A share (see the top of this module) gets `share_interval`, a mix of shares gets an interval
    made of such intervals, a kappa or alpha gets that of `ends_beyond_chance`, and an F1 that of
    `ends_in_range`; none of them needs resamples. Every other figure gets the
    `percentile_interval` of its measure over the resamples. Because resamples are shared, any
    number of figures costs one pass over the weights. Each figure gets the interval that it would
    get alone.

    Args:
        figures: the figures that get intervals. Each has its own items, but a dialog has the same
            number in all of them.
        n_dialogs: the number of dialogs to draw from, including those without items.
        seed: seed of the resamples; it is stored with the figure.
        n_resamples: number of resamples; with 1000, an end is uncertain by about 2 % of the
            interval's width.
        level: the share of all such intervals that hold the true figure, between 0 and 1.

    Returns:
        One interval per figure, in order. It is undefined (NaN, NaN) where its method says nothing.
    """
    _check(level, n_resamples)
    by_dialog = [sum_by_dialog(each.statistics, each.dialogs, n_dialogs) for each in figures]
    intervals = [
        _without_drawing(figure, sums, level)
        for figure, sums in zip(figures, by_dialog, strict=True)
    ]
    drawn = [
        place
        for place, figure in enumerate(figures)
        if method_of(figure) == BOOTSTRAP_METHOD
        and n_dialogs_with_data(by_dialog[place]) >= FEWEST_DIALOGS
    ]
    if not drawn:
        return intervals
    resampled = _resampled([by_dialog[place] for place in drawn], n_resamples, seed)
    ends = np.cumsum([by_dialog[place].shape[1] for place in drawn])[:-1]
    for place, own in zip(drawn, np.split(resampled, ends, axis=1), strict=True):
        with np.errstate(divide="ignore", invalid="ignore"):  # a measure may divide by 0: undefined
            resampled_figures = figures[place].measure(own)
        n_with_data = n_dialogs_with_data(by_dialog[place])
        intervals[place] = percentile_interval(resampled_figures, n_with_data, level)
    return intervals


def intervals_of_measures(
    statistics: Sequence[Floats],
    dialogs: Indexes,
    n_dialogs: int,
    measures: Sequence[Measure],
    *,
    seed: int,
    n_resamples: int = 1000,
    level: float = 0.95,
) -> list[list[Interval]]:
    """Return, for each of many statistics (n_items, S), the interval of each of the measures.

    The intervals equal those of `bootstrap_intervals`, but statistics are resampled once for all
    measures, and a measure takes all statistics at once: it maps (n_resamples, n_statistics, S) to
    (n_resamples, n_statistics).

    Raises:
        ValueError: a measure is `share_from`, whose interval needs no resamples.
    """
    _check(level, n_resamples)
    if share_from in measures:
        raise ValueError("a share has an interval that draws nothing: see bootstrap_intervals")
    by_dialog = [sum_by_dialog(each, dialogs, n_dialogs) for each in statistics]
    if not by_dialog or n_dialogs < FEWEST_DIALOGS:
        return [[UNDEFINED] * len(measures) for _ in by_dialog]
    resampled = _resampled(by_dialog, n_resamples, seed).reshape(n_resamples, len(by_dialog), -1)
    n_with_data = [n_dialogs_with_data(sums) for sums in by_dialog]
    of_measures = []
    for measure in measures:
        with np.errstate(divide="ignore", invalid="ignore"):  # a measure may divide by 0: undefined
            figures = measure(resampled).T.copy()
        of_measures.append(
            [
                percentile_interval(figure, n, level)
                for figure, n in zip(figures, n_with_data, strict=True)
            ]
        )
    return [list(intervals) for intervals in zip(*of_measures, strict=True)]


def _check(level: float, n_resamples: int) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level {level}, expected a share between 0 and 1")
    if n_resamples < 1:
        raise ValueError(f"{n_resamples} resamples, expected 1 or more")


def _resampled(by_dialog: Sequence[Floats], n_resamples: int, seed: int) -> Floats:
    """Return the sums of each resample, with the columns of several figures beside each other."""
    beside = np.hstack(list(by_dialog))
    weights = resample_dialogs(len(beside), n_resamples, seed)
    return np.vstack([of_chunk @ beside for of_chunk in weights])


def n_dialogs_with_data(sums: Floats) -> int:
    """Return how many dialogs have a sum that is not 0, from sums (n_dialogs, S)."""
    return int(np.count_nonzero(sums.any(axis=1)))


def share_interval(
    by_dialog: Floats, most_items: float = math.inf, level: float = 0.95
) -> Interval:
    """Return the Wilson interval of a share whose items come in dialogs.

    Student's t has as many degrees of freedom as there are dialogs, less one. `wilson.py` says how
    many independent items the share is worth.

    Args:
        by_dialog: the two sums of each dialog, (n_dialogs, 2).
        most_items: the upper limit of independent items. For items that are 0 or 1 it is their
            number, because dialogs that happen to be alike give no more information than that.
        level: the share of such intervals that hold the true share.

    Returns:
        Both ends in [0, 1]; undefined with fewer than two dialogs that have data.
    """
    sums = by_dialog[by_dialog[:, 1] > 0]
    if len(sums) < 2:
        return UNDEFINED
    share = float(sums[:, 0].sum() / sums[:, 1].sum())
    t = float(stdtrit(len(sums) - 1, (1 + level) / 2))
    return Interval(*wilson_ends(share, independent_items(sums, most_items), t))


def percentile_interval(resampled: Floats, n_dialogs: int, level: float = 0.95) -> Interval:
    """Return the expanded percentile interval of a figure from its resamples; NaN is left out.

    The interval is the middle part of the resamples (Efron and Tibshirani, 1993, chapter 13), a
    little more than `level` of them. The percentile is the one at which the normal distribution has
    Student's t quantile times sqrt(n / (n - 1)). Without this expansion, intervals from few dialogs
    are too short (Hesterberg, 2015).

    Args:
        resampled: the figure in each resample.
        n_dialogs: how many dialogs have data.
        level: the share of such intervals that hold the true figure.

    Returns:
        The interval; undefined when more than half of the resamples are undefined, when the figure
        is the same in all of them, or with fewer than `FEWEST_DIALOGS` dialogs. With fewer, the
        percentiles are beyond every resample: for four dialogs the lower one is that of .01 %, but
        the lowest resample, one dialog four times, alone has a probability of 1 / 4**4 = .4 %.
    """
    defined = resampled[np.isfinite(resampled)]
    if n_dialogs < FEWEST_DIALOGS or not defined.size or 2 * len(defined) < len(resampled):
        return UNDEFINED
    t = float(stdtrit(n_dialogs - 1, (1 + level) / 2))
    tail = float(ndtr(-t * math.sqrt(n_dialogs / (n_dialogs - 1))))
    low, high = np.quantile(defined, [tail, 1 - tail]).tolist()
    # Sums of floats differ in their last digits where the figure is the same in all resamples.
    if math.isclose(low, high, rel_tol=1e-9, abs_tol=1e-12):
        return UNDEFINED
    return Interval(low, high)


def _without_drawing(figure: Statistic, by_dialog: Floats, level: float) -> Interval:
    """Return the interval of a figure whose method needs no resamples, else undefined."""
    measure = figure.measure
    if measure is share_from:
        return share_interval(by_dialog, _most_items(figure.statistics), level)
    if isinstance(measure, BeyondChance):
        return Interval(*ends_beyond_chance(measure, by_dialog, level))
    if isinstance(measure, InRange):
        return Interval(*ends_in_range(measure, by_dialog, level))
    if not isinstance(measure, MixOfShares):
        return UNDEFINED
    weighted = [place for place, weight in enumerate(measure.weights) if weight]
    shares = [slice(2 * place, 2 * place + 2) for place in weighted]
    most = [_most_items(figure.statistics[:, share]) for share in shares]
    own = [
        share_interval(by_dialog[:, share], n_items, level)
        for share, n_items in zip(shares, most, strict=True)
    ]
    if any(math.isnan(interval.low) for interval in own) or not own:
        return UNDEFINED
    sums = by_dialog.sum(axis=0)
    estimates = np.array([share_from(sums[share]) for share in shares])
    residuals = np.array(
        [
            (by_dialog[:, share] @ [1.0, -estimate]) / sums[share][1]
            for share, estimate in zip(shares, estimates, strict=True)
        ]
    )
    weights = [measure.weights[place] for place in weighted]
    # Where no dialog differs in two shares, t² / √2D either way is still possible: as wide as the
    # interval of Bonett and Price (2012) for paired shares.
    n_with_data = n_dialogs_with_data(by_dialog)
    t = float(stdtrit(n_with_data - 1, (1 + level) / 2))
    most_alike = max(0.0, 1 - t**2 / n_with_data)
    return Interval(*ends_of_sum(estimates, np.array(own), weights, residuals, most_alike))


def _most_items(statistics: Floats) -> float:
    """Return the number of items of a share when each is 0 or 1, else infinity.

    Args:
        statistics: the statistics of the share, (n_items, 2).

    Raises:
        ValueError: a part is negative or above its whole, so this is no share.
    """
    part, whole = statistics.T
    if (part < 0).any() or (part > whole).any():
        raise ValueError("a share has a part that is negative or above its whole")
    return float(whole.sum()) if ((part == 0) | (part == whole)).all() else math.inf

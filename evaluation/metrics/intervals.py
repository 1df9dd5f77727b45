"""Intervals that resample dialogs, for any measure that is computed from sums over items.

Items of one dialog are not independent, so the dialog is what is drawn. A
measure comes in two parts: *statistics*, one row of numbers per item that may be added up, and a
function from their sums to the figure. A resample is then a row of weights (how often each dialog
was drawn) and a thousand of them are one matrix product.

A paired difference is a measure like any other: put the statistics of both sides next to each
other in one row and let the measure subtract.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

METHOD = "percentile bootstrap over dialogs"
CHUNK_BYTES = 32 * 2**20  # of weights; two chunks are alive while one is followed by the next

Floats = NDArray[np.float64]
Indexes = NDArray[np.integer[Any]]
Measure = Callable[[Floats], Floats]  # sums (..., S) to figures (...); undefined is NaN


class Interval(NamedTuple):
    """Lower and upper end of an interval; both NaN when it is undefined."""

    low: float
    high: float


UNDEFINED = Interval(math.nan, math.nan)


class Figure(NamedTuple):
    """One number to put an interval around, as a measure of the sums of its items' statistics."""

    statistics: Floats  # (n_items, S); an item that counts has a number that is not 0 in its row
    dialogs: Indexes  # (n_items,): the dialog of each item, 0 .. n_dialogs - 1
    measure: Measure


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Return numerator / denominator, NaN where the denominator is 0; shapes are broadcast."""
    undefined = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), math.nan)
    quotient: Floats = np.divide(numerator, denominator, out=undefined, where=denominator != 0)
    return quotient


def sum_by_dialog(statistics: Floats, dialogs: Indexes, n_dialogs: int) -> Floats:
    """Return the sums of the statistics of each dialog's items: (n_items, S) to (n_dialogs, S).

    A dialog without items has zeros.

    Raises:
        ValueError: the dialogs are not one per item, or not in 0 .. n_dialogs - 1, or a statistic
            is not a finite number (it would silently make every resample undefined).
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
    The rows depend on the seed only: resamples are drawn one by one, whatever the chunk holds.
    A chunk is at most `chunk_bytes` large, but always at least one row; no dialogs, no chunks.
    """
    if not n_dialogs:
        return
    random = np.random.default_rng(seed)
    chunk = max(1, chunk_bytes // (8 * n_dialogs))
    for start in range(0, n_resamples, chunk):
        weights = np.empty((min(chunk, n_resamples - start), n_dialogs))
        for row in weights:
            drawn = random.integers(n_dialogs, size=n_dialogs)
            row[:] = np.bincount(drawn, minlength=n_dialogs)
        yield weights


def bootstrap_interval(
    statistics: Floats,
    dialogs: Indexes,
    n_dialogs: int,
    measure: Measure,
    *,
    seed: int,
    n_resamples: int = 1000,
    level: float = 0.95,
) -> Interval:
    """Return the percentile interval of one figure; see `bootstrap_intervals`."""
    figure = Figure(statistics, dialogs, measure)
    [interval] = bootstrap_intervals(
        [figure], n_dialogs, seed=seed, n_resamples=n_resamples, level=level
    )
    return interval


def bootstrap_intervals(
    figures: Sequence[Figure],
    n_dialogs: int,
    *,
    seed: int,
    n_resamples: int = 1000,
    level: float = 0.95,
) -> list[Interval]:
    """Return the percentile interval of each figure, all from the same resampled dialogs.

    The middle `level` of what the measure gives over the resamples (Efron and Tibshirani, 1993,
    chapter 13), with dialogs as the unit that is drawn. Sharing the resamples costs one pass over
    the weights for any number of figures; each figure gets what it would get alone.

    Args:
        figures: what to put intervals around; each has its own items, all number the dialogs alike.
        n_dialogs: how many dialogs there are to draw from, also those without items.
        seed: of the resamples; stored with the figure.
        n_resamples: how many; 1000 leave an end uncertain by about 2 % of the interval's width.
        level: the share of resamples inside the interval, between 0 and 1.

    Returns:
        One interval per figure, in order. Resamples in which the measure is undefined (kappa when
        only one category was drawn) are left out. The interval is undefined (NaN, NaN) when more
        than half of them are, or when fewer than two dialogs have data.
    """
    if not 0 < level < 1:
        raise ValueError(f"level {level}, expected a share between 0 and 1")
    if n_resamples < 1:
        raise ValueError(f"{n_resamples} resamples, expected 1 or more")
    by_dialog = [sum_by_dialog(each.statistics, each.dialogs, n_dialogs) for each in figures]
    if not by_dialog or n_dialogs < 2:
        return [UNDEFINED] * len(figures)
    all_figures = np.hstack(by_dialog)
    resampled = np.vstack(
        [weights @ all_figures for weights in resample_dialogs(n_dialogs, n_resamples, seed)]
    )
    ends = np.cumsum([sums.shape[1] for sums in by_dialog])[:-1]
    return [
        _percentile_interval(figure.measure, own, level) if _has_data(sums) else UNDEFINED
        for figure, sums, own in zip(
            figures, by_dialog, np.split(resampled, ends, axis=1), strict=True
        )
    ]


def _has_data(sums: Floats) -> bool:
    """Return whether two dialogs or more have a statistic that is not 0."""
    return int(np.count_nonzero(sums.any(axis=1))) >= 2


def _percentile_interval(measure: Measure, sums: Floats, level: float) -> Interval:
    """Return the middle `level` of the figures that resampled sums (n_resamples, S) give."""
    with np.errstate(divide="ignore", invalid="ignore"):  # a measure may divide by 0: undefined
        figures = measure(sums)
    defined = figures[np.isfinite(figures)]
    if 2 * len(defined) < len(figures):
        return UNDEFINED
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))

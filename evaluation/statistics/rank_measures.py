"""Measures that use the order of scores: area under the ROC curve, Spearman's correlation.

They are not functions of sums over items, so what is left out is a weight for each item: 1, or 0
where its dialog is left out. Items with equal scores are added up first, and ranks are computed
from cumulated weights. That is exact, and 30,000 items take seconds.

The intervals are those of `jackknife.py`. How many independent items a measure is worth at most
follows from what is known of independent items without ties: Newcombe's variance of the area (2006)
and that of Bonett and Wright for a rank correlation (2000). So a curve without any error, or nearly
so, does not seem certain.
"""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, vstack

from evaluation.statistics.intervals import UNDEFINED, Floats, Indexes, Interval, ratio
from evaluation.statistics.jackknife import (
    FEWEST_DIALOGS,
    jackknife_variance,
    wilson_in_range,
)

# The size of one array, distinct items × dialogs left out. About six of them are in memory at once.
CHUNK_BYTES = 24 * 2**20
MOST_LEFT_OUT = 500  # parts that are left out; if there are more dialogs, a part has several


class Dialogs(NamedTuple):
    """The dialog of each item."""

    of_items: Indexes  # (n_items,): 0 .. n - 1
    n: int


class _Groups(NamedTuple):
    """Groups of items that are equal in everything that a measure uses, with their numbers."""

    n_items: csr_array  # (n_groups, n_dialogs): how many items of a dialog are in a group
    measure: Callable[[Floats], Floats]  # takes weights of the groups (n_groups, r), returns (r,)


def auc(yes: ArrayLike, score: Floats) -> float:
    """Return the area under the ROC curve; NaN without a yes or without a no.

    It is the probability that a random yes has a higher score than a random no. Equal scores count
    half.

    Args:
        yes: how far each item is a yes: 1 or 0, or a half where its votes are tied.
        score: the score of each item.
    """
    return _of_all(_auc_groups(np.asarray(yes, np.float64), score, _one_dialog(score)))


def dialogs_with_another_value(values: Floats, dialogs: Indexes) -> int:
    """Return how many dialogs have another value than the most frequent one; NaN is left out.

    Args:
        values: one value per item.
        dialogs: the dialog of each item.
    """
    known = ~np.isnan(values)
    if not known.any():
        return 0
    distinct, n_items = np.unique(values[known], return_counts=True)
    is_other = known & (values != distinct[n_items.argmax()])
    return len(np.unique(dialogs[is_other]))


def auc_interval(is_yes: NDArray[np.bool_], score: Floats, dialogs: Dialogs) -> Interval:
    """Return the interval of `auc`; undefined below FEWEST_DIALOGS dialogs with the rarer label."""
    n_rarer = n_rarer_dialogs(is_yes, dialogs.of_items)
    if n_rarer < FEWEST_DIALOGS:
        return UNDEFINED
    n_yes, n_no = float(np.count_nonzero(is_yes)), float(np.count_nonzero(~is_yes))
    groups = _auc_groups(is_yes.astype(np.float64), score, dialogs)
    most_items = _independent_for_auc(_of_all(groups), n_yes, n_no)
    return _interval(groups, (0.0, 1.0), n_rarer, most_items, dialogs)


def n_rarer_dialogs(is_yes: NDArray[np.bool_], dialogs: Indexes) -> int:
    """Return how many dialogs hold the rarer of two labels of items."""
    return min(len(np.unique(dialogs[label])) for label in (is_yes, ~is_yes))


def spearman(x: Floats, y: Floats) -> float:
    """Return Spearman's rank correlation in [-1, 1]; ties have their mid-rank.

    Items with NaN in x or y are left out. The result is NaN when all x or all y are equal.
    """
    return _of_all(_spearman_groups(x, y, _one_dialog(x)))


def spearman_interval(x: Floats, y: Floats, dialogs: Dialogs) -> Interval:
    """Return the interval of `spearman`.

    It is undefined where fewer than FEWEST_DIALOGS dialogs have another x, or another y, than the
    most frequent one.
    """
    known = ~np.isnan(x) & ~np.isnan(y)
    own = Dialogs(dialogs.of_items[known], dialogs.n)
    n_rarer = min(dialogs_with_another_value(each[known], own.of_items) for each in (x, y))
    if n_rarer < FEWEST_DIALOGS:
        return UNDEFINED
    groups = _spearman_groups(x, y, dialogs)
    most_items = _independent_for_spearman(_of_all(groups), int(known.sum()))
    return _interval(groups, (-1.0, 1.0), n_rarer, most_items, own)


def _independent_for_auc(area: float, n_yes: float, n_no: float) -> float:
    """Return area (1 - area) / V for independent items, with the variance of Newcombe (2006)."""
    middle = (n_yes + n_no) / 2 - 1
    unequal = (1 - area) / (2 - area) + area / (1 + area)
    return n_yes * n_no / (1 + middle * unequal)


def _independent_for_spearman(rho: float, n_items: int) -> float:
    """Return (1 - rho²) / V for independent items, by Bonett and Wright (2000); inf at an end."""
    variance = (1 - rho**2) ** 2 * (1 + rho**2 / 2) / max(1, n_items - 3)
    return (1 - rho**2) / variance if variance > 0 else math.inf


def _one_dialog(items: Floats) -> Dialogs:
    """Return dialogs for items of which none is left out: one dialog holds all of them."""
    return Dialogs(np.zeros(len(items), np.int64), 1)


def _of_all(groups: _Groups) -> float:
    """Return the measure of all items, each counted once."""
    return float(groups.measure(groups.n_items @ np.ones((groups.n_items.shape[1], 1)))[0])


def _interval(
    groups: _Groups,
    ends: tuple[float, float],
    n_rarer: int,
    most_items: float,
    dialogs: Dialogs,
) -> Interval:
    with_data = np.unique(dialogs.of_items)
    left_out = [
        groups.measure(groups.n_items @ weights)
        for weights in _left_out(with_data, groups.n_items.shape)
    ]
    low, high = wilson_in_range(
        _of_all(groups),
        jackknife_variance(np.concatenate(left_out)),
        ends,
        most_items=most_items,
        n_rarer=n_rarer,
        n_dialogs=len(with_data),
    )
    return Interval(low, high)


def _left_out(with_data: Indexes, shape: tuple[int, int]) -> Iterator[Floats]:
    """Yield weights of dialogs, 0 where one is left out: (n_dialogs, r), one column for each.

    Of more than MOST_LEFT_OUT dialogs, several are left out together.
    """
    n_groups, n_dialogs = shape
    n_parts = min(len(with_data), MOST_LEFT_OUT)
    chunk = max(1, CHUNK_BYTES // (8 * max(n_groups, n_dialogs)))
    for start in range(0, n_parts, chunk):
        n = min(chunk, n_parts - start)
        weights = np.ones((n_dialogs, n))
        parts = np.arange(len(with_data)) % n_parts - start
        here = (parts >= 0) & (parts < n)
        weights[with_data[here], parts[here]] = 0.0
        yield weights


def _auc_groups(yes: Floats, score: Floats, dialogs: Dialogs) -> _Groups:
    """Return groups of items by score. The groups of noes come before the groups of yeses."""
    scores, place = np.unique(score, return_inverse=True)
    n = len(scores)

    def area(weights: Floats) -> Floats:
        noes, yeses = weights[:n], weights[n:]
        noes_below = noes.cumsum(axis=0) - noes / 2
        won = np.einsum("gr,gr->r", yeses, noes_below)
        return ratio(won, noes.sum(axis=0) * yeses.sum(axis=0))

    as_no, as_yes = (
        csr_array((part, (place, dialogs.of_items)), shape=(n, dialogs.n))
        for part in (1 - yes, yes)
    )
    return _Groups(vstack([as_no, as_yes], format="csr"), area)


def _spearman_groups(x: Floats, y: Floats, dialogs: Dialogs) -> _Groups:
    """Return groups of items by x and y, in the order of x."""
    known = ~np.isnan(x) & ~np.isnan(y)
    own = Dialogs(dialogs.of_items[known], dialogs.n)
    xs, x_place = np.unique(x[known], return_inverse=True)
    ys, y_place = np.unique(y[known], return_inverse=True)
    pairs, place = np.unique(x_place * max(1, len(ys)) + y_place, return_inverse=True)
    x_of_pair, y_of_pair = np.divmod(pairs, max(1, len(ys)))
    first_of_x = np.searchsorted(x_of_pair, np.arange(len(xs)))
    y_from_pairs = csr_array(
        (np.ones(len(pairs)), (y_of_pair, np.arange(len(pairs)))), shape=(len(ys), len(pairs))
    )

    def correlation(weights: Floats) -> Floats:
        if not len(pairs):
            return np.full(weights.shape[1], math.nan)
        x_weights = np.add.reduceat(weights, first_of_x, axis=0)
        y_weights = y_from_pairs @ weights
        x_ranks, y_ranks = _centred_mid_ranks(x_weights), _centred_mid_ranks(y_weights)
        of_y = np.add.reduceat(weights * y_ranks[y_of_pair], first_of_x, axis=0)
        covariance = np.einsum("gr,gr->r", x_ranks, of_y)
        x_variance = np.einsum("gr,gr,gr->r", x_weights, x_ranks, x_ranks)
        y_variance = np.einsum("gr,gr,gr->r", y_weights, y_ranks, y_ranks)
        return ratio(covariance, np.sqrt(x_variance * y_variance))

    return _Groups(_n_items(place, len(pairs), own), correlation)


def _n_items(place: Indexes, n_groups: int, dialogs: Dialogs) -> csr_array:
    """Return how many items of each dialog are in each group, (n_groups, n_dialogs)."""
    ones = np.ones(len(place))
    return csr_array((ones, (place, dialogs.of_items)), shape=(n_groups, dialogs.n))


def _centred_mid_ranks(weights: Floats) -> Floats:
    """Return the mid-rank of each group minus the mean rank, from weights in the order of rank."""
    ranks = weights.cumsum(axis=0)
    middle = ranks[-1] / 2
    ranks -= weights / 2
    ranks -= middle
    return ranks

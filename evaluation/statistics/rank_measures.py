"""Measures that use the order of scores: area under the ROC curve, Spearman's correlation.

They are not functions of sums over items, so a resample of dialogs is a weight for each item: how
often it was drawn. Items with equal scores are added up first, and ranks are computed from
cumulated weights. That is exact, and a thousand resamples of 30,000 items take seconds.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from evaluation.statistics.intervals import (
    UNDEFINED,
    Floats,
    Indexes,
    Interval,
    percentile_interval,
    ratio,
    resample_dialogs,
)

# The size of one array, distinct items × resamples. About six of them are in memory at once.
CHUNK_BYTES = 24 * 2**20


class Draws(NamedTuple):
    """The dialog of each item, and the settings for resampling dialogs."""

    dialogs: Indexes  # (n_items,): the dialog of each item, 0 .. n_dialogs - 1
    n_dialogs: int
    seed: int
    n_resamples: int


class _Groups(NamedTuple):
    """Groups of items that are equal in everything that a measure uses, with their numbers."""

    n_items: csr_array  # (n_groups, n_dialogs): how many items of a dialog are in a group
    measure: Callable[[Floats], Floats]  # takes weights of the groups (n_groups, r), returns (r,)


def auc(is_yes: NDArray[np.bool_], score: Floats) -> float:
    """Return the area under the ROC curve; NaN without a yes or without a no.

    It is the probability that a random yes has a higher score than a random no. A tie counts half.
    """
    return _of_all(_auc_groups(is_yes, score, *_one_dialog(score)))


def auc_interval(is_yes: NDArray[np.bool_], score: Floats, draws: Draws) -> Interval:
    """Return the bootstrap interval of `auc`, from the resamples of `bootstrap_intervals`."""
    return _interval(_auc_groups(is_yes, score, draws.dialogs, draws.n_dialogs), draws)


def spearman(x: Floats, y: Floats) -> float:
    """Return Spearman's rank correlation in [-1, 1]; ties have their mid-rank.

    Items with NaN in x or y are left out. The result is NaN when all x or all y are equal.
    """
    return _of_all(_spearman_groups(x, y, *_one_dialog(x)))


def spearman_interval(x: Floats, y: Floats, draws: Draws) -> Interval:
    """Return the bootstrap interval of `spearman`, from the resamples of `bootstrap_intervals`."""
    return _interval(_spearman_groups(x, y, draws.dialogs, draws.n_dialogs), draws)


def _one_dialog(items: Floats) -> tuple[Indexes, int]:
    """Return dialogs for items that are not resampled: one dialog holds all of them."""
    return np.zeros(len(items), np.int64), 1


def _of_all(groups: _Groups) -> float:
    """Return the measure of all items, each counted once."""
    return float(groups.measure(groups.n_items @ np.ones((groups.n_items.shape[1], 1)))[0])


def _interval(groups: _Groups, draws: Draws) -> Interval:
    """Return the percentile interval of a measure over resampled dialogs."""
    n_groups = groups.n_items.shape[0]
    n_dialogs_with_data = len(np.unique(groups.n_items.indices))
    if n_dialogs_with_data < 2:
        return UNDEFINED
    most_rows = max(n_groups, draws.n_dialogs)
    resamples = resample_dialogs(
        draws.n_dialogs, draws.n_resamples, draws.seed, CHUNK_BYTES * draws.n_dialogs // most_rows
    )
    figures = [groups.measure(groups.n_items @ weights.T) for weights in resamples]
    return percentile_interval(np.concatenate(figures), n_dialogs_with_data)


def _auc_groups(
    is_yes: NDArray[np.bool_], score: Floats, dialogs: Indexes, n_dialogs: int
) -> _Groups:
    """Return groups of items by score. The groups of noes come before the groups of yeses."""
    scores, place = np.unique(score, return_inverse=True)
    n = len(scores)

    def area(weights: Floats) -> Floats:
        noes, yeses = weights[:n], weights[n:]
        noes_below = noes.cumsum(axis=0) - noes / 2
        won = np.einsum("gr,gr->r", yeses, noes_below)
        return ratio(won, noes.sum(axis=0) * yeses.sum(axis=0))

    return _Groups(_n_items(place + n * is_yes, 2 * n, dialogs, n_dialogs), area)


def _spearman_groups(x: Floats, y: Floats, dialogs: Indexes, n_dialogs: int) -> _Groups:
    """Return groups of items by x and y, in the order of x."""
    known = ~np.isnan(x) & ~np.isnan(y)
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

    return _Groups(_n_items(place, len(pairs), dialogs[known], n_dialogs), correlation)


def _n_items(place: Indexes, n_groups: int, dialogs: Indexes, n_dialogs: int) -> csr_array:
    """Return how many items of each dialog are in each group, (n_groups, n_dialogs)."""
    ones = np.ones(len(place))
    return csr_array((ones, (place, dialogs)), shape=(n_groups, n_dialogs))


def _centred_mid_ranks(weights: Floats) -> Floats:
    """Return the mid-rank of each group minus the mean rank, from weights in the order of rank."""
    ranks = weights.cumsum(axis=0)
    middle = ranks[-1] / 2
    ranks -= weights / 2
    ranks -= middle
    return ranks

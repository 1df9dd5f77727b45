"""Ceilings: the agreement of raters with raters, which no auto-metric can be expected to exceed.

`counts` are those of `statistics.rater_answers`: (n_items, n_categories). `label_of` returns the
label of a group of votes. It is called with half of the votes, with all votes but one and with
single votes, so it must treat the given votes as all votes.

Both public functions return two columns per item, agreeing and compared, for `share_from`.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.statistics.agreement import votes_per_category
from evaluation.statistics.intervals import Floats
from evaluation.statistics.uncertainty import accuracy_statistics

LabelOf = Callable[[Floats], Floats]  # takes counts (m, n_categories), returns 1, 0 or NaN: (m,)


def halves_statistics(counts: ArrayLike, label_of: LabelOf) -> Floats:
    """Return the exact probability that two random halves of an item's raters agree: (n_items, 2).

    All splits of its n votes into floor(n / 2) and the rest are considered. The columns are the
    share of splits in which both halves are decided and have the same label, and the share in which
    both are decided. Items with fewer than two votes have 0, 0.
    """
    return _by_unique_row(counts, lambda row: _halves_of(row, label_of))


def rest_statistics(counts: ArrayLike, label_of: LabelOf) -> Floats:
    """Return how many raters agree with the other raters of an item: (n_items, 2).

    Each vote is left out in turn. The columns are the number of votes that agree with the label of
    the others, and the number of votes for which both sides have a label. Items with fewer than two
    votes have 0, 0.
    """
    return _by_unique_row(counts, lambda row: _rest_of(row, label_of))


def _by_unique_row(counts: ArrayLike, statistics_of: Callable[[Floats], Floats]) -> Floats:
    """Return the two statistics of each item. Items with the same votes are computed only once."""
    votes = votes_per_category(counts)
    rows, place = np.unique(votes, axis=0, return_inverse=True)
    statistics = np.zeros((len(rows), 2))
    for number, row in enumerate(rows):
        if row.sum() >= 2:
            statistics[number] = statistics_of(row)
    by_item: Floats = statistics[place.reshape(-1)]
    return by_item


def _halves_of(row: Floats, label_of: LabelOf) -> Floats:
    """Return two shares of the splits of one item's votes: those that agree, those decided."""
    votes = row.astype(np.int64)
    halves = _parts(votes, int(votes.sum()) // 2)
    probabilities = _probabilities(votes, halves)
    decided = accuracy_statistics(
        label_of((votes - halves).astype(np.float64)), label_of(halves.astype(np.float64))
    )
    shares: Floats = probabilities @ decided
    return shares


def _rest_of(row: Floats, label_of: LabelOf) -> Floats:
    """Return how many of one item's votes agree with the rest, and how many can be compared."""
    chosen = np.flatnonzero(row)
    single = np.eye(len(row))[chosen]
    agreeing: Floats = row[chosen] @ accuracy_statistics(label_of(row - single), label_of(single))
    return agreeing


def _parts(votes: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return every way to take `size` votes out of these, as counts: (n_ways, n_categories)."""
    parts = np.zeros((1, 0), np.int64)
    left_over = int(votes.sum())
    for available in votes.tolist():
        left_over -= available
        taken = np.tile(np.arange(available + 1), len(parts))
        parts = np.column_stack([np.repeat(parts, available + 1, axis=0), taken])
        missing = size - parts.sum(axis=1)
        parts = parts[(missing >= 0) & (missing <= left_over)]
    return parts


def _probabilities(votes: NDArray[np.int64], parts: NDArray[np.int64]) -> Floats:
    """Return the multivariate hypergeometric probability of each part, (n_parts,)."""
    ways = [math.prod(map(math.comb, votes.tolist(), part)) for part in parts.tolist()]
    total = math.comb(int(votes.sum()), int(parts[0].sum()))
    return np.array([way / total for way in ways])

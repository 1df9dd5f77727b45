"""How far raters agree with raters: what no auto-metric can be expected to exceed.

`counts` are those of `statistics.rater_answers`: (n_items, n_categories). What a group of votes
says is decided by `label_of`. It is asked about halves, about all but one and about single votes,
so it must take the votes it is given as all there are.

Both functions give two columns per item, agreeing and compared, for `share_from`.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.statistics.agreement import votes_per_category
from evaluation.statistics.intervals import Floats
from evaluation.statistics.uncertainty import accuracy_statistics

LabelOf = Callable[[Floats], Floats]  # counts (m, n_categories) to 1, 0 or NaN (undecided): (m,)


def halves_statistics(counts: ArrayLike, label_of: LabelOf) -> Floats:
    """Return how often two random halves of an item's raters agree, exactly: (n_items, 2).

    Over all splits of its n votes into floor(n / 2) and the rest: the share in which both halves
    are decided and say the same, and the share in which both are decided. Items with fewer than
    two votes have 0, 0.
    """
    return _by_unique_row(counts, lambda row: _halves_of(row, label_of))


def rest_statistics(counts: ArrayLike, label_of: LabelOf) -> Floats:
    """Return how many raters say what the rest of an item's raters say: (n_items, 2).

    Each vote is left out in turn: votes that agree with the label of the others, and votes for
    which there is a label on both sides. Items with fewer than two votes have 0, 0.
    """
    return _by_unique_row(counts, lambda row: _rest_of(row, label_of))


def _by_unique_row(counts: ArrayLike, statistics_of: Callable[[Floats], Floats]) -> Floats:
    """Return the two statistics of each item; items with the same votes are computed once."""
    votes = votes_per_category(counts)
    rows, place = np.unique(votes, axis=0, return_inverse=True)
    statistics = np.zeros((len(rows), 2))
    for number, row in enumerate(rows):
        if row.sum() >= 2:
            statistics[number] = statistics_of(row)
    by_item: Floats = statistics[place.reshape(-1)]
    return by_item


def _halves_of(row: Floats, label_of: LabelOf) -> Floats:
    """Return the shares of splits of one item's votes that agree, and that are decided."""
    votes = row.astype(np.int64)
    halves = _parts(votes, int(votes.sum()) // 2)
    probabilities = _probabilities(votes, halves)
    decided = accuracy_statistics(
        label_of((votes - halves).astype(np.float64)), label_of(halves.astype(np.float64))
    )
    shares: Floats = probabilities @ decided
    return shares


def _rest_of(row: Floats, label_of: LabelOf) -> Floats:
    """Return how many of one item's votes agree with the rest, and how many are compared."""
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

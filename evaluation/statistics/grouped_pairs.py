"""Pairs of things that are in the same group, such as two votes on one item."""

import numpy as np

from evaluation.statistics.intervals import Indexes


def pairs_in_groups(groups: Indexes) -> tuple[Indexes, Indexes]:
    """Return every pair of places whose groups are equal, as two arrays; -1 is no group.

    Args:
        groups: the group of each place, whole numbers.
    """
    order = np.argsort(groups, kind="stable")
    order = order[groups[order] >= 0]
    _, starts, sizes = np.unique(groups[order], return_index=True, return_counts=True)
    ones, others = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for size in np.unique(sizes):
        members = order[starts[sizes == size][:, np.newaxis] + np.arange(size)]
        left, right = np.triu_indices(int(size), 1)
        ones.append(members[:, left].reshape(-1))
        others.append(members[:, right].reshape(-1))
    return np.concatenate(ones), np.concatenate(others)

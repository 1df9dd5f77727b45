"""Ceilings: the agreement of raters with raters, which no auto-metric can be expected to exceed.

Whether an item takes part depends only on how many votes it has, never on how its raters agree. So
a ceiling is that of m votes an item, the same number for all items: items with fewer are left out,
and of more votes every choice of m counts, by its probability. A tied group of votes has no label.
It agrees with half of everything, as if its label were drawn by lot.

`counts` are those of `statistics.rater_answers`: (n_items, n_categories). `label_of` returns the
label of a group of votes. It is called with some of an item's votes, so it must treat the given
votes as all votes.
"""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.statistics.agreement import votes_per_category
from evaluation.statistics.intervals import Floats, Indexes, MixOfShares, Statistic, share_from
from evaluation.statistics.tied_labels import HALF, chance_of_agreement

Ints = NDArray[np.int64]
LabelOf = Callable[[Floats], Floats]  # takes counts (m, n_categories), returns 1, 0 or NaN: (m,)
LEAST_SHARE = 0.9  # share of the items that have the number of votes of a ceiling


class Ceiling(NamedTuple):
    """The agreement of raters with raters on each item, and the label that a metric is held to."""

    n_votes: int  # m, the number of votes of each item that are used
    agreement: Floats  # (n_items,): the probability that raters agree, in [0, 1]; NaN: no part
    label: Floats  # (n_items,): the expected majority label of m votes, in [0, 1]; NaN: no part

    @property
    def statistics(self) -> Floats:
        """The agreement and 1 for each item that takes part, else 0 and 0: (n_items, 2)."""
        return _part_and_whole(self.agreement)

    def of_metric(self, says_yes: NDArray[np.bool_]) -> Floats:
        """Return how far a metric's labels agree with m votes of the same items: (n_items, 2)."""
        return _part_and_whole(chance_of_agreement(says_yes.astype(np.float64), self.label))


def beside_ceilings(
    metric: Floats, dialogs: Indexes, ceilings: Mapping[str, Ceiling]
) -> dict[str, Statistic]:
    """Return each ceiling x, and the accuracy of a metric over the same items, as figures.

    They are `ceiling_x`, `ceiling_x_accuracy` and the difference `minus_ceiling_x`.

    Args:
        metric: the metric's labels: 1, 0 or NaN (none). Items without one take no part.
        dialogs: the dialog of each item.
        ceilings: name → ceiling of the same items.
    """
    has_label = ~np.isnan(metric)
    own, says_yes = dialogs[has_label], metric[has_label] == 1
    figures: dict[str, Statistic] = {}
    for name, ceiling in ceilings.items():
        here = Ceiling(ceiling.n_votes, ceiling.agreement[has_label], ceiling.label[has_label])
        accuracy, raters = here.of_metric(says_yes), here.statistics
        figures[f"ceiling_{name}"] = Statistic(raters, own, share_from)
        figures[f"ceiling_{name}_accuracy"] = Statistic(accuracy, own, share_from)
        figures[f"minus_ceiling_{name}"] = Statistic(
            np.hstack([accuracy, raters]), own, MixOfShares((1.0, -1.0))
        )
    return figures


def usual_votes(n_votes: ArrayLike, fewest: int = 2) -> int:
    """Return the largest number of votes that `LEAST_SHARE` of the items have at least.

    Items with fewer than `fewest` votes are not counted. The result is 0 when there is no item.

    Args:
        n_votes: the number of votes of each item, (n_items,).
        fewest: the smallest result but 0.
    """
    found = np.sort(np.asarray(n_votes, dtype=np.float64))
    found = found[found >= fewest]
    return int(found[math.floor((1 - LEAST_SHARE) * len(found) + 1e-9)]) if len(found) else 0


def halves_ceiling(counts: ArrayLike, label_of: LabelOf, n_votes: int | None = None) -> Ceiling:
    """Return the exact probability that two random halves of m votes have the same label.

    All ways to draw floor(m / 2) votes, and then the rest of m votes, are considered.

    Args:
        counts: (n_items, n_categories).
        label_of: see the top of this module.
        n_votes: m; None: `usual_votes`.
    """
    votes = votes_per_category(counts)
    n_votes = usual_votes(votes.sum(axis=1)) if n_votes is None else n_votes
    return _of_two_groups(votes, n_votes, n_votes // 2, label_of)


def rest_ceiling(counts: ArrayLike, label_of: LabelOf, n_votes: int | None = None) -> Ceiling:
    """Return the exact probability that one of m votes has the label of the m - 1 others.

    `halves_ceiling` says what the arguments are.
    """
    votes = votes_per_category(counts)
    n_votes = usual_votes(votes.sum(axis=1)) if n_votes is None else n_votes
    return _of_two_groups(votes, n_votes, 1, label_of)


def arms_ceiling(
    truth: ArrayLike, other: ArrayLike, label_of: LabelOf, n_votes: int | None = None
) -> Ceiling:
    """Return the exact probability that m votes of two arms have the same label.

    Args:
        truth: the counts of the arm that is taken as the truth, (n_items, n_categories).
        other: the counts of the other arm, for the same items.
        label_of: see the top of this module.
        n_votes: m; None: `usual_votes` of the arm with fewer votes on the item.
    """
    label = _KnownLabels(label_of)
    counts = [votes_per_category(each) for each in (truth, other)]
    if n_votes is None:
        n_votes = usual_votes(np.minimum(*(votes.sum(axis=1) for votes in counts)), fewest=1)
    one, two = (_expected_labels(votes, n_votes, label) for votes in counts)
    agreement = chance_of_agreement(one, two)
    return Ceiling(n_votes, agreement, np.where(np.isnan(agreement), math.nan, one))


class _KnownLabels:
    """The labels of groups of votes, with `HALF` for ties. Each group is asked for only once."""

    def __init__(self, label_of: LabelOf) -> None:
        self._label_of = label_of
        self._known: dict[tuple[int, ...], float] = {}

    def __call__(self, groups: Ints) -> Floats:
        """Return the label of each group: (n_groups, n_categories) to (n_groups,)."""
        keys = [tuple(group) for group in groups.tolist()]
        if new := [key for key in dict.fromkeys(keys) if key not in self._known]:
            labels = self._label_of(np.array(new, np.float64))
            self._known |= zip(new, np.where(np.isnan(labels), HALF, labels).tolist(), strict=True)
        return np.array([self._known[key] for key in keys])


def _of_two_groups(votes: Floats, n_votes: int, first: int, label_of: LabelOf) -> Ceiling:
    """Return the probability that `first` of n random votes agree with the others."""
    label = _KnownLabels(label_of)

    def agreement(row: Ints) -> float:
        groups = _groups(row, first)
        others = [_expected_label(row - group, n_votes - first, label) for group in groups]
        same = chance_of_agreement(label(groups), np.array(others))
        return float(_probabilities(row, groups) @ same)

    return Ceiling(
        n_votes,
        _by_unique_row(votes, n_votes, agreement),
        _expected_labels(votes, n_votes, label),
    )


def _expected_labels(votes: Floats, n_votes: int, label: _KnownLabels) -> Floats:
    return _by_unique_row(votes, n_votes, lambda row: _expected_label(row, n_votes, label))


def _by_unique_row(votes: Floats, n_votes: int, number_of: Callable[[Ints], float]) -> Floats:
    """Return the number of each item; NaN for one with fewer votes, and for all if it is 0.

    Items with the same votes are computed only once.
    """
    rows, place = np.unique(votes, axis=0, return_inverse=True)
    numbers = np.full(len(rows), math.nan)
    for number, row in enumerate(rows):
        if row.sum() >= n_votes > 0:
            numbers[number] = number_of(row.astype(np.int64))
    by_item: Floats = numbers[place.reshape(-1)]
    return by_item


def _expected_label(row: Ints, size: int, label: _KnownLabels) -> float:
    """Return the mean label of `size` random votes of an item."""
    groups = _groups(row, size)
    return float(_probabilities(row, groups) @ label(groups))


def _part_and_whole(agreement: Floats) -> Floats:
    known = ~np.isnan(agreement)
    return np.column_stack([np.where(known, agreement, 0.0), known])


def _groups(row: Ints, size: int) -> Ints:
    """Return every way to take `size` votes of an item, as counts: (n_ways, n_categories)."""
    groups = np.zeros((1, 0), np.int64)
    left_over = int(row.sum())
    for available in row.tolist():
        left_over -= available
        taken = np.tile(np.arange(available + 1), len(groups))
        groups = np.column_stack([np.repeat(groups, available + 1, axis=0), taken])
        missing = size - groups.sum(axis=1)
        groups = groups[(missing >= 0) & (missing <= left_over)]
    return groups


def _probabilities(row: Ints, groups: Ints) -> Floats:
    """Return the multivariate hypergeometric probability of each group, (n_groups,)."""
    ways = [math.prod(map(math.comb, row.tolist(), group)) for group in groups.tolist()]
    total = math.comb(int(row.sum()), int(groups[0].sum()))
    return np.array([way / total for way in ways])

"""The answers of raters for each item (majority, median, rater score), and their means over items.

`counts` is everywhere an array of whole numbers (n_items, n_categories): how many raters gave each
category to each item. Yes/no questions have the columns no, yes. `values` are the numbers that the
columns of a scale stand for, rising: [1, 2, 3, 4, 5], or [0, 1] for no and yes.

Most functions here return one number per item, and NaN for an item that has no such number. For an
interval around their mean, pass their `mean_statistics` to `bootstrap_intervals`: with `share_from`
if they are labels, with `mean_from` if they are other numbers.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.statistics.agreement import votes_per_category
from evaluation.statistics.intervals import Floats, ratio

NO_MAJORITY = -1

Bools = NDArray[np.bool_]


class Unlabelled(NamedTuple):
    """The items without a label: some wait for votes, and some are tied with all votes in."""

    is_waiting: Bools  # (n_items,)
    is_tied: Bools  # (n_items,)


def unlabelled(has_label: Bools, counts: ArrayLike, n_raters: ArrayLike) -> Unlabelled:
    """Return which items without a label wait for votes, and which are tied.

    An item without any vote is neither: it is not rated.

    Args:
        has_label: (n_items,) whether an item has a majority, or its median is not on the cut.
        counts: (n_items, n_categories).
        n_raters: that of `majority_category`. An item with fewer votes waits for the others.
    """
    n_votes = votes_per_category(counts).sum(axis=1)
    is_all_in = n_votes >= np.asarray(n_raters)
    is_missing = ~has_label & (n_votes > 0)
    return Unlabelled(is_missing & ~is_all_in, is_missing & is_all_in)


def majority_category(counts: ArrayLike, n_raters: ArrayLike) -> NDArray[np.int64]:
    """Return per item the column that more than half of the raters chose, or NO_MAJORITY.

    Args:
        counts: (n_items, n_categories).
        n_raters: how many raters an item is meant to have, for all items or for each. Missing
            votes count for no category. For imported votes it is the item's number of votes.

    Raises:
        ValueError: an item has more votes than raters (the caller must leave out surplus votes).
    """
    votes = votes_per_category(counts)
    n_votes = votes.sum(axis=1)
    raters = np.broadcast_to(np.asarray(n_raters, dtype=np.float64), n_votes.shape)
    too_many = np.flatnonzero(n_votes > raters)
    if too_many.size:
        item = too_many[0]
        raise ValueError(f"item {item}: {n_votes[item]:g} votes from {raters[item]:g} raters")
    is_majority = 2 * votes > raters[:, np.newaxis]  # true for one column at most
    return is_majority @ np.arange(1, votes.shape[1] + 1) + NO_MAJORITY


def without_majority(counts: ArrayLike, n_raters: ArrayLike) -> Unlabelled:
    """Return which items without a majority for one category wait for votes, and which are tied."""
    has_majority = majority_category(counts, n_raters) != NO_MAJORITY
    return unlabelled(has_majority, counts, n_raters)


def majority_label(counts: ArrayLike, n_raters: ArrayLike) -> Floats:
    """Return the majority vote on a yes/no question per item: 1 yes, 0 no, NaN without one.

    The columns are no, yes; `n_raters` is that of `majority_category`.
    """
    majority = majority_category(_yes_no(counts), n_raters)
    return np.where(majority == NO_MAJORITY, np.nan, majority)


def consensus(counts: ArrayLike, values: Sequence[float]) -> Floats:
    """Return the median vote on an ordinal question per item, NaN without votes.

    With an even number of votes it is the midpoint of the two in the middle, so 3 and 4 give 3.5.
    """
    votes = votes_per_category(counts)
    scale = _scale(values, votes)
    n_votes = votes.sum(axis=1)
    lower_rank, upper_rank = (n_votes - 1) // 2, n_votes // 2  # in order of the scale, from 0
    medians = (_value_at(lower_rank, votes, scale) + _value_at(upper_rank, votes, scale)) / 2
    return np.where(n_votes > 0, medians, np.nan)


def rater_score(counts: ArrayLike, values: Sequence[float]) -> Floats:
    """Return the mean vote per item, rescaled so that the ends of the scale are 0 and 1.

    On a yes/no question (values 0, 1) it is the share of yes votes, so 2 of 5 give 0.4: the
    'aggregated rater' of the attribution/fluency paper, 5.2. It is NaN without votes.
    """
    votes = votes_per_category(counts)
    scale = _scale(values, votes)
    # Division comes last: equal means of whole numbers are then equal floats, so ties stay ties.
    return ratio(votes @ (scale - scale[0]), (scale[-1] - scale[0]) * votes.sum(axis=1))


def mean(item_values: Floats) -> float:
    """Return the mean of the values that are not NaN; NaN when there is none."""
    return float(mean_from(mean_statistics(item_values).sum(axis=0)))


def mean_statistics(item_values: Floats) -> Floats:
    """Return the value and 1 per item, or 0 and 0 for an item without a value: (n_items, 2)."""
    has_value = ~np.isnan(item_values)
    return np.column_stack([np.where(has_value, item_values, 0.0), has_value])


def weighted_statistics(values: Floats, weights: Floats) -> Floats:
    """Return the statistics of a weighted mean: (n_items, 2), 0 for an item without a value.

    The weights of the items with a value are scaled to add up to (Σ w)² / Σ w², the number of
    equally weighted items that tell as much (Kish, 1965). Equal weights all become 1.

    Args:
        values: the value of each item, (n_items,); NaN: none.
        weights: the weight of each item, 0 or more.
    """
    statistics = mean_statistics(values) * weights[:, np.newaxis]
    known = statistics[:, 1]
    return statistics * (known.sum() / (known @ known)) if known.any() else statistics


def mean_from(sums: Floats) -> Floats:
    """Return the mean from summed statistics, (..., 2) to (...).

    For values in [0, 1], such as labels, `intervals.share_from` gives the same mean with a better
    interval.
    """
    return ratio(sums[..., 0], sums[..., 1])


def difference_of_means_from(sums: Floats) -> Floats:
    """Return one mean minus another, from the sums of both: (..., 4) to (...)."""
    difference: Floats = mean_from(sums[..., :2]) - mean_from(sums[..., 2:])
    return difference


def prevalence(counts: ArrayLike) -> Floats:
    """Return each category's share of all votes, (n_categories,); NaN without votes."""
    votes = votes_per_category(counts).sum(axis=0)
    return ratio(votes, votes.sum())


def _yes_no(counts: ArrayLike) -> Floats:
    """Return the counts of a yes/no question, after checking that they have two columns."""
    votes = votes_per_category(counts)
    if votes.shape[1] != 2:
        raise ValueError(f"{votes.shape[1]} categories, expected no and yes")
    return votes


def _scale(values: Sequence[float], votes: Floats) -> Floats:
    """Return the values of the columns, after checking that there are two or more and they rise."""
    scale = np.asarray(values, dtype=np.float64)
    if scale.shape != votes.shape[1:] or len(scale) < 2 or not (np.diff(scale) > 0).all():
        raise ValueError(
            f"values {list(values)}, expected {max(votes.shape[1], 2)} that rise, one per category"
        )
    return scale


def _value_at(ranks: Floats, votes: Floats, scale: Floats) -> Floats:
    """Return the value of the vote at the given rank per item.

    For a rank that is too high the result is arbitrary.
    """
    categories = (votes.cumsum(axis=1) <= ranks[:, np.newaxis]).sum(axis=1)
    values: Floats = scale[np.minimum(categories, len(scale) - 1)]
    return values

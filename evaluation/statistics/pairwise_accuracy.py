"""Pairwise accuracy with tie calibration: does a metric order two responses as people do?

It is the measure of WMT for segments (Deutsch, Foster and Freitag, 'Ties matter', 2023, there
acc*eq with items as groups). Two responses to the same example are compared. A metric is right
about them if it says of the same one that it is better, or, where people say that both are equally
good, if its scores differ by no more than a threshold. Scores are seldom equal, so the threshold
is the one with which the metric is right most often on these very pairs: it makes metrics with few
and with many ties comparable, and flatters all of them a little.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluation.statistics.grouped_pairs import pairs_in_groups
from evaluation.statistics.intervals import Floats, Indexes, Statistic, share_from

Bools = NDArray[np.bool_]
CLOSE = 1e-12  # accuracies that differ by less are equal: they are sums of the same shares


class PairwiseAccuracy(NamedTuple):
    """The accuracy of a metric over pairs of responses to the same example."""

    accuracy: float  # in [0, 1]; NaN without a pair
    tie_threshold: float  # scores that differ by no more are a tie; NaN without a pair
    n_pairs: int
    n_examples: int  # examples with two responses or more that have both numbers
    figure: Statistic  # the accuracy as a mean of examples' shares, with the threshold fixed


def pairwise_accuracy(
    human: Floats, score: Floats, examples: Indexes, dialogs: Indexes
) -> PairwiseAccuracy:
    """Return the pairwise accuracy of a metric, with the smallest of the best thresholds of a tie.

    Each example has the share of its pairs about which the metric is right, and the accuracy is the
    mean of these shares. Its interval is that of a share over dialogs. It keeps the threshold: at
    the best one, the accuracy hardly changes with the threshold.

    Args:
        human: the people's number for each response, such as the mean of its votes; NaN: none.
        score: the metric's score of each response; NaN: none. Responses without one of the two are
            left out.
        examples: the example of each response, 0 or more; an example belongs to one dialog.
        dialogs: the dialog of each response, 0 or more.
    """
    known = ~np.isnan(human) & ~np.isnan(score)
    one, other = pairs_in_groups(np.where(known, examples, -1))
    if not len(one):
        nothing = Statistic(np.zeros((0, 2)), np.zeros(0, np.int64), share_from)
        return PairwiseAccuracy(math.nan, math.nan, 0, 0, nothing)
    names, first, of_pair, n_pairs = np.unique(
        examples[one], return_index=True, return_inverse=True, return_counts=True
    )
    difference = score[one] - score[other]
    by_people = np.sign(human[one] - human[other])
    is_tied, is_ordered = by_people == 0, (by_people * difference) > 0
    distance = np.abs(difference)
    threshold = _best_threshold(distance, is_tied, is_ordered, 1 / n_pairs[of_pair])
    is_right = np.where(distance <= threshold, is_tied, is_ordered)
    shares = np.bincount(of_pair, weights=is_right) / n_pairs
    figure = Statistic(
        np.column_stack([shares, np.ones(len(names))]), dialogs[one][first], share_from
    )
    return PairwiseAccuracy(float(shares.mean()), threshold, len(one), len(names), figure)


def _best_threshold(distance: Floats, is_tied: Bools, is_ordered: Bools, weight: Floats) -> float:
    """Return the smallest threshold with the highest accuracy: 0, or a distance of scores.

    A pair whose distance the threshold reaches becomes a tie. It is then right if people are tied,
    and no longer right if it was ordered rightly.
    """
    order = np.argsort(distance, kind="stable")
    gains = ((is_tied.astype(np.float64) - is_ordered) * weight)[order].cumsum()
    candidates, last = _last_of_each(distance[order])
    best = gains[last]
    if candidates[0] > 0:  # no two scores are equal, so a threshold of 0 makes no tie
        candidates, best = np.r_[0.0, candidates], np.r_[0.0, best]
    return float(candidates[np.flatnonzero(best >= best.max() - CLOSE)[0]])


def _last_of_each(rising: Floats) -> tuple[Floats, Indexes]:
    """Return the distinct values of a rising array, and the last place of each."""
    last = np.append(np.flatnonzero(np.diff(rising)), len(rising) - 1)
    return rising[last], last

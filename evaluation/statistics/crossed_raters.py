"""Figures that need to know who voted: intraclass correlations, and the bias of pairs of raters.

Other agreement is made of counts and treats the raters of an item as interchangeable. Here a rater
is a person, never the place of a vote in a file.
"""

import math
from typing import NamedTuple

import numpy as np

from evaluation.statistics.grouped_pairs import pairs_in_groups
from evaluation.statistics.intervals import Floats, Indexes, ratio
from evaluation.statistics.jackknife import InRange
from evaluation.statistics.rater_votes import LEAST, RaterVotes

LEAST_SHARE = 0.5  # share of the items with two votes or more that the same raters must judge


class CrossedTable(NamedTuple):
    """The votes of some raters on the items that all of them judged."""

    items: Indexes  # (n_items,)
    answers: Floats  # (n_items, n_raters): numbers of the scale
    n_left_out: int  # items with two votes or more that lack a vote of one of these raters


class BiasIndex(NamedTuple):
    """The mean difference of two raters in how often they say yes, in [0, 1]; NaN without any."""

    value: float
    n_pairs: int  # pairs of raters that it is made of


def bias_index(votes: RaterVotes) -> BiasIndex:
    """Return how much more often one rater of a pair says yes than the other, on common items.

    For two raters it is |b - c| / n, where b items have a yes of the first alone and c of the
    second alone (Byrt, Bishop and Carlin, 1993). For more raters it is the mean over pairs of
    raters, each weighted by the items that both judged. Pairs with fewer than `LEAST` common items
    are left out: there, chance alone makes the index large.

    Args:
        votes: the votes on a yes/no question; the place of yes is 1.
    """
    one, other = pairs_in_groups(votes.items)
    lower, higher = np.sort([votes.raters[one], votes.raters[other]], axis=0)
    names = lower * (int(votes.raters.max(initial=-1)) + 1) + higher
    _, pair, n_common = np.unique(names, return_inverse=True, return_counts=True)
    of_lower = np.where(votes.raters[one] == lower, 1, -1)
    more_yes = np.bincount(pair, weights=of_lower * (votes.answers[one] - votes.answers[other]))
    is_enough = n_common >= LEAST
    n_pairs = int(is_enough.sum())
    share = abs(more_yes[is_enough]).sum() / n_common[is_enough].sum() if n_pairs else math.nan
    return BiasIndex(float(share), n_pairs)


def crossed_table(votes: RaterVotes) -> CrossedTable | None:
    """Return the votes of the raters who judged most items together.

    They are the raters of the most frequent set of raters of an item (of two, the one with more
    raters). All items that have the votes of all of them are in the table. It is None where these
    are less than half of the items with two votes or more: then raters are not crossed.
    """
    order = np.lexsort((votes.raters, votes.items))
    order = order[votes.items[order] >= 0]
    _, starts, sizes = np.unique(votes.items[order], return_index=True, return_counts=True)
    best: tuple[int, int, Indexes] = (0, 0, np.zeros(0, np.int64))
    for size in np.unique(sizes[sizes >= 2]).tolist():
        of_size = votes.raters[order][starts[sizes == size][:, np.newaxis] + np.arange(size)]
        sets, n_items = np.unique(of_size, axis=0, return_counts=True)
        most = int(n_items.argmax())
        if (int(n_items[most]), size) > best[:2]:
            best = (int(n_items[most]), size, sets[most])
    raters = best[2]
    chosen = order[np.isin(votes.raters[order], raters)]
    of_chosen, n_votes = np.unique(votes.items[chosen], return_counts=True)
    complete = of_chosen[n_votes == len(raters)]
    n_left_out = int(np.count_nonzero(sizes >= 2)) - len(complete)
    if not len(raters) or len(complete) < LEAST_SHARE * (len(complete) + n_left_out):
        return None
    chosen = chosen[np.isin(votes.items[chosen], complete)]
    numbers = np.array(votes.values, np.float64)[votes.answers[chosen]]
    return CrossedTable(complete, numbers.reshape(len(complete), len(raters)), n_left_out)


def icc_statistics(answers: Floats) -> Floats:
    """Return the statistics of `icc_from`: 1, each answer, (Σ answers)², Σ answers² per item.

    Args:
        answers: (n_items, n_raters), without a gap.
    """
    sums = answers.sum(axis=1)
    return np.column_stack([np.ones(len(answers)), answers, sums**2, (answers**2).sum(axis=1)])


def icc_from(sums: Floats) -> Floats:
    """Return ICC(2,1) from summed statistics, (..., 3 + n_raters) to (...).

    It is the correlation of two raters' answers about one item, where what a rater gives more than
    others counts as disagreement: two-way random effects, absolute agreement, a single rater
    (Shrout and Fleiss, 1979). It is at most 1, and NaN without variation or below two items.
    """
    n, of_raters, squares = sums[..., 0], sums[..., 1:-2], sums[..., -1]
    k = of_raters.shape[-1]
    middle = ratio(of_raters.sum(axis=-1) ** 2, n * k)
    between_items = sums[..., -2] / k - middle
    between_raters = ratio((of_raters**2).sum(axis=-1), n) - middle
    rest = squares - middle - between_items - between_raters
    of_items = ratio(between_items, n - 1)
    of_raters_mean = between_raters / (k - 1)
    of_rest = ratio(rest, (n - 1) * (k - 1))
    shared = ratio(k * (of_raters_mean - of_rest), n)
    return ratio(of_items - of_rest, of_items + (k - 1) * of_rest + shared)


def icc_of_mean(icc: float, n_raters: int) -> float:
    """Return ICC(2,k), that of the mean of k raters, from ICC(2,1): k·r / (1 + (k - 1)·r).

    It rises with ICC(2,1), so it also brings the ends of an interval over. It is NaN at or below
    -1 / (k - 1), where it has no meaning.
    """
    whole = 1 + (n_raters - 1) * icc
    return n_raters * icc / whole if whole > 0 else math.nan


ICC = InRange(icc_from, (-1.0, 1.0))

"""Two setups, models, metrics or judges on the same items: their difference, and tests of it.

The interval and the permutation test keep the items of a dialog together. McNemar's test does not,
so it is only made where each dialog has one pair.
"""

import math
from typing import NamedTuple

import numpy as np

from evaluation.statistics.clustered_mean import mean_interval
from evaluation.statistics.intervals import (
    Floats,
    Indexes,
    Interval,
    MixOfShares,
    Statistic,
    bootstrap_intervals,
    sum_by_dialog,
)
from evaluation.statistics.rater_answers import mean, mean_statistics
from evaluation.statistics.uncertainty import TIE, mcnemar_mid_p, sign_patterns

MOST_EXACT = 15  # dialogs that differ; for more, patterns of signs are drawn


class PairedDifference(NamedTuple):
    """The mean of first - second over pairs, with its interval and the p-values of two tests.

    What is undefined is NaN.
    """

    difference: float
    low: float
    high: float
    n_pairs: int
    n_dialogs: int
    p_permutation: float
    p_mcnemar: float  # mid-p; NaN where a dialog has two pairs, or where values are not labels


def paired_difference(
    first: Floats,
    second: Floats,
    dialogs: Indexes,
    n_dialogs: int,
    *,
    seed: int,
    level: float = 0.95,
    n_permutations: int = 10_000,
) -> PairedDifference:
    """Return the difference of two setups on the same items, its interval and its tests.

    Args:
        first: a label, rater score or score of each item for one setup; NaN: none.
        second: the same for the other setup. Pairs with a NaN are left out.
        dialogs: the dialog of each pair, 0 .. n_dialogs - 1.
        n_dialogs: how many dialogs there are.
        seed: seed of the permutation test.
        level: the share of such intervals that hold the true difference.
        n_permutations: how many patterns of signs `permutation_p` draws.
    """
    both = ~np.isnan(first) & ~np.isnan(second)
    first, second, dialogs = first[both], second[both], dialogs[both]
    differences = first - second
    n_with_data = len(np.unique(dialogs))
    low, high = difference_interval(first, second, dialogs, n_dialogs, level)
    of_dialogs = sum_by_dialog(differences[:, np.newaxis], dialogs, n_dialogs)[:, 0]
    p_permutation = p_mcnemar = math.nan
    if len(differences):
        p_permutation = permutation_p(of_dialogs, seed=seed, n_permutations=n_permutations)
    if len(differences) == n_with_data > 0 and _are_labels(first, second):
        ups, downs = np.count_nonzero(differences > 0), np.count_nonzero(differences < 0)
        p_mcnemar = mcnemar_mid_p(int(ups), int(downs))
    return PairedDifference(
        difference=mean(differences),
        low=low,
        high=high,
        n_pairs=len(differences),
        n_dialogs=n_with_data,
        p_permutation=p_permutation,
        p_mcnemar=p_mcnemar,
    )


def permutation_p(sums: Floats, *, seed: int, n_permutations: int = 10_000) -> float:
    """Return the two-sided p-value of the test that exchanges the two setups of whole dialogs.

    Exchanging them changes the sign of the sum of a dialog's differences. If the setups do not
    differ, each pattern of signs is as likely as the observed one. p is the share of patterns whose
    total is at least as far from 0 as the observed one. With up to MOST_EXACT dialogs that differ,
    these are all patterns. With more, `n_permutations` are drawn and the observed one is added, so
    p is never 0.

    Args:
        sums: the sum of the differences of each dialog, (n_dialogs,).
        seed: seed of the patterns.
        n_permutations: how many are drawn.

    Returns:
        A probability; 1 where no dialog differs.
    """
    sizes = np.abs(sums)
    largest = float(sizes.max(initial=0.0))
    sizes = sizes[sizes > TIE * largest] / largest if largest else sizes[:0]
    if not len(sizes):
        return 1.0
    least = abs(float(sums.sum())) / largest - TIE
    if len(sizes) <= MOST_EXACT:
        patterns = np.arange(2 ** len(sizes))[:, np.newaxis] >> np.arange(len(sizes)) & 1
        return float(np.mean(np.abs((2 * patterns - 1) @ sizes) >= least))
    n_as_far = sum(
        int(np.count_nonzero(np.abs(totals) >= least))
        for totals, _ in sign_patterns(sizes, seed, n_permutations)
    )
    return (1 + n_as_far) / (1 + n_permutations)


def difference_interval(
    first: Floats, second: Floats, dialogs: Indexes, n_dialogs: int, level: float = 0.95
) -> Interval:
    """Return the interval of the mean of first - second; pairs with a NaN are left out.

    That of labels is made of the Wilson intervals of both shares, so it has a width where no pair
    differs. That of other numbers is by Student's t. `paired_difference` says what the arguments
    are.
    """
    both = ~np.isnan(first) & ~np.isnan(second)
    first, second, dialogs = first[both], second[both], dialogs[both]
    if not _are_labels(first, second):
        return mean_interval(first - second, dialogs, n_dialogs, level)
    statistics = np.hstack([mean_statistics(first), mean_statistics(second)])
    figure = Statistic(statistics, dialogs, MixOfShares((1.0, -1.0)))
    [interval] = bootstrap_intervals([figure], n_dialogs, seed=0, level=level)
    return interval


def _are_labels(*values: Floats) -> bool:
    return bool(np.isin(np.concatenate(values), (0.0, 1.0)).all())

"""Merged against separate rating: how often the arms agree, and whether one arm shifts answers.

There are two tests. McNemar's test compares majorities of one setup, pair by pair. The test of
direction uses rater scores (shares of yes votes) of several setups at once: does merging favour one
of them? It swaps the two arms within whole dialogs, so it needs no model of how the answers of
raters or setups depend on each other.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, ndtri

from evaluation.statistics.intervals import Floats, Indexes, MixOfShares, sum_by_dialog
from evaluation.statistics.tied_labels import chance_of_agreement

POWER = 0.8  # the probability that the test detects a contrast of the visible size
CHUNK = 2**21  # draws at a time
GROUPED = 32  # one binomial draw takes as long as drawing this many signs
# Sums that differ by less than this share of the largest contrast are equal: the same numbers,
# added up in another order, give slightly different floats.
TIE = 1e-9


class DirectionTest(NamedTuple):
    """The result of the test whether merging favours a setup.

    It is the p-value, and the smallest shift that the test detects with a power of 80 %.
    """

    p: float  # NaN without two setups that have data
    visible: float  # NaN where no dialog has a contrast that is not 0


def shift_statistics(separate: Floats, merged: Floats) -> Floats:
    """Return the statistics of SHIFT, part and whole of each arm: (n_items,) twice to (n_items, 4).

    An item without a label in one of the two has zeros.
    """
    both = ~(np.isnan(separate) | np.isnan(merged))
    columns = (merged, np.ones_like(merged), separate, np.ones_like(separate))
    return np.column_stack([np.where(both, each, 0.0) for each in columns])


SHIFT = MixOfShares((1.0, -1.0))  # the share of yes in one arm, minus that in the other


def accuracy_statistics(truth: Floats, label: Floats) -> Floats:
    """Return how far two labels agree and whether there are two, per item: (n_items, 2).

    Labels are 1, 0 or NaN (none), or ½ where ties count half. `share_from` turns the sums into the
    accuracy of `label` where `truth` is taken as true; 1 - accuracy is the disagreement.
    """
    both = ~np.isnan(truth) & ~np.isnan(label)
    agreement = np.where(both, chance_of_agreement(truth, label), 0.0)
    return np.column_stack([agreement, both]).astype(np.float64)


def disagreement_statistics(truth: Floats, label: Floats) -> Floats:
    """Return how far two labels differ and whether there are two, per item: (n_items, 2)."""
    same = accuracy_statistics(truth, label)
    return np.column_stack([same[:, 1] - same[:, 0], same[:, 1]])


def mcnemar_p(n_up: int, n_down: int) -> float:
    """Return the p-value of McNemar's exact test, two-sided; 1 without discordant pairs.

    It is twice the binomial tail of the smaller number at one half, at most 1 (McNemar, 1947).

    Args:
        n_up: pairs with no in the first and yes in the second.
        n_down: pairs with yes in the first and no in the second.

    Raises:
        ValueError: a number is negative.
    """
    if min(n_up, n_down) < 0:
        raise ValueError(f"{n_up} up and {n_down} down, expected 0 or more")
    return min(1.0, 2 * float(bdtr(min(n_up, n_down), n_up + n_down, 0.5)))


def mcnemar_mid_p(n_up: int, n_down: int) -> float:
    """Return the mid-p-value of McNemar's test, two-sided; 1 without discordant pairs.

    It is `mcnemar_p` less the probability of the observed number, which makes it less cautious and
    still rarely wrong (Fagerland, Lydersen and Laake, 2013). `mcnemar_p` says what the arguments
    are.
    """
    smaller, n_discordant = min(n_up, n_down), n_up + n_down
    if n_up == n_down:
        return 1.0
    observed: float = math.comb(n_discordant, smaller) / 2**n_discordant
    return mcnemar_p(n_up, n_down) - observed


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for the number of tests by Holm's step-down method (Holm, 1979).

    NaN means that there was no test: it stays NaN and does not count.
    """
    p = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(p.shape, math.nan)
    order = [place for place in np.argsort(p, kind="stable") if not math.isnan(p[place])]
    # The smallest p is multiplied by the number of tests, the next by one less, and so on.
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * factors))
    return [float(each) for each in adjusted]


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted so that their level limits the share of false discoveries.

    The step-up method (Benjamini and Hochberg, 1995) is for many tests of which some may be wrong;
    `holm` is for a family in which no test may be wrong. NaN means that there was no test: it stays
    NaN and does not count.
    """
    p = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(p.shape, math.nan)
    falling = [place for place in np.argsort(-p, kind="stable") if not math.isnan(p[place])]
    # The largest p is multiplied by n / n, the next by n / (n - 1), and so on.
    factors = len(falling) / np.arange(len(falling), 0, -1)
    adjusted[falling] = np.minimum(1.0, np.minimum.accumulate(p[falling] * factors))
    return [float(each) for each in adjusted]


def visible_shift(n_pairs: int, n_discordant: int, level: float) -> float:
    """Return the smallest shift that McNemar's test could have called significant.

    The number of discordant pairs is given; the shift is |up - down| / pairs. It is NaN when the
    p-value is above `level` even with all discordant pairs in one direction: at 5 %, five
    discordant pairs never suffice.

    Args:
        n_pairs: number of pairs with both majorities decided.
        n_discordant: number of those pairs that differ.
        level: level of the test; 0.05 / 7 for the smallest of seven p-values under Holm.
    """
    for n_down in range(n_discordant // 2, -1, -1):
        if mcnemar_p(n_discordant - n_down, n_down) <= level:
            return (n_discordant - 2 * n_down) / n_pairs
    return math.nan


def contrast_by_dialog(
    differences: Floats, setups: Indexes, dialogs: Indexes, n_dialogs: int, setup: int
) -> Floats:
    """Return the contrast of each dialog: its part of shift of one setup - mean shift of the rest.

    The shift of a setup is the mean of its differences. With two setups, the sum over dialogs is
    therefore (B - A) - (D - C). Dialogs without differences have a contrast of 0.

    Args:
        differences: rater score merged - separate of each response; NaN is left out.
        setups: the setup of each response.
        dialogs: the dialog of each response, 0 .. n_dialogs - 1.
        n_dialogs: how many dialogs there are.
        setup: the setup to compare with the rest.

    Returns:
        The contrasts, (n_dialogs,); all NaN when the setup or the rest has no difference.
    """
    known = ~np.isnan(differences)
    differences, setups, dialogs = differences[known], setups[known], dialogs[known]
    names, place, sizes = np.unique(setups, return_inverse=True, return_counts=True)
    if setup not in names.tolist() or len(names) < 2:
        return np.full(n_dialogs, math.nan)
    weights = np.where(names == setup, 1.0, -1 / (len(names) - 1)) / sizes
    contributions = (differences * weights[place])[:, np.newaxis]
    return sum_by_dialog(contributions, dialogs, n_dialogs)[:, 0]


def direction(
    contrasts: Floats, *, seed: int, level: float = 0.05, n_permutations: int = 10_000
) -> DirectionTest:
    """Return the two-sided test whether the contrasts of all dialogs add up to more than chance.

    Exchanging the two arms of a dialog changes the sign of its contrast. If merging changes
    nothing, each of the 2^n patterns of signs is as likely as the observed one; `n_permutations`
    patterns are drawn. p is (1 + patterns at least as far from 0) / (1 + patterns), so it is never
    0. Rater scores have few distinct values, so many sums are equal. Of equal sums, the one with
    more dialogs on its side is farther from 0.

    Args:
        contrasts: the contrasts that `contrast_by_dialog` returns.
        seed: seed of the patterns.
        level: level of the test, for `visible`; 0.05 / 7 for the smallest of seven p-values under
            Holm. p does not depend on it.
        n_permutations: number of patterns.
    """
    if np.isnan(contrasts).any() or not contrasts.size:
        return DirectionTest(math.nan, math.nan)
    largest = float(np.abs(contrasts).max())
    if not largest:
        return DirectionTest(1.0, math.nan)
    relative = contrasts[np.abs(contrasts) > TIE * largest] / largest
    found, found_dialogs = _far(relative.sum(), np.sign(relative).sum())
    n_as_far = 0
    for sums, dialogs in sign_patterns(np.abs(relative), seed, n_permutations):
        drawn, drawn_dialogs = _far(sums, dialogs)
        is_tied = np.abs(drawn - found) <= TIE
        is_as_far = np.where(is_tied, drawn_dialogs >= found_dialogs, drawn > found)
        n_as_far += int(np.count_nonzero(is_as_far))
    deviation = float(np.sqrt((contrasts**2).sum()))  # standard deviation of the patterns' sums
    visible = float(ndtri(1 - level / 2) + ndtri(POWER)) * deviation
    return DirectionTest((1 + n_as_far) / (1 + n_permutations), visible)


def _far(sums: Floats, dialogs: ArrayLike) -> tuple[Floats, Floats]:
    """Return how far sums are from 0, and how many more dialogs have their sign than the other."""
    side = np.where(np.abs(sums) <= TIE, 0.0, np.sign(sums))
    return np.abs(sums), np.asarray(dialogs) * side


def sign_patterns(
    sizes: Floats, seed: int, n_permutations: int
) -> Iterator[tuple[Floats, Indexes]]:
    """Yield sums of sizes with random signs, and how many more signs are positive than negative.

    Args:
        sizes: positive numbers, (n,) with n >= 1; those equal to 10 decimals count as equal.
        seed: seed of the signs.
        n_permutations: how many sums are drawn, over all arrays.
    """
    random = np.random.default_rng(seed)
    distinct, place, n_equal = np.unique(sizes.round(10), return_inverse=True, return_counts=True)
    is_grouped = GROUPED * len(distinct) <= len(sizes)
    # The signs of all equal sizes are drawn as one binomial number.
    sizes = np.bincount(place, weights=sizes) / n_equal if is_grouped else np.sort(sizes)
    chunk = max(1, CHUNK // len(sizes))
    for start in range(0, n_permutations, chunk):
        shape = (min(chunk, n_permutations - start), len(sizes))
        if is_grouped:
            signs = 2 * random.binomial(n_equal, 0.5, size=shape) - n_equal
        else:
            signs = 2 * random.integers(2, size=shape, dtype=np.int8) - 1
        yield signs @ sizes, signs.sum(axis=1, dtype=np.int64)

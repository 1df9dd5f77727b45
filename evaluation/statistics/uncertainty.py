"""Merged against separate rating: how often the arms agree, and whether one arm shifts answers.

Two tests. McNemar's looks at majorities of one setup, pair by pair. The test of direction looks at
rater scores (shares of yes votes) of several setups at once: does merging favour one of them? It
swaps the two arms within whole dialogs, so it needs no model of how raters or setups depend.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, ndtri

from evaluation.statistics.intervals import Floats, Indexes, sum_by_dialog

POWER = 0.8  # with which a visible contrast is seen
CHUNK = 2**21  # draws at a time
GROUPED = 32  # a binomial draw costs as much as so many signs
TIE = 1e-9  # of the largest contrast: equal sums of the same numbers in another order


class DirectionTest(NamedTuple):
    """Whether merging favours a setup: p of the test, and the shift it sees with 80 % power."""

    p: float  # NaN without two setups that have data
    visible: float  # NaN where no dialog has a contrast that is not 0


def accuracy_statistics(truth: Floats, label: Floats) -> Floats:
    """Return whether two labels agree and whether both are decided, per item: (n_items, 2).

    Labels are 1, 0 or NaN (undecided). For `share_from`: the accuracy of `label` where `truth`
    is taken as true; 1 - it is the disagreement.
    """
    both = ~np.isnan(truth) & ~np.isnan(label)
    return np.column_stack([both & (truth == label), both]).astype(np.float64)


def mcnemar_p(n_up: int, n_down: int) -> float:
    """Return the p-value of McNemar's exact test, two-sided; 1 without discordant pairs.

    Twice the binomial tail of the smaller number at one half, 1 at most (McNemar, 1947).

    Args:
        n_up: pairs with no in the first and yes in the second.
        n_down: pairs with yes in the first and no in the second.
    """
    if min(n_up, n_down) < 0:
        raise ValueError(f"{n_up} up and {n_down} down, expected 0 or more")
    return min(1.0, 2 * float(bdtr(min(n_up, n_down), n_up + n_down, 0.5)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for their number by Holm's step-down method (Holm, 1979).

    NaN is no test: it stays NaN and does not count.
    """
    p = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(p.shape, math.nan)
    order = [place for place in np.argsort(p, kind="stable") if not math.isnan(p[place])]
    factors = np.arange(len(order), 0, -1)  # the smallest p counts for all tests, the next for ...
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * factors))
    return [float(each) for each in adjusted]


def visible_shift(n_pairs: int, n_discordant: int, level: float) -> float:
    """Return the smallest shift that McNemar's test could have called significant.

    Given how many pairs are discordant, the shift is |up - down| / pairs. NaN when even all of them
    in one direction have a p-value above `level`: at 5 %, five discordant pairs never suffice.

    Args:
        n_pairs: pairs with both majorities decided.
        n_discordant: those of them that differ.
        level: of the test; 0.05 / 7 for the smallest of seven p-values under Holm.
    """
    for n_down in range(n_discordant // 2, -1, -1):
        if mcnemar_p(n_discordant - n_down, n_down) <= level:
            return (n_discordant - 2 * n_down) / n_pairs
    return math.nan


def contrast_by_dialog(
    differences: Floats, setups: Indexes, dialogs: Indexes, n_dialogs: int, setup: int
) -> Floats:
    """Return what each dialog adds to: shift of one setup - mean shift of the others.

    The shift of a setup is the mean of its differences, so the sum over dialogs is (B - A) -
    (D - C) when there are two setups. Dialogs without differences add 0.

    Args:
        differences: rater score merged - separate per response; NaN is left out.
        setups: of each response.
        dialogs: of each response, 0 .. n_dialogs - 1.
        n_dialogs: how many dialogs there are.
        setup: the one to compare with the rest.

    Returns:
        (n_dialogs,); all NaN when the setup or the rest has no difference.
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
    """Return whether the contrasts of all dialogs add up to more than chance, two-sided.

    Exchanging the two arms of a dialog turns the sign of its contrast. If merging changes nothing,
    each of the 2^n patterns of signs is as likely as the one found; `n_permutations` of them are
    drawn. p = (1 + patterns as far from 0) / (1 + patterns), so it is never 0. Rater scores come in
    steps and many sums are equal: of those, one with more dialogs on its side is farther from 0.

    Args:
        contrasts: from `contrast_by_dialog`.
        seed: of the patterns.
        level: of the test, for what it sees; 0.05 / 7 for the smallest of seven p-values under
            Holm. p does not depend on it.
        n_permutations: how many patterns.
    """
    if np.isnan(contrasts).any() or not contrasts.size:
        return DirectionTest(math.nan, math.nan)
    largest = float(np.abs(contrasts).max())
    if not largest:
        return DirectionTest(1.0, math.nan)
    relative = contrasts[np.abs(contrasts) > TIE * largest] / largest
    found, found_dialogs = _far(relative.sum(), np.sign(relative).sum())
    n_as_far = 0
    for sums, dialogs in _sign_patterns(np.abs(relative), seed, n_permutations):
        drawn, drawn_dialogs = _far(sums, dialogs)
        is_tied = np.abs(drawn - found) <= TIE
        is_as_far = np.where(is_tied, drawn_dialogs >= found_dialogs, drawn > found)
        n_as_far += int(np.count_nonzero(is_as_far))
    deviation = float(np.sqrt((contrasts**2).sum()))  # of the sums of sign patterns
    visible = float(ndtri(1 - level / 2) + ndtri(POWER)) * deviation
    return DirectionTest((1 + n_as_far) / (1 + n_permutations), visible)


def _far(sums: Floats, dialogs: ArrayLike) -> tuple[Floats, Floats]:
    """Return how far sums are from 0, and how many more dialogs are on their side than not."""
    side = np.where(np.abs(sums) <= TIE, 0.0, np.sign(sums))
    return np.abs(sums), np.asarray(dialogs) * side


def _sign_patterns(
    sizes: Floats, seed: int, n_permutations: int
) -> Iterator[tuple[Floats, Indexes]]:
    """Yield sums of sizes with random signs, and how many more are positive than negative."""
    random = np.random.default_rng(seed)
    distinct, place, n_equal = np.unique(sizes.round(10), return_inverse=True, return_counts=True)
    is_grouped = GROUPED * len(distinct) <= len(sizes)
    # The signs of sizes that are equal are one binomial draw.
    sizes = np.bincount(place, weights=sizes) / n_equal if is_grouped else np.sort(sizes)
    chunk = max(1, CHUNK // len(sizes))
    for start in range(0, n_permutations, chunk):
        shape = (min(chunk, n_permutations - start), len(sizes))
        if is_grouped:
            signs = 2 * random.binomial(n_equal, 0.5, size=shape) - n_equal
        else:
            signs = 2 * random.integers(2, size=shape, dtype=np.int8) - 1
        yield signs @ sizes, signs.sum(axis=1, dtype=np.int64)

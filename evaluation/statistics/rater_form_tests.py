"""Tests of raters by their whole forms: agreement over all questions, drift, runs, copies."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from evaluation.statistics.exact_tails import (
    Distribution,
    distribution_of,
    few_runs_p,
    mean_runs,
    runs_z,
    sum_of_draws,
)
from evaluation.statistics.intervals import Floats, Indexes, ratio
from evaluation.statistics.rater_forms import FormDraws, Forms
from evaluation.statistics.rater_pairs import RaterPairs, chances_of_equal, is_equal
from evaluation.statistics.rater_tests import (
    Check,
    Tests,
    added,
    suspicious_z,
    tests_of_single_raters,
    z_of,
)
from evaluation.statistics.rater_votes import LEAST, Bools

TENTHS = 10
FALLING = 0.05  # level at which agreement falls within the order of a rater


def agreement_of_forms(draws: FormDraws, n_raters: int) -> Tests:
    """Return the test of each rater's agreement with the others over all questions together."""
    raters, own = draws.raters, draws.own
    values, means, variances = _moments(draws)
    z = z_of(raters, n_raters, values, means, variances)
    n = added(raters, n_raters)
    p = np.ones(n_raters)
    for rater in np.flatnonzero((z <= -suspicious_z(n_raters)) & (n >= LEAST)):
        p[rater] = _low_p(draws, np.flatnonzero(raters == rater))
    seen = [added(raters, n_raters, each[own]) for each in (draws.agreeing, draws.differing)]
    by_chance = [
        added(raters, n_raters, draws.means(each)) for each in (draws.agreeing, draws.differing)
    ]
    observed, expected = (ratio(each[0], each[0] + each[1]) for each in (seen, by_chance))
    judged = np.flatnonzero(n >= LEAST)
    return tests_of_single_raters(
        Check.AGREEMENT, "", judged, n[judged], observed[judged], expected[judged], p[judged]
    )


def drift(draws: FormDraws, n_raters: int) -> Tests:
    """Return for each rater the test whether agreement with the others is low late in their order.

    The order is cut into tenths. The sum is that of the test of agreement, but a form in the last
    tenth counts ten times as much as one in the first. It is low for every bad rater. So p is 1
    unless agreement falls within the rater's own order as well (p of .05 at most, not corrected;
    weights -9, -7, ... 9, which add up to 0).
    """
    known = np.flatnonzero(draws.turns >= 0)
    known = known[np.lexsort([draws.turns[known], draws.raters[known]])]
    raters = draws.raters[known]
    n = np.bincount(raters, minlength=n_raters)
    starts = np.cumsum(n) - n
    late = 1 + TENTHS * (np.arange(len(known)) - starts[raters]) // n[raters]
    values, means, variances = _moments(draws)
    z = z_of(
        raters, n_raters, late * values[known], late * means[known], late**2 * variances[known]
    )
    judged = np.flatnonzero(n >= LEAST)
    halves, p = np.zeros((2, len(judged))), np.ones(len(judged))
    limit = suspicious_z(len(judged))
    for place, rater in enumerate(judged):
        start, end = int(starts[rater]), int(starts[rater] + n[rater])
        middle = (start + end) // 2
        for half, part in enumerate((known[middle:end], known[start:middle])):
            agreeing, differing = (
                float(each[draws.own[part]].sum()) for each in (draws.agreeing, draws.differing)
            )
            both = agreeing + differing
            halves[half, place] = agreeing / both if both else np.nan
        if z[rater] <= -limit:
            own, weights = known[start:end], late[start:end]
            falls = _low_p(draws, own, 2 * weights - TENTHS - 1) <= FALLING
            p[place] = _low_p(draws, own, weights) if falls else 1.0
    return tests_of_single_raters(Check.DRIFT, "", judged, n[judged], halves[0], halves[1], p)


def _moments(draws: FormDraws) -> tuple[Indexes, Floats, Floats]:
    """Return the value of each form, and the mean and variance of what it is drawn from."""
    of_rows = draws.values
    means = draws.means(of_rows)
    return of_rows[draws.own], means, np.maximum(0.0, draws.means(of_rows**2) - means**2)


def _low_p(draws: FormDraws, which: Indexes, weights: Indexes | None = None) -> float:
    """Return the probability that a weighted sum of draws is at most that of some forms.

    Args:
        draws: the draws.
        which: the forms, by their places in `draws`.
        weights: the factor of each form, not 0; None: 1.
    """
    factors = np.ones(len(which), np.int64) if weights is None else weights
    values = draws.values
    alike: Counter[tuple[int, tuple[int, ...]]] = Counter()
    for place, factor in zip(which.tolist(), factors.tolist(), strict=True):
        start = int(draws.start[place])
        pool = values[start : start + int(draws.size[place])]
        alike[factor, tuple(np.sort(pool).tolist())] += 1
    null = sum_of_draws(
        (_one_of(pool).times(factor), n_times) for (factor, pool), n_times in alike.items()
    )
    return null.at_most(int((factors * values[draws.own[which]]).sum()))


def _one_of(values: Sequence[int]) -> Distribution:
    """Return the distribution of one of these values at random."""
    return distribution_of(values, [1 / len(values)] * len(values))


# --- pairs ------------------------------------------------------------------------------------


def copies(forms: Forms, pairs: RaterPairs, reference: Bools) -> Tests:
    """Return the test of each pair of raters: how many of their forms are equal."""
    n_pairs = len(pairs.first)
    chances = chances_of_equal(forms, pairs, reference)
    equal = is_equal(forms, pairs)
    n, total, mean = (added(pairs.pairs, n_pairs, weights) for weights in (None, equal, chances))
    z = z_of(pairs.pairs, n_pairs, equal.astype(np.float64), chances, chances * (1 - chances))
    p = np.ones(n_pairs)
    ends = np.cumsum(n.astype(np.int64))
    chances = chances[np.argsort(pairs.pairs, kind="stable")]
    for pair in np.flatnonzero(z >= suspicious_z(n_pairs)):
        of_pair = chances[ends[pair] - int(n[pair]) : ends[pair]]
        known, n_times = np.unique(of_pair, return_counts=True)
        null = sum_of_draws(
            (distribution_of([0, 1], [1 - chance, chance]), int(times))
            for chance, times in zip(known.tolist(), n_times, strict=True)
        )
        p[pair] = null.at_least(int(total[pair]))
    # The rater who answered later is marked; both are, where the times do not say who that is.
    blamed = np.where(pairs.later >= 0, pairs.later, pairs.first)
    return Tests(
        kind=Check.COPIES,
        question="",
        raters=blamed,
        partners=pairs.first + pairs.second - blamed,
        is_mutual=pairs.later < 0,
        n=n.astype(np.int64),
        observed=ratio(total, n),
        expected=ratio(mean, n),
        p=p,
    )


# --- a rater alone ----------------------------------------------------------------------------


def runs(forms: Forms, n_raters: int) -> Tests:
    """Return for each rater the test whether equal forms follow each other too often."""
    known = np.flatnonzero(forms.turns >= 0)
    order = known[np.lexsort([forms.turns[known], forms.raters[known]])]
    raters, codes = forms.raters[order], forms.codes[order]
    n = np.bincount(raters, minlength=n_raters)
    ends = np.cumsum(n)
    judged = np.flatnonzero(n >= LEAST)
    n_runs, expected, p = np.zeros(len(judged)), np.zeros(len(judged)), np.ones(len(judged))
    for place, rater in enumerate(judged):
        of_rater = codes[ends[rater] - n[rater] : ends[rater]]
        counts = np.unique(of_rater, return_counts=True)[1].tolist()
        seen = 1 + int(np.count_nonzero(np.diff(of_rater)))
        n_runs[place], expected[place] = seen, mean_runs(counts)
        if runs_z(counts, seen) <= -suspicious_z(len(judged)):
            p[place] = few_runs_p(counts, seen)
    return tests_of_single_raters(Check.RUNS, "", judged, n[judged], n_runs, expected, p)

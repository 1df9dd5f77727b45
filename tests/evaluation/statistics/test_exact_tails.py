"""Exact probabilities, against enumeration, SciPy and statsmodels."""

from itertools import pairwise, permutations, product

import pytest
from scipy.stats import binom
from statsmodels.sandbox.stats.runs import runstest_1samp

from evaluation.statistics.exact_tails import (
    distribution_of,
    few_runs_p,
    mean_runs,
    runs_z,
    sum_of_draws,
)

COIN = distribution_of([0, 1], [0.5, 0.5])


def test_a_sum_of_equal_draws_is_binomial():
    null = sum_of_draws([(distribution_of([0, 1], [0.7, 0.3]), 25)])

    for k in range(26):
        assert null.at_most(k) == pytest.approx(binom.cdf(k, 25, 0.3), rel=1e-12)
        assert null.at_least(k) == pytest.approx(binom.sf(k - 1, 25, 0.3), rel=1e-12)
    assert null.at_most(-1) == 0
    assert null.at_least(26) == 0


def test_a_sum_of_different_draws_is_that_of_all_outcomes():
    draws = [
        ((-1, 0, 1), (0.2, 0.5, 0.3)),
        ((-1, 0, 1), (0.2, 0.5, 0.3)),
        ((0, 3), (0.9, 0.1)),
        ((2, 2, -4), (0.25, 0.25, 0.5)),  # a value that comes twice
    ]
    outcomes: dict[int, float] = {}
    for chosen in product(*(zip(*draw, strict=True) for draw in draws)):
        chance = 1.0
        for _, p in chosen:
            chance *= p
        total = sum(value for value, _ in chosen)
        outcomes[total] = outcomes.get(total, 0.0) + chance

    null = sum_of_draws((distribution_of(*draw), 1) for draw in draws)

    for t in range(-8, 9):
        assert null.at_most(t) == pytest.approx(sum(p for v, p in outcomes.items() if v <= t))
        assert null.at_least(t) == pytest.approx(sum(p for v, p in outcomes.items() if v >= t))


def test_a_multiple_of_a_draw_has_its_probabilities():
    # 1 or 2 with ¼ and ¾; three times that is 3 or 6, minus twice is -2 or -4.
    draw = distribution_of([1, 2], [0.25, 0.75])

    assert draw.times(3).at_most(3) == 0.25
    assert draw.times(3).at_most(5) == 0.25
    assert draw.times(-2).at_most(-4) == 0.75
    assert draw.times(-2).at_least(-2) == 0.25


def test_small_tails_keep_their_precision():
    assert sum_of_draws([(COIN, 60)]).at_least(60) == pytest.approx(2.0**-60, rel=1e-12)


def test_runs_of_two_and_two_by_hand():
    """Six orders of y y n n: two have 2 runs, two have 3 (ynny, nyyn), two have 4."""
    assert [few_runs_p([2, 2], runs) for runs in (1, 2, 3, 4)] == [0, 1 / 3, 2 / 3, 1]
    assert mean_runs([2, 2]) == 3


@pytest.mark.parametrize("counts", [[3, 4], [1, 5], [2, 3, 2], [2, 2, 1, 2], [4, 0, 2], [5]])
def test_runs_are_those_of_all_orders(counts):
    answers = [category for category, n in enumerate(counts) for _ in range(n)]
    orders = set(permutations(answers))
    runs = [1 + sum(a != b for a, b in pairwise(o)) for o in orders]

    for k in range(1, len(answers) + 1):
        expected = sum(each <= k for each in runs) / len(orders)
        assert few_runs_p(counts, k) == pytest.approx(expected, abs=1e-12)
    mean = sum(runs) / len(runs)
    variance = sum((each - mean) ** 2 for each in runs) / len(runs)
    assert mean_runs(counts) == pytest.approx(mean)
    assert runs_z(counts, 1) == pytest.approx((1 - mean) / variance**0.5 if variance else 0.0)


def test_runs_of_a_long_sequence_have_the_z_of_statsmodels():
    """Its p is that of the normal distribution, 3.4e-5; the exact one is 3.9e-5."""
    answers = [0] * 9 + [1] * 12 + [0] * 11 + [1, 0, 1, 1] * 2
    n_runs = 1 + sum(a != b for a, b in pairwise(answers))
    counts = [answers.count(0), answers.count(1)]
    z, p = runstest_1samp(answers, cutoff=0.5, correction=False)

    assert runs_z(counts, n_runs) == pytest.approx(z)
    assert 2 * few_runs_p(counts, n_runs) == pytest.approx(p, rel=0.15)

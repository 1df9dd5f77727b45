"""A against B on the same items: the difference, its interval, and the test that exchanges them."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from evaluation.statistics.clustered_mean import mean_interval
from evaluation.statistics.intervals import MixOfShares, Statistic, bootstrap_intervals
from evaluation.statistics.paired_difference import (
    difference_interval,
    paired_difference,
    permutation_p,
)
from evaluation.statistics.uncertainty import mcnemar_mid_p

NAN = math.nan


def labels(seed, n_dialogs=40, n_pairs=3, shares=(0.7, 0.5)):
    """Return labels of two setups that are alike within a dialog, and dialogs."""
    random = np.random.default_rng(seed)
    dialogs = np.repeat(np.arange(n_dialogs), n_pairs)
    level = (random.random(n_dialogs)[dialogs] + random.random((2, len(dialogs)))) / 2
    first, second = (level < np.array(shares)[:, np.newaxis]).astype(float)
    return first, second, dialogs


# The difference and its interval


def test_the_difference_is_that_of_pairs():
    first, second, dialogs = labels(1)
    first[5], second[9] = NAN, NAN
    both = ~np.isnan(first) & ~np.isnan(second)

    found = paired_difference(first, second, dialogs, 50, seed=1)

    assert found.n_pairs == 118
    assert found.n_dialogs == 40
    assert found.difference == pytest.approx(first[both].mean() - second[both].mean())


def test_labels_have_an_interval_made_of_their_shares():
    first, second, dialogs = labels(2)
    beside = np.column_stack([first, np.ones(120), second, np.ones(120)])
    figure = Statistic(beside, dialogs, MixOfShares((1.0, -1.0)))

    found = paired_difference(first, second, dialogs, 40, seed=1, level=0.9)

    assert (found.low, found.high) == bootstrap_intervals([figure], 40, seed=7, level=0.9)[0]
    assert found.low < found.difference < found.high


def test_labels_that_never_differ_have_a_width():
    first, _, dialogs = labels(2)

    found = paired_difference(first, first, dialogs, 40, seed=1)

    assert found.difference == 0
    assert found.low < 0 < found.high
    assert found.p_permutation == 1


def test_scores_have_an_interval_by_t():
    random = np.random.default_rng(3)
    first, second, dialogs = random.random(60), random.random(60), random.integers(20, size=60)

    expected = mean_interval(first - second, dialogs, 20, 0.9)

    assert difference_interval(first, second, dialogs, 20, 0.9) == expected


def test_with_one_pair_in_each_dialog_it_is_the_paired_t_interval():
    random = np.random.default_rng(4)
    first, second = random.random(30), random.random(30) * 0.8

    expected = stats.ttest_rel(first, second).confidence_interval(0.95)

    assert difference_interval(first, second, np.arange(30), 30) == pytest.approx(expected)


def test_without_pairs_everything_is_undefined():
    found = paired_difference(np.array([NAN, 1]), np.array([1, NAN]), np.arange(2), 2, seed=1)

    assert found.n_pairs == found.n_dialogs == 0
    assert np.isnan([found.difference, *found[1:3], found.p_permutation, found.p_mcnemar]).all()


# McNemar


def test_mcnemar_is_for_one_pair_of_labels_in_each_dialog():
    first, second, dialogs = labels(5, n_pairs=1)
    n_up, n_down = int((first > second).sum()), int((first < second).sum())

    found = paired_difference(first, second, dialogs, 40, seed=1)
    of_scores = paired_difference(first * 0.9, second, dialogs, 40, seed=1)
    of_two_pairs = paired_difference(first, second, dialogs // 2, 40, seed=1)

    assert found.p_mcnemar == mcnemar_mid_p(n_up, n_down)
    assert math.isnan(of_scores.p_mcnemar)
    assert math.isnan(of_two_pairs.p_mcnemar)


# Permutations


def test_the_permutation_test_by_hand():
    # Of the 8 patterns of ±1, ±2, ±3, those that add up to ±6 and ±4 are 4.
    assert permutation_p(np.array([-1.0, 2.0, 3.0]), seed=1) == 4 / 8
    assert permutation_p(np.array([1.0, 2.0, 3.0]), seed=1) == 2 / 8


@pytest.mark.parametrize("seed", range(10))
def test_up_to_15_dialogs_all_patterns_are_counted(seed):
    random = np.random.default_rng(seed)
    sums = random.integers(-3, 5, size=9) / 7 if seed % 2 else random.normal(0.4, 1, size=9)
    found = abs(sums.sum()) - 1e-9
    totals = [abs(np.dot(signs, sums)) for signs in product([1, -1], repeat=9)]

    assert permutation_p(sums, seed=1) == pytest.approx(np.mean(np.array(totals) >= found))


def test_dialogs_without_a_difference_change_nothing():
    sums = np.random.default_rng(1).normal(0.4, 1, size=9)

    assert permutation_p(np.append(sums, np.zeros(90)), seed=1) == permutation_p(sums, seed=1)


@pytest.mark.parametrize("is_whole", [True, False])
def test_exact_and_drawn_patterns_agree_with_scipy(is_whole):
    random = np.random.default_rng(2)
    sums = random.normal(0.5, 1.5, size=60)
    sums = sums.round() if is_whole else sums
    expected = stats.permutation_test(
        (sums,),
        np.sum,
        permutation_type="samples",
        n_resamples=20_000,
        rng=np.random.default_rng(1),
    ).pvalue

    found = permutation_p(sums, seed=3)

    # Four Monte-Carlo errors of 10,000 and 20,000 patterns.
    assert found == pytest.approx(expected, abs=4 * math.sqrt(expected / 10_000 * 1.5))


def test_many_dialogs_of_one_size_give_the_sign_test():
    sums = np.array([2.0] * 30 + [-2.0] * 14)

    expected = stats.binomtest(30, 44).pvalue

    assert permutation_p(sums, seed=1) == pytest.approx(expected, abs=4 * math.sqrt(expected / 1e4))


def test_p_is_never_0_and_depends_on_the_seed_alone():
    random = np.random.default_rng(3)

    assert permutation_p(np.ones(100), seed=1, n_permutations=99) == 1 / 100
    sums = random.normal(0.2, 1, size=50)
    assert permutation_p(sums, seed=1) == permutation_p(sums, seed=1)
    assert permutation_p(sums, seed=1) == permutation_p(-sums, seed=1)


def test_items_of_a_dialog_are_exchanged_together():
    # Four dialogs with ten pairs each, in which the first setup always wins: 2 of 16 patterns.
    first, dialogs = np.ones(40), np.repeat(np.arange(4), 10)

    assert paired_difference(first, 0 * first, dialogs, 4, seed=1).p_permutation == 2 / 16

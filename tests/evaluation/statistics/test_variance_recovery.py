"""Sums of shares: their intervals against published ones, and at the ends of what they can be."""

import math

import numpy as np
import pytest
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from evaluation.statistics.intervals import (
    MIX_METHOD,
    MixOfShares,
    Statistic,
    bootstrap_intervals,
    method_of,
    share_from,
)
from evaluation.statistics.variance_recovery import correlations, ends_of_sum

pytestmark = pytest.mark.once


def wilson(n_yes, n):
    return proportion_confint(n_yes, n, method="wilson")


def test_a_difference_of_independent_shares_has_newcombes_interval():
    """56 of 70 minus 48 of 80 (Newcombe, 1998, table II a, method 10): 0.0524 to 0.3339."""
    ends = np.array([wilson(56, 70), wilson(48, 80)])

    low, high = ends_of_sum(np.array([56 / 70, 48 / 80]), ends, [1, -1], np.zeros((2, 5)), 1.0)

    assert (round(low, 4), round(high, 4)) == (0.0524, 0.3339)
    assert (low, high) == pytest.approx(
        confint_proportions_2indep(56, 70, 48, 80, method="newcomb")
    )


def test_shares_that_go_together_differ_little():
    """The same share twice, 0.2 to 0.4: plus itself it is twice that, minus itself nearly 0.

    With a correlation of at most .98, the difference is 0 ± √(.01 + .01 - 2 · .98 · .01) = .02.
    """
    ends = np.array([[0.2, 0.4]] * 2)
    alike = np.array([[0.1, -0.1, 0.0]] * 2)

    def found(weights, most_alike):
        return ends_of_sum(np.array([0.3, 0.3]), ends, weights, alike, most_alike)

    assert found([1, 1], 1.0) == pytest.approx((0.4, 0.8))
    assert found([1, -1], 1.0) == pytest.approx((0, 0))
    assert found([1, -1], 0.98) == pytest.approx((-0.02, 0.02))


def test_a_difference_in_which_no_dialog_differs_has_a_width():
    """Forty dialogs, half yes, the same labels twice. Bonett and Price (2012): ± 1.96 · √2 / 42.

    Wilson with t = 2.0227 (39 degrees): .5 ± .1540; with a correlation of 1 - t² / 40 = .8977 the
    difference is ± .1540 · √(2 · .1023) = .0697, a little more than .0660.
    """
    labels = np.array([1, 0] * 20)

    low, high = interval_of(figure_of([labels, labels], (1.0, -1.0)))

    assert (low, high) == pytest.approx((-0.0697, 0.0697), abs=1e-4)


def test_what_does_not_vary_goes_with_nothing():
    residuals = np.array([[1.0, -1.0], [0.0, 0.0], [-2.0, 2.0]])

    assert correlations(residuals).tolist() == [[1, 0, -1], [0, 1, 0], [-1, 0, 1]]


def figure_of(columns, weights):
    """A mix of shares over one item in each dialog."""
    beside = [part for labels in columns for part in (labels, np.ones(len(labels)))]
    statistics = np.column_stack(beside).astype(float)
    return Statistic(statistics, np.arange(len(statistics)), MixOfShares(weights))


def interval_of(figure):
    [interval] = bootstrap_intervals([figure], len(figure.statistics), seed=0)
    return interval


def test_one_share_of_weight_1_has_the_interval_of_that_share():
    labels = np.array([1, 0, 1, 1, 0, 1, 1, 1])
    alone = figure_of([labels], (1.0,))
    beside_one_without_weight = figure_of([labels, 1 - labels], (1.0, 0.0))

    expected = interval_of(alone._replace(measure=share_from))

    assert method_of(alone) == MIX_METHOD
    assert interval_of(alone) == pytest.approx(expected)
    assert interval_of(beside_one_without_weight) == pytest.approx(expected)


def test_a_mix_of_shares_at_their_ends_is_not_certain():
    """0.7 · 1 + 0.3 · 0 over 20 dialogs: Wilson's ends with t = 2.093 of 19 degrees.

    Of 20 of 20 the lower end is 1 / (1 + t² / 20) = 0.8203, of 0 of 20 the upper one 0.1797; their
    distances, 0.1797 both, make 0.7 - 0.7 · 0.1797 = 0.574 and 0.7 + 0.3 · 0.1797 = 0.754.
    """
    mix = figure_of([np.ones(20), np.zeros(20)], (0.7, 0.3))

    low, high = interval_of(mix)

    assert mix.measure(mix.statistics.sum(axis=0)) == pytest.approx(0.7)
    assert (round(low, 3), round(high, 3)) == (0.574, 0.754)


def test_what_is_no_share_is_refused():
    with pytest.raises(ValueError, match="negative or above its whole"):
        interval_of(figure_of([np.full(8, 2.0)], (1.0,)))


def test_one_dialog_has_no_interval():
    assert all(map(math.isnan, interval_of(figure_of([np.ones(1), np.ones(1)], (0.5, 0.5)))))

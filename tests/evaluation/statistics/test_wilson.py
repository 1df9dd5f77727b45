"""Wilson's interval of a share, and how many independent items a share is worth."""

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from evaluation.statistics.wilson import independent_items, wilson_ends


@pytest.mark.parametrize(("n_yes", "n"), [(0, 20), (7, 20), (20, 20), (119, 120)])
def test_wilson_equals_statsmodels(n_yes, n):
    expected = proportion_confint(n_yes, n, alpha=0.05, method="wilson")

    assert wilson_ends(n_yes / n, n, 1.959963984540054) == pytest.approx(expected, abs=1e-12)


def test_a_share_without_end_of_items_is_sure():
    assert wilson_ends(0.7, np.inf, 1.96) == (0.7, 0.7)


def test_independent_items_by_hand():
    # Share 6 / 10; residuals 1 - .6 · 2, 2 - .6 · 3 and 3 - .6 · 5: -.2, .2 and 0.
    sums = np.array([[1.0, 2], [2, 3], [3, 5]])
    variance = (0.04 + 0.04) / 10**2 * 3 / 2

    assert independent_items(sums) == pytest.approx(0.6 * 0.4 / variance)
    assert independent_items(sums, most_items=10) == 10


@pytest.mark.parametrize(("most_items", "expected"), [(np.inf, 2), (7, 2), (1.6, 1.6)])
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_share_of_0_or_1_is_worth_as_many_items_as_dialogs_but_no_more_than_there_are(
    share, most_items, expected
):
    """With the weights 1 and 3, two dialogs are worth 4² / (1 + 9) = 1.6."""
    sums = np.array([[2.0, 2], [5, 5]]) * [share, 1]

    assert independent_items(sums, most_items) == expected


def test_parts_of_wholes_that_do_not_vary_are_worth_as_many_items_as_dialogs():
    # Three of five votes are yes in each item, so that no dialog differs from another.
    assert independent_items(np.array([[0.6, 1], [1.2, 2], [0.6, 1]])) == 3

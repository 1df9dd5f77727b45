"""Intraclass correlations and the bias index, against a paper and by hand."""

import math

import numpy as np
import pytest

from evaluation.statistics.crossed_raters import (
    ICC,
    bias_index,
    crossed_table,
    icc_of_mean,
    icc_statistics,
)
from evaluation.statistics.rater_votes import RaterVotes

# Shrout and Fleiss (1979), table 2: four judges rate six targets. They print ICC(2,1) = .29 and
# ICC(2,4) = .62.
SHROUT_FLEISS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float
)
MISSING = -1


def votes_of(table, kind="ordinal"):
    """Return the votes of a table of places on a scale, (n_items, n_raters), -1 for no vote."""
    table = np.array(table)
    items, raters = np.nonzero(table != MISSING)
    values = tuple(range(1, 11)) if kind == "ordinal" else (0, 1)
    return RaterVotes(raters, items, table[items, raters], kind, values)


def bias_of(table):
    return tuple(bias_index(votes_of(table, "yes_no")))


def icc(answers):
    return float(ICC(icc_statistics(answers).sum(axis=0)))


def test_icc_of_the_published_table():
    # pingouin 0.6.1, intraclass_corr of this table: ICC(A,1) and ICC(A,k)
    assert icc(SHROUT_FLEISS) == pytest.approx(0.289763779528, abs=1e-9)
    assert icc_of_mean(icc(SHROUT_FLEISS), 4) == pytest.approx(0.620050547599, abs=1e-9)


@pytest.mark.parametrize("answers", [[[3, 3], [3, 3]], [[1, 2]]])
def test_icc_is_undefined_without_variation_or_a_second_item(answers):
    assert math.isnan(icc(np.array(answers, float)))


def test_the_mean_of_raters_has_no_icc_below_its_range():
    assert math.isnan(icc_of_mean(-0.5, 3))  # 1 + 2 · (-1/2) = 0


def test_the_table_has_the_items_of_the_most_frequent_raters():
    votes = votes_of([[1, 2, 3], [4, 5, MISSING], [6, 7, MISSING], [8, MISSING, 9]])

    table = crossed_table(votes)

    assert table is not None
    # Raters 0 and 1 are those of two items; a third item has their votes too. The last lacks one.
    assert (table.items.tolist(), table.n_left_out) == ([0, 1, 2], 1)
    assert table.answers.tolist() == [[2, 3], [5, 6], [7, 8]]


def test_raters_are_not_crossed_if_most_items_have_other_raters():
    pairs = [[1, 1, MISSING], [1, MISSING, 1], [MISSING, 1, 1]]

    assert crossed_table(votes_of([pairs[0], *pairs])) is not None  # 2 of 4 items are half
    assert crossed_table(votes_of(pairs)) is None
    assert crossed_table(votes_of([[1, MISSING]])) is None


def test_bias_index_of_two_raters_is_that_of_byrt():
    # 20 items: b = 6 with a yes of the first alone, c = 2 of the second alone.
    table = [[1, 0]] * 6 + [[0, 1]] * 2 + [[1, 1]] * 12

    assert bias_of(table) == (pytest.approx((6 - 2) / 20), 1)


def test_bias_index_weighs_pairs_by_their_items_and_leaves_out_small_ones():
    first_two = [[1, 0, MISSING]] * 5 + [[1, 1, MISSING]] * 15  # 5 of 20
    first_and_third = [[0, MISSING, 1]] * 10 + [[1, MISSING, 1]] * 20  # 10 of 30
    last_two = [[MISSING, 1, 0]] * 19  # too few

    expected = (5 + 10) / (20 + 30)
    assert bias_of(first_two + first_and_third + last_two) == (pytest.approx(expected), 2)


@pytest.mark.parametrize("table", [[[1, 0]] * 19, np.zeros((0, 2), int)])
def test_bias_index_is_undefined_without_a_pair_of_raters(table):
    value, n_pairs = bias_of(table)

    assert math.isnan(value)
    assert n_pairs == 0

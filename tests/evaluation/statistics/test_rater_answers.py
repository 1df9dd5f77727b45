"""The answers of raters about each item, and their means."""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evaluation.statistics.rater_answers import (
    NO_MAJORITY,
    consensus,
    majority_category,
    majority_label,
    mean,
    mean_from,
    mean_statistics,
    prevalence,
    rater_score,
)

NO_ITEMS = np.zeros((0, 2), dtype=int)
NAN = math.nan

scale_counts = arrays(
    np.int64, st.tuples(st.integers(0, 8), st.just(4)), elements=st.integers(0, 3)
)


def same(actual, expected):
    np.testing.assert_allclose(actual, expected)  # takes NaN for equal to NaN
    return True


# Majority


@pytest.mark.parametrize(
    ("item", "n_raters", "majority"),
    [
        ([2, 3], 5, 1),
        ([5, 0], 5, 0),
        ([0, 3], 5, 1),  # two votes missing, three of five suffice
        ([0, 2], 5, NO_MAJORITY),  # all that voted, but not more than half of five
        ([2, 2], 4, NO_MAJORITY),
        ([2, 2], 5, NO_MAJORITY),
        ([0, 1], 1, 1),
        ([0, 0], 5, NO_MAJORITY),
        ([0, 0], 0, NO_MAJORITY),
        ([2, 2, 1], 5, NO_MAJORITY),
        ([1, 1, 3], 5, 2),
    ],
)
def test_majority_is_more_than_half_of_the_raters(item, n_raters, majority):
    assert majority_category([item], n_raters).tolist() == [majority]


def test_each_item_may_have_its_own_number_of_raters():
    counts = np.array([[0, 2], [0, 2], [1, 1]])

    assert majority_category(counts, [3, 5, 2]).tolist() == [1, NO_MAJORITY, NO_MAJORITY]
    assert majority_category(counts, counts.sum(axis=1)).tolist() == [1, 1, NO_MAJORITY]


def test_no_items_have_no_majorities():
    assert majority_category(NO_ITEMS, 5).tolist() == []


def test_more_votes_than_raters_are_refused():
    with pytest.raises(ValueError, match="item 1: 6 votes from 5 raters"):
        majority_category([[5, 0], [3, 3]], 5)


@given(scale_counts)
def test_majority_is_the_only_category_above_half(counts):
    n_votes = counts.sum(axis=1)

    for item, n, majority in zip(counts, n_votes, majority_category(counts, n_votes), strict=True):
        above_half = [category for category in range(4) if 2 * item[category] > n]
        assert above_half == ([] if majority == NO_MAJORITY else [majority])


def test_labels_are_yes_no_or_undefined():
    assert same(majority_label([[1, 4], [4, 1], [2, 2]], 5), [1, 0, NAN])


def test_labels_need_a_yes_no_question():
    with pytest.raises(ValueError, match="3 categories, expected no and yes"):
        majority_label([[1, 2, 3]], 6)


# Consensus and rater score


@pytest.mark.parametrize(
    ("item", "median"),
    [
        ([0, 0, 1, 0], 3),  # 3
        ([1, 0, 2, 0], 3),  # 1 3 3
        ([0, 0, 1, 1], 3.5),  # 3 4
        ([1, 1, 0, 2], 3),  # 1 2 4 4: midpoint of 2 and 4, which no rater gave
        ([0, 2, 2, 0], 2.5),
        ([3, 0, 0, 2], 1),
        ([0, 0, 0, 0], NAN),
    ],
)
def test_consensus_is_the_median_vote(item, median):
    assert same(consensus([item], [1, 2, 3, 4]), [median])


@given(scale_counts)
def test_consensus_is_the_median_of_the_standard_library(counts):
    values = [1, 2.5, 4, 10]
    votes = [np.repeat(values, item) for item in counts]

    expected = [statistics.median(item) if len(item) else NAN for item in votes]

    assert same(consensus(counts, values), expected)


def test_rater_score_is_the_share_of_yes_votes():
    assert same(rater_score([[3, 2], [0, 3], [0, 0]], [0, 1]), [0.4, 1.0, NAN])


def test_rater_score_of_a_scale_is_rescaled_from_its_ends():
    counts = [[0, 0, 1, 1, 0], [2, 0, 0, 0, 0], [0, 0, 0, 0, 3]]  # means 3.5, 1, 5

    assert same(rater_score(counts, [1, 2, 3, 4, 5]), [2.5 / 4, 0, 1])


@pytest.mark.parametrize("measure", [consensus, rater_score])
@pytest.mark.parametrize(
    ("counts", "values"),
    [
        ([[1, 1]], [1, 2, 3]),
        ([[1, 1]], [2, 1]),
        ([[1, 1]], [1, 1]),
        ([[1]], [1]),
    ],
)
def test_a_scale_has_a_rising_value_for_each_category(measure, counts, values):
    with pytest.raises(ValueError, match="expected 2 that rise"):
        measure(counts, values)


@pytest.mark.parametrize("measure", [consensus, rater_score])
def test_no_items_have_no_values(measure):
    assert measure(NO_ITEMS, [0, 1]).tolist() == []


# Means and prevalence


def test_mean_leaves_out_items_without_value():
    assert mean(np.array([1.0, NAN, 4.0])) == 2.5


@pytest.mark.parametrize("item_values", [[], [NAN, NAN]])
def test_mean_of_nothing_is_undefined(item_values):
    assert math.isnan(mean(np.array(item_values, dtype=float)))


def test_mean_of_weighted_statistics_is_the_mean_of_repeated_items():
    item_statistics = mean_statistics(np.array([1.0, NAN, 4.0]))
    times_drawn = np.array([[1, 1, 1], [0, 1, 2], [2, 0, 1], [0, 3, 0]])

    assert same(mean_from(times_drawn @ item_statistics), [2.5, 4, 2, NAN])


def test_prevalence_is_the_share_of_all_votes():
    counts = [[3, 2], [0, 3], [0, 0]]

    assert same(prevalence(counts), [3 / 8, 5 / 8])


def test_prevalence_without_votes_is_undefined():
    assert same(prevalence(NO_ITEMS), [NAN, NAN])
    assert same(prevalence([[0, 0]]), [NAN, NAN])

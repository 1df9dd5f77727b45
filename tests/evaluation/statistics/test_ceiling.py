"""Ceilings: halves and rest against every split of the votes, written out one by one."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binom

from evaluation.statistics.ceiling import halves_statistics, rest_statistics
from evaluation.statistics.intervals import share_from
from evaluation.statistics.rater_answers import consensus, majority_category, majority_label

counts_of_yes_no = arrays(
    np.int64, st.tuples(st.integers(0, 3), st.just(2)), elements=st.integers(0, 4)
)
counts_of_three = arrays(
    np.int64, st.tuples(st.integers(0, 3), st.just(3)), elements=st.integers(0, 3)
)

few_and_slow = settings(max_examples=50)  # every split is written out


FIVE = range(6)  # votes for yes, of five


def label_of_yes_no(counts):
    return majority_label(counts, counts.sum(axis=1))


def label_of_good(counts):
    """Yes: the median of a scale 1, 2, 3 is 2 or more."""
    median = consensus(counts, [1, 2, 3])
    return np.where(np.isnan(median), math.nan, median >= 2)


def label_of_first(counts):
    """Yes: the majority is for the first of the categories."""
    majority = majority_category(counts, counts.sum(axis=1))
    return np.where(majority < 0, math.nan, majority == 0)


def one_label(votes, n_categories, label_of):
    counts = [[votes.count(category) for category in range(n_categories)]]
    [label] = label_of(np.array(counts, dtype=float))
    return label


def written_out(item):
    return [category for category, n in enumerate(item) for _ in range(n)]


def halves_by_enumeration(item, label_of):
    votes = written_out(item)
    if len(votes) < 2:
        return [0, 0]
    agreeing = decided = total = 0
    for chosen in combinations(range(len(votes)), len(votes) // 2):
        half = [votes[i] for i in chosen]
        rest = [vote for i, vote in enumerate(votes) if i not in chosen]
        one, other = (one_label(part, len(item), label_of) for part in (half, rest))
        total += 1
        decided += not math.isnan(one + other)
        agreeing += one == other
    return [agreeing / total, decided / total]


def rest_by_enumeration(item, label_of):
    votes = written_out(item)
    agreeing = compared = 0
    for i, vote in enumerate(votes if len(votes) > 1 else []):
        own = one_label([vote], len(item), label_of)
        rest = one_label(votes[:i] + votes[i + 1 :], len(item), label_of)
        compared += not math.isnan(own + rest)
        agreeing += own == rest
    return [agreeing, compared]


def enumerated(counts, by_enumeration, label_of):
    return np.array([by_enumeration(item, label_of) for item in counts.tolist()]).reshape(-1, 2)


@few_and_slow
@given(counts_of_yes_no)
def test_halves_of_yes_no_votes_are_those_of_every_split(counts):
    expected = enumerated(counts, halves_by_enumeration, label_of_yes_no)

    assert halves_statistics(counts, label_of_yes_no) == pytest.approx(expected)


@pytest.mark.parametrize("label_of", [label_of_good, label_of_first])
@few_and_slow
@given(counts=counts_of_three)
def test_halves_of_other_votes_are_those_of_every_split(label_of, counts):
    expected = enumerated(counts, halves_by_enumeration, label_of)

    assert halves_statistics(counts, label_of) == pytest.approx(expected)


@few_and_slow
@given(counts_of_yes_no)
def test_rest_of_yes_no_votes_leaves_each_vote_out(counts):
    expected = enumerated(counts, rest_by_enumeration, label_of_yes_no)

    assert rest_statistics(counts, label_of_yes_no) == pytest.approx(expected)


@pytest.mark.parametrize("label_of", [label_of_good, label_of_first])
@few_and_slow
@given(counts=counts_of_three)
def test_rest_of_other_votes_leaves_each_vote_out(label_of, counts):
    expected = enumerated(counts, rest_by_enumeration, label_of)

    assert rest_statistics(counts, label_of) == pytest.approx(expected)


def test_halves_by_hand():
    # 1 no, 4 yes. Two of five votes: 6 of 10 are yes yes (the rest no yes yes: yes), 4 undecided
    # 0 no, 5 yes: always both yes
    statistics = halves_statistics([[1, 4], [0, 5]], label_of_yes_no)

    assert statistics == pytest.approx(np.array([[0.6, 0.6], [1, 1]]))


def test_halves_that_contradict_each_other():
    # 2 no, 3 yes. Two votes: no no (1 of 10; the rest yes), yes yes (3 of 10; the rest no no yes),
    # the others undecided: decided 0.4, never agreeing
    assert halves_statistics([[2, 3]], label_of_yes_no) == pytest.approx(np.array([[0, 0.4]]))


def test_halves_of_the_worked_example():
    statistics = halves_statistics([[1, 4], [2, 3]], label_of_yes_no)

    assert share_from(statistics.sum(axis=0)) == pytest.approx(0.6)


def test_rest_by_hand():
    # 1 no, 4 yes: the no stands against 4 yes; each yes against 1 no, 3 yes
    # 2 no, 3 yes: a no against 1 no, 3 yes: disagrees; a yes against 2 and 2: undecided
    statistics = rest_statistics([[1, 4], [2, 3]], label_of_yes_no)

    assert statistics.tolist() == [[4, 5], [0, 2]]
    assert share_from(statistics.sum(axis=0)) == pytest.approx(4 / 7)


@pytest.mark.parametrize("statistics_of", [halves_statistics, rest_statistics])
def test_items_with_one_vote_or_none_drop_out(statistics_of):
    assert statistics_of([[0, 1], [0, 0], [1, 0]], label_of_yes_no).tolist() == [[0, 0]] * 3
    assert statistics_of(np.zeros((0, 2)), label_of_yes_no).shape == (0, 2)


@pytest.mark.parametrize("statistics_of", [halves_statistics, rest_statistics])
def test_each_distinct_item_is_computed_once(statistics_of):
    asked = []

    def label_of(counts):
        asked.append(len(counts))
        return label_of_yes_no(counts)

    many = statistics_of([[1, 4], [2, 3]] * 10_000, label_of)

    assert len(asked) == 4
    assert many[:2].tolist() == many[-2:].tolist()


def test_many_votes_are_as_exact_as_few():
    # 30 no, 30 yes in halves of 30: undecided when 15 of each, else the halves contradict
    undecided = math.comb(30, 15) ** 2 / math.comb(60, 30)

    assert halves_statistics([[30, 30]], label_of_yes_no) == pytest.approx(
        np.array([[0, 1 - undecided]])
    )


def test_halves_may_agree_more_often_than_two_whole_groups_of_raters_would():
    """The worked example: half of the items say yes at .95, half at .5."""
    counts = np.array([[5 - n_yes, n_yes] for n_yes in FIVE])
    shares = np.array([(binom.pmf(n, 5, 0.95) + binom.pmf(n, 5, 0.5)) / 2 for n in FIVE])

    halves = share_from(shares @ halves_statistics(counts, label_of_yes_no))

    # Two votes are yes, yes or no, no at .95 ** 2 and .05 ** 2, and at 1/4 and 1/4; three say yes
    # at .95 ** 3 + 3 * .95 ** 2 * .05 = .99275, and at 1/2.
    agreeing = 0.9025 * 0.99275 + 0.0025 * 0.00725 + 1 / 4
    assert (
        halves
        == pytest.approx(agreeing / (0.9025 + 0.0025 + 1 / 2))
        == pytest.approx(0.816, abs=5e-4)
    )
    majority = 0.95**5 + 5 * 0.95**4 * 0.05 + 10 * 0.95**3 * 0.05**2
    whole = (majority**2 + (1 - majority) ** 2 + 1 / 2) / 2
    assert whole == pytest.approx(0.749, abs=5e-4)

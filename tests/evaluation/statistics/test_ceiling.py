"""Ceilings against every choice of votes, written out one by one, and by hand."""

import math
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binom

from evaluation.statistics.ceiling import (
    arms_ceiling,
    beside_ceilings,
    halves_ceiling,
    rest_ceiling,
    usual_votes,
)
from evaluation.statistics.intervals import share_from
from evaluation.statistics.rater_answers import consensus, majority_category, majority_label

counts_of_yes_no = arrays(
    np.int64, st.tuples(st.integers(0, 3), st.just(2)), elements=st.integers(0, 4)
)
counts_of_three = arrays(
    np.int64, st.tuples(st.integers(0, 3), st.just(3)), elements=st.integers(0, 3)
)

few_and_slow = settings(max_examples=50)  # every choice is written out


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


@cache
def one_label(counts, label_of):
    [label] = label_of(np.array([counts], dtype=float))
    return label


def written_out(item):
    return [category for category, n in enumerate(item) for _ in range(n)]


def half_if_tied(votes, n_categories, label_of):
    counts = tuple(votes.count(category) for category in range(n_categories))
    label = one_label(counts, label_of)
    return 0.5 if math.isnan(label) else label


def agreement_by_enumeration(item, n_votes, size, label_of):
    """Return the mean agreement of the first `size` of n_votes with the others, ties as a half."""
    votes = written_out(item)
    found = []
    for drawn in combinations(range(len(votes)), n_votes):
        for first in combinations(drawn, size):
            one = half_if_tied([votes[i] for i in first], len(item), label_of)
            rest = [votes[i] for i in drawn if i not in first]
            other = half_if_tied(rest, len(item), label_of)
            found.append(1 if one == other != 0.5 else 0.5 if 0.5 in (one, other) else 0)
    return np.mean(found)


@pytest.mark.parametrize(
    ("counts", "label_of"),
    [
        (counts_of_yes_no, label_of_yes_no),
        (counts_of_three, label_of_good),
        (counts_of_three, label_of_first),
    ],
)
@pytest.mark.parametrize("ceiling_of", [halves_ceiling, rest_ceiling])
def test_ceilings_are_those_of_every_choice_of_votes(ceiling_of, counts, label_of):
    @few_and_slow
    @given(counts)
    def check(counts):
        found = ceiling_of(counts, label_of)

        size = found.n_votes // 2 if ceiling_of is halves_ceiling else 1
        for item, agreement in zip(counts.tolist(), found.agreement, strict=True):
            if sum(item) < found.n_votes or not found.n_votes:
                assert math.isnan(agreement)
            else:
                expected = agreement_by_enumeration(item, found.n_votes, size, label_of)
                assert agreement == pytest.approx(expected)

    check()


def test_halves_and_rest_by_hand():
    # 1 no, 4 yes. Halves: of ten pairs of votes 6 are yes yes, and the rest says yes: they agree.
    # In the other 4 the pair is tied: half. (6 + 4/2) / 10. Rest: the no stands against 4 yes, each
    # yes against 1 no, 3 yes: 4 of 5.
    # 2 no, 3 yes. Halves: no no once and yes yes three times, and the rest contradicts both; 6 of
    # ten are tied: 3 of 10. Rest: each no against 1 no, 3 yes: 0; each yes against 2 and 2: half.
    counts = [[1, 4], [2, 3]]

    halves, rest = (each(counts, label_of_yes_no) for each in (halves_ceiling, rest_ceiling))

    assert halves.agreement == pytest.approx(np.array([0.8, 0.3]))
    assert rest.agreement == pytest.approx(np.array([4 / 5, 3 / 10]))
    assert share_from(rest.statistics.sum(axis=0)) == pytest.approx(0.55)


# A rater is right with .8. One other: .64 + .04. Two others: right .64, tied .32: .8 (.64 + .16) +
# .2 (.04 + .16), the same. Three: right .896: .8 · .896 + .2 · .104 = .7376. Four: right .8192,
# tied .1536: .8 (.8192 + .0768) + .2 (.0272 + .0768), the same.
ONE_RIGHT_IN_FIVE_WRONG = {2: 0.68, 3: 0.68, 4: 0.7376, 5: 0.7376}


@pytest.mark.parametrize(("n_votes", "expected"), ONE_RIGHT_IN_FIVE_WRONG.items())
def test_a_ceiling_depends_on_the_votes_of_an_item(n_votes, expected):
    counts = np.array([[n_votes - n_yes, n_yes] for n_yes in range(n_votes + 1)])
    shares = binom.pmf(range(n_votes + 1), n_votes, 0.8)

    found = rest_ceiling(counts, label_of_yes_no)

    assert found.n_votes == n_votes
    assert shares @ found.agreement == pytest.approx(expected)


def test_whether_an_item_takes_part_does_not_depend_on_how_its_raters_agree():
    # Two of three raters are left. A majority of three needs both, so only items on which they
    # agree have one: 'accuracy 100 %'. They agree on 3 of 5.
    counts = [[0, 2], [0, 2], [2, 0], [1, 1], [1, 1]]

    for ceiling in (halves_ceiling(counts, label_of_yes_no), rest_ceiling(counts, label_of_yes_no)):
        assert ceiling.n_votes == 2
        assert ceiling.agreement.tolist() == [1, 1, 1, 0, 0]


def test_of_more_votes_every_choice_counts():
    # Two of {1 no, 2 yes}: yes yes in 1 of 3 ways, else one of each.
    found = rest_ceiling([[1, 1], [1, 2]], label_of_yes_no)

    assert found.n_votes == 2
    assert found.agreement == pytest.approx(np.array([0, 1 / 3]))
    assert found.label == pytest.approx(np.array([1 / 2, 2 / 3]))


def test_votes_of_a_ceiling_are_those_that_nine_in_ten_items_have():
    assert usual_votes([5] * 9 + [3]) == 5
    assert usual_votes([5] * 8 + [3] * 2) == 3
    assert usual_votes([5, 1, 1, 0]) == 5  # an item with one vote has no other rater
    assert usual_votes([1, 0]) == usual_votes([]) == 0


def test_arms_by_hand():
    # Separate 2 of 3 yes: yes. Merged: 3 yes; 1 of 3 yes: no. A tie of two agrees half.
    found = arms_ceiling([[1, 2], [1, 2]], [[0, 3], [2, 1]], label_of_yes_no)
    assert (found.n_votes, found.agreement.tolist()) == (3, [1, 0])

    tied = arms_ceiling([[1, 1], [0, 2]], [[0, 2], [0, 0]], label_of_yes_no)
    assert tied.n_votes == 2
    assert tied.agreement.tolist() == pytest.approx([0.5, math.nan], nan_ok=True)


def test_a_metric_is_compared_on_the_items_of_the_ceiling_with_ties_as_a_half():
    # Two votes each. Raters agree on 2 of 3. The metric says yes, yes, no and has no label for the
    # last: right on the first, half on the tied one, right on the third: 2.5 of 3.
    counts = [[0, 2], [1, 1], [2, 0], [0, 2]]
    metric, dialogs = np.array([1, 1, 0, math.nan]), np.arange(4)

    found = beside_ceilings(metric, dialogs, {"rest": rest_ceiling(counts, label_of_yes_no)})

    value = {name: float(each.measure(each.statistics.sum(axis=0))) for name, each in found.items()}
    assert value == pytest.approx(
        {
            "ceiling_rest": 2 / 3,
            "ceiling_rest_accuracy": 2.5 / 3,
            "minus_ceiling_rest": 0.5 / 3,
        }
    )


@pytest.mark.parametrize("ceiling_of", [halves_ceiling, rest_ceiling])
def test_without_two_votes_there_is_no_ceiling(ceiling_of):
    found = ceiling_of([[0, 1], [0, 0], [1, 0]], label_of_yes_no)

    assert found.n_votes == 0
    assert found.statistics.tolist() == [[0, 0]] * 3
    assert ceiling_of(np.zeros((0, 2)), label_of_yes_no).agreement.shape == (0,)


@pytest.mark.parametrize("ceiling_of", [halves_ceiling, rest_ceiling])
def test_each_distinct_group_of_votes_is_asked_for_once(ceiling_of):
    asked: list[tuple[int, ...]] = []

    def label_of(counts):
        asked.extend(map(tuple, counts.tolist()))
        return label_of_yes_no(counts)

    many = ceiling_of([[1, 4], [2, 3]] * 10_000, label_of).agreement

    assert len(asked) == len(set(asked))
    assert many[:2].tolist() == many[-2:].tolist()


def test_many_votes_are_as_exact_as_few():
    # 30 no, 30 yes in halves of 30: tied when 15 of each, else the halves contradict
    tied = math.comb(30, 15) ** 2 / math.comb(60, 30)

    assert halves_ceiling([[30, 30]], label_of_yes_no).agreement == pytest.approx([tied / 2])

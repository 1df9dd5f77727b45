"""Votes as yes or no, by the scale of their question."""

import math

import numpy as np
import pytest

from annotation.schemes import load_scheme
from evaluation.statistics.labels import LabelRule, label_rule
from tests.makers import scheme_of

NAN = math.nan


def rule_for(scale: object, **settings: object) -> LabelRule:
    [question] = load_scheme(scheme_of({"q": scale})).questions
    return label_rule(question, settings)


def test_yes_and_no_are_what_the_majority_of_n_says():
    rule = rule_for("yes_no")
    counts = [[1, 2], [2, 1], [2, 2], [0, 2]]

    labels = rule.labels(counts, [3, 3, 4, 5])

    np.testing.assert_array_equal(labels, [1, 0, NAN, NAN])
    np.testing.assert_allclose(rule.rater_scores(counts), [2 / 3, 1 / 3, 1 / 2, 1])


def test_a_median_above_the_middle_of_the_scale_is_a_yes_and_on_it_no_label():
    rule = rule_for({"ordinal": [1, 4]})  # cut at 2.5
    counts = [[0, 1, 1, 1], [1, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0]]

    labels = rule.labels(counts, 5)

    # Medians 3, 2 and 2.5; the last has no vote.
    np.testing.assert_array_equal(labels, [1, 0, NAN, NAN])
    # Means 3, 2, 2.5, on [1, 4].
    np.testing.assert_allclose(rule.rater_scores(counts), [2 / 3, 1 / 3, 1 / 2, NAN])


def test_a_study_may_cut_a_scale_elsewhere():
    rule = rule_for({"ordinal": [1, 4]}, cuts={"q": 3, "other": 1})

    np.testing.assert_array_equal(
        rule.labels([[0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0]], 1), [NAN, 1, 0]
    )


def test_of_nominal_votes_the_named_label_is_a_yes_and_every_other_a_no():
    rule = rule_for({"nominal": ["good", "bad", "ugly"]}, positive={"q": " Good "})
    counts = [[3, 1, 0], [1, 0, 3], [1, 1, 1], [2, 2, 0]]

    np.testing.assert_array_equal(rule.labels(counts, [4, 4, 3, 4]), [1, 0, NAN, NAN])
    np.testing.assert_allclose(rule.rater_scores(counts), [3 / 4, 1 / 4, 1 / 3, 1 / 2])


def test_some_of_the_votes_have_a_label_by_themselves():
    assert rule_for("yes_no").label_of(np.array([[0.0, 1.0]])) == [1]
    assert np.isnan(rule_for("yes_no").label_of(np.array([[1.0, 1.0], [0.0, 0.0]]))).all()


WAITING, TIED, NEITHER = (True, False), (False, True), (False, False)


@pytest.mark.parametrize(
    ("scale", "settings", "counts", "n", "expected"),
    [
        ("yes_no", {}, [1, 1], 3, WAITING),
        ("yes_no", {}, [2, 2], 5, WAITING),  # one vote of five is still to come
        ("yes_no", {}, [2, 2], 4, TIED),
        ("yes_no", {}, [1, 2], 3, NEITHER),  # more than half said yes
        ("yes_no", {}, [0, 3], 5, NEITHER),  # three of five, whatever the others say
        ("yes_no", {}, [0, 2], 5, WAITING),  # all that voted, but not more than half of five
        ("yes_no", {}, [0, 0], 3, NEITHER),  # not rated
        ({"ordinal": [1, 4]}, {}, [0, 1, 1, 0], 2, TIED),  # the median 2.5 is on the cut
        ({"ordinal": [1, 4]}, {}, [0, 1, 1, 0], 3, WAITING),
        ({"ordinal": [1, 4]}, {}, [0, 0, 1, 0], 3, NEITHER),  # a median needs one vote only
        ({"nominal": ["a", "b", "c"]}, {"positive": {"q": "a"}}, [1, 1, 1], 3, TIED),
        ({"nominal": ["a", "b", "c"]}, {"positive": {"q": "a"}}, [1, 1, 0], 3, WAITING),
        ({"nominal": ["a", "b", "c"]}, {}, [1, 1, 1], 3, NEITHER),  # there is no rule
    ],
)
def test_an_item_without_a_label_waits_until_all_its_votes_are_in_and_is_then_tied(
    scale, settings, counts, n, expected
):
    found = rule_for(scale, **settings).unlabelled([counts], n)

    assert (*found.is_waiting, *found.is_tied) == expected


def test_votes_on_the_cut_speak_for_neither_side():
    stars = rule_for({"ordinal": [1, 5]})
    kind = rule_for({"nominal": ["a", "b", "c"]}, positive={"q": "b"})

    assert [list(side) for side in stars.sides([[1, 0, 2, 0, 3]])] == [[3], [1]]
    assert [list(side) for side in kind.sides([[1, 2, 4]])] == [[2], [5]]


@pytest.mark.parametrize(
    ("scale", "settings", "why"),
    [
        ({"nominal": ["a", "b"]}, {}, "no label of this question is named as the positive one"),
        ({"nominal": ["a", "b"]}, {"positive": {"q": "c"}}, "its positive label is 'c'"),
        ({"nominal": ["a", "b"]}, {"positive": "a"}, "no label of this question"),
        ({"ordinal": [1, 4]}, {"cuts": {"q": 5}}, "its cut is 5; expected a number from 1 to 4"),
        ({"ordinal": [1, 4]}, {"cuts": {"q": True}}, "its cut is True"),
        ({"ordinal": [1, 4]}, {"cuts": {"q": "high"}}, "its cut is 'high'"),
    ],
)
def test_without_a_usable_rule_there_are_no_labels_and_the_rule_says_why(scale, settings, why):
    rule = rule_for(scale, **settings)
    counts = np.zeros((2, len(rule.values)))

    assert rule.why.startswith(why)
    assert np.isnan(rule.labels(counts, 0)).all()
    assert np.isnan(rule.rater_scores(counts)).all()


def test_equal_means_are_equal_rater_scores_to_the_last_bit():
    rule = rule_for({"ordinal": [1, 4]})

    # 2, 4, 4 and 3, 3, 4: both 10 of 3 votes.
    first, second = rule.rater_scores([[0, 1, 0, 2], [0, 0, 2, 1]])

    assert first == second


@pytest.mark.parametrize(
    ("scale", "settings", "said"),
    [
        ("yes_no", {}, "majority"),
        ({"ordinal": [1, 4]}, {}, "median above 2.5"),
        ({"ordinal": [1, 4]}, {"cuts": {"q": 3}}, "median above 3"),
        ({"nominal": ["good", "bad"]}, {"positive": {"q": "Good"}}, "majority says good"),
        ({"nominal": ["good", "bad"]}, {}, ""),
    ],
)
def test_a_rule_says_in_words_what_a_yes_is(scale, settings, said):
    assert rule_for(scale, **settings).description == said

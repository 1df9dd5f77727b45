"""Draws with known probabilities: published figures, hand calculations and seeded simulations."""

import math

import numpy as np
import pytest

from evaluation.statistics.inclusion_probabilities import (
    by_strata,
    by_uncertainty,
    difference_estimate,
    systematic,
    uncertainty,
)
from evaluation.statistics.intervals import share_from
from evaluation.statistics.rater_answers import mean_statistics

# Twelve items, with figures by the notebooks of Zrnic and Candès.
ANSWERS = np.array([1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1], float)
SCORES = np.array([0.9, 0.8, 0.3, 0.7, 0.4, 0.6, 0.95, 0.2, 0.5, 0.85, 0.6, 0.9])
TAKEN = np.array([1, 0, 1, 0, 1, 1, 0, 0, 1, 0, 1, 0], bool)
PROBABILITIES = [0.346774, 0.443548, 0.540323, 0.540323, 0.637097, 0.637097]
PROBABILITIES += [0.298387, 0.443548, 0.733871, 0.395161, 0.637097, 0.346774]
EACH = np.arange(12)


def test_the_probabilities_are_the_published_ones():
    found = by_uncertainty(uncertainty(SCORES), 6)

    # u = min(f, 1 - f) adds up to 3.1, so the first has .5 · 6 · .1 / 3.1 + .5 · 6 / 12 = .346774.
    assert found == pytest.approx(PROBABILITIES, abs=1e-6)
    assert found.sum() == pytest.approx(6)


def test_the_estimate_and_its_error_are_the_published_ones():
    found = difference_estimate(
        ANSWERS, SCORES, EACH, TAKEN, by_uncertainty(uncertainty(SCORES), 6)
    )

    assert found.estimate == pytest.approx(0.5977245618, abs=1e-10)
    # The published error divides by N; here it is N - 1.
    assert math.sqrt(found.variance * 11 / 12) == pytest.approx(0.1638707016, abs=1e-10)
    assert found.n_labels == 6


def test_a_probability_above_1_becomes_1_and_the_others_grow():
    """Three of four, u = 0, 0, 0 and .4: half of 3 · 1 goes to the last, and .375 to each.

    The last would have 1.875. With 1 for it, the other three share 2.
    """
    found = by_uncertainty(np.array([0, 0, 0, 0.4]), 3)

    assert found == pytest.approx([2 / 3, 2 / 3, 2 / 3, 1])


@pytest.mark.parametrize("doubts", [np.zeros(5), np.full(5, math.nan), np.full(5, 0.3)])
def test_without_a_difference_all_have_the_same_probability(doubts):
    assert by_uncertainty(doubts, 2) == pytest.approx(np.full(5, 0.4))


def test_what_is_not_known_counts_as_the_mean():
    found = by_uncertainty(np.array([0.1, 0.3, math.nan]), 1)

    # .5 / 3 · u / .2 + .5 / 3
    assert found == pytest.approx([0.25, 1.25 / 3, 1 / 3])


def test_strata_by_hand():
    """Two strata of four: means .05 and .5, so √(f (1 - f)) is .218 and .5.

    One dialog each, then five more to the largest share for each that is there: .872 and 2 of four
    dialogs. 2/1, 2/2, then .872/1 = .872 against 2/3 = .667, then 2/3, and all of the second are
    taken at 2/4 = .5 against .436.
    """
    scores = np.array([0.5, 0.0, 0.1, 0.5, 0.0, 0.5, 0.1, 0.5])

    found, strata = by_strata(scores, 6, 2)

    assert strata.tolist() == [1, 0, 0, 1, 0, 1, 0, 1]
    assert found == pytest.approx([1, 0.5, 0.5, 1, 0.5, 1, 0.5, 1])


def test_dialogs_without_a_score_are_a_stratum_and_can_be_drawn():
    found, strata = by_strata(np.array([0.1, 0.2, 0.8, 0.9, math.nan, math.nan]), 4, 2)

    assert strata.tolist() == [0, 0, 1, 1, 2, 2]
    assert found.sum() == pytest.approx(4)
    assert (found > 0).all()


def test_a_systematic_draw_by_hand():
    """Laid in the order 2, 0, 1, the ends are .5, .8 and 2: .6 is in dialog 0, and 1.6 in 1."""
    taken = systematic(np.array([0.3, 1.0, 0.7]), np.array([2, 0, 1]), 0.75)

    assert taken.tolist() == [True, True, False]


def drawn(random, probabilities):
    return systematic(probabilities, random.permutation(len(probabilities)), random.random())


def test_each_is_drawn_with_its_probability_and_means_are_right_on_average():
    """1,000 draws of 20 dialogs with two items: the score is bad, and the truth is .4 by counting.

    A share of 1,000 has an error of .016 at most, so .06 is beyond 3.5 of them.
    """
    random = np.random.default_rng(3)
    dialogs = np.repeat(np.arange(20), 2)
    answers = (np.arange(40) % 5 < 2).astype(float)
    scores = random.random(40)
    doubts = uncertainty(scores).reshape(20, 2).mean(axis=1)
    probabilities = by_uncertainty(doubts, 8)

    times, weighted, plain, by_difference = np.zeros(20), [], [], []
    for _ in range(1000):
        is_drawn = drawn(random, probabilities)
        times += is_drawn
        here = is_drawn[dialogs]
        statistics = mean_statistics(answers[here]) / probabilities[dialogs[here], np.newaxis]
        weighted.append(share_from(statistics.sum(axis=0)))
        plain.append(answers[here].mean())
        found = difference_estimate(answers, scores, dialogs, is_drawn, probabilities)
        by_difference.append(found.estimate)

    assert times.sum() == 8000  # the number is fixed
    assert times / 1000 == pytest.approx(probabilities, abs=0.06)
    assert np.mean(weighted) == pytest.approx(0.4, abs=0.012)
    assert np.mean(by_difference) == pytest.approx(0.4, abs=0.012)


def test_the_variance_is_that_of_draws_or_a_little_more():
    """Dialogs are drawn from a large population, so estimates vary as the variance says."""
    random = np.random.default_rng(5)
    estimates, variances_ = [], []
    for _ in range(400):
        scores = random.random(200)
        answers = (random.random(200) < scores).astype(float)
        probabilities = by_uncertainty(uncertainty(scores), 60)
        is_drawn = drawn(random, probabilities)
        found = difference_estimate(answers, scores, np.arange(200), is_drawn, probabilities)
        estimates.append(found.estimate)
        variances_.append(found.variance)

    assert np.mean(estimates) == pytest.approx(0.5, abs=0.01)
    assert 0.85 < np.var(estimates) / np.mean(variances_) < 1.15


def test_answers_that_are_missing_are_stood_for_by_those_that_are_there():
    """Two dialogs of two items with π = ½ and 1; one answer of the first is missing.

    f has the mean .5. The answers are .5 above the scores of the first dialog and as they are in
    the second. Weights are 2, 2, 1 and 1; those with an answer add up to 4: 2 · .5 / 4 = .25. The
    weights of drawn items are 6 of 4 items: .5 + 6/4 · .25.
    """
    found = difference_estimate(
        np.array([1, math.nan, 0.5, 0.5]),
        np.array([0.5, 0.5, 0.5, 0.5]),
        np.array([0, 0, 1, 1]),
        np.array([True, True]),
        np.array([0.5, 1]),
    )

    assert found.estimate == pytest.approx(0.875)
    assert found.n_labels == 3


def test_without_answers_there_is_no_estimate():
    found = difference_estimate(np.full(12, math.nan), SCORES, EACH, TAKEN, np.full(12, 0.5))

    assert math.isnan(found.estimate)

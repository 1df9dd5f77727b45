"""Planning by simulation from a pilot's votes: raters per response."""

import math
from functools import partial
from itertools import combinations

import numpy as np
import pytest

from evaluation.statistics.intervals import share_interval
from evaluation.statistics.pilot_simulation import raters_plans


def pilot(seed=1, n_dialogs=60, n_raters=5):
    """Return votes (no, yes) on three responses of each dialog, and dialogs."""
    random = np.random.default_rng(seed)
    yes = random.binomial(n_raters, random.choice([0.1, 0.5, 0.9], size=3 * n_dialogs))
    return np.column_stack([n_raters - yes, yes]), np.repeat(np.arange(n_dialogs), 3)


def test_fewer_raters_are_drawn_without_replacement():
    # Two dialogs, one with 3 of 5 yes, one with 1 of 5: all sets of 3 of the 5 raters.
    sets = list(combinations(range(5), 3))
    same = [sum(rater < 3 for rater in each) >= 2 for each in sets]  # the pilot's majority is yes
    same += [sum(rater < 1 for rater in each) < 2 for each in sets]  # it is no

    [plan] = raters_plans(
        np.array([[2, 3], [4, 1]]), np.array([0, 1]), raters=[3], n_dialogs=400, seed=1
    )

    # Four standard errors of 200 · 400 responses.
    assert plan.same_as_pilot == pytest.approx(np.mean(same), abs=4 * math.sqrt(0.25 / 80_000))
    assert plan.tied == 0
    assert not plan.is_extrapolated


def test_an_even_number_of_raters_leaves_responses_tied():
    # Two of the five raters, one of whom said yes: both said no in C(4, 2) of C(5, 2) sets.
    [plan] = raters_plans(
        np.array([[4, 1], [4, 1]]), np.array([0, 1]), raters=[2], n_dialogs=400, seed=1
    )

    assert plan.tied == pytest.approx(0.4, abs=4 * math.sqrt(0.24 / 80_000))
    assert plan.same_as_pilot == 1


def test_all_raters_give_the_pilots_majorities_and_its_interval():
    counts, dialogs = pilot()
    yes = (counts[:, 1] > counts[:, 0]).astype(float)
    sums = np.column_stack([yes, np.ones(180)]).reshape(60, 3, 2).sum(axis=1)
    low, high = share_interval(sums, most_items=180)

    [plan] = raters_plans(counts, dialogs, raters=[5], n_dialogs=60, seed=1)

    assert plan.same_as_pilot == 1
    assert plan.half_width == pytest.approx((high - low) / 2, rel=0.05)


def test_four_times_the_dialogs_halve_the_interval():
    counts, dialogs = pilot()

    few, many = (
        raters_plans(counts, dialogs, raters=[5], n_dialogs=n, seed=1)[0] for n in (100, 400)
    )

    assert many.half_width == pytest.approx(few.half_width / 2, rel=0.05)


def test_more_raters_than_the_pilot_had_are_a_guess():
    votes = np.array([[0, 5], [5, 0], [2, 3]])

    plans = raters_plans(votes, np.arange(3), raters=[1, 5, 7], n_dialogs=200, seed=1)

    assert [plan.n_raters for plan in plans] == [1, 5, 7]
    assert [plan.is_extrapolated for plan in plans] == [False, False, True]
    # With 2 and 3 votes, two further ones change the majority when both are no: .4².
    assert plans[2].same_as_pilot == pytest.approx(1 - 0.16 / 3, abs=4 * math.sqrt(0.05 / 40_000))


def test_plans_depend_on_the_seed_alone():
    counts, dialogs = pilot()
    plans = partial(raters_plans, counts, raters=[3, 7], n_dialogs=50, n_studies=5)

    again = plans(dialogs, seed=1)

    assert plans(dialogs, seed=1) == again
    assert plans(dialogs, seed=2) != again
    assert plans(10 * dialogs + 3, seed=1) == again


def test_responses_without_votes_are_left_out():
    counts, dialogs = pilot()
    with_holes = np.vstack([counts, np.zeros((4, 2))])
    plans = partial(raters_plans, raters=[3], n_dialogs=50, seed=1, n_studies=5)

    found = plans(with_holes, np.append(dialogs, [0, 1, 90, 91]))

    assert found == plans(counts, dialogs)


def test_without_votes_nothing_is_known():
    [plan] = raters_plans(np.zeros((2, 2)), np.arange(2), raters=[3], n_dialogs=9, seed=1)

    assert np.isnan([plan.half_width, plan.tied, plan.same_as_pilot]).all()


@pytest.mark.parametrize("votes", [[[1, 1]], [[1, 1], [1, 1]]])
def test_where_all_are_tied_there_is_no_interval(votes):
    plans = raters_plans(np.array(votes), np.arange(len(votes)), raters=[2], n_dialogs=9, seed=1)

    assert plans[0].tied == 1
    assert np.isnan([plans[0].half_width, plans[0].same_as_pilot]).all()

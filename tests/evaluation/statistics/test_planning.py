"""Planning by formula: the published numbers of ppi_py and evaluatellm, and hand calculations."""

import math

import numpy as np
import pytest
from statsmodels.stats.power import NormalIndPower

from evaluation.statistics.planning import (
    design_effect_of,
    deviation_of_difference,
    effective_labels,
    error_of_mean,
    labels_for_error,
    normal_quantile,
    pairs_for_difference,
    planned_lambda,
    power_of,
    rater_hours,
    split_for_effective_labels,
    split_of_budget,
    visible_difference,
)

# Labels and scores


def test_effective_labels_by_hand():
    # 100 · 1000 / (100 + 0.51 · 900)
    assert effective_labels(100, 900, 0.7) == pytest.approx(100_000 / 559)
    assert effective_labels(100, 900, 0) == 100
    assert effective_labels(100, 900, 1) == 1000
    assert effective_labels(100, 0, 0.7) == 100
    assert math.isnan(effective_labels(0, 900, 0.7))


@pytest.mark.parametrize(
    ("correlation", "score_cost", "n_labelled", "n_scored", "n_effective"),
    [(0.7, 0.01, 91, 802, 163), (0.9, 0.01, 83, 1628, 362), (0.3, 0.1, 100, 0, 100)],
)
def test_splits_of_a_budget_are_those_of_ppi_power(
    correlation, score_cost, n_labelled, n_scored, n_effective
):
    split = split_of_budget(correlation, 100, label_cost=1, score_cost=score_cost)

    assert split[:2] == (n_labelled, n_scored)
    assert round(split.n_effective) == n_effective
    assert split.cost == pytest.approx(n_labelled + (n_labelled + n_scored) * score_cost, abs=11)


def test_the_cheapest_split_is_that_of_ppi_power():
    split = split_for_effective_labels(0.9, 200, label_cost=1, score_cost=0.01)

    assert split[:2] == (46, 901)
    assert split.cost == pytest.approx(55.47)


def test_labels_alone_cost_no_scores():
    assert split_of_budget(0.3, 100, label_cost=1, score_cost=0.1).cost == 100
    assert split_for_effective_labels(0.3, 99.5, label_cost=2, score_cost=0.2) == (100, 0, 100, 200)
    assert split_of_budget(0, 100, label_cost=1, score_cost=0.01)[:2] == (100, 0)


@pytest.mark.parametrize("correlation", [0.2, 0.5, 0.8, -0.8])
@pytest.mark.parametrize("score_cost", [0.01, 0.1, 0.5])
def test_no_other_split_of_the_budget_is_better(correlation, score_cost):
    split = split_of_budget(correlation, 10_000, label_cost=1, score_cost=score_cost)

    best = 10_000.0  # labels alone
    for n_labelled in range(10, int(10_000 / (1 + score_cost)), 10):
        n_scored = (10_000 - n_labelled * (1 + score_cost)) / score_cost
        best = max(best, effective_labels(n_labelled, n_scored, correlation))

    assert split.n_effective == pytest.approx(best, rel=1e-3)


@pytest.mark.parametrize("given", [(1, 1, 0.1), (-1, 1, 0.1), (0.5, 0, 0.1), (0.5, 1, 0)])
def test_impossible_correlations_and_costs_are_refused(given):
    correlation, label_cost, score_cost = given

    with pytest.raises(ValueError, match="expected"):
        split_of_budget(correlation, 100, label_cost=label_cost, score_cost=score_cost)


# Labels for a standard error


def test_labels_for_an_error_are_those_of_evaluatellm():
    assert labels_for_error(0.01, 0.5, total=20_000) == 2500
    assert labels_for_error(0.01, 0.5, total=20_000, correlation=0.8) == 979
    assert planned_lambda(979, 20_000, 0.8) == pytest.approx(0.761, abs=5e-4)


def test_labels_for_a_half_width_by_hand():
    # 1.96² · .25 / .05² = 384.1
    error = 0.05 / normal_quantile(0.95)

    assert labels_for_error(error, 0.5, total=1000) == 385
    # 2.5 times as many items are needed in dialogs: 960.4, of 1000 or of 900
    assert labels_for_error(error, 0.5, total=1000, effect=2.5) == 961
    assert math.isnan(labels_for_error(error, 0.5, total=900, effect=2.5))
    assert math.isnan(labels_for_error(error, 0.5, total=300, correlation=0.9))


def test_labels_for_an_error_reach_it():
    n = labels_for_error(0.02, 0.4, total=5000, correlation=0.7, effect=1.8)

    # The variance with n and with n - 1 labels, by the number of effective labels.
    reached, missed = (
        0.4**2 * 1.8 / effective_labels(each, 5000 - each, 0.7) for each in (n, n - 1)
    )
    assert reached <= 0.02**2 < missed


# Comparisons


def test_comparisons_are_those_of_evaluatellm():
    deviation = deviation_of_difference(0.72, 0.70, 0.7)
    effect = design_effect_of(8, 0.25)

    assert deviation == pytest.approx(0.3515, abs=5e-5)
    assert effect == 2.75
    assert visible_difference(400, deviation, effect=effect) == pytest.approx(0.0816, abs=5e-5)
    assert pairs_for_difference(0.02, deviation, effect=effect) == 6667


@pytest.mark.parametrize("power", [0.8, 0.9])
@pytest.mark.parametrize("level", [0.95, 0.99])
def test_the_number_of_pairs_gives_the_power(power, level):
    n = pairs_for_difference(0.05, 0.4, level=level, power=power)

    # Statsmodels' test of one sample against a known mean; ratio 0 is one sample.
    test = NormalIndPower(ddof=0)
    given = {"alpha": 1 - level, "ratio": 0}
    assert test.power(0.05 / 0.4, n, **given) == pytest.approx(power, abs=2e-3)
    assert test.power(0.05 / 0.4, n, **given) >= power > test.power(0.125, n - 2, **given)
    assert visible_difference(n, 0.4, level=level, power=power) == pytest.approx(0.05, rel=2e-3)


def test_the_deviation_of_a_difference_is_that_of_pairs():
    # P(A) = .6, P(B) = .5, P(both) = .4: correlation .1 / √(.24 · .25)
    random = np.random.default_rng(1)
    drawn = random.choice(4, p=[0.4, 0.2, 0.1, 0.3], size=200_000)
    first, second = np.isin(drawn, [0, 1]), np.isin(drawn, [0, 2])

    expected = np.std(first.astype(int) - second)

    assert deviation_of_difference(0.6, 0.5, 0.1 / math.sqrt(0.06)) == pytest.approx(
        expected, rel=0.01
    )
    # .2 + .1 - .1²
    assert deviation_of_difference(0.6, 0.5, 0.1 / math.sqrt(0.06)) == pytest.approx(
        math.sqrt(0.29)
    )


def test_edges():
    assert math.isnan(visible_difference(0, 0.4))
    assert deviation_of_difference(0.5, 0.5, 1) == 0
    assert planned_lambda(10, 100, -0.5) == 0
    assert design_effect_of(1, 0.3) == 1


def test_rater_hours_by_hand():
    # 400 responses · 5 raters · 2 arms · 45 s = 180,000 s
    assert rater_hours(400, raters_per_response=5, n_arms=2, seconds_per_response=45) == 50


# What a number of labels or pairs gives


def test_the_error_of_979_labels_is_the_wanted_one():
    # evaluatellm: correlation .8, 20,000 items, se .01.
    expected = math.sqrt(0.25 / 979 * (1 - 0.64 * (20_000 - 979) / 20_000))

    error = error_of_mean(979, 0.5, total=20_000, correlation=0.8)

    assert error == pytest.approx(expected)
    assert error <= 0.01 < error_of_mean(978, 0.5, total=20_000, correlation=0.8)


def test_the_error_by_raters_alone_is_that_of_a_mean():
    assert error_of_mean(100, 0.5, total=math.inf) == pytest.approx(0.05)
    assert error_of_mean(100, 0.5, total=100, correlation=0.9, effect=4) == pytest.approx(0.1)
    assert error_of_mean(100, 0.5, total=50, correlation=0.9) == pytest.approx(0.05)
    assert math.isnan(error_of_mean(0, 0.5, total=100))


def test_the_planned_pairs_have_the_wanted_power():
    # 6,667 pairs detect a difference of 2 points with a power of 80 % (evaluatellm).
    deviation = deviation_of_difference(0.72, 0.70, 0.7)
    error = error_of_mean(6667, deviation, total=math.inf, effect=design_effect_of(8, 0.25))

    assert power_of(0.02, error) == pytest.approx(0.8, abs=1e-4)
    assert power_of(-0.02, error) == power_of(0.02, error)
    assert power_of(0.0, error) == pytest.approx(0.025)
    assert math.isnan(power_of(0.02, 0.0))

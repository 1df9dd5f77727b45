"""System-level correlation: the order of setups by people and by a metric."""

import math

import numpy as np
import pytest
from scipy import stats

from evaluation.statistics.intervals import percentile_interval, resample_dialogs
from evaluation.statistics.system_correlation import system_correlation

NAN = math.nan


def study(seed, n_dialogs=30, n_setups=6, noise=0.3):
    """Return answers, scores, setups and dialogs; each setup answers in each dialog."""
    random = np.random.default_rng(seed)
    dialogs, setups = (each.ravel() for each in np.indices((n_dialogs, n_setups)))
    human = (random.random(len(dialogs)) < 0.3 + 0.1 * setups).astype(float)
    score = np.clip(0.5 * human + random.normal(0.2, noise, len(dialogs)), 0, 1)
    return human, score, setups, dialogs


def means_of(values, setups):
    return [values[setups == setup].mean() for setup in np.unique(setups)]


@pytest.mark.parametrize("seed", range(5))
def test_correlations_are_those_of_scipy_over_means_of_setups(seed):
    human, score, setups, dialogs = study(seed)
    means = means_of(human, setups), means_of(score, setups)

    found = system_correlation(human, score, setups, dialogs, 30, seed=1)

    assert found.n_setups == 6
    assert found.tau == pytest.approx(stats.kendalltau(*means).statistic)
    assert found.spearman == pytest.approx(stats.spearmanr(*means).statistic)


def test_setups_with_equal_means_are_tied():
    # Means by people: 1/3, 2/3, 2/3, 1; by the metric: .1, .3, .2, .3.
    human = np.array([1, 0, 0, 1, 1, 0, 0, 1, 1, 1, 1, 1.0])
    score = np.repeat([0.1, 0.3, 0.2, 0.3], 3)
    setups, dialogs = np.repeat([5, 9, 2, 7], 3), np.tile(np.arange(3), 4)
    means = [1, 2, 2, 3], [1, 3, 2, 3]

    found = system_correlation(human, score, setups, dialogs, 3, seed=1)

    assert found.tau == pytest.approx(stats.kendalltau(*means).statistic)
    assert found.spearman == pytest.approx(stats.spearmanr(*means).statistic)


def test_the_interval_is_that_of_resampled_dialogs():
    human, score, setups, dialogs = study(7)
    taus, spearmans = [], []
    for weights in np.vstack(list(resample_dialogs(30, 200, 4))):
        drawn = np.repeat(np.arange(30), weights.astype(int))
        rows = np.concatenate([np.flatnonzero(dialogs == dialog) for dialog in drawn])
        by_setup = [means_of(values[rows], setups[rows]) for values in (human, score)]
        means = np.round(by_setup, 9)  # sums in another order differ by rounding errors
        taus.append(stats.kendalltau(*means).statistic)
        spearmans.append(stats.spearmanr(*means).statistic)

    found = system_correlation(human, score, setups, dialogs, 30, seed=4, n_resamples=200)

    of_tau = percentile_interval(np.array(taus), 30)
    of_spearman = percentile_interval(np.array(spearmans), 30)
    assert (found.tau_low, found.tau_high) == pytest.approx(of_tau)
    assert (found.spearman_low, found.spearman_high) == pytest.approx(of_spearman)


def test_responses_without_an_answer_or_a_score_are_left_out():
    human, score, setups, dialogs = study(3)
    holes = np.append(human, [NAN, 1.0]), np.append(score, [0.9, NAN])

    found = system_correlation(
        *holes, np.append(setups, [0, 9]), np.append(dialogs, [1, 1]), 30, seed=1
    )

    assert found == system_correlation(human, score, setups, dialogs, 30, seed=1)


def test_two_setups_have_no_correlation():
    human, score, setups, dialogs = study(3, n_setups=2)

    found = system_correlation(human, score, setups, dialogs, 30, seed=1)

    assert found.n_setups == 2
    assert np.isnan(found[1:]).all()


def test_equal_means_have_no_correlation():
    human, score, setups, dialogs = study(3)

    found = system_correlation(human, np.full(len(score), 0.1), setups, dialogs, 30, seed=1)

    assert np.isnan(found[1:]).all()


def test_an_order_that_no_resample_changes_has_no_interval():
    dialogs, setups = (each.ravel() for each in np.indices((30, 4)))
    human = setups / 4

    found = system_correlation(human, human, setups, dialogs, 30, seed=1)

    assert found.tau == found.spearman == pytest.approx(1)
    assert np.isnan([found.tau_low, found.spearman_high]).all()

"""Kendall's and Pearson's correlations and their intervals, against scipy."""

import math

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr

from evaluation.statistics.jackknife import jackknife_variance, wilson_in_range
from evaluation.statistics.rank_measures import Dialogs
from evaluation.statistics.segment_correlations import kendall, pearson

PUBLIC = {kendall: kendalltau, pearson: pearsonr}
# factor and lost of the variance of independent items: Bonett and Wright (2000), table 1
INDEPENDENT = {kendall: (0.437, 4), pearson: (1.0, 3)}


def related(seed, n=60, n_dialogs=15):
    """Return scores with ties, rater scores of five raters, and dialogs."""
    random = np.random.default_rng(seed)
    score = random.random(n).round(1)
    rater_score = random.binomial(5, 0.2 + 0.6 * score) / 5
    return score, rater_score, Dialogs(np.arange(n) % n_dialogs, n_dialogs)


@pytest.mark.parametrize("measure", PUBLIC)
@pytest.mark.parametrize("seed", range(3))
def test_correlation_equals_that_of_scipy_without_missing_items(measure, seed):
    score, rater_score, dialogs = related(seed)
    with_gaps = np.where(np.arange(60) % 7 == 0, math.nan, score)
    kept = ~np.isnan(with_gaps)

    found = measure(with_gaps, rater_score, dialogs)

    public = PUBLIC[measure](score[kept], rater_score[kept])
    assert found.value == pytest.approx(public.statistic, abs=1e-12)


@pytest.mark.parametrize("measure", PUBLIC)
def test_the_interval_leaves_out_each_dialog_once(measure):
    score, rater_score, dialogs = related(5)
    without = [
        PUBLIC[measure](score[there], rater_score[there]).statistic
        for each in range(dialogs.n)
        for there in [dialogs.of_items != each]
    ]
    value, (low, high) = measure(score, rater_score, dialogs)
    factor, lost = INDEPENDENT[measure]

    expected = wilson_in_range(
        value,
        jackknife_variance(np.array(without)),
        (-1.0, 1.0),
        most_items=(60 - lost) / factor / (1 - value**2),
        n_rarer=dialogs.n,
        n_dialogs=dialogs.n,
    )

    assert (low, high) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("measure", PUBLIC)
def test_correlation_is_undefined_without_variation_and_has_no_interval_of_few_dialogs(measure):
    dialogs = Dialogs(np.arange(6), 6)
    rising = np.arange(6.0)

    constant = measure(rising, np.ones(6), dialogs)
    two_differ = measure(rising, np.array([0.0, 0, 0, 0, 1, 1]), dialogs)
    nothing = measure(np.full(6, math.nan), rising, dialogs)

    assert math.isnan(constant.value)
    assert two_differ.value > 0
    assert math.isnan(two_differ.interval.low)
    assert math.isnan(nothing.value)

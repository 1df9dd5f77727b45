"""Means whose items come in dialogs: variance between dialogs, interval by t, design effect."""

import math

import numpy as np
import pytest
import statsmodels.api as sm

from evaluation.statistics.clustered_mean import (
    design_effect,
    mean_interval,
    t_interval,
    variance_of_mean,
)

NAN = math.nan
# Three dialogs. The mean is 3; deviations add up to -3 (= -2 - 1), 0 and 3.
VALUES = np.array([1.0, 2.0, 3.0, 5.0, 4.0])
DIALOGS = np.array([0, 0, 1, 2, 2])


def test_the_variance_by_hand():
    # 3 / 2 · (9 + 0 + 9) / 5²
    assert variance_of_mean(VALUES, DIALOGS, 3) == pytest.approx(1.08)


@pytest.mark.parametrize("seed", range(5))
def test_the_interval_is_that_of_a_regression_with_cluster_robust_errors(seed):
    random = np.random.default_rng(seed)
    dialogs = random.integers(20, size=60)
    values = random.normal(size=20)[dialogs] + random.normal(size=60)
    clusters = {"groups": dialogs}
    fit = sm.OLS(values, np.ones(60)).fit(cov_type="cluster", cov_kwds=clusters, use_t=True)

    assert variance_of_mean(values, dialogs, 25) == pytest.approx(fit.cov_params()[0, 0])
    assert mean_interval(values, dialogs, 25, 0.9) == pytest.approx(fit.conf_int(0.1)[0])


def test_with_one_item_in_each_dialog_it_is_the_usual_variance():
    assert variance_of_mean(VALUES, np.arange(5), 9) == pytest.approx(VALUES.var(ddof=1) / 5)


def test_items_without_a_value_are_left_out():
    with_holes, dialogs = np.append(VALUES, [NAN, NAN]), np.append(DIALOGS, [1, 3])

    assert mean_interval(with_holes, dialogs, 4) == mean_interval(VALUES, DIALOGS, 3)


@pytest.mark.parametrize("values", [[], [NAN, NAN], [1.0, 2.0], [1.0, 2.0, NAN], [2.0, 2.0, 2.0]])
def test_no_interval_without_two_dialogs_or_where_nothing_varies(values):
    dialogs = np.array([0, 0, 1])[: len(values)]

    assert np.isnan(mean_interval(np.array(values), dialogs, 2)).all()


def test_an_undefined_variance_has_no_interval():
    assert np.isnan(t_interval(0.5, NAN, 10)).all()


def test_the_design_effect_by_hand():
    # The variance of independent items: (4 + 1 + 0 + 4 + 1) / 4 / 5 = 0.5
    assert design_effect(VALUES, DIALOGS, 3) == pytest.approx(1.08 / 0.5)


def test_items_that_are_all_alike_in_a_dialog_count_once():
    # Four copies of each of 500 numbers: 1 + (4 - 1) · 1, but for the degrees of freedom.
    values = np.repeat(np.random.default_rng(1).normal(size=500), 4)

    assert design_effect(values, np.arange(2000) // 4, 500) == pytest.approx(4, rel=0.01)


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 1.0], [NAN, 1.0]])
def test_no_design_effect_where_nothing_varies(values):
    assert math.isnan(design_effect(np.array(values), np.arange(len(values)), 2))

"""Correlations in a pilot: by hand, and against numpy where there is one stratum."""

import math

import numpy as np
import pytest

from evaluation.statistics.clustered_mean import design_effect, intraclass_correlation
from evaluation.statistics.pilot_correlations import (
    pooled_correlation,
    pooled_icc,
    within_strata,
)

ONE = np.zeros(6, np.int64)
LABELS = np.array([1.0, 1, 0, 0, 1, 0])
SCORES = np.array([0.9, 0.6, 0.4, 0.2, 0.5, 0.6])


def test_values_lose_the_mean_of_their_stratum():
    values, strata = np.array([1.0, 3, math.nan, 10]), np.array([7, 7, 7, 2])

    assert within_strata(values, strata).tolist()[:2] == [-1, 1]
    assert math.isnan(within_strata(values, strata)[2])
    assert within_strata(values, strata)[3] == 0


def test_one_stratum_has_the_plain_correlation():
    assert pooled_correlation(LABELS, SCORES, ONE) == pytest.approx(
        np.corrcoef(LABELS, SCORES)[0, 1]
    )


def test_a_difference_of_strata_is_no_correlation():
    # Within both strata the scores do not follow the labels: the products are
    # .5 · .1 - .5 · .1 - ... = 0, although the second stratum is higher in both.
    labels = np.array([0.0, 0, 1, 1, 0, 1])
    scores = np.array([0.1, 0.3, 0.1, 0.3, 0.8, 0.8])
    strata = np.array([0, 0, 0, 0, 1, 1])

    assert math.isnan(pooled_correlation(labels[4:], scores[4:], strata[4:]))
    assert pooled_correlation(labels, scores, strata) == pytest.approx(0)


def test_unknown_values_are_left_out_and_what_does_not_vary_is_undefined():
    unknown = LABELS.copy()
    unknown[5] = math.nan

    assert pooled_correlation(unknown, SCORES, ONE) == pytest.approx(
        np.corrcoef(LABELS[:5], SCORES[:5])[0, 1]
    )
    assert math.isnan(pooled_correlation(np.ones(6), SCORES, ONE))
    assert math.isnan(pooled_correlation(LABELS[:0], SCORES[:0], ONE[:0]))


def test_the_icc_by_hand():
    # Four dialogs of two equal labels: the mean is 1/2, and each dialog contributes ± 1 / 8. So
    # the variance is 4/3 · 4/64 = 1/12, that of independent items (8/4 / 7) / 8 = 1/28, and the
    # design effect is 7/3. (7/3 - 1) / (2 - 1) = 4/3 is limited to 1.
    labels, dialogs = np.repeat([1.0, 0, 1, 0], 2), np.repeat(np.arange(4), 2)

    assert design_effect(labels, dialogs, 4) == pytest.approx(7 / 3)
    assert intraclass_correlation(labels, dialogs, 4) == 1


def test_labels_that_cancel_out_in_their_dialogs_have_no_icc_above_0():
    assert intraclass_correlation(np.tile([1.0, 0], 4), np.repeat(np.arange(4), 2), 4) == 0


def test_the_icc_of_simulated_dialogs_is_the_true_one():
    random = np.random.default_rng(3)
    dialogs = np.repeat(np.arange(2000), 4)
    shared, own = random.normal(size=2000)[dialogs], random.normal(size=8000)
    values = math.sqrt(0.3) * shared + math.sqrt(0.7) * own

    assert intraclass_correlation(values, dialogs, 2000) == pytest.approx(0.3, abs=0.02)
    # A stratum with another mean changes nothing.
    strata = dialogs % 2
    assert pooled_icc(values + 5 * strata, strata, dialogs) == pytest.approx(0.3, abs=0.02)


def test_without_two_items_in_a_dialog_there_is_no_icc():
    assert math.isnan(intraclass_correlation(LABELS, np.arange(6), 6))
    assert math.isnan(pooled_icc(LABELS[:0], ONE[:0], ONE[:0]))

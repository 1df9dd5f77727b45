"""Merged against separate: accuracy, McNemar, Holm, visible shifts and the test of direction."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from evaluation.statistics.intervals import share_from
from evaluation.statistics.uncertainty import (
    accuracy_statistics,
    benjamini_hochberg,
    contrast_by_dialog,
    direction,
    holm,
    mcnemar_mid_p,
    mcnemar_p,
    visible_shift,
)

NAN = math.nan
N_PERMUTATIONS = 10_000

# The worked example of docs/metrics.md: three dialogs, setups 0 and 7, rater scores of five.
#                        dialog 0    dialog 1    dialog 2
DIFFERENCES = np.array([0.4, -0.2, 0.2, 0.0, 0.6, -0.4])  # merged - separate
SETUPS = np.array([0, 7, 0, 7, 0, 7])
DIALOGS = np.array([0, 0, 1, 1, 2, 2])


# Accuracy


def test_accuracy_is_over_items_that_both_arms_decide():
    separate = np.array([1, 1, 0, 0, NAN, 1, NAN])
    merged = np.array([1, 0, 0, 1, 1, NAN, NAN])

    statistics = accuracy_statistics(separate, merged)

    assert statistics.tolist() == [[1, 1], [0, 1], [1, 1], [0, 1], [0, 0], [0, 0], [0, 0]]
    assert share_from(statistics.sum(axis=0)) == 1 / 2


# McNemar


@pytest.mark.parametrize(("n_up", "n_down"), list(product([0, 1, 2, 5, 6, 7, 30, 400], repeat=2)))
def test_mcnemar_equals_the_exact_test_of_statsmodels(n_up, n_down):
    expected = mcnemar([[9, n_up], [n_down, 9]], exact=True).pvalue

    assert mcnemar_p(n_up, n_down) == pytest.approx(expected, abs=1e-12)


def test_mcnemar_by_hand():
    # 7 up, 1 down: 2 * (1 + 8) / 2^8
    assert mcnemar_p(7, 1) == pytest.approx(18 / 256)
    assert mcnemar_p(1, 7) == mcnemar_p(7, 1)


def test_without_discordant_pairs_nothing_speaks_against_chance():
    assert mcnemar_p(0, 0) == 1


def test_negative_counts_are_refused():
    with pytest.raises(ValueError, match="3 up and -1 down"):
        mcnemar_p(3, -1)


@pytest.mark.parametrize(("n_up", "n_down"), list(product([0, 1, 2, 5, 6, 7, 30, 400], repeat=2)))
def test_the_mid_p_value_takes_off_the_probability_of_the_observed_number(n_up, n_down):
    exact = mcnemar([[9, n_up], [n_down, 9]], exact=True).pvalue
    observed = binom.pmf(n_up, n_up + n_down, 0.5)

    # With equal numbers, the two tails have the observed one in common: both mid-ps make up 1.
    expected = 1 if n_up == n_down else exact - observed
    assert mcnemar_mid_p(n_up, n_down) == pytest.approx(expected, abs=1e-12)


def test_the_mid_p_value_by_hand():
    # 7 up, 1 down: 2 · (1 + 8) / 2^8 - 8 / 2^8
    assert mcnemar_mid_p(7, 1) == mcnemar_mid_p(1, 7) == pytest.approx(10 / 256)
    assert mcnemar_mid_p(0, 3) == pytest.approx(1 / 8)
    assert mcnemar_mid_p(0, 0) == 1


# Holm


@pytest.mark.parametrize("seed", range(20))
def test_holm_equals_statsmodels(seed):
    random = np.random.default_rng(seed)
    p_values = np.round(random.random(7) ** 3, 2)  # some are equal

    assert holm(p_values.tolist()) == pytest.approx(multipletests(p_values, method="holm")[1])


def test_holm_by_hand():
    # 0.01 * 3; max(0.03, 0.02 * 2); max(0.04, 0.03 * 1)
    assert holm([0.02, 0.01, 0.03]) == pytest.approx([0.04, 0.03, 0.04])


def test_a_test_that_was_not_made_does_not_count():
    assert holm([NAN, 0.02, NAN, 0.01]) == pytest.approx([NAN, 0.02, NAN, 0.02], nan_ok=True)
    assert holm([NAN]) == pytest.approx([NAN], nan_ok=True)
    assert holm([]) == []


@pytest.mark.parametrize("seed", range(20))
def test_benjamini_hochberg_equals_statsmodels(seed):
    random = np.random.default_rng(seed)
    p_values = np.round(random.random(7) ** 3, 2)  # some are equal

    expected = multipletests(p_values, method="fdr_bh")[1]

    assert benjamini_hochberg(p_values.tolist()) == pytest.approx(expected)


def test_benjamini_hochberg_by_hand():
    # 0.01 · 3; min(0.04, 0.02 · 3 / 2); 0.04 · 3 / 3; a test that was not made does not count
    assert benjamini_hochberg([0.02, 0.01, NAN, 0.04]) == pytest.approx(
        [0.03, 0.03, NAN, 0.04], nan_ok=True
    )
    assert benjamini_hochberg([NAN]) == pytest.approx([NAN], nan_ok=True)
    assert benjamini_hochberg([]) == []


# What shift could have been seen


@pytest.mark.parametrize("n_discordant", range(41))
@pytest.mark.parametrize("level", [0.05, 0.05 / 7])
def test_the_visible_shift_is_the_smallest_significant_one(n_discordant, level):
    ups = np.arange(n_discordant + 1)
    shifts = [
        abs(2 * up - n_discordant) / 100
        for up in ups
        if mcnemar([[0, up], [n_discordant - up, 0]], exact=True).pvalue <= level
    ]

    expected = min(shifts, default=NAN)

    assert visible_shift(100, n_discordant, level) == pytest.approx(expected, nan_ok=True)


def test_five_discordant_pairs_never_suffice():
    assert math.isnan(visible_shift(100, 5, 0.05))
    assert visible_shift(100, 6, 0.05) == 6 / 100  # 2 / 2^6 = 0.03
    assert visible_shift(100, 8, 0.05) == 8 / 100  # 7 to 1: 0.07
    assert visible_shift(100, 9, 0.05) == 7 / 100  # 8 to 1: 2 * 10 / 2^9 = 0.039


def test_without_pairs_no_shift_is_visible():
    assert math.isnan(visible_shift(0, 0, 0.05))


# Direction


def test_contrasts_of_dialogs_add_up_to_the_difference_of_shifts():
    contrasts = contrast_by_dialog(DIFFERENCES, SETUPS, DIALOGS, 3, setup=0)

    # shifts 0.4 and -0.2; a dialog adds (its difference at 0 - its difference at 7) / 3
    assert contrasts == pytest.approx([0.2, 0.2 / 3, 1 / 3])
    assert contrasts.sum() == pytest.approx(0.6)


def test_with_more_setups_each_is_held_against_the_mean_of_the_rest():
    random = np.random.default_rng(1)
    differences, setups = random.normal(size=60), random.integers(3, size=60)
    differences[::7] = NAN
    dialogs = random.integers(20, size=60)
    shift = [np.nanmean(differences[setups == setup]) for setup in range(3)]

    contrasts = contrast_by_dialog(differences, setups, dialogs, 25, setup=1)

    assert contrasts.shape == (25,)
    assert contrasts[20:].tolist() == [0] * 5
    assert contrasts.sum() == pytest.approx(shift[1] - (shift[0] + shift[2]) / 2)


def test_undefined_differences_are_left_out():
    with_holes = np.append(DIFFERENCES, [NAN, NAN])
    setups, dialogs = np.append(SETUPS, [0, 9]), np.append(DIALOGS, [1, 1])

    assert contrast_by_dialog(with_holes, setups, dialogs, 3, 0).tolist() == pytest.approx(
        contrast_by_dialog(DIFFERENCES, SETUPS, DIALOGS, 3, 0).tolist()
    )


@pytest.mark.parametrize("setup", [3, 0])
def test_without_the_setup_or_without_a_rest_there_is_no_contrast(setup):
    only = SETUPS == 0

    contrasts = contrast_by_dialog(DIFFERENCES[only], SETUPS[only], DIALOGS[only], 3, setup)

    assert np.isnan(contrasts).all()
    assert math.isnan(direction(contrasts, seed=1).p)
    assert math.isnan(direction(contrasts, seed=1).visible)


def exact_p(contrasts):
    """Return the share of all patterns of signs that are as far from 0, equal sums by dialogs."""
    found = far(contrasts)
    patterns = product([1, -1], repeat=len(contrasts))
    return np.mean([far(np.array(signs) * contrasts) >= found for signs in patterns])


def far(contrasts):
    total = round(float(contrasts.sum()), 9)
    return abs(total), float(np.sign(contrasts).sum() * np.sign(total))


def monte_carlo(p):
    """Return four Monte-Carlo errors of p."""
    return 4 * math.sqrt(p * (1 - p) / N_PERMUTATIONS) + 1e-3


def test_direction_of_the_worked_example():
    found = direction(contrast_by_dialog(DIFFERENCES, SETUPS, DIALOGS, 3, 0), seed=1)

    # 2 of 8 patterns of signs, all plus and all minus, give a sum of 0.6
    assert found.p == pytest.approx(2 / 8, abs=monte_carlo(1 / 4))
    deviation = math.sqrt(0.2**2 + (0.2 / 3) ** 2 + (1 / 3) ** 2)
    assert found.visible == pytest.approx((1.960 + 0.842) * deviation, rel=1e-3)


def test_a_stricter_level_sees_less():
    contrasts = contrast_by_dialog(DIFFERENCES, SETUPS, DIALOGS, 3, 0)

    usual, strict = direction(contrasts, seed=1), direction(contrasts, seed=1, level=0.05 / 7)

    # The normal quantile of 1 - .05 / 14 is 2.690.
    assert strict.visible / usual.visible == pytest.approx((2.690 + 0.842) / 2.802, rel=1e-3)
    assert strict.p == usual.p


@pytest.mark.parametrize("seed", range(12))
def test_direction_is_the_share_of_sign_patterns_as_far_from_0(seed):
    random = np.random.default_rng(seed)
    contrasts = random.integers(-3, 5, size=10) / 5  # some are equal, some are 0
    if seed % 2:
        contrasts = random.normal(0.5, 1, size=10)

    expected = exact_p(contrasts)

    assert direction(contrasts, seed=seed).p == pytest.approx(expected, abs=monte_carlo(expected))


def test_direction_is_two_sided():
    contrasts = np.random.default_rng(3).normal(0.3, 1, size=30)

    assert direction(contrasts, seed=1).p == direction(-contrasts, seed=1).p


def test_p_is_never_0():
    assert direction(np.ones(100), seed=1).p == 1 / (1 + N_PERMUTATIONS)
    assert direction(np.ones(100), seed=1, n_permutations=9).p == 1 / 10


@pytest.mark.parametrize(("level", "quantiles"), [(0.05, 2.802), (0.05 / 7, 3.532)])
def test_the_visible_shift_is_seen_with_80_percent_power(level, quantiles):
    random = np.random.default_rng(4)
    noise = random.normal(size=(400, 100)) / 100  # studies × dialogs; a shift is their sum
    visible = quantiles * math.sqrt(100) / 100

    found = [
        direction(each + visible / 100, seed=1, n_permutations=2000).p < level for each in noise
    ]

    # four Monte-Carlo errors: 4 * sqrt(.8 * .2 / 400)
    assert np.mean(found) == pytest.approx(0.8, abs=0.08)


def test_where_nothing_differs_there_is_no_direction():
    found = direction(np.zeros(10), seed=1)

    assert found.p == 1
    assert math.isnan(found.visible)


def test_without_dialogs_there_is_no_test():
    assert math.isnan(direction(np.zeros(0), seed=1).p)


def test_direction_depends_on_the_seed_alone():
    contrasts = np.random.default_rng(5).normal(0.2, 1, size=50)

    assert direction(contrasts, seed=1) == direction(contrasts, seed=1)
    assert direction(contrasts, seed=1) != direction(contrasts, seed=2)


@pytest.mark.parametrize("decimals", [1, 9])  # many equal contrasts, and none
def test_the_order_of_dialogs_does_not_change_the_direction(decimals):
    contrasts = np.random.default_rng(6).normal(0.02, 1, size=3000).round(decimals)

    one, other = direction(contrasts, seed=1), direction(contrasts[::-1], seed=1)

    assert one.p == other.p
    assert one.visible == pytest.approx(other.visible)


def test_equal_contrasts_that_are_turned_together_have_the_same_p():
    contrasts = np.random.default_rng(6).normal(0.02, 1, size=3000).round(1)
    slightly_apart = contrasts + np.arange(3000) * 1e-8

    together, one_by_one = (direction(each, seed=1).p for each in (contrasts, slightly_apart))

    assert 0.01 < together < 0.5
    assert together == pytest.approx(one_by_one, abs=0.02)


def test_of_equal_sums_more_dialogs_are_stronger_evidence():
    # sums of 2 with four dialogs that agree: 1/2 + 1/2 + 1/2 + 1/2; or with 1 + 1 + 1/2 - 1/2
    agreeing, contrary = np.array([1, 1, 1, 1]) / 2, np.array([1, 1, 0.5, -0.5])

    # all 4 alike: 2 of 16 patterns. Sums of 2 or more: 3 (twice), 2 with 3 to 1 dialogs (4 times)
    assert direction(agreeing, seed=1).p == pytest.approx(2 / 16, abs=monte_carlo(1 / 8))
    assert direction(contrary, seed=1).p == pytest.approx(6 / 16, abs=monte_carlo(3 / 8))

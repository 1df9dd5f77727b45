"""Differences of pairs of setups, and movements along and across curves of equal F1, by hand."""

import math

import numpy as np
import pytest

from evaluation.measures.tradeoff import statistics_of
from evaluation.measures.tradeoff_effects import (
    across,
    along,
    attribution_difference,
    beside,
    f1_difference,
    f1_differences,
    move_class,
    pair_statistics,
    sensibleness_difference,
    share_favourable,
)
from evaluation.statistics.intervals import UNDEFINED, Interval
from tests.evaluation.statistics.one_figure import bootstrap_interval

NAN = math.nan
ROOT = math.sqrt(2)


def moved(start, end):
    """Return the sums of a pair of 100 examples that moves from (A, S) to (A, S)."""
    return np.array([100 * end[0], 100 * end[1], 100, 100 * start[0], 100 * start[1], 100.0])


def stats(attribution, sensibleness):
    return statistics_of(np.array(attribution, float), np.array(sensibleness, float))


# --- differences ----------------------------------------------------------------------------


def test_both_sides_are_over_the_examples_that_both_know():
    golden = stats([1, 1, 1, NAN], [1, 1, 0, 1])
    without = stats([1, 0, NAN, 0], [1, 0, 1, 0])

    sums = pair_statistics(golden, without).sum(axis=0)

    # Known to both: the first two. Golden A = S = 1; without A = S = 1/2.
    np.testing.assert_array_equal(sums, [2, 2, 2, 1, 1, 2])
    assert f1_difference(sums) == pytest.approx(1 - 1 / 2)
    assert attribution_difference(sums) == pytest.approx(1 / 2)


def test_the_mean_is_over_pairs_and_not_over_examples():
    # F1 of (.5, .5) is .5; of (1, 1) is 1; of (.2, .8): 2 · .16 / 1 = .32; of (.4, .4) is .4.
    pairs = [moved((0.5, 0.5), (1, 1)), moved((0.2, 0.8), (0.4, 0.4)) / 10]

    sums = beside([pair[np.newaxis] for pair in pairs])[0]

    np.testing.assert_allclose(f1_differences(sums), [0.5, 0.08])
    assert f1_difference(sums) == pytest.approx((0.5 + 0.08) / 2)
    assert attribution_difference(sums) == pytest.approx((0.5 + 0.2) / 2)
    assert sensibleness_difference(sums) == pytest.approx((0.5 - 0.4) / 2)


def test_a_pair_without_an_f1_is_left_out_of_the_mean():
    # (0, 0) has no F1: 0 / 0. Its shares are defined all the same.
    sums = np.concatenate([moved((0, 0), (0.5, 0.5)), moved((0.5, 0.5), (1, 1))])

    assert f1_difference(sums) == pytest.approx(0.5)
    assert attribution_difference(sums) == pytest.approx((0.5 + 0.5) / 2)
    assert np.isnan(f1_difference(moved((0, 0), (0.5, 0.5))))
    assert np.isnan(f1_difference(np.zeros(6)))


def test_measures_take_many_resamples_at_once():
    sums = np.array([moved((0.5, 0.5), (1, 1)), moved((1, 1), (0.5, 0.5))])

    np.testing.assert_allclose(f1_difference(sums), [0.5, -0.5])
    np.testing.assert_allclose(across(sums), [ROOT / 2, -ROOT / 2])


def test_two_setups_that_are_alike_differ_by_nothing_and_nothing_more_is_known():
    same = stats([1, 0, 1, 1, 0, 1], [1, 1, 0, 1, 0, 1])

    interval = bootstrap_interval(
        pair_statistics(same, same), np.arange(6), 6, f1_difference, seed=0, n_resamples=100
    )

    assert f1_difference(pair_statistics(same, same).sum(axis=0)) == 0
    assert np.isnan(interval).all()


@pytest.mark.parametrize(
    ("differences", "share"), [([0.1, -0.1, 0, NAN], 1 / 3), ([NAN], NAN), ([], NAN)]
)
def test_favourable_is_above_zero(differences, share):
    assert share_favourable(np.array(differences)) == pytest.approx(share, nan_ok=True)


# --- movements ------------------------------------------------------------------------------


def test_a_move_on_a_curve_of_equal_f1_is_along_it():
    # (.4, .6) and (.6, .4) have the F1 .48; their middle is (.5, .5): F1 rises by (1, 1) / √2.
    sums = moved((0.4, 0.6), (0.6, 0.4))

    assert across(sums) == pytest.approx(0)
    assert along(sums) == pytest.approx(0.2 * ROOT)  # (.2, -.2) · (1, -1) / √2
    assert f1_difference(sums) == pytest.approx(0)


def test_a_move_straight_up_the_gradient_is_across():
    # Middle (.6, .3): F1 rises by (S², A²) = (.09, .36), that is (1, 4) / √17.
    # From (.59, .26) to (.61, .34): (.02, .08) = .02 · (1, 4).
    sums = moved((0.59, 0.26), (0.61, 0.34))

    assert across(sums) == pytest.approx(0.02 * math.sqrt(17))
    assert along(sums) == pytest.approx(0)


def test_a_move_of_attribution_alone_has_both_components():
    # Middle (.4, .2): rises by (.04, .16), (1, 4) / √17; the step is (.2, 0).
    sums = moved((0.3, 0.2), (0.5, 0.2))

    assert across(sums) == pytest.approx(0.2 / math.sqrt(17))
    assert along(sums) == pytest.approx(0.2 * 4 / math.sqrt(17))


def test_a_chord_of_a_bent_curve_is_nearly_along_it():
    # F1 = .6: A = .5 needs S = .3 / (1 - .6) = .75; A = .6 needs S = .36 / .6 = .6.
    # Middle (.55, .675): (.455625, .3025), length √.2991…; (.1, -.15) across it:
    # (.0455625 - .045375) / .546897 = .000343.
    sums = moved((0.5, 0.75), (0.6, 0.6))

    assert across(sums) == pytest.approx(0.0001875 / math.hypot(0.455625, 0.3025))
    assert along(sums) > 500 * across(sums)


def test_there_is_no_movement_where_nothing_is_attributable_or_sensible():
    assert np.isnan(across(moved((0, 0), (0, 0))))
    assert np.isnan(along(np.zeros(6)))
    # From nothing to (.5, .5) the middle is (.25, .25).
    assert across(moved((0, 0), (0.5, 0.5))) == pytest.approx(0.5 * ROOT)


CLEAR, DOWN = Interval(0.1, 0.3), Interval(-0.3, -0.1)
UNCLEAR = Interval(-0.1, 0.3)


@pytest.mark.parametrize(
    ("components", "intervals", "expected"),
    [
        ((0.2, 0.05), (CLEAR, CLEAR), "across"),  # .05 is less than half of .2
        ((0.2, 0.1), (CLEAR, CLEAR), "both"),  # just half
        ((0.1, -0.2), (CLEAR, DOWN), "both"),
        ((0.2, 0.2), (CLEAR, CLEAR), "both"),
        ((-0.2, 0.1), (DOWN, UNCLEAR), "both"),  # the unclear part is half of the clear one
        ((-0.2, 0.09), (DOWN, UNCLEAR), "across"),
        ((0.09, -0.2), (UNCLEAR, DOWN), "along"),
        ((0.2, 0.15), (UNCLEAR, CLEAR), "both"),  # not along: its F1 may change as much
        ((0.2, 0.05), (UNCLEAR, CLEAR), "no clear move"),  # clear, but small beside it
        ((0.2, 0.1), (UNCLEAR, UNCLEAR), "no clear move"),
        ((NAN, 0.1), (CLEAR, CLEAR), None),
        ((0.0, -0.2), (UNDEFINED, DOWN), "along"),  # in no resample does it move across
        ((0.2, 0.1), (UNDEFINED, UNDEFINED), None),
    ],
)
def test_a_move_is_named_after_the_part_that_is_twice_the_other(components, intervals, expected):
    assert move_class(*components, *intervals) == expected


def test_a_move_far_up_on_flat_curves_is_both():
    # From (.13, .30) to (.92, .40): middle (.525, .35), F1 rises by (.35², .525²) =
    # (.1225, .275625), length .30162. Across: (.79 · .1225 + .1 · .275625) / .30162 = .412;
    # along: (.79 · .275625 - .1 · .1225) / .30162 = .681. .412 is more than half of .681.
    components = components_of((0.13, 0.30), (0.92, 0.40))

    assert components == pytest.approx((0.412, 0.681), abs=0.001)
    assert move_class(*components, CLEAR, CLEAR) == "both"


def test_a_move_that_gains_nearly_nothing_is_along_without_an_exchange():
    # From (.20, .85) to (.20, .95): middle (.2, .9), F1 rises by (.81, .04), length .810987.
    # Across: .1 · .04 / .810987 = .005; along: -.1 · .81 / .810987 = -.1.
    components = components_of((0.20, 0.85), (0.20, 0.95))

    assert components == pytest.approx((0.005, -0.1), abs=0.001)
    assert move_class(*components, CLEAR, DOWN) == "along"
    # One example that changes makes it an exchange, and no other class.
    assert move_class(*components_of((0.20, 0.85), (0.19, 0.95)), CLEAR, DOWN) == "along"


def components_of(start, end) -> tuple[float, float]:
    sums = moved(start, end)
    return float(across(sums)), float(along(sums))

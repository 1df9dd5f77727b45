"""Mixing golden and non-evidence by recall: each point worked out by hand."""

import math

import numpy as np
import pytest

from evaluation.measures.recall_mixing import (
    Between,
    PointMixing,
    between,
    course_of,
    figures_of,
    golden_of_top_k_from,
    mixed,
    share_of_top_k,
    top_1_from,
    top_k_from,
)

NAN = math.nan

# Ten examples of each setup, as sums: (attributable, sensible, 10).
GOLDEN = [8, 6, 10]  # at s: attribution .8, sensibleness .6
NON_EVIDENCE = [2, 9, 10]  # at s: .2, .9
BELOW = [10, 3, 10]  # golden at the measured share below s': 1, .3
ABOVE = [9, 5, 10]  # golden at the one above: .9, .5
SUMS = np.array([*GOLDEN, *NON_EVIDENCE, *BELOW, *ABOVE], float)
MIXING = PointMixing(at_1=0.7, at_k=0.9, weight=0.5)


def test_the_grey_line_is_between_non_evidence_and_golden():
    # .7 · .8 + .3 · .2 = .56 + .06 = .62;  .7 · .6 + .3 · .9 = .42 + .27 = .69
    assert mixed(np.array([0.8, 0.6]), np.array([0.2, 0.9]), 0.7) == pytest.approx([0.62, 0.69])
    assert top_1_from(SUMS, MIXING) == pytest.approx([0.62, 0.69])


@pytest.mark.parametrize(("recall", "expected"), [(0.0, [0.2, 0.9]), (1.0, [0.8, 0.6])])
def test_recall_of_0_is_non_evidence_and_of_1_golden(recall, expected):
    assert top_1_from(SUMS, MIXING._replace(at_1=recall)) == pytest.approx(expected)


def test_the_red_line_goes_to_golden_at_the_share_that_k_passages_leave():
    # s' half way between the two measured: (1 + .9) / 2 = .95 and (.3 + .5) / 2 = .4.
    assert golden_of_top_k_from(SUMS, MIXING) == pytest.approx([0.95, 0.4])
    # .9 · .95 + .1 · .2 = .855 + .02 = .875;  .9 · .4 + .1 · .9 = .36 + .09 = .45
    assert top_k_from(SUMS, MIXING) == pytest.approx([0.875, 0.45])


def test_golden_lies_nearer_to_the_share_that_weighs_more():
    # A quarter of the way up: .75 · 1 + .25 · .9 = .975 and .75 · .3 + .25 · .5 = .35.
    nearer = MIXING._replace(weight=0.25)
    assert golden_of_top_k_from(SUMS, nearer) == pytest.approx([0.975, 0.35])


def test_figures_are_the_mixed_shares_their_f1_and_top_k_minus_top_1():
    found = {name: float(measure(SUMS)) for name, measure in figures_of(MIXING).items()}

    # F1 is of the mixed shares: 2 · .62 · .69 / (.62 + .69), 2 · .875 · .45 / (.875 + .45).
    f1_1, f1_k = 0.8556 / 1.31, 0.7875 / 1.325
    assert found == pytest.approx(
        {
            "top_1_attribution": 0.62,
            "top_k_attribution": 0.875,
            "delta_attribution": 0.875 - 0.62,
            "top_1_sensibleness": 0.69,
            "top_k_sensibleness": 0.45,
            "delta_sensibleness": 0.45 - 0.69,
            "top_1_f1": f1_1,
            "top_k_f1": f1_k,
            "delta_f1": f1_k - f1_1,
        }
    )


def test_figures_take_many_resamples_at_once():
    delta = figures_of(MIXING)["delta_attribution"]

    # In the second, everything is twice as much: the same shares.
    np.testing.assert_allclose(delta(np.stack([SUMS, 2 * SUMS])), [0.255, 0.255])


def test_golden_that_is_not_measured_leaves_top_k_undefined():
    unknown = MIXING._replace(weight=NAN)

    assert np.isnan(top_k_from(SUMS, unknown)).all()
    assert top_1_from(SUMS, unknown) == pytest.approx([0.62, 0.69])
    assert math.isnan(figures_of(unknown)["delta_f1"](SUMS))


@pytest.mark.parametrize(
    ("share", "k", "expected"),
    [
        (0.8, 3, 0.4),  # 1 - s = .2, three times: .6 of the evidence
        (0.9, 3, 0.7),
        (0.7, 3, 0.1),
        (0.6, 3, 0.0),  # 3 · .4 = 1.2: all of it, and no more
        (1.0, 3, 1.0),  # no evidence, k times
        (0.0, 2, 0.0),
        (0.3, 1, 0.3),  # top 1 leaves what it had
    ],
)
def test_k_passages_take_k_times_the_evidence(share, k, expected):
    assert share_of_top_k(share, k) == pytest.approx(expected)


@pytest.mark.parametrize(("share", "k"), [(1.1, 3), (-0.1, 3), (0.5, 0)])
def test_shares_and_k_out_of_range_are_refused(share, k):
    with pytest.raises(ValueError, match=f"share {share} and k {k}"):
        share_of_top_k(share, k)


def test_a_share_is_measured_or_between_two_that_are():
    measured = [1.0, 0.8, 0.4, 0.0]

    assert between(1 - 0.2 * 3, measured) == Between(0.4, 0.4, 0.0)  # .39999…, which is .4
    # .7 is three quarters of the way from .4 to .8.
    assert between(0.7, measured) == pytest.approx((0.4, 0.8, 0.75))
    assert between(0.5, [1.0, 0.8, 0.6]) is None
    assert between(0.5, []) is None


def test_a_curve_of_equal_f1_has_no_range_of_f1_and_every_step_is_opposed():
    # 2 · .4 · .8 / 1.2 = .5333 both ways round; 2 · S² / 2S = S on the diagonal.
    diagonal = 0.64 / 1.2

    course = course_of(np.array([[0.4, 0.8], [diagonal, diagonal], [0.8, 0.4]]))

    assert course.f1_range == pytest.approx(0)
    assert course.attribution_range == course.sensibleness_range == pytest.approx(0.4)
    assert (course.n_opposed, course.n_steps) == (2, 2)


def test_a_curve_that_loses_both_shares_moves_across():
    # F1: 2 · .8 · .8 / 1.6 = .8, then 2 · .4 · .4 / .8 = .4; the third point is not known.
    course = course_of(np.array([[0.8, 0.8], [0.4, 0.4], [NAN, 0.5]]))

    assert (course.lowest_f1, course.highest_f1) == pytest.approx((0.4, 0.8))
    assert course.f1_range == pytest.approx(0.4)
    assert (course.n_opposed, course.n_steps, course.n_points) == (0, 1, 2)


def test_a_curve_without_points_has_no_range():
    course = course_of(np.empty((0, 2)))

    assert math.isnan(course.f1_range)
    assert math.isnan(course.attribution_range)
    assert (course.n_opposed, course.n_steps, course.n_points) == (0, 0, 0)

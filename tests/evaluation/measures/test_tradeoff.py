"""Shares, their F1, and curves of equal F1, by hand."""

import math

import numpy as np
import pytest

from evaluation.measures.tradeoff import (
    attribution_from,
    f1,
    f1_from,
    iso_f1,
    sensibleness_from,
    statistics_of,
)

NAN = math.nan


def test_f1_is_that_of_the_two_shares_and_no_mean_over_examples():
    # Attributable: 3 of 4; sensible: 2 of 4. F1 = 2 · 0.75 · 0.5 / 1.25 = 0.6. As a mean over
    # examples it would be (1 + 0 + 0 + 1) / 4 = 0.5.
    rows = statistics_of(np.array([1.0, 1, 0, 1]), np.array([1.0, 0, 0, 1]))

    sums = rows.sum(axis=0)

    assert attribution_from(sums) == pytest.approx(3 / 4)
    assert sensibleness_from(sums) == pytest.approx(2 / 4)
    assert f1_from(sums) == pytest.approx(0.6)


def test_both_shares_are_over_examples_for_which_both_are_known():
    # Known of both: the first and the last; of these one is attributable, both are sensible.
    rows = statistics_of(np.array([1, NAN, 1, 0]), np.array([1, 1, NAN, 1]))

    np.testing.assert_array_equal(rows, [[1, 1, 1], [0, 0, 0], [0, 0, 0], [0, 1, 1]])
    assert attribution_from(rows.sum(axis=0)) == pytest.approx(1 / 2)
    assert sensibleness_from(rows.sum(axis=0)) == 1.0


def test_f1_is_undefined_without_examples_and_where_both_shares_are_0():
    assert np.isnan(f1_from(np.zeros(3)))
    assert np.isnan(f1(np.array(0.0), np.array(0.0)))
    assert f1(np.array(0.0), np.array(0.5)) == 0.0


@pytest.mark.parametrize(
    ("level", "attribution", "sensibleness"),
    [
        (0.5, 0.5, 0.5),
        (0.5, 1.0, 1 / 3),  # 0.5 · 1 / (2 - 0.5)
        (0.8, 2 / 3, 1.0),  # 0.8 · 2/3 / (4/3 - 0.8)
        (0.6, 0.4, 1.2),  # beyond 1: 0.6 · 0.4 / (0.8 - 0.6)
        (0.6, 0.3, NAN),  # at F1 / 2 the curve has left for infinity
        (0.6, 0.1, NAN),
    ],
)
def test_a_curve_of_equal_f1_goes_through_its_points(level, attribution, sensibleness):
    [found] = iso_f1(level, np.array([attribution]))

    if math.isnan(sensibleness) or sensibleness > 1:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(sensibleness)
        assert f1(np.array(attribution), np.array(found)) == pytest.approx(level)

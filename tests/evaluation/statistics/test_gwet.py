"""Gwet's AC1 and AC2 and the prevalence index, against irrCAC and by hand."""

import math

import numpy as np
import pytest

from evaluation.statistics.gwet import (
    GWET_AC,
    gwet_ac_statistics,
    is_low_for_prevalence,
    prevalence_index,
    weights_of,
)

# How many of four raters gave each of five categories to twelve items (`raw_4raters` of irrCAC).
FOUR_RATERS = np.array(
    [
        [3, 0, 0, 0, 0],
        [0, 3, 1, 0, 0],
        [0, 0, 4, 0, 0],
        [0, 0, 4, 0, 0],
        [0, 4, 0, 0, 0],
        [1, 1, 1, 1, 0],
        [0, 0, 0, 4, 0],
        [3, 1, 0, 0, 0],
        [0, 4, 0, 0, 0],
        [0, 0, 0, 0, 3],
        [2, 0, 0, 0, 0],
        [0, 0, 1, 0, 0],
    ]
)
# Three raters, no and yes: sixteen items have three yeses, and four differ; votes are missing.
NEARLY_ALL_YES = np.array([[1, 2], [1, 2], [2, 1], [0, 2], [0, 1], *[[0, 3]] * 15])


def gwet_ac(counts, level):
    return float(GWET_AC[level](gwet_ac_statistics(counts, level).sum(axis=0)))


@pytest.mark.parametrize(
    ("counts", "level", "expected"),
    [
        # irrCAC 0.4.4, CAC(raw_4raters(), weights="identity", digits=12).gwet()
        (FOUR_RATERS, "nominal", 0.775444068127),
        # irrCAC 0.4.4, the same with weights="ordinal"
        (FOUR_RATERS, "ordinal", 0.898939769908),
        # irrCAC 0.4.4, with categories=[0, 1]; it says that alpha is .206730769231
        (NEARLY_ALL_YES, "nominal", 0.879775581085),
    ],
)
def test_gwet_ac_equals_that_of_irrcac(counts, level, expected):
    assert gwet_ac(counts, level) == pytest.approx(expected, abs=1e-9)


def test_ac1_by_hand():
    # Pairs agree: 1 and 1/3, mean 2/3. Shares of yes: 1 and 2/3, mean 5/6. Chance 2 · 5/6 · 1/6.
    assert gwet_ac([[0, 3], [1, 2]], "nominal") == pytest.approx((2 / 3 - 5 / 18) / (13 / 18))


def test_ac1_is_1_where_all_votes_are_the_same_and_undefined_without_a_pair():
    assert gwet_ac([[0, 3], [0, 2]], "nominal") == 1
    assert math.isnan(gwet_ac([[0, 1], [1, 0]], "nominal"))


def test_ordinal_weights_count_pairs_of_categories():
    # From 1 to 2 there is one pair of categories, from 1 to 3 three, from 1 to 4 all six.
    assert weights_of("ordinal", 4)[0] == pytest.approx([1, 5 / 6, 3 / 6, 0])


def test_prevalence_index_of_two_raters_is_that_of_byrt():
    # a = 7 items with two yeses, d = 1 with two noes, 2 differ: (7 - 1) / 10.
    assert prevalence_index([[0, 2]] * 7 + [[2, 0]] + [[1, 1]] * 2) == pytest.approx(0.6)
    assert math.isnan(prevalence_index([[0, 1]]))


@pytest.mark.parametrize(
    ("alpha", "ac1", "prevalence", "expected"),
    [
        (0.2067, 0.8798, 0.85, True),
        (0.2067, 0.8798, -0.85, True),
        (0.2067, 0.8798, 0.5, False),  # the answers are mixed
        (0.7, 0.9, 0.9, False),  # alpha is not low
        (math.nan, 1.0, 1.0, False),  # no variation
    ],
)
def test_alpha_is_low_for_prevalence_by_a_declared_rule(alpha, ac1, prevalence, expected):
    assert is_low_for_prevalence(alpha, ac1, prevalence) is expected

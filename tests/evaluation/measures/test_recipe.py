"""The numbers of items that the recipe looks at and shows, and its gain call by call."""

import math

import numpy as np
import pytest

from evaluation.measures.recipe import (
    calls_made,
    chosen_by_calls,
    highest,
    items_that_fit,
    smallest_k,
    taken,
)
from evaluation.measures.reranking import NOTHING
from evaluation.measures.tradeoff import f1_from, statistics_of

NAN = math.nan


@pytest.mark.parametrize(
    ("target", "k1"),
    [(0.5, 1), (0.51, 2), (0.7, 2), (0.8, 4), (0.9, 4), (0.91, None)],
)
def test_k1_is_the_smallest_k_that_reaches_the_target(target, k1):
    assert smallest_k([0.5, 0.7, 0.7, 0.9], target) == k1


def test_a_target_is_reached_in_spite_of_rounding():
    # (1 + 0.8) / 2 = 0.9, and in floating point 0.7 + 0.2 is 0.8999999999999999.
    assert smallest_k([0.7 + 0.2], 0.9) == 1


def test_without_recall_no_k_reaches_anything():
    assert smallest_k([NAN, NAN], 0.1) is None
    assert smallest_k([], 0.1) is None
    assert math.isnan(highest([NAN]))
    assert highest([0.2, NAN, 0.6]) == 0.6


@pytest.mark.parametrize(
    ("budget", "k2"),
    [
        # Dialogs of 100 and items of 60 tokens:
        (279, 2),  # (279 - 100) / 60 = 2.98
        (280, 3),  # 180 / 60 = 3
        (1000, 5),  # 900 / 60 = 15, and 5 are looked at
        (160, 1),  # 60 / 60 = 1
        (159, 0),  # 59 / 60: not one
        (90, 0),  # no room at all
    ],
)
def test_k2_is_how_many_average_items_have_room(budget, k2):
    assert items_that_fit(budget, 5, dialog_tokens=100, item_tokens=60) == k2


def test_instructions_take_room_as_well():
    # (280 - 100 - 1) / 60 = 2.98
    fits = items_that_fit(280, 5, dialog_tokens=100, item_tokens=60, instruction_tokens=1)

    assert fits == 2


def test_items_without_length_are_refused():
    with pytest.raises(ValueError, match="items of 0 tokens"):
        items_that_fit(280, 5, dialog_tokens=100, item_tokens=0)


# Three calls (rows) about four examples (columns).
ATTRIBUTION = np.array(
    [
        [0.9, 0.4, 0.3, NAN],
        [0.8, 0.4, 0.6, NAN],
        [0.9, 0.7, 0.9, 0.2],
    ]
)
SENSIBLENESS = np.array(
    [
        [0.2, 0.6, 0.1, NAN],
        [0.7, 0.6, 0.2, 0.9],
        [0.9, 0.4, 0.3, 0.1],
    ]
)
LABELS = np.array(
    [
        (ATTRIBUTION > 0.5).astype(float),
        (SENSIBLENESS >= 0.5).astype(float),
    ]
)
LABELS[np.isnan([ATTRIBUTION, SENSIBLENESS])] = NAN


def test_each_number_of_calls_chooses_among_the_first_so_many():
    np.testing.assert_array_equal(
        chosen_by_calls(ATTRIBUTION, SENSIBLENESS),
        [
            # One call: what it gave; of the last example nothing is known.
            [0, 0, 0, NOTHING],
            # 1: only the second is sensible. 2: both are, and tie in all: the first in the pool.
            # 3: neither is sensible: the higher attribution.
            [1, 0, 1, NOTHING],
            # 1: second and third are sensible, 0.9 beats 0.8. 2: the third has more attribution,
            # but is not sensible. 3: 0.9. 4: only the third is known on both.
            [2, 0, 2, 2],
        ],
    )


def test_f1_against_calls_is_that_of_the_chosen_responses():
    chosen = chosen_by_calls(ATTRIBUTION, SENSIBLENESS)
    statistics = [
        statistics_of(taken(LABELS[0], places), taken(LABELS[1], places)) for places in chosen
    ]

    # After one call, over 3: A = 1, 0, 0 and S = 0, 1, 0: 1/3 and 1/3, F1 1/3.
    # After two: A = 1, 0, 1 and S = 1, 1, 0: both 2/3, F1 2/3.
    # After three, over 4: A = 1, 0, 1, 0 and S = 1, 1, 0, 0: both 1/2, F1 1/2.
    figures = [float(f1_from(each.sum(axis=0))) for each in statistics]
    assert figures == pytest.approx([1 / 3, 2 / 3, 1 / 2])
    assert [each[:, 2].sum() for each in statistics] == [3, 3, 4]


def test_the_order_of_the_calls_decides_between_equals():
    # Two calls that tie in both scores: the first in the order wins, whichever it is.
    attribution, sensibleness = np.full((2, 1), 0.7), np.full((2, 1), 0.7)

    assert chosen_by_calls(attribution, sensibleness)[1] == [0]


def test_what_was_chosen_from_nothing_is_not_known():
    np.testing.assert_array_equal(
        taken(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([NOTHING, 1])), [NAN, 1]
    )


def test_the_calls_made_are_counted_where_some_were_not():
    # Three calls about two examples; the second has no third one: (1 + 1) / 2, (2 + 2) / 2,
    # (3 + 2) / 2.
    is_made = np.array([[True, True], [True, True], [True, False]])

    assert calls_made(is_made).tolist() == [1, 2, 2.5]
    assert np.isnan(calls_made(is_made[:, :0])).all()

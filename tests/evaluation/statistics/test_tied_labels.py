"""Figures in which tied labels count half."""

import math

import numpy as np
import pytest

from evaluation.statistics.intervals import share_from
from evaluation.statistics.rater_answers import mean
from evaluation.statistics.tied_labels import is_moved, with_halves
from evaluation.statistics.uncertainty import accuracy_statistics, disagreement_statistics

NAN = math.nan


def test_a_tied_label_is_half_a_yes_and_agrees_half_with_any_other():
    # Labels yes, no, tied, waiting, tied; the others are yes, yes, no, no, tied.
    labels = with_halves(np.array([1, 0, NAN, NAN, NAN]), np.array([0, 0, 1, 0, 1], bool))
    others = with_halves(np.array([1.0, 1, 0, 0, NAN]), np.array([0, 0, 0, 0, 1], bool))

    # (1 + 0 + .5 + .5) / 4
    assert mean(labels) == 0.5
    # 1, 0, .5 and .5 of four: the item that waits is in no figure.
    assert share_from(accuracy_statistics(labels, others).sum(axis=0)) == 2 / 4
    assert share_from(disagreement_statistics(labels, others).sum(axis=0)) == 2 / 4


@pytest.mark.parametrize(
    ("ties_half", "expected"),
    [(0.61, False), (0.70, False), (0.7001, True), (0.4999, True), (NAN, False)],
)
def test_ties_move_a_figure_by_more_than_half_the_width_of_its_interval(ties_half, expected):
    # 60 % from 52 to 72: its width is 20 points, half of it 10.
    assert is_moved(0.6, 0.52, 0.72, ties_half) == expected


def test_ties_move_no_figure_without_an_interval():
    assert not is_moved(0.6, NAN, NAN, 0.9)

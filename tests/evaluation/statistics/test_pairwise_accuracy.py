"""Pairwise accuracy with tie calibration, by hand and against the code of WMT."""

import math

import numpy as np
import pytest

from evaluation.statistics.intervals import bootstrap_intervals
from evaluation.statistics.pairwise_accuracy import pairwise_accuracy

NAN = math.nan


def of_rows(human, score):
    """Return the accuracy of a table of examples × responses; each example is a dialog."""
    human, score = np.array(human, float), np.array(score, float)
    examples = np.repeat(np.arange(len(human)), human.shape[1])
    return pairwise_accuracy(human.ravel(), score.ravel(), examples, examples)


@pytest.mark.parametrize(
    ("human", "score", "accuracy", "threshold"),
    [
        # The examples of mt-metrics-eval (tau_optimization_test.py, commit of 2024; Apache-2.0).
        # All six pairs are in order: a threshold of 0 makes no tie.
        ([[1, 2, 3, 4]], [[0, 2, 6, 8]], 1, 0),
        # Pairs differ by 2, 6, 8, 4, 6, 2. With 4, the three ties of people are found but for the
        # one that differs by 6, and two of the others are lost only with 6 and 8: 4 of 6.
        ([[1, 1, 1, 4]], [[0, 2, 6, 8]], 4 / 6, 4),
        (
            [[1, 5, 2, 1, 1], [4, 2, 2, 1, 4], [5, 9, 2, 8, 7], [7, 6, NAN, 3, 2], [NAN] * 5],
            [[0, 5, 2, 3, 2], [NAN, 2, 1, 5, 3], [9, 1, 5, 3, 8], [9, 3, 4, 4, 1], [NAN] * 5],
            0.4916666666666668,
            1,
        ),
    ],
)
def test_pairwise_accuracy_equals_that_of_wmt(human, score, accuracy, threshold):
    found = of_rows(human, score)

    assert found.accuracy == pytest.approx(accuracy, abs=1e-12)
    assert found.tie_threshold == threshold


def test_only_responses_to_the_same_example_make_pairs():
    found = of_rows([[0, 1], [0, NAN], [1, 0]], [[0.1, 0.9], [0.5, 0.5], [0.2, 0.3]])

    # The first example is ordered rightly, the third wrongly, and the second has no pair.
    assert (found.accuracy, found.n_pairs, found.n_examples) == (1 / 2, 2, 2)


def test_it_is_undefined_without_a_pair():
    found = of_rows([[1], [0]], [[0.5], [0.1]])

    assert math.isnan(found.accuracy)
    assert math.isnan(found.tie_threshold)
    assert math.isnan(bootstrap_intervals([found.figure], 2, seed=1)[0].low)

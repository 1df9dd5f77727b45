"""The expected calibration error and its interval, by hand."""

import math

import numpy as np
import pytest

from evaluation.statistics.calibration_error import calibration_error


def error_of(label, score):
    n = len(label)
    return calibration_error(np.array(label, float), np.array(score, float), np.arange(n), n)


def test_it_is_the_mean_gap_of_bins_weighted_by_their_items():
    # Bin up to .1: scores .1 and .1, one yes of two: gap .4. Bin up to 1: .95, a yes: gap .05.
    found = error_of([1, 0, 1], [0.1, 0.1, 0.95])

    assert found.value == pytest.approx((2 * 0.4 + 1 * 0.05) / 3)


def test_the_interval_by_hand():
    # One bin, gaps .2 (a no) and -.8 (a yes), five noes and one yes by turns of dialogs.
    label, score = [0, 0, 0, 0, 1, 0], [0.2] * 6
    # Σ gaps = 5 · .2 - .8 = .2, so the sign is +, and the error .2 / 6. Even dialogs (0, 2, 4) add
    # up to -.4, odd ones (1, 3, 5) to .6. Signs of the other half: even gaps by +, odd by -.
    # So the figure without excess is (-.4 - .6) / 6 = -1/6.
    own = np.array([0.2, 0.2, 0.2, 0.2, -0.8, 0.2])
    crossed = own * [1, -1, 1, -1, 1, -1]
    spread = max(
        math.sqrt(6 / 5 * ((each - each.mean()) ** 2).sum()) / 6 for each in (own, crossed)
    )
    t = 2.570581835636314  # Student's t of 5 degrees of freedom at .975 (a table: 2.5706)

    found = error_of(label, score)

    assert found.value == pytest.approx(0.2 / 6)
    assert found.interval == pytest.approx((0, 0.2 / 6 + t * spread))


@pytest.mark.parametrize(
    ("label", "score"), [([1, 0] * 10, [1, 0] * 10), ([1, 0], [0.3, 0.6]), ([], [])]
)
def test_an_interval_is_undefined_without_any_gap_or_of_few_dialogs(label, score):
    assert math.isnan(error_of(label, score).interval.low)

"""Intervals of figures made of shares, such as F1: worked out by hand."""

import math

import numpy as np
import pytest

from evaluation.measures.citation import citation_statistics, figure_of
from evaluation.statistics.intervals import RANGE_METHOD, bootstrap_intervals, method_of


@pytest.mark.parametrize(
    ("n_right", "n_dialogs", "expected"),
    [
        # Each dialog has one citation and needs one. Without a right one F1 is 3/4, without the
        # wrong one 1; the mean is .8. V = 4/5 · (4 · .05² + .2²) = .04, n = .8 · .2 / .04 = 4, and
        # t² of 4 degrees = 2.77645² = 7.7086. Middle = (.8 + 7.7086 / 8) / (1 + 7.7086 / 4) =
        # .60249, half = √(7.7086 / 4 · (.16 + 7.7086 / 16)) / 2.92715 = .37994.
        (4, 5, (0.60249 - 0.37994, 0.60249 + 0.37994)),
        # Nothing varies: n = 20, as for a share, and 20 / (20 + 2.09302²) = .8203.
        (20, 20, (0.8203, 1.0)),
        (4, 4, (math.nan, math.nan)),  # too few dialogs
    ],
)
def test_f1_has_wilsons_interval_with_the_variance_of_the_jackknife(n_right, n_dialogs, expected):
    hit = np.arange(n_dialogs) < n_right
    one, none = np.ones(n_dialogs), np.zeros(n_dialogs)
    statistics = citation_statistics(np.column_stack([one, hit, hit, hit, one, none]))
    figure = figure_of("f1", statistics, np.arange(n_dialogs))

    [interval] = bootstrap_intervals([figure], n_dialogs, seed=0)

    assert method_of(figure) == RANGE_METHOD
    assert interval == pytest.approx(expected, abs=1e-4, nan_ok=True)

"""Intervals of the same measures of many statistics: those of each alone, from one pass."""

import math

import numpy as np
import pytest

from evaluation.measures.tradeoff import statistics_of
from evaluation.measures.tradeoff_effects import across, along, f1_difference, pair_statistics
from evaluation.statistics.intervals import (
    Statistic,
    bootstrap_intervals,
    intervals_of_measures,
    share_from,
)

MEASURES = (f1_difference, across, along)


def pair_of(random, n_items, share_known=1.0):
    """Return the statistics of a pair of setups whose labels are drawn."""
    sides = random.integers(0, 2, (4, n_items)).astype(float)
    sides[:, random.random(n_items) > share_known] = math.nan
    return pair_statistics(statistics_of(*sides[:2]), statistics_of(*sides[2:]))


def test_they_are_those_of_each_figure_alone():
    random = np.random.default_rng(1)
    dialogs = random.integers(20, size=60)
    none, few = np.zeros((60, 6)), pair_of(random, 60, 0.1)
    statistics = [pair_of(random, 60), pair_of(random, 60, 0.5), few, none]

    together = intervals_of_measures(statistics, dialogs, 20, MEASURES, seed=2, n_resamples=200)

    figures = [Statistic(each, dialogs, measure) for each in statistics for measure in MEASURES]
    alone = bootstrap_intervals(figures, 20, seed=2, n_resamples=200)
    np.testing.assert_array_equal(np.array(together).reshape(-1, 2), np.array(alone))
    assert np.isnan(together[3]).all()


@pytest.mark.parametrize(("n_statistics", "n_dialogs"), [(0, 5), (2, 1), (2, 0)])
def test_nothing_to_resample_has_no_interval(n_statistics, n_dialogs):
    items = min(n_dialogs, 3)
    found = intervals_of_measures(
        [np.ones((items, 6))] * n_statistics, np.arange(items), n_dialogs, MEASURES, seed=1
    )

    assert np.array(found).shape[:1] == (n_statistics,)
    assert np.isnan(np.array(found)).all()


def test_a_share_is_refused():
    with pytest.raises(ValueError, match="bootstrap_intervals"):
        intervals_of_measures([np.ones((2, 2))], np.arange(2), 2, [share_from], seed=1)

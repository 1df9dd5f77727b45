"""Cautious intervals: none where resampling cannot tell how far a figure may be off."""

import numpy as np
import pytest

from evaluation.statistics.intervals import Statistic, bootstrap_intervals, share_from
from evaluation.statistics.rater_answers import mean_from, mean_statistics


def test_a_cautious_interval_is_none_where_nothing_varies_or_dialogs_are_few():
    # The mean of 1 and 0 in each dialog is the same in every resample; of five dialogs with one
    # number each the tail is 0.1 %, more than the lowest resample's 1 / 5**5 = 0.03 %.
    def both(values, dialogs):
        figure = Statistic(mean_statistics(np.array(values)), np.array(dialogs), mean_from)
        usual, cautious = (
            bootstrap_intervals([figure], 9, seed=1, is_cautious=is_cautious)[0]
            for is_cautious in (False, True)
        )
        return usual, cautious

    same, none = both([1.0, 0.0] * 6, np.arange(12) // 2)
    few, none_of_few = both([0.0, 1.0, 0.0, 1.0], range(4))
    enough, cautious = both([0.0, 1.0, 0.0, 1.0, 0.0], range(5))

    assert same == (0.5, 0.5)
    assert few == (0, 1)
    assert np.isnan([none, none_of_few]).all()
    assert enough == cautious == pytest.approx((0, 1), abs=0.2)


def test_caution_does_not_touch_shares():
    share = Statistic(np.array([[0.0, 1.0], [0.0, 1.0]]), np.array([0, 1]), share_from)

    [interval] = bootstrap_intervals([share], 2, seed=1, is_cautious=True)

    # Wilson with t = 12.706 and n = 2: t²/n / (1 + t²/n) = 80.72 / 81.72
    assert interval == pytest.approx((0, 0.98776), abs=1e-5)

"""Medians over resampled dialogs, against numpy's on the repeated values."""

import numpy as np
import pytest

from evaluation.statistics.intervals import resample_dialogs
from evaluation.statistics.timing import medians


@pytest.mark.parametrize("n_items", [1, 7, 8, 255, 256, 257, 3001])
def test_each_resample_has_the_median_of_its_items(n_items):
    random = np.random.default_rng(1)
    values = random.integers(40, size=n_items).astype(float)  # some are equal
    dialogs = random.integers(10, size=n_items)

    found = medians(values, dialogs, 10, seed=7, n_resamples=60)

    assert found.found == np.median(values)
    [weights] = resample_dialogs(10, 60, seed=7)
    for times, middle in zip(weights.astype(int), found.resampled, strict=True):
        drawn = np.repeat(values, times[dialogs])
        assert middle == np.median(drawn) if drawn.size else np.isnan(middle)


def test_no_values_have_no_median():
    found = medians(np.zeros(0), np.zeros(0, int), 3, seed=1, n_resamples=5)

    assert np.isnan(found.found)
    assert np.isnan(found.resampled).all()

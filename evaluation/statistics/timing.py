"""Medians over resampled dialogs, for times: long tails make means a poor summary.

A median is not a function of sums, so `bootstrap_intervals` cannot compute its interval. The
resamples are the same: with the same seed, each dialog is drawn equally often.
"""

import math
from typing import Literal, NamedTuple

import numpy as np

from evaluation.statistics.intervals import Floats, Indexes, ratio, resample_dialogs

N_BINS = 256


class Medians(NamedTuple):
    """The median of some values, and the median in each resample. Undefined is NaN."""

    found: float
    resampled: Floats  # (n_resamples,)


def medians(
    values: Floats, dialogs: Indexes, n_dialogs: int, *, seed: int, n_resamples: int = 1000
) -> Medians:
    """Return the median of all values, and the median in each resample of dialogs.

    Args:
        values: one value per item.
        dialogs: the dialog of each item, 0 .. n_dialogs - 1.
        n_dialogs: how many dialogs there are to draw from.
        seed: seed of the resamples.
    """
    if not len(values):
        return Medians(math.nan, np.full(n_resamples, math.nan))
    order = np.argsort(values, kind="stable")
    items = _Items.of(values[order], dialogs[order], n_dialogs)
    resampled = [
        (items.middle_value(weights, up_to, "lower") + items.middle_value(weights, up_to, "upper"))
        / 2
        for weights in resample_dialogs(n_dialogs, n_resamples, seed)
        for up_to in [(weights @ items.by_bin).cumsum(axis=1)]
    ]
    return Medians(float(np.median(values)), np.concatenate(resampled))


def saved_share(merged: Medians, separate: Medians) -> Medians:
    """Return the share of the separate median that merging saves, also in each resample.

    Both come from the same resampled dialogs. The share is undefined where the separate median is
    0.
    """
    return Medians(
        float(1 - ratio(np.array(merged.found), np.array(separate.found))),
        1 - ratio(merged.resampled, separate.resampled),
    )


class _Items(NamedTuple):
    """Items in the order of rising value, in bins of neighbours.

    Sums over bins show which bin holds the middle of a resample. Only inside that bin are items
    counted one by one.
    """

    values: Floats
    dialogs: Indexes
    width: int  # number of items in a bin
    by_bin: Floats  # (n_dialogs, n_bins): number of items

    @classmethod
    def of(cls, values: Floats, dialogs: Indexes, n_dialogs: int) -> "_Items":
        width = -(-len(values) // N_BINS)
        bins = np.arange(len(values)) // width
        by_bin = np.zeros((n_dialogs, int(bins[-1]) + 1))
        np.add.at(by_bin, (dialogs, bins), 1)
        return cls(values, dialogs, width, by_bin)

    def middle_value(
        self, weights: Floats, up_to: Floats, side: Literal["lower", "upper"]
    ) -> Floats:
        """Return the lower or upper of the two middle values of each resample.

        It is NaN for a resample without items.

        Args:
            weights: how often each dialog was drawn, (m, n_dialogs).
            up_to: number of items drawn in each bin and all bins before it, (m, n_bins).
            side: which of the two middle values; they are one value if the number is odd.
        """
        half = up_to[:, -1:] / 2
        is_before = np.less if side == "lower" else np.less_equal
        bins = np.minimum(is_before(up_to, half).sum(axis=1, keepdims=True), up_to.shape[1] - 1)
        places = bins * self.width + np.arange(self.width)
        is_there = places < len(self.values)
        places = np.minimum(places, len(self.values) - 1)
        drawn = np.take_along_axis(weights, self.dialogs[places], axis=1) * is_there
        before = np.where(bins > 0, np.take_along_axis(up_to, np.maximum(bins - 1, 0), axis=1), 0.0)
        inside = is_before(before + drawn.cumsum(axis=1), half).sum(axis=1)
        found: Floats = self.values[
            np.minimum(bins[:, 0] * self.width + inside, len(self.values) - 1)
        ]
        return np.where(half[:, 0] > 0, found, math.nan)

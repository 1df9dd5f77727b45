"""Kendall's tau-b and Pearson's correlation over single responses, with intervals over dialogs.

They are read beside Spearman's correlation (`rank_measures.py`), and have intervals of the same
kind: that of Wilson in the range from -1 to 1, with the variance of the jackknife over dialogs and
at most as many independent items as Bonett and Wright (2000) give for items without ties.
"""

import math
from typing import NamedTuple

import numpy as np

from evaluation.statistics.intervals import UNDEFINED, Floats, Indexes, Interval, ratio
from evaluation.statistics.jackknife import FEWEST_DIALOGS, jackknife_variance, wilson_in_range
from evaluation.statistics.rank_measures import Dialogs, dialogs_with_another_value


class VarianceOfIndependent(NamedTuple):
    """The variance of a correlation r of n independent items: factor · (1 - r²)² / (n - lost)."""

    factor: float
    lost: int


OF_KENDALL, OF_PEARSON = VarianceOfIndependent(0.437, 4), VarianceOfIndependent(1.0, 3)


class Correlation(NamedTuple):
    """A correlation in [-1, 1] and its interval over dialogs; NaN where undefined."""

    value: float
    interval: Interval


def kendall(x: Floats, y: Floats, dialogs: Dialogs) -> Correlation:
    """Return Kendall's tau-b (Kendall, 1945): the agreement in order of pairs of items.

    It is the sum over pairs of sign(x - x')·sign(y - y'), divided by the geometric mean of the
    numbers of pairs that differ in x and that differ in y. It is NaN where all x or all y are
    equal. Items with NaN in x or y are left out.

    Args:
        x: one number per item.
        y: another, best the one with fewer distinct values: time grows with them.
        dialogs: the dialog of each item.
    """
    known = ~np.isnan(x) & ~np.isnan(y)
    of_items = dialogs.of_items[known]
    x_place, y_place = (np.unique(each[known], return_inverse=True)[1] for each in (x, y))
    everywhere = np.zeros(len(of_items), np.int64)
    # What each item adds: to all pairs, and to those within its own dialog.
    in_all = _signs(x_place, y_place, everywhere)
    within = _signs(x_place, y_place, of_items)
    by_dialog = [
        np.column_stack(
            [np.bincount(of_items, weights=column, minlength=dialogs.n) for column in each.T]
        )
        for each in (in_all, within)
    ]
    total = in_all.sum(axis=0)
    # Without a dialog go its pairs with all items, counted from both sides, but those within twice.
    left_out = (total - 2 * by_dialog[0] + by_dialog[1])[np.unique(of_items)]
    both = x[known], y[known]
    return _with_interval(float(_tau(total)), _tau(left_out), both, of_items, OF_KENDALL)


def _tau(sums: Floats) -> Floats:
    """Return tau-b from sums of concordance and of differing pairs, (..., 3) to (...)."""
    return ratio(sums[..., 0], np.sqrt(sums[..., 1] * sums[..., 2]))


def _signs(x: Indexes, y: Indexes, groups: Indexes) -> Floats:
    """Return, over the other items of each item's group, what they add to a tau: (n_items, 3).

    It is the sum of sign(x - x')·sign(y - y'), then how many differ in x, and how many in y.

    Args:
        x: places of values in their order, from 0.
        y: the same for the other number.
        groups: the group of each item, from 0.
    """
    n_values = int(x.max(initial=-1)) + 1
    names = groups * n_values + x  # in the order of groups, then of x
    starts, ends = groups * n_values, (groups + 1) * n_values
    signs = np.zeros(len(x))
    for value in np.unique(y):
        here = np.sort(names[y == value])
        start, end = np.searchsorted(here, starts), np.searchsorted(here, ends)
        below, up_to = np.searchsorted(here, names), np.searchsorted(here, names, side="right")
        signs += np.sign(y - value) * ((below - start) - (end - up_to))
    _, of_group, n_in_group = np.unique(groups, return_inverse=True, return_counts=True)
    differing = [
        n_in_group[of_group] - n_equal[place]
        for of_value in (names, groups * (int(y.max(initial=-1)) + 1) + y)
        for _, place, n_equal in [np.unique(of_value, return_inverse=True, return_counts=True)]
    ]
    return np.column_stack([signs, *differing]).astype(np.float64)


def pearson(x: Floats, y: Floats, dialogs: Dialogs) -> Correlation:
    """Return Pearson's correlation of x and y; NaN where all x or all y are equal.

    Items with NaN in x or y are left out. The arguments are those of `kendall`.
    """
    known = ~np.isnan(x) & ~np.isnan(y)
    of_items = dialogs.of_items[known]
    x, y = (each[known] - (each[known].mean() if known.any() else 0) for each in (x, y))
    products = (np.ones(len(x)), x, y, x * x, y * y, x * y)
    by_dialog = np.column_stack(
        [np.bincount(of_items, weights=each, minlength=dialogs.n) for each in products]
    )
    total = by_dialog.sum(axis=0)
    left_out = (total - by_dialog)[np.unique(of_items)]
    varies = all(len(np.unique(each)) > 1 for each in (x, y))
    value = float(_product_moment(total)) if varies else math.nan
    return _with_interval(value, _product_moment(left_out), (x, y), of_items, OF_PEARSON)


def _product_moment(sums: Floats) -> Floats:
    """Return the correlation from sums of 1, x, y, x², y² and xy: (..., 6) to (...)."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    variances = np.maximum(n * xx - x * x, 0) * np.maximum(n * yy - y * y, 0)
    return ratio(n * xy - x * y, np.sqrt(variances))


def _with_interval(
    value: float,
    left_out: Floats,
    both: tuple[Floats, Floats],
    dialogs: Indexes,
    known: VarianceOfIndependent,
) -> Correlation:
    """Return a correlation with its interval.

    It is undefined where fewer than FEWEST_DIALOGS dialogs have another x, or another y, than the
    most frequent one.
    """
    n_rarer = min(dialogs_with_another_value(each, dialogs) for each in both)
    if n_rarer < FEWEST_DIALOGS or math.isnan(value):
        return Correlation(value, UNDEFINED)
    variance = known.factor * (1 - value**2) ** 2 / max(1, len(dialogs) - known.lost)
    low, high = wilson_in_range(
        value,
        jackknife_variance(left_out),
        (-1.0, 1.0),
        most_items=(1 - value**2) / variance if variance > 0 else math.inf,
        n_rarer=n_rarer,
        n_dialogs=len(left_out),
    )
    return Correlation(value, Interval(low, high))

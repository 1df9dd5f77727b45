"""The mean of numbers whose items come in dialogs, with an interval by Student's t.

It is for numbers that are not shares, such as differences and ordinal answers. A mean of labels has
a better interval in `intervals.py`.
"""

import math

import numpy as np
from scipy.special import stdtr, stdtrit

from evaluation.statistics.intervals import UNDEFINED, Floats, Indexes, Interval, sum_by_dialog


def variance_between_dialogs(contributions: Floats, n_dialogs: int) -> float:
    """Return the variance of an estimate from what each dialog contributes to it.

    It is D / (D - 1) · Σ c², where the contributions c of the D dialogs add up to 0. For a mean of
    n items, c is the sum of a dialog's deviations from the mean, divided by n. The variance then
    equals that of a regression on a constant with cluster-robust errors.

    Args:
        contributions: the contribution of each dialog; 0 for dialogs without data.
        n_dialogs: D, the number of dialogs that have data.

    Returns:
        The variance; NaN with fewer than two dialogs.
    """
    if n_dialogs < 2:
        return math.nan
    return float(contributions @ contributions) * n_dialogs / (n_dialogs - 1)


def mean_deviations(values: Floats, dialogs: Indexes, n_dialogs: int) -> Floats:
    """Return what each dialog contributes to the error of a mean, (n_dialogs,); NaN is left out.

    Args:
        values: one number per item, (n_items,).
        dialogs: the dialog of each item, 0 .. n_dialogs - 1.
        n_dialogs: how many dialogs there are; one without values has 0.
    """
    known = ~np.isnan(values)
    if not known.any():
        return np.zeros(n_dialogs)
    deviations = (values[known] - values[known].mean()) / np.count_nonzero(known)
    return sum_by_dialog(deviations[:, np.newaxis], dialogs[known], n_dialogs)[:, 0]


def variance_of_mean(values: Floats, dialogs: Indexes, n_dialogs: int) -> float:
    """Return the variance of the mean of values between dialogs; NaN with fewer than two dialogs.

    `mean_deviations` says what the arguments are.
    """
    n_with_data = len(np.unique(dialogs[~np.isnan(values)]))
    return variance_between_dialogs(mean_deviations(values, dialogs, n_dialogs), n_with_data)


def t_interval(estimate: float, variance: float, n_dialogs: int, level: float = 0.95) -> Interval:
    """Return the interval of an estimate by Student's t with n_dialogs - 1 degrees of freedom.

    It is undefined with fewer than two dialogs, and where the variance is 0 or undefined: it would
    seem certain although few items tell little.
    """
    if n_dialogs < 2 or not variance > 0:
        return UNDEFINED
    half = float(stdtrit(n_dialogs - 1, (1 + level) / 2)) * math.sqrt(variance)
    return Interval(estimate - half, estimate + half)


def t_test_p(estimate: float, variance: float, n_dialogs: int) -> float:
    """Return the two-sided p-value of Student's t test that an estimate is 0.

    It belongs to `t_interval`, and is NaN where that is undefined.
    """
    if n_dialogs < 2 or not variance > 0:
        return math.nan
    return 2 * float(stdtr(n_dialogs - 1, -abs(estimate) / math.sqrt(variance)))


def mean_interval(
    values: Floats, dialogs: Indexes, n_dialogs: int, level: float = 0.95
) -> Interval:
    """Return the `t_interval` of the mean of values; `mean_deviations` says what they are."""
    known = ~np.isnan(values)
    if not known.any():
        return UNDEFINED
    variance = variance_of_mean(values, dialogs, n_dialogs)
    return t_interval(float(values[known].mean()), variance, len(np.unique(dialogs[known])), level)


def design_effect(values: Floats, dialogs: Indexes, n_dialogs: int) -> float:
    """Return how many times the variance of a mean is what it would be for independent items.

    It is about 1 + (m - 1) · ICC with m items in each dialog; planning multiplies numbers of items
    by it. `mean_deviations` says what the arguments are.

    Returns:
        The ratio, 0 or more; NaN with fewer than two dialogs, or where all values are equal.
    """
    known = values[~np.isnan(values)]
    if len(known) < 2 or not known.var():
        return math.nan
    return variance_of_mean(values, dialogs, n_dialogs) / (float(known.var(ddof=1)) / len(known))


def intraclass_correlation(values: Floats, dialogs: Indexes, n_dialogs: int) -> float:
    """Return the correlation of two items of one dialog, from the design effect of the mean.

    It is (deff - 1) / (m - 1), limited to [0, 1]. Here m is Σ m² / Σ m over the numbers m of items
    of dialogs (Kish, 1965). `mean_deviations` says what the arguments are.

    Returns:
        The correlation; NaN where no dialog has two items, or the design effect is undefined.
    """
    sizes = np.bincount(dialogs[~np.isnan(values)], minlength=1).astype(np.float64)
    effect = design_effect(values, dialogs, n_dialogs)
    items_per_dialog = float(sizes @ sizes) / max(1.0, float(sizes.sum()))
    if math.isnan(effect) or items_per_dialog <= 1:
        return math.nan
    return min(1.0, max(0.0, (effect - 1) / (items_per_dialog - 1)))

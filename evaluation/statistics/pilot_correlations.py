"""Correlations in a pilot whose items belong to strata with means of their own, such as setups.

A planned study compares items of one stratum. So the means of strata are subtracted first: setups
that differ from each other must not look like a metric that knows the answer.
"""

import math

import numpy as np

from evaluation.statistics.clustered_mean import intraclass_correlation
from evaluation.statistics.intervals import Floats, Indexes


def within_strata(values: Floats, strata: Indexes) -> Floats:
    """Return values minus the mean of their stratum; NaN stays NaN, and counts for no mean.

    Args:
        values: one number per item, (n_items,).
        strata: the stratum of each item, any whole numbers.
    """
    known = ~np.isnan(values)
    centred = np.full(len(values), math.nan)
    _, place = np.unique(strata[known], return_inverse=True)
    sums, counts = np.bincount(place, values[known]), np.bincount(place)
    if len(counts):
        centred[known] = values[known] - (sums / counts)[place]
    return centred


def pooled_correlation(first: Floats, second: Floats, strata: Indexes) -> float:
    """Return the correlation of two numbers of the same items within strata.

    Items where one of the two is NaN are left out. The result is NaN where one of them does not
    vary within strata. `within_strata` says what the arguments are.
    """
    both = ~np.isnan(first) & ~np.isnan(second)
    one, other = (within_strata(each[both], strata[both]) for each in (first, second))
    spread = math.sqrt(float(one @ one) * float(other @ other))
    # A sum of squares that rounding alone has left is no variation.
    if spread <= 1e-12 * max(1, len(one)):
        return math.nan
    return max(-1.0, min(1.0, float(one @ other) / spread))


def pooled_icc(values: Floats, strata: Indexes, dialogs: Indexes) -> float:
    """Return the correlation of two items of one stratum and one dialog.

    Args:
        values: one number per item, (n_items,); NaN is left out.
        strata: the stratum of each item.
        dialogs: the dialog of each item.
    """
    known = ~np.isnan(values)
    clusters = np.column_stack([strata, dialogs])[known]
    names, place = np.unique(clusters, axis=0, return_inverse=True)
    centred = within_strata(values[known], strata[known])
    return intraclass_correlation(centred, place.reshape(-1), len(names))

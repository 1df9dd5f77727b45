"""Attribution against sensibleness: shares, their F1, and curves of equal F1 ([A] 6.3 and 7).

A setup's statistics are one row per example: `(attributable, sensible, 1)`, or zeros where one of
the two is not known. So both shares are over the same examples. F1 is computed from the two shares;
it is not a mean over examples.
"""

import math

import numpy as np

from evaluation.statistics.intervals import Floats, Indexes, Statistic, ratio, share_from
from evaluation.statistics.jackknife import InRange
from evaluation.statistics.rater_answers import mean_from

WIDTH = 3  # number of columns in a setup's statistics


def statistics_of(attribution: Floats, sensibleness: Floats) -> Floats:
    """Return the statistics of one setup, (n_examples, 3), from its scores; NaN is not known."""
    is_known = ~(np.isnan(attribution) | np.isnan(sensibleness))
    rows = np.column_stack([attribution, sensibleness, np.ones(len(attribution))])
    return np.where(is_known[:, np.newaxis], rows, 0.0)


def attribution_from(sums: Floats) -> Floats:
    """Return the share of attributable responses from summed statistics: (..., 3) to (...)."""
    return share_from(sums[..., [0, 2]])


def sensibleness_from(sums: Floats) -> Floats:
    """Return the share of sensible responses from summed statistics: (..., 3) to (...)."""
    return share_from(sums[..., [1, 2]])


def f1(attribution: Floats, sensibleness: Floats) -> Floats:
    """Return 2SA / (S + A) of two shares in [0, 1]; NaN where both are 0, or one is undefined."""
    return ratio(2 * attribution * sensibleness, attribution + sensibleness)


def f1_from(sums: Floats) -> Floats:
    """Return the F1 of a setup from summed statistics: (..., 3) to (...)."""
    return f1(attribution_from(sums), sensibleness_from(sums))


OF_ANY_SCALE = (mean_from, f1_from)  # measures of values that are not in [0, 1]


def figures_of_setup(statistics: Floats, dialogs: Indexes) -> dict[str, Statistic]:
    """Return attribution, sensibleness and f1 of one setup, ready for intervals.

    Args:
        statistics: (n_examples, 3), see the top of this module.
        dialogs: (n_examples,) the dialog of each example.
    """
    of_axis, of_f1 = (share_from, InRange(f1_from)) if are_shares(statistics) else OF_ANY_SCALE
    return {
        "attribution": Statistic(statistics[:, [0, 2]], dialogs, of_axis),
        "sensibleness": Statistic(statistics[:, [1, 2]], dialogs, of_axis),
        "f1": Statistic(statistics, dialogs, of_f1),
    }


def are_shares(statistics: Floats) -> bool:
    """Return whether all values are in [0, 1]: imported scores may have another scale."""
    return bool(((statistics >= 0) & (statistics <= 1)).all())


def iso_f1(level: float, attribution: Floats) -> Floats:
    """Return the sensibleness that gives this F1 with an attribution; NaN if none in [0, 1] does.

    F1 = 2SA / (S + A) gives S = F1 · A / (2A - F1), for A above F1 / 2.
    """
    undefined = np.full(attribution.shape, math.nan)
    doubled = 2 * attribution - level
    sensibleness = np.divide(level * attribution, doubled, out=undefined, where=doubled > 0)
    return np.where(sensibleness <= 1 + 1e-12, sensibleness, math.nan)

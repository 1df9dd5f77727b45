"""Attribution against sensibleness: shares, their F1, and curves of equal F1 ([A] 6.3 and 7).

A setup's statistics are one row per example: `(attributable, sensible, 1)`, or zeros where one of
the two is not known. So both shares are over the same examples. F1 is computed from the two shares;
it is not a mean over examples.
"""

import math

import numpy as np

from evaluation.statistics.intervals import Floats, ratio, share_from

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


def iso_f1(level: float, attribution: Floats) -> Floats:
    """Return the sensibleness that gives this F1 with an attribution; NaN if none in [0, 1] does.

    F1 = 2SA / (S + A) gives S = F1 · A / (2A - F1), for A above F1 / 2.
    """
    undefined = np.full(attribution.shape, math.nan)
    doubled = 2 * attribution - level
    sensibleness = np.divide(level * attribution, doubled, out=undefined, where=doubled > 0)
    return np.where(sensibleness <= 1 + 1e-12, sensibleness, math.nan)

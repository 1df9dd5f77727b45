"""Tied labels as one half: what a figure would be if no tied item were left out of it.

A tied item has all its votes but no label, so it drops out of figures that are made from labels.
How its raters agree would then decide whether it takes part. The same figure is therefore computed
a second time, from labels in which a tied one is ½. In a mean it counts .5, in a shift its side is
.5, and it agrees half with any other label. Items that wait for votes stay out of both.
"""

import math

import numpy as np

from evaluation.statistics.intervals import Floats
from evaluation.statistics.rater_answers import Bools

HALF = 0.5


def with_halves(labels: Floats, is_tied: Bools) -> Floats:
    """Return labels in which each tied item has ½ instead of NaN."""
    return np.where(is_tied, HALF, labels)


def chance_of_agreement(label: Floats, other: Floats) -> Floats:
    """Return how far two labels agree: 1 or 0 for a yes and a no, ½ if one of them or both are ½.

    It is NaN where one of them is NaN. Labels may also be probabilities of a yes, of independent
    labels.
    """
    agreement: Floats = label * other + (1 - label) * (1 - other)
    return agreement


def share_with_ties(share: float, n: int, n_tied: int) -> float:
    """Return the share of labels that agree, if tied items agreed half; NaN where none is tied.

    Args:
        share: the share of the items with two labels.
        n: how many these are.
        n_tied: how many other items have one label that is tied.
    """
    return (share * n + HALF * n_tied) / (n + n_tied) if n_tied else math.nan


def is_moved(value: float, low: float, high: float, ties_half: float) -> bool:
    """Return whether ties that count half move a figure by more than half its interval's width.

    It is False where a number is NaN.
    """
    return abs(ties_half - value) > (high - low) / 2

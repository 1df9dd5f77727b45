"""Expected calibration error: how far scores are from the share of yes that they promise."""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from evaluation.statistics.clustered_mean import variance_between_dialogs
from evaluation.statistics.intervals import UNDEFINED, Floats, Indexes, Interval, sum_by_dialog
from evaluation.statistics.jackknife import FEWEST_DIALOGS

N_BINS = 10  # bins have equal widths over [0, 1]


class CalibrationError(NamedTuple):
    """The expected calibration error in [0, 1], and its interval; NaN without items."""

    value: float
    interval: Interval


def bins_of(scores: Floats, n_bins: int = N_BINS) -> Indexes:
    """Return the bin of each score in [0, 1], from 0.

    A score on the edge of two bins is in the lower one, as in scikit-learn.
    """
    edges = np.linspace(0, 1, n_bins + 1)[1:-1]
    return np.searchsorted(edges, scores)


def calibration_error(
    label: Floats, score: Floats, dialogs: Indexes, n_dialogs: int, level: float = 0.95
) -> CalibrationError:
    """Return the mean gap of score and share of yes over bins, each weighted by its items.

    It is Σ |Σ score - Σ label| / n, where the inner sums are over the items of a bin (Naeini,
    Cooper and Hauskrecht, 2015; Guo et al., 2017). Gaps count whatever their sign, so chance alone
    makes the error larger than it is: with few items in each bin it is far from 0 even where
    scores are right. The interval allows for that. Its upper end adds Student's t times the error
    of the sum. Its lower end begins from a figure without that excess: the signs of the gaps come
    from one half of the dialogs, and the gaps from the other, both ways round.

    Args:
        label: the human label of each item, 1 or 0.
        score: the metric's score of each item, in [0, 1].
        dialogs: the dialog of each item, 0 .. n_dialogs - 1.
        n_dialogs: how many dialogs there are.
        level: the share of such intervals that hold the true error, at least.

    Returns:
        The error, with an interval of at most [0, 1]. The interval is undefined with fewer than
        FEWEST_DIALOGS dialogs, and where every score equals its label.
    """
    if not len(label):
        return CalibrationError(math.nan, UNDEFINED)
    gaps = np.zeros((len(label), N_BINS + 1))
    gaps[np.arange(len(label)), bins_of(score)] = score - label
    gaps[:, N_BINS] = 1
    held = sum_by_dialog(gaps, dialogs, n_dialogs)
    held = held[held[:, N_BINS] > 0]
    by_dialog, n_items = held[:, :N_BINS], held[:, N_BINS]
    signs = np.sign(by_dialog.sum(axis=0))
    own = by_dialog @ signs
    is_odd = np.arange(len(held)) % 2 == 1
    of_odd, of_even = (np.sign(by_dialog[half].sum(axis=0)) for half in (is_odd, ~is_odd))
    crossed = by_dialog @ of_even * is_odd + by_dialog @ of_odd * ~is_odd
    error = own.sum() / n_items.sum()
    spread = max(_spread(own, n_items), _spread(crossed, n_items))
    if len(held) < FEWEST_DIALOGS or not spread > 0:
        return CalibrationError(float(error), UNDEFINED)
    half_width = float(stdtrit(len(held) - 1, (1 + level) / 2)) * spread
    without_excess = min(error, crossed.sum() / n_items.sum())
    low, high = max(0.0, without_excess - half_width), min(1.0, error + half_width)
    return CalibrationError(float(error), Interval(float(low), float(high)))


def _spread(gaps: Floats, n_items: Floats) -> float:
    """Return the standard error of Σ gaps / Σ items, from the two sums of each dialog."""
    residuals = (gaps - gaps.sum() / n_items.sum() * n_items) / n_items.sum()
    return math.sqrt(variance_between_dialogs(residuals, len(gaps))) if len(gaps) > 1 else 0.0

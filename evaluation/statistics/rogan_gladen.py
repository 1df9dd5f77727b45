"""The share of yes that a metric's labels stand for, where its error rates were measured elsewhere.

A metric with sensitivity q1 and specificity q0 says yes to a share p = θ q1 + (1 - θ) (1 - q0) of
items of which θ deserve a yes. Turned round (Rogan and Gladen, 1978):

    θ = (p + q0 - 1) / (q0 + q1 - 1)

The rates come from items with human labels, p from other items without any. So θ is right only as
far as the metric errs on both equally often, which these data cannot show. The interval is that of
Lee et al. (2025), with three changes for items of one dialog, which are not independent: numbers of
items are numbers of independent items, the quantile is Student's, and both rates may vary together.
"""

import math
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from evaluation.statistics.intervals import (
    UNDEFINED,
    Floats,
    Indexes,
    Interval,
    ratio,
    share_interval,
    sum_by_dialog,
)
from evaluation.statistics.variance_recovery import correlations
from evaluation.statistics.wilson import independent_items

LEAST_ITEMS = 20  # items with a human yes, and as many with a human no
LEAST_DIALOGS = 10  # dialogs that hold them, and independent items that these are worth
LEAST_DISCRIMINATION = 0.2  # the lowest q0 + q1 - 1; everything is divided by it


class NoTransfer(StrEnum):
    """The reason why there is no corrected share."""

    FEW_LABELS = "few_labels"  # too few items or dialogs with one of the two human labels
    WEAK = "weak"  # q0 + q1 - 1 is below LEAST_DISCRIMINATION
    FEW_HERE = "few_here"  # fewer than two dialogs have labels of the metric
    CONTRADICTED = "contradicted"  # no share from 0 to 1 fits: the metric errs otherwise here


class DialogShare(NamedTuple):
    """A share of items that come in dialogs; it is undefined without items."""

    share: float
    interval: Interval
    n: int  # items
    n_dialogs: int  # dialogs with items
    n_independent: float  # independent items that would make it as uncertain; NaN: undefined
    residuals: Floats  # (n_dialogs,): what each dialog adds to its error, with 0 for one without


class ErrorRates(NamedTuple):
    """The shares of items whose human label is known about which a metric is right."""

    sensitivity: DialogShare  # among the items with a human yes
    specificity: DialogShare  # among the items with a human no

    @property
    def discrimination(self) -> float:
        """The metric's q0 + q1 - 1: 1 if it is always right, 0 if its labels say nothing."""
        return self.sensitivity.share + self.specificity.share - 1

    @property
    def correlation(self) -> float:
        """The correlation of the errors of both rates; dialogs have items of both labels."""
        both = np.array([self.sensitivity.residuals, self.specificity.residuals])
        return float(correlations(both)[0, 1])

    @property
    def reason(self) -> NoTransfer | None:
        """The reason why these rates correct no share, whatever it is."""
        for rate in self:
            if rate.n < LEAST_ITEMS or min(rate.n_dialogs, rate.n_independent) < LEAST_DIALOGS:
                return NoTransfer.FEW_LABELS
        if self.discrimination < LEAST_DISCRIMINATION:
            return NoTransfer.WEAK
        return None


class CorrectedShare(NamedTuple):
    """The corrected share with its interval, both in [0, 1]; NaN if there is a reason for none."""

    share: float
    interval: Interval
    reason: NoTransfer | None = None


def dialog_share(labels: Floats, dialogs: Indexes, n_dialogs: int) -> DialogShare:
    """Return the share of 1 among labels.

    Args:
        labels: 1, 0 or NaN, which is left out; (n_items,).
        dialogs: the dialog of each item, 0 .. n_dialogs - 1.
        n_dialogs: how many dialogs there are.
    """
    known = ~np.isnan(labels)
    counts = np.column_stack([labels[known], np.ones(known.sum())])
    by_dialog = sum_by_dialog(counts, dialogs[known], n_dialogs)
    yes, n = by_dialog.sum(axis=0)
    share = float(ratio(yes, n))
    sums = by_dialog[by_dialog[:, 1] > 0]
    return DialogShare(
        share=share,
        interval=share_interval(by_dialog, most_items=n),
        n=int(n),
        n_dialogs=len(sums),
        n_independent=independent_items(sums, n) if len(sums) > 1 else math.nan,
        residuals=by_dialog @ [1.0, -share] if n else np.zeros(n_dialogs),
    )


def error_rates(human: Floats, metric: Floats, dialogs: Indexes, n_dialogs: int) -> ErrorRates:
    """Return sensitivity and specificity over the items that have both labels.

    Args:
        human: the human label of each item: 1, 0 or NaN; (n_items,).
        metric: the metric's label: 1, 0 or NaN.
        dialogs, n_dialogs: as of `dialog_share`.
    """
    return ErrorRates(
        dialog_share(np.where(human == 1, metric, math.nan), dialogs, n_dialogs),
        dialog_share(np.where(human == 0, 1 - metric, math.nan), dialogs, n_dialogs),
    )


def corrected_share(
    labelled_yes: DialogShare, rates: ErrorRates, level: float = 0.95
) -> CorrectedShare:
    """Return the share of yes that a metric's labels stand for.

    Student's t has as many degrees of freedom as the fewest dialogs of the three shares, less one.

    Args:
        labelled_yes: the share that the metric labels yes, on items without human labels.
        rates: its error rates, of other dialogs.
        level: the share of such intervals that hold the true share, if the rates hold here.
    """
    reason = rates.reason
    if reason is None and labelled_yes.n_dialogs < 2:
        reason = NoTransfer.FEW_HERE
    if reason is None:
        n_dialogs = min(share.n_dialogs for share in (labelled_yes, *rates))
        t = float(stdtrit(n_dialogs - 1, (1 + level) / 2))
        # What cancels in all dialogs that were seen may not do so in others; see `intervals.py`.
        together = min(rates.correlation, max(0.0, 1 - t**2 / n_dialogs))
        low, high = adjusted_ends(
            [(each.share, each.n_independent) for each in (labelled_yes, *rates)], t, together
        )
        if low < 1 and high > 0:
            share = (labelled_yes.share + rates.specificity.share - 1) / rates.discrimination
            ends = Interval(max(0.0, low), min(1.0, high))
            return CorrectedShare(min(1.0, max(0.0, share)), ends)
        reason = NoTransfer.CONTRADICTED
    return CorrectedShare(math.nan, UNDEFINED, reason)


def adjusted_ends(
    counted: list[tuple[float, float]], quantile: float, together: float = 0.0
) -> tuple[float, float]:
    """Return both ends of the interval, which may be outside [0, 1].

    Shares and numbers are first adjusted: p to (n p + z² / 2) / (n + z²) of n + z² items, and each
    rate q to (m q + 1) / (m + 2) of m + 2. So nothing is certain, also where a share is 0 or 1.
    With them, the middle is θ + 2 z² (θ V1 - (1 - θ) V0), and the distance of the ends z times
    √(V + (1 - θ)² V0 + θ² V1 - 2 r θ (1 - θ) √(V0 V1)) / (q0 + q1 - 1).
    V is p (1 - p) / n, and V1 and V0 are the same of q1 and q0.

    Args:
        counted: p, q1 and q0, each with its number of independent items.
        quantile: z, the quantile of the normal distribution, or of Student's t.
        together: r, the correlation of the errors of both rates.
    """
    z2 = quantile**2
    (p, n), (q1, m1), (q0, m0) = counted
    p, n = (n * p + z2 / 2) / (n + z2), n + z2
    q1, m1 = (m1 * q1 + 1) / (m1 + 2), m1 + 2
    q0, m0 = (m0 * q0 + 1) / (m0 + 2), m0 + 2
    discrimination = q0 + q1 - 1
    share = (p + q0 - 1) / discrimination
    of_p, of_q1, of_q0 = p * (1 - p) / n, q1 * (1 - q1) / m1, q0 * (1 - q0) / m0
    no = 1 - share
    cancelled = 2 * together * share * no * math.sqrt(of_q1 * of_q0)
    spread = of_p + no**2 * of_q0 + share**2 * of_q1 - cancelled
    middle = share + 2 * z2 * (share * of_q1 - no * of_q0)
    half = quantile * math.sqrt(spread) / discrimination
    return middle - half, middle + half

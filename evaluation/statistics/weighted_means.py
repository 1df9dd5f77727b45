"""Means of drawn dialogs whose probabilities differ: by raters alone, and with a metric's scores.

Raters alone have the weighted mean Σ w Y / Σ w with w = 1 / probability (Hájek, 1971). With scores
it is the difference estimator of `inclusion_probabilities.py` with c + λ (f - c) for the score f,
where c is the mean of raters alone. λ = 0 is raters alone, and λ = 1 is the published estimator.
The rules for when there is a figure are those of `prediction_powered.py`, whose figures these are
for draws by a metric's scores.
"""

import math

import numpy as np
from scipy.special import stdtrit

from evaluation.statistics.clustered_mean import t_interval, variance_between_dialogs
from evaluation.statistics.inclusion_probabilities import DifferenceEstimate, difference_estimate
from evaluation.statistics.intervals import (
    UNDEFINED,
    Floats,
    Interval,
    share_interval,
    sum_by_dialog,
)
from evaluation.statistics.prediction_powered import (
    PredictionPowered,
    RatedPart,
    why_humans_only,
)
from evaluation.statistics.rater_answers import mean, weighted_statistics
from evaluation.statistics.wilson import independent_items, wilson_ends


def weighted_prediction_powered(
    part: RatedPart,
    probabilities: Floats,
    *,
    is_share: bool,
    lam: float | None = None,
    level: float = 0.95,
) -> PredictionPowered:
    """Return the mean answer by raters and scores, beside those by either alone.

    Args:
        part: answers, and scores on their scale.
        probabilities: those of drawn dialogs, (n_dialogs,); NaN: not drawn.
        is_share: whether answers are in [0, 1]. Intervals are then Wilson's, else by Student's t.
        lam: a fixed λ; None: the one in [0, 1] with the smallest variance.
        level: the share of such intervals that hold the true mean.
    """
    weights = np.nan_to_num(1 / probabilities)  # 0 for a dialog that was not drawn
    answers = np.where(weights[part.dialogs] > 0, part.human, math.nan)
    statistics = weighted_statistics(answers, weights[part.dialogs])
    by_dialog = sum_by_dialog(statistics, part.dialogs, len(weights))
    known = answers[~np.isnan(answers)]
    n_of_rarer = min(known.sum(), (1 - known).sum()) if is_share else math.inf
    reason = why_humans_only(part, n_of_rarer)
    total, kish = by_dialog.sum(axis=0)
    human = float(total / kish) if kish else math.nan
    residuals = (by_dialog @ [1.0, -human]) / kish if kish else np.zeros(len(by_dialog))
    sums = by_dialog[by_dialog[:, 1] > 0]
    human_variance = variance_between_dialogs(residuals, len(sums))
    human_interval = (
        share_interval(by_dialog, kish, level)
        if is_share
        else t_interval(human, human_variance, len(sums), level)
    )
    found = PredictionPowered(
        math.nan,
        *UNDEFINED,
        math.nan,
        len(known),
        math.nan,
        human,
        *human_interval,
        mean(part.score),
        reason,
    )
    if reason is not None:
        return found

    def with_weight(lam: float) -> DifferenceEstimate:
        scores = human + lam * (part.score - human)
        is_drawn = ~np.isnan(probabilities)
        return difference_estimate(part.human, scores, part.dialogs, is_drawn, probabilities)

    if lam is None:
        lam = _lowest_point(*(with_weight(each).variance for each in (0.0, 0.5, 1.0)))
    by_both = with_weight(lam)
    gain = max(1.0, human_variance / by_both.variance if by_both.variance > 0 else 1.0)
    estimate, n_dialogs = by_both.estimate, len(sums)
    if is_share:
        estimate = min(1.0, max(0.0, estimate))
        n = independent_items(sums, kish) * gain
        ends = Interval(*wilson_ends(estimate, n, float(stdtrit(n_dialogs - 1, (1 + level) / 2))))
    else:
        ends = t_interval(estimate, by_both.variance, n_dialogs, level)
    return found._replace(
        estimate=estimate, low=ends.low, high=ends.high, lam=lam, n_effective=len(known) * gain
    )


def _lowest_point(at_0: float, at_half: float, at_1: float) -> float:
    """Return where in [0, 1] a parabola is lowest, from its values at 0, ½ and 1."""
    square, slope = 2 * (at_0 - 2 * at_half + at_1), 4 * at_half - 3 * at_0 - at_1
    if square <= 0:
        return 0.0 if at_0 <= at_1 else 1.0
    return min(1.0, max(0.0, -slope / (2 * square)))

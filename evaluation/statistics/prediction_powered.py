"""Prediction-powered means: a few answers of raters, and the scores of a metric for everything.

Raters answer for dialogs that were drawn at random. A metric scores all responses. The estimate is
the mean answer, corrected by how much the scores of the drawn dialogs differ from the scores of the
others (PPI++; Angelopoulos, Duchi and Zrnic, 2023):

    mean(Y) + λ · (mean(f of the others) - mean(f of the drawn))

The weight λ is tuned to the data; 0 ignores the metric. Chance decides which dialogs have answers,
so the correction is right on average, also with a bad metric. Where chance did not decide it here,
there is no prediction-powered figure. Whole dialogs are drawn, so the two parts are independent.
"""

import math
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from evaluation.statistics import clustered_mean as clustered
from evaluation.statistics.intervals import (
    UNDEFINED,
    Floats,
    Indexes,
    Interval,
    share_interval,
    sum_by_dialog,
)
from evaluation.statistics.paired_difference import difference_interval
from evaluation.statistics.rater_answers import mean, mean_statistics
from evaluation.statistics.wilson import independent_items, wilson_ends

LEAST_LABELS = 30
LEAST_OF_RARER = 5  # labels of the rarer answer, or pairs of responses with different answers
HELPFUL = 0.1  # the smallest λ with which the metric helps
Bools = NDArray[np.bool_]


class HumansOnly(StrEnum):
    """The reason why there is no prediction-powered figure."""

    NOT_DRAWN = "not_drawn"  # the dialogs with answers were not drawn at random here
    NO_SCORES = "no_scores"  # no response has both an answer and a score
    NOTHING_UNRATED = "nothing_unrated"  # fewer than two other dialogs have a score
    FEW_LABELS = "few_labels"  # fewer than LEAST_LABELS, or all in one dialog
    RARE_ANSWER = "rare_answer"  # fewer than LEAST_OF_RARER


class RatedPart(NamedTuple):
    """The answers of raters for drawn dialogs, and the scores of a metric for all dialogs."""

    human: Floats  # (n_items,): majority, share of votes or ordinal answer; NaN: none
    score: Floats  # (n_items,): the metric's score, not its label; NaN: none
    dialogs: Indexes  # (n_items,): the dialog of each item, 0 .. n_dialogs - 1
    # (n_dialogs,): the dialogs that were drawn and whose votes are complete. Answers for others are
    # ignored. None: the dialogs with answers were not drawn at random here.
    is_rated: Bools | None


class PredictionPowered(NamedTuple):
    """A mean by raters and metric together, beside those by either alone; NaN is undefined."""

    estimate: float
    low: float
    high: float
    lam: float  # λ, in [0, 1]
    n_labels: int  # responses, or pairs of responses, with an answer
    n_effective: float  # the labels that raters alone would need for the same precision
    human: float
    human_low: float
    human_high: float
    metric: float  # mean score of all responses
    reason: HumansOnly | None  # if there is one, the estimate is undefined
    p: float = math.nan  # a difference has that of Student's t test

    @property
    def is_helpful(self) -> bool:
        """Whether the metric makes the figure more precise."""
        return self.lam >= HELPFUL


def prediction_powered_share(
    part: RatedPart, *, lam: float | None = None, level: float = 0.95
) -> PredictionPowered:
    """Return the prediction-powered mean of answers in [0, 1], such as labels and shares of votes.

    Its interval is Wilson's, as for other shares. The number of independent items is that of the
    answers, multiplied by the variance of the mean answer over that of the estimate if it is above
    1. So scores never make an interval around the same share wider.

    Args:
        part: answers in [0, 1], and scores on any scale. The estimate is limited to [0, 1].
        lam: a fixed λ; None tunes it.
        level: the share of such intervals that hold the true share.
    """
    answers, dialogs = _answers(part)
    by_dialog = sum_by_dialog(mean_statistics(answers), dialogs, _n_dialogs(part))
    decided = answers[~np.isnan(answers)]
    most_items = len(decided) if np.isin(decided, (0.0, 1.0)).all() else math.inf
    human_interval = share_interval(by_dialog, most_items, level)
    n_of_rarer = min(decided.sum(), (1 - decided).sum())
    figures = _figures(part, lam, n_of_rarer, human_interval)
    if figures.reason is not None:
        return figures
    share = min(1.0, max(0.0, figures.estimate))
    sums = by_dialog[by_dialog[:, 1] > 0]
    n = independent_items(sums, most_items) * figures.n_effective / figures.n_labels
    low, high = wilson_ends(share, n, float(stdtrit(len(sums) - 1, (1 + level) / 2)))
    return figures._replace(estimate=share, low=low, high=high)


def prediction_powered_mean(
    part: RatedPart, *, lam: float | None = None, level: float = 0.95
) -> PredictionPowered:
    """Return the prediction-powered mean of any answers, such as ordinal ones.

    The intervals are those of Student's t. `prediction_powered_share` says what the arguments are.
    """
    answers, dialogs = _answers(part)
    human_interval = clustered.mean_interval(answers, dialogs, _n_dialogs(part), level)
    return _with_t_interval(part, lam, LEAST_OF_RARER, human_interval, level)


def prediction_powered_difference(
    first: RatedPart, second: RatedPart, *, lam: float | None = None, level: float = 0.95
) -> PredictionPowered:
    """Return the prediction-powered mean of first - second over pairs of responses.

    Args:
        first: answers and scores of the responses of one setup.
        second: those of another setup, for the same examples in the same order, so that `dialogs`
            and `is_rated` are equal.

    Returns:
        Differences. The interval is by Student's t; that of raters alone is `difference_interval`.
        The reason is RARE_ANSWER where fewer than LEAST_OF_RARER pairs have different answers.
    """
    if not np.array_equal(first.dialogs, second.dialogs):
        raise ValueError("the responses of the two setups are not about the same dialogs")
    pairs = first._replace(human=first.human - second.human, score=first.score - second.score)
    answers, dialogs = _answers(pairs)
    sides = _answers(first)[0], _answers(second)[0]
    human_interval = difference_interval(*sides, dialogs, _n_dialogs(pairs), level)
    n_different = int(np.count_nonzero(np.nan_to_num(answers)))
    found = _with_t_interval(pairs, lam, n_different, human_interval, level)
    n_dialogs = len(np.unique(dialogs[~np.isnan(answers)]))
    variance = math.nan if found.reason else sum(variances(pairs, found.lam))
    return found._replace(p=clustered.t_test_p(found.estimate, variance, n_dialogs))


def corrected_mean(part: RatedPart, lam: float) -> float:
    """Return the estimate for a λ, whatever the number of labels; NaN where a part is missing."""
    rated = _is_rated(part)
    shift = mean(part.score[~rated]) - mean(part.score[rated])
    return mean(part.human[rated]) + lam * shift


def tuned_lambda(part: RatedPart) -> float:
    """Return the λ with the smallest variance for independent items, in [0, 1].

    It is cov(Y, f) / (var(f) · (1 + n / N)) with n items that have both and N of other dialogs. The
    covariance divides by n. The variance is over all n + N scores and divides by n + N - 1.
    """
    rated, both = _is_rated(part), ~np.isnan(part.human) & ~np.isnan(part.score)
    human, score = part.human[rated & both], part.score[rated & both]
    others = part.score[~rated & ~np.isnan(part.score)]
    scores = np.concatenate([score, others])
    if not len(human) or not len(others) or not np.ptp(scores):
        return 0.0
    covariance = float(np.mean((human - human.mean()) * (score - score.mean())))
    spread = float(scores.var(ddof=1)) * (1 + len(human) / len(others))
    return min(1.0, max(0.0, covariance / spread))


def variances(part: RatedPart, lam: float) -> tuple[float, float]:
    """Return the variance of the estimate that comes from rated dialogs, and from the others.

    Their sum is the variance of the estimate. Without missing answers and scores, they are the
    variances between dialogs of the mean of Y - λ f and of λ times the mean of f.
    """
    rated, n_dialogs = _is_rated(part), _n_dialogs(part)
    answers, dialogs = _answers(part)
    # Answers and scores may be missing for different items: each mean has its own items.
    of_rated = clustered.mean_deviations(answers, dialogs, n_dialogs)
    of_rated -= lam * clustered.mean_deviations(part.score[rated], dialogs, n_dialogs)
    n_labelled = len(np.unique(dialogs[~np.isnan(answers)]))
    of_others = clustered.variance_of_mean(part.score[~rated], part.dialogs[~rated], n_dialogs)
    return clustered.variance_between_dialogs(of_rated, n_labelled), lam**2 * of_others


def _with_t_interval(
    part: RatedPart, lam: float | None, n_of_rarer: float, human_interval: Interval, level: float
) -> PredictionPowered:
    figures = _figures(part, lam, n_of_rarer, human_interval)
    if figures.reason is not None:
        return figures
    answers, dialogs = _answers(part)
    n_dialogs = len(np.unique(dialogs[~np.isnan(answers)]))
    variance = sum(variances(part, figures.lam))
    low, high = clustered.t_interval(figures.estimate, variance, n_dialogs, level)
    return figures._replace(low=low, high=high)


def _figures(
    part: RatedPart, lam: float | None, n_of_rarer: float, human_interval: Interval
) -> PredictionPowered:
    """Return all figures except the ends of the prediction-powered interval."""
    answers, dialogs = _answers(part)
    n_labels = int(np.count_nonzero(~np.isnan(answers)))
    reason = why_humans_only(part, n_of_rarer)
    estimate = n_effective = weight = math.nan
    if reason is None:
        weight = tuned_lambda(part) if lam is None else lam
        estimate = corrected_mean(part, weight)
        human_variance = clustered.variance_of_mean(answers, dialogs, _n_dialogs(part))
        variance = sum(variances(part, weight))
        n_effective = n_labels * max(1.0, human_variance / variance if variance > 0 else 1.0)
    humans, metric = (mean(answers), *human_interval), mean(part.score)
    return PredictionPowered(
        estimate, *UNDEFINED, weight, n_labels, n_effective, *humans, metric, reason
    )


def why_humans_only(part: RatedPart, n_of_rarer: float) -> HumansOnly | None:
    """Return why there is no prediction-powered figure, or None."""
    if part.is_rated is None:
        return HumansOnly.NOT_DRAWN
    rated, has_score, has_answer = _is_rated(part), ~np.isnan(part.score), ~np.isnan(part.human)
    if not (rated & has_score & has_answer).any():
        return HumansOnly.NO_SCORES
    if len(np.unique(part.dialogs[~rated & has_score])) < 2:
        return HumansOnly.NOTHING_UNRATED
    labelled = part.dialogs[rated & has_answer]
    if len(labelled) < LEAST_LABELS or len(np.unique(labelled)) < 2:
        return HumansOnly.FEW_LABELS
    return HumansOnly.RARE_ANSWER if n_of_rarer < LEAST_OF_RARER else None


def _is_rated(part: RatedPart) -> Bools:
    """Return whether each item belongs to a rated dialog; all do when nothing was drawn."""
    everything = np.ones(len(part.dialogs), np.bool_)
    return everything if part.is_rated is None else part.is_rated[part.dialogs]


def _answers(part: RatedPart) -> tuple[Floats, Indexes]:
    """Return the answers for items of rated dialogs, and their dialogs."""
    rated = _is_rated(part)
    return part.human[rated], part.dialogs[rated]


def _n_dialogs(part: RatedPart) -> int:
    return int(part.dialogs.max(initial=-1)) + 1

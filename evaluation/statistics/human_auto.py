"""Human–auto agreement: how well the scores of an auto-metric agree with the answers of raters.

Labels are made from scores by a strict threshold (yes: score > threshold) and compared with
majority votes; items without a majority are left out. Scores are compared with rater scores (shares
of yes votes); these need no majority, so tied items take part. Items without a score are left out
of both. Undefined figures are NaN, also where scikit-learn warns and returns 0.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluation.statistics import rank_measures
from evaluation.statistics.calibration_error import (
    N_BINS,
    CalibrationError,
    bins_of,
    calibration_error,
)
from evaluation.statistics.ceiling import Ceiling, beside_ceilings
from evaluation.statistics.intervals import (
    UNDEFINED,
    Floats,
    Indexes,
    MixOfShares,
    Statistic,
    bootstrap_intervals,
    ratio,
    share_from,
    share_interval,
    sum_by_dialog,
)
from evaluation.statistics.jackknife import BeyondChance
from evaluation.statistics.rater_answers import mean_from
from evaluation.statistics.tied_labels import share_with_ties, with_halves

# Those that compare labels. Without a threshold there are none.
LABEL_MEASURES = ("accuracy", "balanced_accuracy", "precision", "recall", "f1", "kappa")
MEASURES = (
    *LABEL_MEASURES,
    "auc",
    "mse",
    "spearman",
    "baseline",
)
Bools = NDArray[np.bool_]
NO_CEILINGS: Mapping[str, Ceiling] = {}


class Outcomes(NamedTuple):
    """The answers of raters and the scores of a metric for the same items."""

    human: Floats  # majority label: 1, 0 or NaN (none)
    score: Floats  # the metric's score; NaN: none, the item is left out
    rater_score: Floats  # mean vote, in [0, 1]; NaN: none
    dialogs: Indexes  # the dialog of each item, 0 .. n_dialogs - 1
    n_dialogs: int
    threshold: float
    scale: tuple[float, float] = (0.0, 1.0)  # lowest and highest possible score


def measures(outcomes: Outcomes) -> dict[str, float]:
    """Return each of MEASURES.

    mse and spearman are over the items that have a rater score and a score, all others over those
    that have a majority vote and a score. accuracy, balanced_accuracy, precision, recall, f1 and
    kappa (Cohen's) compare the labels. auc is the area under the ROC curve of the scores, with ties
    counted half. mse is the mean squared difference of score and rater score; it is undefined when
    a score is outside its scale, which is mapped to [0, 1]. spearman is the rank correlation of
    score and rater score. baseline is the share of the more frequent majority vote: the accuracy of
    a metric that always gives this answer. kappa and spearman are in [-1, 1], the others in [0, 1].
    """
    both = _complete(outcomes)
    figures = _figures_of(summed(outcomes))
    figures["auc"] = rank_measures.auc(both.human == 1, both.score)
    figures["spearman"] = rank_measures.spearman(outcomes.score, outcomes.rater_score)
    return {name: figures[name] for name in MEASURES}


def measures_with_intervals(
    outcomes: Outcomes,
    *,
    seed: int,
    n_resamples: int = 1000,
    ceilings: Mapping[str, Ceiling] = NO_CEILINGS,
) -> dict[str, float]:
    """Return `measures` and the figures of `beside_ceilings`, each x with its x_low and x_high.

    Args:
        outcomes: outcomes of one metric on one question.
        seed: seed of the resamples, which all bootstrapped figures share.
        n_resamples: number of resamples.
        ceilings: name → ceiling of the same items. An item with a score takes part in it, with a
            majority or without.
    """
    both = _complete(outcomes)
    says_yes = outcomes.score > outcomes.threshold
    metric = np.where(np.isnan(outcomes.score), math.nan, says_yes)
    figures = summed(outcomes) | beside_ceilings(metric, outcomes.dialogs, ceilings)
    ends = bootstrap_intervals(
        list(figures.values()), both.n_dialogs, seed=seed, n_resamples=n_resamples
    )
    intervals = dict(zip(figures, ends, strict=True))
    intervals["auc"] = rank_measures.auc_interval(
        both.human == 1, both.score, rank_measures.Dialogs(both.dialogs, both.n_dialogs)
    )
    intervals["spearman"] = rank_measures.spearman_interval(
        outcomes.score,
        outcomes.rater_score,
        rank_measures.Dialogs(outcomes.dialogs, outcomes.n_dialogs),
    )
    rows: dict[str, float] = {}
    for name, figure in (measures(outcomes) | _figures_of(figures)).items():
        rows |= {name: figure, f"{name}_low": intervals[name].low}
        rows[f"{name}_high"] = intervals[name].high
    return rows


def with_ties_half(outcomes: Outcomes, is_tied: Bools) -> dict[str, float]:
    """Return accuracy and auc as they would be if tied items counted half; NaN where none is tied.

    A tied item agrees half with any label, and is half a yes and half a no on the curve.

    Args:
        outcomes: outcomes of one metric on one question.
        is_tied: whether each item has all votes and no label.
    """
    tied = is_tied & ~np.isnan(outcomes.score)
    both = _complete(outcomes)
    n, n_tied = len(both.human), int(np.count_nonzero(tied))
    if not n_tied:
        return {"accuracy": math.nan, "auc": math.nan}
    right = np.count_nonzero((both.human == 1) == (both.score > both.threshold))
    halves = with_halves(outcomes.human, tied)
    known = ~np.isnan(halves) & ~np.isnan(outcomes.score)
    return {
        "accuracy": share_with_ties(right / n if n else 0.0, n, n_tied),
        "auc": rank_measures.auc(halves[known], outcomes.score[known]),
    }


def confusion(outcomes: Outcomes) -> dict[str, int]:
    """Return how many items are tp, fn, fp and tn: the metric's labels against the majorities."""
    both = _complete(outcomes)
    counts = cells(both.human == 1, both.score > both.threshold).sum(axis=0)
    return dict(zip(("tp", "fn", "fp", "tn"), map(int, counts), strict=True))


def n_rarer_dialogs(outcomes: Outcomes) -> int:
    """Return how many dialogs hold the rarer label of people, of the items that are compared."""
    both = _complete(outcomes)
    return rank_measures.n_rarer_dialogs(both.human == 1, both.dialogs)


def roc_points(outcomes: Outcomes, most: int = 200) -> list[dict[str, float | None]]:
    """Return the ROC curve: shares of false alarms and of hits, and the threshold that gives them.

    A score above the threshold is a yes. The first threshold is the highest score, so that no score
    is a yes; the last is None, so that every score is a yes. Points on a straight line between
    others are left out. If more than `most` points are left, `most` of them are taken at even
    steps. The list is empty without a yes or without a no.
    """
    both = _complete(outcomes)
    is_yes = both.human == 1
    if is_yes.all() or not is_yes.any():
        return []
    scores, place = np.unique(-both.score, return_inverse=True)
    hits = np.r_[0, np.bincount(place, weights=is_yes).cumsum()]
    false_alarms = np.r_[0, np.bincount(place, weights=~is_yes).cumsum()]
    thresholds: list[float | None] = [*(0.0 - scores).tolist(), None]
    right, up = np.diff(false_alarms), np.diff(hits)
    turns = np.flatnonzero(right[:-1] * up[1:] != up[:-1] * right[1:]) + 1
    kept = np.r_[0, turns, len(scores)]
    if len(kept) > most:
        kept = kept[np.linspace(0, len(kept) - 1, most).round().astype(np.int64)]
    return [
        {
            "false_alarm": float(false_alarms[point] / false_alarms[-1]),
            "hit": float(hits[point] / hits[-1]),
            "threshold": thresholds[point],
        }
        for point in kept
    ]


def calibration_bins(outcomes: Outcomes, n_bins: int = N_BINS) -> list[dict[str, float]]:
    """Return mean score and share of majority yes in bins of equal width over [0, 1].

    A score on the edge of two bins is in the lower one, as in scikit-learn. Empty bins are left
    out. The list is empty when a score is outside its scale, which is mapped to [0, 1]. `low` and
    `high` are the Wilson interval of the share, NaN for a bin with fewer than two dialogs.
    """
    both = _complete(outcomes)
    scores = _as_shares(both)
    if not _are_shares(scores):
        return []
    bins = bins_of(scores, n_bins)
    found = []
    for number in np.unique(bins):
        here = bins == number
        labels = np.column_stack([both.human[here], np.ones(here.sum())])
        by_dialog = sum_by_dialog(labels, both.dialogs[here], both.n_dialogs)
        low, high = share_interval(by_dialog, most_items=len(labels))
        score, share_yes = scores[here].mean(), both.human[here].mean()
        found.append(
            {
                "score": float(score),
                "share_yes": float(share_yes),
                "n": len(labels),
                "low": low,
                "high": high,
            }
        )
    return found


def calibration(outcomes: Outcomes) -> CalibrationError:
    """Return the expected calibration error; undefined when a score is outside its scale."""
    both = _complete(outcomes)
    scores = _as_shares(both)
    if not _are_shares(scores):
        return CalibrationError(math.nan, UNDEFINED)
    return calibration_error(both.human, scores, both.dialogs, both.n_dialogs)


def _complete(outcomes: Outcomes) -> Outcomes:
    """Return the outcomes of the items that have a majority and a score."""
    both = ~np.isnan(outcomes.human) & ~np.isnan(outcomes.score)
    return outcomes._replace(
        human=outcomes.human[both],
        score=outcomes.score[both],
        rater_score=outcomes.rater_score[both],
        dialogs=outcomes.dialogs[both],
    )


def cells(is_yes: Bools, said_yes: Bools) -> Floats:
    """Return a 1 per item in the column of tp, fn, fp or tn: (n_items, 4)."""
    columns = [is_yes & said_yes, is_yes & ~said_yes, ~is_yes & said_yes, ~is_yes & ~said_yes]
    return np.column_stack(columns).astype(np.float64)


def summed(outcomes: Outcomes) -> dict[str, Statistic]:
    """Return the measures that are functions of sums over items."""
    both = _complete(outcomes)
    by_cell = cells(both.human == 1, both.score > both.threshold)
    tp, fn, fp, tn = by_cell.T
    ones = np.ones(len(by_cell))
    is_frequent = both.human == (2 * np.count_nonzero(both.human) >= len(by_cell))

    def share(part: Floats, whole: Floats) -> Statistic:
        return Statistic(np.column_stack([part, whole]), both.dialogs, share_from)

    return {
        "accuracy": share(tp + tn, ones),
        "balanced_accuracy": Statistic(recalls(by_cell), both.dialogs, BALANCED_ACCURACY),
        "precision": share(tp, tp + fp),
        "recall": share(tp, tp + fn),
        "f1": share(2 * tp, 2 * tp + fp + fn),
        "kappa": Statistic(by_cell, both.dialogs, KAPPA),
        "mse": Statistic(_squared_errors(outcomes), outcomes.dialogs, mean_from),
        "baseline": share(is_frequent.astype(np.float64), ones),
    }


def _figures_of(figures: Mapping[str, Statistic]) -> dict[str, float]:
    """Return each figure over all its items."""
    return {
        name: float(figure.measure(figure.statistics.sum(axis=0)))
        for name, figure in figures.items()
    }


def _squared_errors(outcomes: Outcomes) -> Floats:
    """Return squared difference of score and rater score, and 1, per item: (n_items, 2)."""
    known = ~np.isnan(outcomes.rater_score) & ~np.isnan(outcomes.score)
    scores = _as_shares(outcomes)
    if not _are_shares(scores[known]):
        known &= False
    squared = np.where(known, (scores - outcomes.rater_score) ** 2, 0.0)
    return np.column_stack([squared, known])


def _as_shares(outcomes: Outcomes) -> Floats:
    """Return scores rescaled like rater scores: 0 is the lowest of their scale, 1 the highest."""
    low, high = outcomes.scale
    return (outcomes.score - low) / (high - low)


def _are_shares(scores: Floats) -> bool:
    return bool(((scores >= 0) & (scores <= 1)).all())


def recalls(by_cell: Floats) -> Floats:
    """Return the statistics of BALANCED_ACCURACY from tp, fn, fp, tn: (n_items, 4) to the same.

    They are part and whole of the recall of yes, then those of the recall of no.
    """
    tp, fn, fp, tn = by_cell.T
    return np.column_stack([tp, tp + fn, tn, tn + fp])


BALANCED_ACCURACY = MixOfShares((0.5, 0.5))  # the mean of the two recalls


def _kappa_from(sums: Floats) -> Floats:
    """Return Cohen's kappa from sums of tp, fn, fp, tn.

    It is NaN when raters and metric both give the same single label to all items.
    """
    tp, fn, fp, tn = np.moveaxis(sums, -1, 0)
    # The number of agreeing items expected by chance, times n.
    expected = (tp + fn) * (tp + fp) + (tn + fp) * (tn + fn)
    n = tp + fn + fp + tn
    return ratio(n * (tp + tn) - expected, n * n - expected)


def _human_labels(sums: Floats) -> Floats:
    """Return how often people say yes and no, from sums of tp, fn, fp, tn: (..., 4) to (..., 2)."""
    return np.stack([sums[..., 0] + sums[..., 1], sums[..., 2] + sums[..., 3]], axis=-1)


KAPPA = BeyondChance(_kappa_from, _human_labels)

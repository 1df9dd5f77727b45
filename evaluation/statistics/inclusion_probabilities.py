"""Draws of dialogs with known probabilities, and means that undo what the draw has done.

A draw by a metric's scores rates more of the dialogs that tell more. Every dialog keeps a
probability above 0, so that means with the weights 1 / probability are right whatever the metric is
worth. Whole dialogs are drawn, because their items are not independent.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluation.statistics.clustered_mean import variance_between_dialogs
from evaluation.statistics.intervals import Floats, Indexes, sum_by_dialog

MIXED = 0.5  # τ: the part of a draw by uncertainty that is as likely for every dialog
N_STRATA = 4
Bools = NDArray[np.bool_]


class DifferenceEstimate(NamedTuple):
    """A mean by a metric's scores and the answers of drawn dialogs, and its variance."""

    estimate: float
    variance: float  # between dialogs, with n_dialogs / (n_dialogs - 1)
    n_labels: int  # items with an answer


def uncertainty(scores: Floats) -> Floats:
    """Return how uncertain scores in [0, 1] are: the distance to the nearer end, 0 to 0.5."""
    return np.minimum(scores, 1 - scores)


def by_uncertainty(doubts: Floats, n: int, mixed: float = MIXED) -> Floats:
    """Return probabilities that grow with uncertainty (Zrnic and Candès, 2024).

    They are (1 - τ) η u + τ n / N with η = n / (N ū), so that they add up to n. A probability above
    1 becomes 1, and the others grow by one factor, so that they still do.

    Args:
        doubts: the uncertainty u of each dialog, 0 or more; NaN: not known, which counts as the
            mean.
        n: how many dialogs to draw, 1 to their number.
        mixed: τ, above 0 and up to 1. With 1, all have the same probability.
    """
    known = doubts[~np.isnan(doubts)]
    middle = float(known.mean()) if known.size else 0.0
    relative = (
        np.where(np.isnan(doubts), middle, doubts) / middle if middle else np.ones(len(doubts))
    )
    wanted = n / len(doubts) * ((1 - mixed) * relative + mixed)
    return _at_most_1(wanted, n)


def _at_most_1(wanted: Floats, n: int) -> Floats:
    """Return probabilities of at most 1 that add up to n, with the proportions of those below 1."""
    is_certain = np.zeros(len(wanted), bool)
    while True:
        free = wanted[~is_certain]
        scaled = np.ones(len(wanted))
        if free.size:
            scaled[~is_certain] = free * (n - is_certain.sum()) / free.sum()
        above = scaled > 1
        if not above.any():
            return scaled
        is_certain |= above


def by_strata(scores: Floats, n: int, n_strata: int = N_STRATA) -> tuple[Floats, Indexes]:
    """Return the probabilities of dialogs in strata of about equal size by score, and the strata.

    A stratum of N dialogs with the mean score f gets n dialogs in proportion to N √(f (1 - f)), one
    at least and all of it at most (Neyman's allocation, with scores for the answers). In a stratum
    all dialogs have the same probability. Dialogs without a score are a stratum of their own, as
    uncertain as can be.

    Args:
        scores: the mean score of each dialog in [0, 1]; NaN: none.
        n: how many dialogs to draw, at least as many as strata.
        n_strata: how many strata there are among dialogs with scores.
    """
    strata = np.full(len(scores), n_strata)
    known = np.flatnonzero(~np.isnan(scores))
    in_order = known[np.argsort(scores[known], kind="stable")]
    strata[in_order] = np.arange(len(in_order)) * n_strata // max(1, len(in_order))
    _, strata = np.unique(strata, return_inverse=True)
    sizes = np.bincount(strata)
    filled = np.where(np.isnan(scores), 0.5, scores)
    means = np.bincount(strata, weights=filled) / sizes
    shares = sizes * np.sqrt(np.clip(means * (1 - means), 0.0001, None))
    allocated = np.ones(len(sizes), np.int64)
    for _ in range(n - len(sizes)):
        # The next dialog goes where a stratum has fewest for its share.
        open_to_more = np.where(allocated < sizes, shares / allocated, -1.0)
        allocated[int(np.argmax(open_to_more))] += 1
    return (allocated / sizes)[strata], strata


def systematic(probabilities: Floats, order: Indexes, start: float) -> Bools:
    """Return which dialogs a systematic draw takes: as many as the probabilities add up to.

    Probabilities are laid end to end in an order, and every whole number plus the start takes the
    dialog that it falls into. Each dialog is taken with its probability if the start is uniform.

    Args:
        probabilities: those of the dialogs, above 0 and at most 1, which add up to a whole number.
        order: the places of the dialogs in the order in which they are laid; random, or random
            within strata.
        start: a number in [0, 1).
    """
    ends = np.cumsum(probabilities[order])
    n = round(float(ends[-1]))
    ends[-1] = n  # sums of floats may miss it by their last digits
    taken = np.zeros(len(order), bool)
    places = np.searchsorted(ends, np.arange(n) + start, side="right")
    taken[order[places]] = True
    return taken


def difference_estimate(
    answers: Floats, scores: Floats, dialogs: Indexes, is_drawn: Bools, probabilities: Floats
) -> DifferenceEstimate:
    """Return the mean of scores over all items plus the weighted mean of answer - score.

    It is Σ (f + (Y - f) ξ / π) / N if no answer is missing (Zrnic and Candès, 2024). If some are,
    those of drawn dialogs that are there stand for them. An item without a score has no part.

    Args:
        answers: the answers of raters, (n_items,); NaN: none. Those of other dialogs are ignored.
        scores: the scores of all items on the scale of answers; NaN: none.
        dialogs: the dialog of each item, 0 .. n_dialogs - 1.
        is_drawn: whether each dialog was drawn, (n_dialogs,).
        probabilities: the probability of each dialog, (n_dialogs,).

    Returns:
        The estimate and its variance, in which every dialog is drawn by itself, so that it is not
        too small for a systematic draw; NaN without answers, or with fewer than two dialogs.
    """
    has_score = ~np.isnan(scores)
    has_part = has_score & is_drawn[dialogs]
    has_answer = has_part & ~np.isnan(answers)
    n, n_dialogs = int(has_score.sum()), len(is_drawn)
    if not has_answer.any():
        return DifferenceEstimate(math.nan, math.nan, 0)
    weights = np.where(has_part, 1 / probabilities[dialogs], 0.0)
    of_answers = np.where(has_answer, weights, 0.0)
    errors = np.where(has_answer, answers - scores, 0.0)
    error = float(of_answers @ errors / of_answers.sum())
    scale = float(weights.sum() / n)
    metric = float(scores[has_score].mean())
    contributions = np.where(has_score, scores - metric, 0.0) / n
    contributions += scale * of_answers * (errors - error) / of_answers.sum()
    contributions += error * (weights - scale * has_score) / n
    by_dialog = sum_by_dialog(contributions[:, np.newaxis], dialogs, n_dialogs)[:, 0]
    n_with_items = len(np.unique(dialogs[has_score]))
    variance = variance_between_dialogs(by_dialog, n_with_items)
    return DifferenceEstimate(metric + scale * error, variance, int(has_answer.sum()))

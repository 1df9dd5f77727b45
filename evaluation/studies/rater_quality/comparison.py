"""Each vote beside those of the other raters, and the shares that follow from it."""

from typing import NamedTuple

import numpy as np

from evaluation.reports.columns import Estimate
from evaluation.reports.estimates import estimate
from evaluation.statistics.intervals import Floats, Indexes, share_interval, sum_by_dialog
from evaluation.statistics.rater_votes import Bools, agrees, as_agreement, draws_of, others_mean
from evaluation.studies.rater_quality.judgements import RaterJudgements


class BesideOthers(NamedTuple):
    """For each vote of `RaterJudgements` what the others say; NaN where it is not compared."""

    is_compared: Bools
    same: Floats  # 1: agrees with the majority of the others, 0: differs; NaN also without one
    others: Floats  # mean answer of the others, as a number of the scale
    # Whether the others have no majority, and votes on the item are still to come; or all are in.
    is_waiting: Bools
    is_tied: Bools


def beside_others(judged: RaterJudgements, reference: Bools, n_raters: int) -> BesideOthers:
    """Compare each vote with those of the reference.

    Args:
        judged: the votes.
        n_raters: how many raters an item is meant to have; 0: as many as it has.
        reference: (n_raters,) the raters with whom all are compared, themselves left out.
    """
    n = len(judged.answers)
    is_compared = np.zeros(n, np.bool_)
    same, others = np.full(n, np.nan), np.full(n, np.nan)
    for question in range(len(judged.scheme.questions)):
        votes = judged.votes(question)
        draws = draws_of(votes, reference)
        here = judged.places(question)[draws.which]
        is_compared[here] = True
        same[here] = agrees(as_agreement(draws, votes).observed(votes), votes.kind)
        others[here] = others_mean(draws, votes)
    has_none = is_compared & np.isnan(same)
    is_waiting = has_none & (_n_counted(judged) < n_raters)
    return BesideOthers(is_compared, same, others, is_waiting, has_none & ~is_waiting)


def _n_counted(judged: RaterJudgements) -> Indexes:
    """Return how many counted votes the item of each vote has on the same question, (n_votes,)."""
    names = judged.of_item * len(judged.scheme.questions) + judged.of_question
    numbers = np.unique(names, return_inverse=True)[1]
    n_votes = np.bincount(numbers, weights=judged.counted[judged.of_rater])
    counted: Indexes = n_votes.astype(np.int64)[numbers]
    return counted


def share_of(same: Floats, dialogs: Indexes) -> Estimate:
    """Return the share of agreement with its 95 % interval, over votes that are not NaN.

    Args:
        same: 1, 0 or NaN for each vote.
        dialogs: the dialog of each vote, any numbers.
    """
    known = ~np.isnan(same)
    if not known.any():
        return Estimate()
    numbers, of_vote = np.unique(dialogs[known], return_inverse=True)
    statistics = np.column_stack([same[known], np.ones(int(known.sum()))])
    by_dialog = sum_by_dialog(statistics, of_vote, len(numbers))
    return estimate(same[known].mean(), share_interval(by_dialog, most_items=float(known.sum())))

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


def beside_others(judged: RaterJudgements, reference: Bools) -> BesideOthers:
    """Compare each vote with those of the reference.

    Args:
        judged: the votes.
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
    return BesideOthers(is_compared, same, others)


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

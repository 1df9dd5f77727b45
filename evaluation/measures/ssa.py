"""Sensibleness and Specificity Average (SSA): the mean of the means of two questions.

The source is Adiwardana et al. (2020); the attribution/fluency paper uses it in 4.1. A response
that is not sensible is not specific either, so raters are asked the second question behind the
first.
"""

import numpy as np

from annotation.schemes import YES_NO, Question, Scheme
from evaluation.statistics.intervals import Floats, Indexes, MixOfShares, Statistic
from evaluation.statistics.rater_answers import weighted_statistics

SSA = "SSA"
QUESTIONS = SENSIBLE, SPECIFIC = "sensible", "specific"
MEAN_OF_BOTH = MixOfShares((0.5, 0.5))


def ssa_questions(scheme: Scheme) -> tuple[Question, Question] | None:
    """Return the questions of SSA, `sensible` and `specific`; None if a scheme does not have it.

    Both are yes/no questions, and `specific` is behind the gate `sensible`. A scheme that has a
    question named SSA has no other SSA.
    """
    sensible, specific = scheme.question(SENSIBLE), scheme.question(SPECIFIC)
    if sensible is None or specific is None or scheme.question(SSA):
        return None
    is_asked_behind = SENSIBLE in scheme.gates_of(specific)
    if not is_asked_behind or not sensible.scale == specific.scale == YES_NO:
        return None
    return sensible, specific


def ssa_figure(
    sensible: Floats, specific: Floats, dialogs: Indexes, weights: Floats | None = None
) -> Statistic:
    """Return SSA as a figure. It is undefined if one of the questions has no value.

    Args:
        sensible: the value of each item in [0, 1], a majority label or a share of yes votes; NaN:
            the item has none and is not in the mean of this question.
        specific: the same for the other question.
        dialogs: the dialog of each item, from 0.
        weights: the weight of each item; None: all count alike.
    """
    if weights is None:
        weights = np.ones(len(dialogs))
    of_both = [weighted_statistics(values, weights) for values in (sensible, specific)]
    return Statistic(np.hstack(of_both), dialogs, MEAN_OF_BOTH)

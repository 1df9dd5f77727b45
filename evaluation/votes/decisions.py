"""Adjudicated decisions as labels: the newest decision about a target replaces the raters' label.

Rater scores, ceilings and agreement between raters stay as the raters voted.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from annotation.models import Study
from evaluation.models import Adjudication
from evaluation.statistics.intervals import Floats
from evaluation.statistics.labels import LabelRule

Decisions = Mapping[int, int | None]  # target → answer; None: the question cannot be decided


def newest_decisions(study: Study) -> Mapping[str, Decisions]:
    """Return the newest decision about each question and target of a study, in one statement."""
    rows = Adjudication.objects.filter(study=study).order_by("at", "pk")
    newest: dict[str, dict[int, int | None]] = {}
    for question, target, answer in rows.values_list("question", "target", "answer"):
        newest.setdefault(question, {})[target] = answer
    return newest


def is_decided(targets: NDArray[np.int64], decisions: Decisions) -> NDArray[np.bool_]:
    """Return whether there is a decision about each target: ids (n_items,) to (n_items,)."""
    return np.isin(targets, list(decisions))


def labels_of_decisions(
    rule: LabelRule, targets: NDArray[np.int64], decisions: Decisions
) -> Floats:
    """Return the label of the decision about each target: 1 yes, 0 no, NaN no label.

    A decision becomes a label like a single vote: on an ordinal scale, an answer above the cut is
    a yes and an answer on the cut is no label. 'Cannot be decided' is no label either.

    Args:
        rule: the label rule of the question.
        targets: (n_items,) ids of targets that have a decision.
        decisions: the newest decisions about the question.
    """
    answers = [decisions[target] for target in targets.tolist()]
    as_votes = np.zeros((len(answers), len(rule.values)))
    for place, answer in enumerate(answers):
        if answer is not None:
            as_votes[place, rule.values.index(answer)] = 1
    return rule.label_of(as_votes)

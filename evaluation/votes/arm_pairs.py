"""The answers of the two arms of a study about the same responses."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotation.models import Arm, Study
from annotation.schemes import Question
from evaluation.statistics.intervals import Floats
from evaluation.statistics.labels import label_rule
from evaluation.votes.counts import ArmCounts, Ints, n_raters


class Pairs(NamedTuple):
    """The answers of both arms to one question, for each response rated in both."""

    items: Ints  # the places of the pairs among the items of the arm whose numbers are used
    is_rated: NDArray[np.bool_]  # whether the question has votes in both arms
    separate: Floats  # labels: 1 yes, 0 no, NaN undecided
    merged: Floats
    # Rater score merged − separate; NaN if one of the arms may have stopped asking (see `Items`).
    difference: Floats
    setups: Ints
    dialogs: Ints
    n_dialogs: int

    @property
    def is_decided(self) -> NDArray[np.bool_]:
        """Whether both arms have a label: (n_pairs,)."""
        decided: NDArray[np.bool_] = ~np.isnan(self.separate) & ~np.isnan(self.merged)
        return decided


def pairs_of(
    study: Study,
    question: Question,
    arms: Mapping[str, ArmCounts],
    numbered_by: str = Arm.Kind.SEPARATE,
) -> Pairs:
    """Return the answers of the two arms about each response that has votes in both.

    Args:
        study: the study.
        question: the question.
        arms: kind of arm → counts.
        numbered_by: the arm whose numbers of items and dialogs are used.
    """
    rule = label_rule(question, study.settings)
    separate, merged = arms[Arm.Kind.SEPARATE], arms[Arm.Kind.MERGED]
    _, here, there = np.intersect1d(
        separate.items.targets, merged.items.targets, return_indices=True
    )
    in_order = np.argsort(here)  # items are in the order of their names
    here, there = here[in_order], there[in_order]
    numbering = arms[numbered_by].items
    places = here if numbering is separate.items else there
    votes = separate.votes[question.key][here], merged.votes[question.key][there]
    is_full = separate.items.is_always_full[here] & merged.items.is_always_full[there]
    difference = rule.rater_scores(votes[1]) - rule.rater_scores(votes[0])
    return Pairs(
        items=places,
        is_rated=(votes[0].sum(axis=1) > 0) & (votes[1].sum(axis=1) > 0),
        separate=rule.labels(votes[0], n_raters(study, votes[0])),
        merged=rule.labels(votes[1], n_raters(study, votes[1])),
        difference=np.where(is_full, difference, math.nan),
        setups=separate.items.setups[here],
        dialogs=numbering.dialogs[places],
        n_dialogs=numbering.n_dialogs,
    )

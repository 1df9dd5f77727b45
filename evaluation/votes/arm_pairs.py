"""The answers of two arms of a study about the same responses."""

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

Bools = NDArray[np.bool_]


class Pairs(NamedTuple):
    """The answers of two arms to one question, for each response rated in both."""

    items: Ints  # the places of the pairs among the items of the arm whose numbers are used
    is_rated: Bools  # whether the question has votes in both arms
    first: Floats  # labels: 1 yes, 0 no, NaN undecided
    second: Floats
    # Rater score second − first; NaN if one of the arms may have stopped asking (see `Items`).
    difference: Floats
    setups: Ints
    dialogs: Ints
    n_dialogs: int

    @property
    def is_decided(self) -> Bools:
        """Whether both arms have a label: (n_pairs,)."""
        decided: Bools = ~np.isnan(self.first) & ~np.isnan(self.second)
        return decided


def pairs_of(
    study: Study,
    question: Question,
    arms: Mapping[str, ArmCounts],
    *,
    first: str = Arm.Kind.SEPARATE,
    second: str = Arm.Kind.MERGED,
    numbered_by: str = "",
) -> Pairs:
    """Return the answers of two arms about each response that has votes in both.

    Args:
        study: the study.
        question: the question.
        arms: kind of arm → counts.
        first: the kind of one of the two arms.
        second: the kind of the other.
        numbered_by: the arm whose numbers of items and dialogs are used; "" for the first.
    """
    rule = label_rule(question, study.settings)
    one, other = arms[first], arms[second]
    _, here, there = np.intersect1d(one.items.targets, other.items.targets, return_indices=True)
    in_order = np.argsort(here)  # items are in the order of their names
    here, there = here[in_order], there[in_order]
    numbering = arms[numbered_by or first].items
    places = here if numbering is one.items else there
    votes = one.votes[question.key][here], other.votes[question.key][there]
    is_full = one.items.is_always_full[here] & other.items.is_always_full[there]
    difference = rule.rater_scores(votes[1]) - rule.rater_scores(votes[0])
    return Pairs(
        items=places,
        is_rated=(votes[0].sum(axis=1) > 0) & (votes[1].sum(axis=1) > 0),
        first=rule.labels(votes[0], n_raters(study, votes[0])),
        second=rule.labels(votes[1], n_raters(study, votes[1])),
        difference=np.where(is_full, difference, math.nan),
        setups=one.items.setups[here],
        dialogs=numbering.dialogs[places],
        n_dialogs=numbering.n_dialogs,
    )

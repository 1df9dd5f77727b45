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
from evaluation.statistics.tied_labels import with_halves
from evaluation.votes.counts import ArmCounts, Ints, n_raters

Bools = NDArray[np.bool_]


class Pairs(NamedTuple):
    """The answers of two arms to one question, for each response rated in both."""

    items: Ints  # the places of the pairs among the items of the arm whose numbers are used
    is_rated: Bools  # whether the question has votes in both arms
    first: Floats  # labels: 1 yes, 0 no, NaN without a label
    second: Floats
    is_waiting: Bools  # rated in both arms, and one of the labels waits for votes
    is_tied: Bools  # rated in both arms, no label waits, and one of them or both are tied
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

    @property
    def with_halves(self) -> tuple[Floats, Floats]:
        """Both labels of each pair, ½ where they are tied: (n_pairs,) each."""
        first, second = (
            with_halves(labels, self.is_tied & np.isnan(labels))
            for labels in (self.first, self.second)
        )
        return first, second


def shared_items(one: ArmCounts, other: ArmCounts) -> tuple[Ints, Ints]:
    """Return the places of the same items in two arms, in the order of their names."""
    _, here, there = np.intersect1d(one.items.targets, other.items.targets, return_indices=True)
    in_order = np.argsort(here)
    return here[in_order], there[in_order]


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
    here, there = shared_items(one, other)
    numbering = arms[numbered_by or first].items
    places = here if numbering is one.items else there
    votes = one.votes[question.key][here], other.votes[question.key][there]
    is_full = one.items.is_always_full[here] & other.items.is_always_full[there]
    difference = rule.rater_scores(votes[1]) - rule.rater_scores(votes[0])
    is_rated = (votes[0].sum(axis=1) > 0) & (votes[1].sum(axis=1) > 0)
    raters = n_raters(study, votes[0]), n_raters(study, votes[1])
    missing = [rule.unlabelled(*each) for each in zip(votes, raters, strict=True)]
    is_waiting = is_rated & (missing[0].is_waiting | missing[1].is_waiting)
    is_tied = is_rated & (missing[0].is_tied | missing[1].is_tied)
    return Pairs(
        items=places,
        is_rated=is_rated,
        first=rule.labels(votes[0], raters[0]),
        second=rule.labels(votes[1], raters[1]),
        is_waiting=is_waiting,
        is_tied=is_tied & ~is_waiting,
        difference=np.where(is_full, difference, math.nan),
        setups=one.items.setups[here],
        dialogs=numbering.dialogs[places],
        n_dialogs=numbering.n_dialogs,
    )

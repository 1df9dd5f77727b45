"""The raters' answers to each question, as labels and rater scores, and their agreement."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotation.models import Arm, Study
from annotation.schemes import Question, load_scheme
from evaluation.statistics.ceiling import Ceiling, arms_ceiling, halves_ceiling, rest_ceiling
from evaluation.statistics.intervals import Floats
from evaluation.statistics.labels import LabelRule, label_rule
from evaluation.votes.arm_pairs import shared_items
from evaluation.votes.counts import ArmCounts, Ints, n_raters
from evaluation.votes.decisions import (
    Decisions,
    is_decided,
    labels_of_decisions,
    newest_decisions,
)


class People(NamedTuple):
    """The raters' answers to one question, and how far raters agree with each other.

    If adjudicated decisions are the truth, they have replaced the labels of the items in
    `is_decided`. Rater scores and ceilings are always as the raters voted.
    """

    question: Question
    rule: LabelRule
    is_rated: NDArray[np.bool_]  # (n_items,)
    labels: Floats  # 1, 0, NaN without a label
    is_waiting: NDArray[np.bool_]  # (n_items,) without a label, and votes are still to come
    is_tied: NDArray[np.bool_]  # (n_items,) without a label, though all votes are in
    # (n_items,) The label is that of an adjudicated decision. It is neither waiting nor tied.
    is_decided: NDArray[np.bool_]
    rater_scores: Floats
    ceilings: Mapping[str, Ceiling]  # name → ceiling of the items

    @property
    def is_undecidable(self) -> NDArray[np.bool_]:
        """Whether the decision about an item gives it no label: (n_items,)."""
        undecidable: NDArray[np.bool_] = self.is_decided & np.isnan(self.labels)
        return undecidable


def truth_of(truth: str, counts: Sequence[ArmCounts]) -> ArmCounts | None:
    """Return the arm that is taken as the truth. A study without that arm has its only arm."""
    chosen = (of_arm for of_arm in counts if of_arm.arm.kind == truth)
    return next(chosen, next(iter(counts), None))


def rater_scores_of(study: Study, question: Question, of_arm: ArmCounts) -> Floats:
    """Return each item's rater score.

    It is NaN if the item has no votes, or if asking may have stopped early: a share of votes is
    unbiased only if the study did not stop asking when the vote was decided.
    """
    scores = label_rule(question, study.settings).rater_scores(of_arm.votes[question.key])
    return np.where(of_arm.items.is_always_full, scores, math.nan)


def people_of(
    study: Study,
    truth: str,
    counts: Sequence[ArmCounts],
    question: str = "",
    *,
    adjudicated: bool = False,
) -> tuple[ArmCounts | None, list[People]]:
    """Return the arm that is taken as the truth, and its answers to each question.

    A study without that arm has its only arm.

    Args:
        study: the study.
        truth: the kind of the arm.
        counts: the counts of all arms.
        question: the key of the only question to return; "" for all.
        adjudicated: whether the newest adjudicated decisions replace the labels of rated items.
    """
    arms = {of_arm.arm.kind: of_arm for of_arm in counts}
    of_arm = truth_of(truth, counts)
    if of_arm is None:
        return None, []
    asked = [q for q in load_scheme(study.scheme).questions if not question or q.key == question]
    decisions = newest_decisions(study) if adjudicated else {}
    return of_arm, [
        _of_question(study, each, of_arm, arms, decisions.get(each.key, {})) for each in asked
    ]


def _of_question(
    study: Study,
    question: Question,
    of_arm: ArmCounts,
    arms: Mapping[str, ArmCounts],
    decisions: Decisions,
) -> People:
    rule = label_rule(question, study.settings)
    votes = of_arm.votes[question.key]
    is_rated = votes.sum(axis=1) > 0
    ceilings = {} if rule.why else _ceilings(question, rule, of_arm, arms)
    labels = np.full(len(votes), math.nan)
    labels[is_rated] = rule.labels(votes[is_rated], n_raters(study, votes[is_rated]))
    is_waiting, is_tied = rule.unlabelled(votes, n_raters(study, votes))
    replaced = is_rated & is_decided(of_arm.items.targets, decisions)
    labels[replaced] = labels_of_decisions(rule, of_arm.items.targets[replaced], decisions)
    rater_scores = rater_scores_of(study, question, of_arm)
    return People(
        question=question,
        rule=rule,
        is_rated=is_rated,
        labels=labels,
        is_waiting=is_waiting & ~replaced,
        is_tied=is_tied & ~replaced,
        is_decided=replaced,
        rater_scores=rater_scores,
        ceilings=ceilings,
    )


def _ceilings(
    question: Question, rule: LabelRule, of_arm: ArmCounts, arms: Mapping[str, ArmCounts]
) -> dict[str, Ceiling]:
    """Return the ceilings of a question, over the items that always get all raters.

    In a study that stops when decided, the number of votes of other items depends on what the votes
    say.
    """
    votes = _full_counts(question, of_arm)
    ceilings: dict[str, Ceiling] = {}
    if other := _other_arm(of_arm, arms):
        here, there = shared_items(of_arm, other)
        beside = np.zeros_like(votes)
        beside[here] = _full_counts(question, other)[there]
        ceilings["merged"] = arms_ceiling(votes, beside, rule.label_of)
    ceilings["halves"] = halves_ceiling(votes, rule.label_of)
    ceilings["rest"] = rest_ceiling(votes, rule.label_of)
    return ceilings


def _full_counts(question: Question, of_arm: ArmCounts) -> Ints:
    """Return the votes on each item; none where the study may have stopped asking."""
    counts: Ints = of_arm.votes[question.key] * of_arm.items.is_always_full[:, np.newaxis]
    return counts


def _other_arm(of_arm: ArmCounts, arms: Mapping[str, ArmCounts]) -> ArmCounts | None:
    """Return the merged arm beside a separate one, and the first separate arm beside a merged one.

    It is None if the study has no such arm.
    """
    if of_arm.arm.kind != Arm.Kind.MERGED:
        return arms.get(Arm.Kind.MERGED)
    return next((each for kind, each in arms.items() if kind != Arm.Kind.MERGED), None)

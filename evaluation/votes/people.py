"""The raters' answers to each question, as labels and rater scores, and their agreement."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotation.models import Arm, Study
from annotation.schemes import Question, load_scheme
from evaluation.statistics.ceiling import halves_statistics, rest_statistics
from evaluation.statistics.intervals import Floats
from evaluation.statistics.labels import LabelRule, label_rule
from evaluation.statistics.uncertainty import accuracy_statistics
from evaluation.votes.arm_pairs import pairs_of
from evaluation.votes.counts import ArmCounts, n_raters
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
    labels: Floats  # 1, 0, NaN undecided
    is_decided: NDArray[np.bool_]  # (n_items,) the label is that of an adjudicated decision
    rater_scores: Floats
    ceilings: Mapping[str, Floats]  # name → statistics (n_items, 2): agreeing and compared


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
    is_full = of_arm.items.is_always_full
    ceilings: dict[str, Floats] = {}
    if not rule.why:
        full = votes * is_full[:, np.newaxis]  # items without votes are not compared
        merged = _merged_ceiling(study, question, of_arm, arms)
        if merged is not None:
            ceilings["merged"] = merged
        ceilings["halves"] = halves_statistics(full, rule.label_of)
        ceilings["rest"] = rest_statistics(full, rule.label_of)
    labels = np.full(len(votes), math.nan)
    labels[is_rated] = rule.labels(votes[is_rated], n_raters(study, votes[is_rated]))
    replaced = is_rated & is_decided(of_arm.items.targets, decisions)
    labels[replaced] = labels_of_decisions(rule, of_arm.items.targets[replaced], decisions)
    rater_scores = rater_scores_of(study, question, of_arm)
    return People(question, rule, is_rated, labels, replaced, rater_scores, ceilings)


def _merged_ceiling(
    study: Study, question: Question, of_arm: ArmCounts, arms: Mapping[str, ArmCounts]
) -> Floats | None:
    """Return whether a separate arm and the merged arm agree, for the items of the truth.

    The separate arm is the truth itself; if the merged arm is the truth, it is the first one. The
    result has the shape (n_items, 2). It is None if the study has no such two arms.
    """
    is_merged = of_arm.arm.kind == Arm.Kind.MERGED
    separate = next((kind for kind in arms if kind != Arm.Kind.MERGED), None)
    if separate is None or Arm.Kind.MERGED not in arms:
        return None
    pairs = pairs_of(
        study,
        question,
        arms,
        first=separate if is_merged else of_arm.arm.kind,
        numbered_by=of_arm.arm.kind,
    )
    statistics = np.zeros((len(of_arm.items.targets), 2))
    statistics[pairs.items] = accuracy_statistics(pairs.first, pairs.second)
    return statistics

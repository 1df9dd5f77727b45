"""The replicate: how far two sets of raters differ who both judged each response alone.

Merged and separate labels come from different raters. So they would differ even if merging changed
nothing. The second separate arm shows how much: on the same responses, its disagreement with the
separate arm is subtracted from that of the merged arm.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, NamedTuple

import numpy as np

from annotation.models import Arm, Study
from annotation.schemes import Question
from evaluation.reports.columns import UNKNOWN, Column, Estimate, Format
from evaluation.reports.estimates import Planned, with_estimates
from evaluation.reports.report import ReportRow
from evaluation.statistics import rater_answers
from evaluation.statistics.intervals import Floats, MixOfShares, Statistic, share_from
from evaluation.statistics.labels import label_rule
from evaluation.statistics.uncertainty import accuracy_statistics, disagreement_statistics
from evaluation.votes.arm_pairs import Bools, pairs_of
from evaluation.votes.counts import ArmCounts, Ints
from generation.models import Setup


@dataclass(frozen=True, kw_only=True)
class Replicate(ReportRow):
    """The labels of the second separate arm on a question, with separate labels as the truth.

    All figures are over the same responses: those with a label in every arm of the study.
    """

    question: Annotated[str, Column("Question")]
    label: str | None  # the rule for a yes; None: there is no rule
    setup: Annotated[str | None, Column("Setup")]
    n: Annotated[int, Column("n", Format.COUNT)]
    n_left_out_undecided: int
    why: Annotated[str | None, Column("Why")]  # the reason why nothing can be compared
    replicate_accuracy: Annotated[Estimate, Column("Replicate: accuracy", Format.PERCENT)]
    replicate_disagreement: Annotated[Estimate, Column("Replicate: disagreement", Format.PERCENT)]
    replicate_shift: Annotated[Estimate, Column("Replicate: shift", Format.POINTS)]
    # Unknown in a study without a merged arm.
    merged_disagreement: Annotated[Estimate, Column("Merged: disagreement", Format.PERCENT)] = (
        UNKNOWN
    )
    difference: Annotated[Estimate, Column("Merged − replicate", Format.POINTS)] = UNKNOWN


@dataclass(frozen=True, kw_only=True)
class ReplicateOverAll(Replicate):
    """The replicate over all setups."""

    setup: Annotated[None, Column("Setup")] = None


@dataclass(frozen=True, kw_only=True)
class ReplicateOfSetup(Replicate):
    """The replicate of one setup."""

    setup: Annotated[str, Column("Setup")]
    model: str
    temperature: float | None


class _Labels(NamedTuple):
    """The labels of one question in every arm, for each response that all arms have."""

    is_rated: Bools
    separate: Floats  # 1 yes, 0 no, NaN undecided
    again: Floats
    merged: Floats | None  # None: the study has no merged arm
    setups: Ints
    dialogs: Ints

    @property
    def is_decided(self) -> Bools:
        decided: Bools = ~np.isnan(self.separate + self.again)
        return decided if self.merged is None else decided & ~np.isnan(self.merged)


def replicate_rows(
    study: Study,
    questions: Sequence[Question],
    arms: Mapping[str, ArmCounts],
    setups: Sequence[Setup],
) -> list[ReplicateOverAll | ReplicateOfSetup]:
    """Return a row per question, then one per question × setup.

    There are none if the study lacks one of the two separate arms.
    """
    if not {Arm.Kind.SEPARATE, Arm.Kind.SEPARATE_2} <= arms.keys():
        return []
    labels = {question.key: _labels(study, question, arms) for question in questions}
    pairs: list[tuple[Question, Setup | None]] = [(question, None) for question in questions]
    pairs += [(question, setup) for question in questions for setup in setups]
    n_dialogs = arms[Arm.Kind.SEPARATE].items.n_dialogs
    planned = (_planned(study, question, setup, labels[question.key]) for question, setup in pairs)
    return list(with_estimates(planned, n_dialogs, seed=study.seed))


def replicate_left_out(rows: Sequence[Replicate], arms: Mapping[str, ArmCounts]) -> dict[str, int]:
    """Return what the rows leave out, by reason; nothing without rows."""
    if not rows:
        return {}
    rated = [set(of_arm.items.responses.tolist()) for of_arm in arms.values()]
    return {
        "replicate_undecided": sum(r.n_left_out_undecided for r in rows if r.setup is None),
        "not_rated_in_every_arm": len(set.union(*rated) - set.intersection(*rated)),
    }


def _labels(study: Study, question: Question, arms: Mapping[str, ArmCounts]) -> _Labels:
    again = pairs_of(study, question, arms, second=Arm.Kind.SEPARATE_2)
    if Arm.Kind.MERGED not in arms:
        return _Labels(again.is_rated, again.first, again.second, None, again.setups, again.dialogs)
    merged = pairs_of(study, question, arms)
    _, here, there = np.intersect1d(again.items, merged.items, return_indices=True)
    return _Labels(
        is_rated=again.is_rated[here] & merged.is_rated[there],
        separate=again.first[here],
        again=again.second[here],
        merged=merged.second[there],
        setups=again.setups[here],
        dialogs=again.dialogs[here],
    )


def _planned(
    study: Study, question: Question, setup: Setup | None, labels: _Labels
) -> Planned[ReplicateOverAll | ReplicateOfSetup]:
    rule = label_rule(question, study.settings)
    of_setup = labels.setups == setup.pk if setup else np.ones(len(labels.setups), bool)
    here = of_setup & labels.is_decided
    separate, again, dialogs = labels.separate[here], labels.again[here], labels.dialogs[here]
    make = partial(
        partial(
            ReplicateOfSetup,
            setup=setup.name,
            model=setup.model,
            temperature=setup.temperature,
        )
        if setup
        else ReplicateOverAll,
        question=question.key,
        label=rule.description or None,
        n=int(here.sum()),
        n_left_out_undecided=0
        if rule.why
        else int((of_setup & labels.is_rated & ~labels.is_decided).sum()),
        why=rule.why or None,
    )
    noise = disagreement_statistics(separate, again)
    shift = rater_answers.mean_statistics(again - separate)
    figures = {
        "replicate_accuracy": Statistic(accuracy_statistics(separate, again), dialogs, share_from),
        "replicate_disagreement": Statistic(noise, dialogs, share_from),
        "replicate_shift": Statistic(shift, dialogs, rater_answers.mean_from),
    }
    if labels.merged is not None:
        differ = disagreement_statistics(separate, labels.merged[here])
        figures["merged_disagreement"] = Statistic(differ, dialogs, share_from)
        figures["difference"] = Statistic(
            np.hstack([differ, noise]), dialogs, MixOfShares((1.0, -1.0))
        )
    return Planned(make, figures)

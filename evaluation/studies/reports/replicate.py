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
from evaluation.statistics.intervals import Floats, MixOfShares, Statistic, share_from
from evaluation.statistics.labels import label_rule
from evaluation.statistics.tied_labels import with_halves
from evaluation.statistics.uncertainty import (
    SHIFT,
    accuracy_statistics,
    disagreement_statistics,
    shift_statistics,
)
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
    n_left_out_waiting: Annotated[int, Column("Waiting", Format.COUNT)]
    n_left_out_tied: Annotated[int, Column("Tied", Format.COUNT)]
    why: Annotated[str | None, Column("Why")]  # the reason why nothing can be compared
    replicate_accuracy: Annotated[Estimate, Column("Replicate: accuracy", Format.PERCENT)]
    replicate_accuracy_ties_half: float | None = None
    replicate_disagreement: Annotated[Estimate, Column("Replicate: disagreement", Format.PERCENT)]
    replicate_disagreement_ties_half: float | None = None
    replicate_shift: Annotated[Estimate, Column("Replicate: shift", Format.POINTS)]
    replicate_shift_ties_half: float | None = None
    # Unknown in a study without a merged arm.
    merged_disagreement: Annotated[Estimate, Column("Merged: disagreement", Format.PERCENT)] = (
        UNKNOWN
    )
    merged_disagreement_ties_half: float | None = None
    difference: Annotated[Estimate, Column("Merged − replicate", Format.POINTS)] = UNKNOWN
    difference_ties_half: Annotated[
        float | None, Column("Merged − replicate, ties half", Format.POINTS)
    ] = None

    def text(self, name: str, column: Column) -> str:
        """Return the text of a column. The setup is told from that of a row on merged labels."""
        said = super().text(name, column)
        return f"{said if self.setup else 'all setups'}, replicate" if name == "setup" else said


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
    is_waiting: Bools  # rated in every arm, and one of the labels waits for votes
    is_tied: Bools  # rated in every arm, no label waits, and some are tied
    separate: Floats  # 1 yes, 0 no, NaN without a label
    again: Floats
    merged: Floats | None  # None: the study has no merged arm
    setups: Ints
    dialogs: Ints

    @property
    def is_decided(self) -> Bools:
        decided: Bools = ~np.isnan(self.separate + self.again)
        return decided if self.merged is None else decided & ~np.isnan(self.merged)

    @property
    def with_halves(self) -> "_Labels":
        """The same, with ½ for each tied label."""

        def halves(labels: Floats) -> Floats:
            return with_halves(labels, self.is_tied & np.isnan(labels))

        return self._replace(
            separate=halves(self.separate),
            again=halves(self.again),
            merged=None if self.merged is None else halves(self.merged),
        )

    def only(self, here: Bools) -> "_Labels":
        """Return the labels of some responses."""
        return _Labels(
            is_rated=self.is_rated[here],
            is_waiting=self.is_waiting[here],
            is_tied=self.is_tied[here],
            separate=self.separate[here],
            again=self.again[here],
            merged=None if self.merged is None else self.merged[here],
            setups=self.setups[here],
            dialogs=self.dialogs[here],
        )


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
        "replicate_waiting": sum(r.n_left_out_waiting for r in rows if r.setup is None),
        "replicate_tied": sum(r.n_left_out_tied for r in rows if r.setup is None),
        "not_rated_in_every_arm": len(set.union(*rated) - set.intersection(*rated)),
    }


def _labels(study: Study, question: Question, arms: Mapping[str, ArmCounts]) -> _Labels:
    again = pairs_of(study, question, arms, second=Arm.Kind.SEPARATE_2)
    if Arm.Kind.MERGED not in arms:
        return _Labels(
            is_rated=again.is_rated,
            is_waiting=again.is_waiting,
            is_tied=again.is_tied,
            separate=again.first,
            again=again.second,
            merged=None,
            setups=again.setups,
            dialogs=again.dialogs,
        )
    merged = pairs_of(study, question, arms)
    _, here, there = np.intersect1d(again.items, merged.items, return_indices=True)
    is_rated = again.is_rated[here] & merged.is_rated[there]
    is_waiting = is_rated & (again.is_waiting[here] | merged.is_waiting[there])
    is_tied = is_rated & (again.is_tied[here] | merged.is_tied[there])
    return _Labels(
        is_rated=is_rated,
        is_waiting=is_waiting,
        is_tied=is_tied & ~is_waiting,
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
    is_tied = of_setup & labels.is_tied
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
        n_left_out_waiting=int((of_setup & labels.is_waiting).sum()),
        n_left_out_tied=int(is_tied.sum()),
        why=rule.why or None,
    )
    figures = _figures(labels.only(here))
    ties_half: dict[str, Floats] = {}
    if is_tied.any():
        with_ties = _figures(labels.with_halves.only(here | is_tied))
        ties_half = {name: figure.statistics for name, figure in with_ties.items()}
    return Planned(make, figures, ties_half)


def _figures(labels: _Labels) -> dict[str, Statistic]:
    """Return the figures of labels of which none is missing."""
    separate, again, dialogs = labels.separate, labels.again, labels.dialogs
    noise = disagreement_statistics(separate, again)
    figures = {
        "replicate_accuracy": Statistic(accuracy_statistics(separate, again), dialogs, share_from),
        "replicate_disagreement": Statistic(noise, dialogs, share_from),
        "replicate_shift": Statistic(shift_statistics(separate, again), dialogs, SHIFT),
    }
    if labels.merged is not None:
        differ = disagreement_statistics(separate, labels.merged)
        figures["merged_disagreement"] = Statistic(differ, dialogs, share_from)
        figures["difference"] = Statistic(
            np.hstack([differ, noise]), dialogs, MixOfShares((1.0, -1.0))
        )
    return figures

"""The report on uncertainty: merged labels compared with separate ones, for the same responses."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from annotation.models import Arm, Study
from annotation.schemes import Question, load_scheme
from evaluation.reports.base import USUAL, Choices, signature, study_counts, votes_left_out
from evaluation.reports.columns import Column, Estimate, Format
from evaluation.reports.estimates import Planned, with_estimates
from evaluation.reports.registry import ReportGroup, ReportKind
from evaluation.reports.report import LeftOut, Report, ReportRow, number
from evaluation.statistics.intervals import MIX_METHOD, Statistic, share_from
from evaluation.statistics.labels import label_rule
from evaluation.statistics.uncertainty import (
    SHIFT,
    accuracy_statistics,
    disagreement_statistics,
    holm,
    mcnemar_p,
    shift_statistics,
    visible_shift,
)
from evaluation.studies.reports import methods
from evaluation.studies.reports.choices import check_choices, usual_choices
from evaluation.studies.reports.direction import LEVEL, NO_DIRECTION, Direction, directions_of
from evaluation.studies.reports.replicate import (
    ReplicateOfSetup,
    ReplicateOverAll,
    replicate_left_out,
    replicate_rows,
)
from evaluation.studies.reports.scenarios import setups_in_order
from evaluation.votes.arm_pairs import Pairs, pairs_of
from evaluation.votes.counts import ArmCounts
from generation.models import Setup


@dataclass(frozen=True, kw_only=True)
class OverAllSetups(ReportRow):
    """The accuracy of merged labels on a question, with separate labels as the truth."""

    question: Annotated[str, Column("Question")]
    label: str | None  # the rule for a yes; None: there is no rule
    setup: Annotated[None, Column("Setup")] = None
    n: Annotated[int, Column("n", Format.COUNT)]
    n_left_out_waiting: Annotated[int, Column("Waiting", Format.COUNT)]
    n_left_out_tied: Annotated[int, Column("Tied", Format.COUNT)]
    why: Annotated[str | None, Column("Why")]  # the reason why nothing can be compared
    accuracy: Annotated[Estimate, Column("Accuracy", Format.PERCENT)]
    accuracy_ties_half: float | None = None
    disagreement: Annotated[Estimate, Column("Disagreement", Format.PERCENT)]
    disagreement_ties_half: Annotated[
        float | None, Column("Disagreement, ties half", Format.PERCENT)
    ] = None
    direction: Direction = NO_DIRECTION


@dataclass(frozen=True, kw_only=True)
class ShiftTest(ReportRow):
    """McNemar's exact test of a shift, corrected by Holm over the questions that have pairs."""

    p: Annotated[float | None, Column("p", Format.P_VALUE)] = None
    p_holm: Annotated[float | None, Column("p, Holm", Format.P_VALUE)] = None
    is_significant: bool = False
    visible_shift: Annotated[float | None, Column("Visible shift ±", Format.PERCENT)] = None


@dataclass(frozen=True, kw_only=True)
class ShiftOfSetup(ReportRow):
    """The shift of the labels of one setup on a question through merging."""

    question: Annotated[str, Column("Question")]
    label: str | None
    setup: Annotated[str, Column("Setup")]
    model: str
    temperature: float | None
    n: Annotated[int, Column("n", Format.COUNT)]
    n_yes_separate: int
    n_yes_merged: int
    n_up: Annotated[int, Column("Up", Format.COUNT)]
    n_down: Annotated[int, Column("Down", Format.COUNT)]
    n_left_out_waiting: Annotated[int, Column("Waiting", Format.COUNT)]
    n_left_out_tied: Annotated[int, Column("Tied", Format.COUNT)]
    shift: Annotated[Estimate, Column("Shift", Format.POINTS)]
    shift_ties_half: Annotated[float | None, Column("Shift, ties half", Format.POINTS)] = None
    test: ShiftTest = ShiftTest()

    @property
    def is_clear(self) -> bool:
        """Whether the test finds the shift significant, and 0 is not in its interval."""
        return self.test.is_significant and self.shift.excludes_zero


UncertaintyRow = OverAllSetups | ShiftOfSetup | ReplicateOverAll | ReplicateOfSetup


def uncertainty_report(
    study: Study,
    choices: Choices = USUAL,
    counts: Sequence[ArmCounts] | None = None,
    left_out: LeftOut | None = None,
) -> Report[UncertaintyRow]:
    """Return the differences between the arms: a row per question, then one per question × setup.

    These compare merged with separate labels. If the study has a second separate arm, rows that
    compare it with the separate arm follow in the same order. `raters_report` explains `counts` and
    `left_out`. `setup` is None in a row over all setups.
    """
    if counts is None:
        counts = study_counts(study, choices)
    if left_out is None:
        left_out = votes_left_out(study, counts, choices)
    arms = {of_arm.arm.kind: of_arm for of_arm in counts}
    questions = load_scheme(study.scheme).questions
    setups = [s for s in setups_in_order(study) if choices.setup in ("", s.name)]
    of_replicate = replicate_rows(study, questions, arms, setups)
    said = signature(
        study,
        "uncertainty",
        choices,
        counts,
        has_labels=True,
        more=f"merged − replicate: {MIX_METHOD}" if of_replicate else "",
    )
    left_out = replicate_left_out(of_replicate, arms) | left_out
    if n_missing := len({Arm.Kind.SEPARATE, Arm.Kind.MERGED} - arms.keys()):
        left_out = {"arms": n_missing} | left_out
        return Report(study.name, "uncertainty", [*of_replicate], left_out, said)

    overall, of_setups = _of_merged(study, questions, arms, setups)
    left_out = {
        "waiting": sum(row.n_left_out_waiting for row in overall),
        "tied": sum(row.n_left_out_tied for row in overall),
        "rated_in_one_arm": _n_rated_in_one_arm(arms),
    } | left_out
    rows = [*overall, *of_setups, *of_replicate]
    return Report(study.name, "uncertainty", rows, left_out, said)


def _of_merged(
    study: Study,
    questions: Sequence[Question],
    arms: Mapping[str, ArmCounts],
    setups: Sequence[Setup],
) -> tuple[list[OverAllSetups], list[ShiftOfSetup]]:
    """Return the rows that compare merged with separate labels: by question, and by setup too."""
    pairs = {question.key: pairs_of(study, question, arms) for question in questions}
    n_dialogs = arms[Arm.Kind.SEPARATE].items.n_dialogs
    planned = (_over_all_setups(study, each, pairs[each.key]) for each in questions)
    overall = list(with_estimates(planned, n_dialogs, seed=study.seed))
    by_setup = (_of_setup(study, each, s, pairs[each.key]) for each in questions for s in setups)
    of_setups = list(with_estimates(by_setup, n_dialogs, seed=study.seed))
    directions = directions_of(study, questions, pairs, setups)
    tests = {
        (row.question, row.setup): test
        for setup in setups
        for row, test in _with_tests([row for row in of_setups if row.setup == setup.name])
    }
    return (
        [replace(row, direction=of_row) for row, of_row in zip(overall, directions, strict=True)],
        [replace(row, test=tests[row.question, row.setup]) for row in of_setups],
    )


def _n_rated_in_one_arm(arms: Mapping[str, ArmCounts]) -> int:
    separate, merged = (
        set(arms[kind].items.responses.tolist()) for kind in (Arm.Kind.SEPARATE, Arm.Kind.MERGED)
    )
    return len(separate ^ merged)


_COMPARED = {"accuracy": accuracy_statistics, "disagreement": disagreement_statistics}


# --- over all setups ------------------------------------------------------------------------


def _over_all_setups(study: Study, question: Question, pairs: Pairs) -> Planned[OverAllSetups]:
    rule = label_rule(question, study.settings)
    make = partial(
        OverAllSetups,
        question=question.key,
        label=rule.description or None,
        n=int(pairs.is_decided.sum()),
        n_left_out_waiting=int(pairs.is_waiting.sum()),
        n_left_out_tied=int(pairs.is_tied.sum()),
        why=rule.why or None,
    )
    labels = pairs.first, pairs.second
    figures = {
        name: Statistic(statistics(*labels), pairs.dialogs, share_from)
        for name, statistics in _COMPARED.items()
    }
    ties_half = {
        name: statistics(*pairs.with_halves)
        for name, statistics in _COMPARED.items()
        if pairs.is_tied.any()
    }
    return Planned(make, figures, ties_half)


# --- by setup -------------------------------------------------------------------------------


def _of_setup(
    study: Study, question: Question, setup: Setup, pairs: Pairs
) -> Planned[ShiftOfSetup]:
    of_setup = pairs.setups == setup.pk
    here, is_tied = of_setup & pairs.is_decided, of_setup & pairs.is_tied
    separate, merged = pairs.first[here], pairs.second[here]
    make = partial(
        ShiftOfSetup,
        question=question.key,
        label=label_rule(question, study.settings).description or None,
        setup=setup.name,
        model=setup.model,
        temperature=setup.temperature,
        n=int(here.sum()),
        n_yes_separate=int(separate.sum()),
        n_yes_merged=int(merged.sum()),
        n_up=int((merged > separate).sum()),
        n_down=int((merged < separate).sum()),
        n_left_out_waiting=int((of_setup & pairs.is_waiting).sum()),
        n_left_out_tied=int(is_tied.sum()),
    )
    ties_half = {}
    if is_tied.any():
        first, second = (labels[of_setup] for labels in pairs.with_halves)
        ties_half["shift"] = shift_statistics(first, second)
    shift = Statistic(shift_statistics(separate, merged), pairs.dialogs[here], SHIFT)
    return Planned(make, {"shift": shift}, ties_half)


def _with_tests(rows: Sequence[ShiftOfSetup]) -> Iterator[tuple[ShiftOfSetup, ShiftTest]]:
    """Yield each row of one setup with its exact McNemar test."""
    p_values = [mcnemar_p(row.n_up, row.n_down) if row.n else math.nan for row in rows]
    n_tests = sum(row.n > 0 for row in rows)
    for row, p, p_holm in zip(rows, p_values, holm(p_values), strict=True):
        visible = visible_shift(row.n, row.n_up + row.n_down, LEVEL / max(1, n_tests))
        yield (
            row,
            ShiftTest(
                p=number(p),
                p_holm=number(p_holm),
                is_significant=p_holm < LEVEL,
                visible_shift=number(visible),
            ),
        )


UNCERTAINTY = ReportKind(
    key="uncertainty",
    title="Merged against separate",
    lede="Compares the answers in the merged arm with those in the separate arm. With a second "
    "separate arm, it also compares two sets of raters who judged the same responses alone.",
    group=ReportGroup.ARMS,
    about=Study,
    methods=methods.UNCERTAINTY,
    choices=Choices,
    make=uncertainty_report,
    usual=usual_choices,
    check=check_choices,
    rows=(OverAllSetups, ShiftOfSetup, ReplicateOverAll, ReplicateOfSetup),
)

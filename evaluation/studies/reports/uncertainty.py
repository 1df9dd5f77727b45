"""The report on uncertainty: merged labels compared with separate ones, for the same responses."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, NamedTuple

import numpy as np

from annotation.models import Arm, Study
from annotation.schemes import Question, load_scheme
from evaluation.reports.base import USUAL, Choices, signature, study_counts, votes_left_out
from evaluation.reports.columns import Column, Estimate, Format
from evaluation.reports.estimates import Planned, with_estimates
from evaluation.reports.registry import ReportKind
from evaluation.reports.report import LeftOut, Report, ReportRow, number
from evaluation.statistics import rater_answers
from evaluation.statistics.intervals import MIX_METHOD, Statistic, share_from
from evaluation.statistics.labels import label_rule
from evaluation.statistics.uncertainty import (
    accuracy_statistics,
    contrast_by_dialog,
    direction,
    disagreement_statistics,
    holm,
    mcnemar_p,
    visible_shift,
)
from evaluation.studies.reports import methods
from evaluation.studies.reports.choices import check_choices, usual_choices
from evaluation.studies.reports.replicate import (
    ReplicateOfSetup,
    ReplicateOverAll,
    replicate_left_out,
    replicate_rows,
)
from evaluation.studies.reports.scenarios import setups_in_order
from evaluation.votes.arm_pairs import Bools, Pairs, pairs_of
from evaluation.votes.counts import ArmCounts
from generation.models import Setup

LEVEL = 0.05  # significance level of every test, after Holm's correction
# Decimal digits to which shifts are compared. Sums of the same numbers in another order differ by
# less, and must count as equal.
DIGITS = 9


@dataclass(frozen=True, kw_only=True)
class Direction(ReportRow):
    """The setups that merging favours, helps or harms on a question, and the first of the tests."""

    favours: Annotated[str | None, Column("Favours")] = None  # names of setups
    helps: Annotated[str | None, Column("Helps")] = None
    harms: Annotated[str | None, Column("Harms")] = None
    direction_setup: str | None = None
    direction_shift: float | None = None
    direction_p: float | None = None
    direction_p_holm: Annotated[float | None, Column("Direction: p, Holm", Format.P_VALUE)] = None
    visible_direction: Annotated[float | None, Column("Direction: shift ±", Format.PERCENT)] = None


@dataclass(frozen=True, kw_only=True)
class OverAllSetups(ReportRow):
    """The accuracy of merged labels on a question, with separate labels as the truth."""

    question: Annotated[str, Column("Question")]
    label: str | None  # the rule for a yes; None: there is no rule
    setup: Annotated[None, Column("Setup")] = None
    n: Annotated[int, Column("n", Format.COUNT)]
    n_left_out_undecided: int
    why: Annotated[str | None, Column("Why")]  # the reason why nothing can be compared
    accuracy: Annotated[Estimate, Column("Accuracy", Format.PERCENT)]
    disagreement: Annotated[Estimate, Column("Disagreement", Format.PERCENT)]
    direction: Direction = Direction()


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
    n_up: Annotated[int, Column("Up", Format.COUNT)]
    n_down: Annotated[int, Column("Down", Format.COUNT)]
    shift: Annotated[Estimate, Column("Shift", Format.POINTS)]
    test: ShiftTest = ShiftTest()


UncertaintyRow = OverAllSetups | ShiftOfSetup | ReplicateOverAll | ReplicateOfSetup


class _Shifts(NamedTuple):
    """The shifts of the setups' rater scores on a question through merging, and the better sign."""

    own: Mapping[Setup, float]  # two setups or more; empty: there is nothing to test
    sign: int = 1  # the sign of a shift to better

    @property
    def n_tests(self) -> int:
        """The number of tests. Two setups need only one, because their contrasts are opposite."""
        return len(self.own) if len(self.own) > 2 else min(1, len(self.own))

    def others(self, setup: Setup) -> float:
        """Return the mean shift of the other setups."""
        return (sum(self.own.values()) - self.own[setup]) / (len(self.own) - 1)

    def contrast(self, setup: Setup) -> float:
        """Return the shift of a setup − the mean shift of the others."""
        return self.own[setup] - self.others(setup)


class _Tested(NamedTuple):
    """The test of one setup's contrast on one question. `p` is corrected for the other setups."""

    setup: Setup
    p: float
    visible: float


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
        "undecided": sum(row.n_left_out_undecided for row in overall),
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
    directions = _directions(study, questions, pairs, setups)
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


# --- over all setups ------------------------------------------------------------------------


def _over_all_setups(study: Study, question: Question, pairs: Pairs) -> Planned[OverAllSetups]:
    rule = label_rule(question, study.settings)
    same = accuracy_statistics(pairs.first, pairs.second)
    differ = disagreement_statistics(pairs.first, pairs.second)
    make = partial(
        OverAllSetups,
        question=question.key,
        label=rule.description or None,
        n=int(pairs.is_decided.sum()),
        n_left_out_undecided=0 if rule.why else int((pairs.is_rated & ~pairs.is_decided).sum()),
        why=rule.why or None,
    )
    figures = {
        "accuracy": Statistic(same, pairs.dialogs, share_from),
        "disagreement": Statistic(differ, pairs.dialogs, share_from),
    }
    return Planned(make, figures)


def _directions(
    study: Study,
    questions: Sequence[Question],
    pairs: Mapping[str, Pairs],
    setups: Sequence[Setup],
) -> list[Direction]:
    """Return the setups that merging favours, helps or harms on each question.

    The smallest p-value of a question is corrected by Holm over the questions. If it is
    significant, other setups may count too: another setup counts when its own p-value, multiplied
    by the number of tested questions, is significant. When there are only two setups, they share
    one test, and the other setup always counts.
    """
    shifts = [_shifts(question, pairs[question.key], setups) for question in questions]
    n_tested = sum(each.n_tests > 0 for each in shifts)
    tests = [
        _tests(study, pairs[question.key], each, n_tested)
        for question, each in zip(questions, shifts, strict=True)
    ]
    smallest = [found[0].p if found else math.nan for found in tests]
    found_ones = []
    for of_question, found, p in zip(shifts, tests, holm(smallest), strict=True):
        if not found:
            found_ones.append(Direction())
            continue
        first = found[0]
        significant = {
            test.setup
            for place, test in enumerate(found)
            if p < LEVEL and (place == 0 or of_question.n_tests == 1 or n_tested * test.p < LEVEL)
        }
        found_ones.append(
            Direction(
                **_outcomes(of_question, significant),
                direction_setup=first.setup.name,
                direction_shift=number(of_question.contrast(first.setup)),
                direction_p=number(first.p),
                direction_p_holm=number(p),
                visible_direction=number(first.visible),
            )
        )
    return found_ones


def _shifts(question: Question, pairs: Pairs, setups: Sequence[Setup]) -> _Shifts:
    """Return the shift of each setup that has one. Return none if no answer is the better one."""
    own = {
        setup: float(np.nanmean(pairs.difference[of_setup]))
        for setup, of_setup in _rated_by_setup(pairs, setups)
    }
    if question.better is None or len(own) < 2:
        return _Shifts({})
    return _Shifts(own, 1 if question.better == "yes" else -1)


def _tests(study: Study, pairs: Pairs, shifts: _Shifts, n_questions: int) -> list[_Tested]:
    """Return the test of each setup against the mean of the others, the smallest p first.

    With more than two setups, each p-value is multiplied by their number (Bonferroni). With two
    setups there is only one test, and the setup with the contrast to better comes first. Of equal
    p-values the one with the larger contrast comes first, then the one with a contrast to better.
    """
    tested = []
    for setup in shifts.own:
        by_dialog = contrast_by_dialog(
            pairs.difference, pairs.setups, pairs.dialogs, pairs.n_dialogs, setup.pk
        )
        level = LEVEL / (n_questions * shifts.n_tests)
        found = direction(by_dialog, seed=study.seed, level=level)
        tested.append(_Tested(setup, min(1.0, shifts.n_tests * found.p), found.visible))

    def order(test: _Tested) -> tuple[float, float, float]:
        contrast = shifts.contrast(test.setup)
        return test.p, -round(abs(contrast), DIGITS), -shifts.sign * contrast

    return sorted(tested, key=order)


def _outcomes(shifts: _Shifts, significant: Collection[Setup]) -> dict[str, str | None]:
    """Return the names of the setups that merging favours, helps or harms; None: no setup.

    All of them have a significant contrast. A setup is favoured when it shifts to better and the
    mean of the others shifts to worse. It is helped when it shifts to better and the mean of the
    others does not shift to worse. It is harmed when it shifts to worse, and more so than the
    others; of two setups, one is harmed only when the other is not favoured.
    """
    favoured: list[str] = []
    helped: list[str] = []
    harmed: list[str] = []
    for setup in shifts.own:
        if setup not in significant:
            continue
        own, others, contrast = (
            0.0 if abs(shift) < 10**-DIGITS else shifts.sign * shift
            for shift in (shifts.own[setup], shifts.others(setup), shifts.contrast(setup))
        )
        if contrast > 0 and own > 0:
            (favoured if others < 0 else helped).append(setup.name)
        elif contrast < 0 and own < 0:
            harmed.append(setup.name)
    if len(shifts.own) == 2 and favoured:
        harmed = []
    said = {"favours": favoured, "helps": helped, "harms": harmed}
    return {outcome: ", ".join(names) or None for outcome, names in said.items()}


def _rated_by_setup(pairs: Pairs, setups: Sequence[Setup]) -> Iterator[tuple[Setup, Bools]]:
    """Yield each setup with responses rated in both arms, and whether each pair is one of them."""
    for setup in setups:
        here = (pairs.setups == setup.pk) & ~np.isnan(pairs.difference)
        if here.any():
            yield setup, here


# --- by setup -------------------------------------------------------------------------------


def _of_setup(
    study: Study, question: Question, setup: Setup, pairs: Pairs
) -> Planned[ShiftOfSetup]:
    here = (pairs.setups == setup.pk) & pairs.is_decided
    separate, merged = pairs.first[here], pairs.second[here]
    make = partial(
        ShiftOfSetup,
        question=question.key,
        label=label_rule(question, study.settings).description or None,
        setup=setup.name,
        model=setup.model,
        temperature=setup.temperature,
        n=int(here.sum()),
        n_up=int((merged > separate).sum()),
        n_down=int((merged < separate).sum()),
    )
    shift = rater_answers.mean_statistics(merged - separate)
    return Planned(make, {"shift": Statistic(shift, pairs.dialogs[here], rater_answers.mean_from)})


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
    about=Study,
    methods=methods.UNCERTAINTY,
    choices=Choices,
    make=uncertainty_report,
    usual=usual_choices,
    check=check_choices,
    rows=(OverAllSetups, ShiftOfSetup, ReplicateOverAll, ReplicateOfSetup),
)

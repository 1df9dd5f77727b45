"""The report on scenarios: the mean of each question, and SSA, for every setup in every arm."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Protocol, TypeVar

import numpy as np

from annotation.models import Arm, Study
from annotation.schemes import Question, load_scheme
from evaluation.reports.base import (
    USUAL,
    Choices,
    RowOfQuestion,
    item_values,
    mean_measure,
    means_left_out,
    n_other_dialogs,
    signature,
    study_counts,
    values_with_halves,
    votes_left_out,
    with_assumed,
)
from evaluation.reports.columns import UNKNOWN, Column, Estimate, Format
from evaluation.reports.estimates import Planned, with_estimates
from evaluation.reports.registry import ReportGroup, ReportKind
from evaluation.reports.report import LeftOut, Report
from evaluation.statistics import rater_answers
from evaluation.statistics.intervals import MIX_METHOD, Statistic
from evaluation.statistics.rater_answers import weighted_statistics
from evaluation.studies.reports import methods
from evaluation.studies.reports.choices import check_choices, usual_choices
from evaluation.studies.reports.ssa import SsaRow, ssa_rows
from evaluation.votes.counts import (
    ArmCounts,
    missing_behind_gates,
    n_outside_full_share,
    n_raters,
)
from evaluation.votes.dialog_weights import weights_of
from generation.models import Setup


class RowOfArm(Protocol):
    """Any row about one arm."""

    @property
    def arm(self) -> str: ...


R = TypeVar("R", bound=RowOfArm)
# The scenarios of [A] 4.3, the cooler setup first. A2 and C2 repeat A and C with other raters.
_LETTERS = (
    {Arm.Kind.SEPARATE: "A", Arm.Kind.SEPARATE_2: "A2", Arm.Kind.MERGED: "B"},
    {Arm.Kind.SEPARATE: "C", Arm.Kind.SEPARATE_2: "C2", Arm.Kind.MERGED: "D"},
)


@dataclass(frozen=True, kw_only=True)
class ScenarioRow(RowOfQuestion):
    """The mean of a question for one setup in one arm; see `scenarios_report`."""

    question: Annotated[str, Column("Question")]
    scale: str
    scenario: Annotated[str | None, Column("Scenario")]  # its letter in the paper
    setup: Annotated[str, Column("Setup")]
    model: str
    temperature: float | None
    arm: Annotated[str, Column("Arm")]
    n: Annotated[int, Column("n", Format.COUNT)]
    n_assumed: int
    n_dialogs: int
    n_implied: Annotated[int, Column("Implied votes", Format.COUNT)] = 0
    waiting: Annotated[int, Column("Waiting", Format.COUNT)]
    tied: Annotated[int, Column("Tied", Format.COUNT)]
    n_mean: Annotated[int, Column("n of mean", Format.COUNT)]  # 0 for a nominal question
    mean: Annotated[Estimate, Column("Mean", Format.MEAN)] = UNKNOWN
    mean_ties_half: Annotated[float | None, Column("Mean, ties half", Format.MEAN)] = None
    # Dialogs with another median than the most frequent one; None: the scale is not ordinal.
    n_other_dialogs: int | None = None
    # Whether its items have the weight 1 / probability, because the draw was not uniform.
    is_weighted: bool = False

    @property
    def n_drawn_from(self) -> int:
        """The number of dialogs, or of items if these are fewer, that the mean is drawn from."""
        return min(self.n_mean, self.n_dialogs + self.n_assumed)


RowOfScenarios = ScenarioRow | SsaRow


def scenarios_report(
    study: Study,
    choices: Choices = USUAL,
    counts: Sequence[ArmCounts] | None = None,
    left_out: LeftOut | None = None,
) -> Report[RowOfScenarios]:
    """Return question means by scenario: a row per question × setup × arm, then rows of SSA.

    An assumed answer (`n_assumed`) counts as a no in the mean, and it counts in no other figure.

    `raters_report` explains `counts` and `left_out`. Setups are in the order of `setups_in_order`.
    For each setup, the arms are in their usual order: separate before merged.
    """
    if counts is None:
        counts = study_counts(study, choices)
    if left_out is None:
        left_out = votes_left_out(study, counts, choices)
    setups = setups_in_order(study)
    letters = scenario_letters(setups, [of_arm.arm.kind for of_arm in counts])
    scheme = load_scheme(study.scheme)
    questions = scheme.questions
    rows: dict[tuple[str, str, str], ScenarioRow] = {}
    for of_arm in counts:
        planned = _planned(study, of_arm, questions, setups, letters)
        for row in with_estimates(planned, of_arm.all_dialogs.n, seed=study.seed):
            rows[row.question, row.setup, row.arm] = row
    chosen = [setup for setup in setups if choices.setup in ("", setup.name)]
    in_order = [
        rows[question.key, setup.name, of_arm.arm.kind]
        for question in questions
        for setup in chosen
        for of_arm in counts
    ]
    n_missing = sum(missing_behind_gates(of_arm, scheme) for of_arm in counts)
    left_out = means_left_out(in_order) | {"missing_behind_gates": n_missing} | left_out
    averages = ssa_rows(study, counts, chosen, letters)
    if averages:
        left_out["items_outside_full_share"] = sum(map(n_outside_full_share, counts))
    said = signature(
        study, "scenarios", choices, counts, more=f"SSA: {MIX_METHOD}" if averages else ""
    )
    return Report(study.name, "scenarios", [*in_order, *averages], left_out, said)


def of_questions(rows: Sequence[RowOfScenarios]) -> list[ScenarioRow]:
    """Return the rows of the report that are about one question."""
    return [row for row in rows if isinstance(row, ScenarioRow)]


def of_ssa(rows: Sequence[RowOfScenarios]) -> list[SsaRow]:
    """Return the rows of the report that are about SSA."""
    return [row for row in rows if isinstance(row, SsaRow)]


def setups_in_order(study: Study) -> list[Setup]:
    """Return a study's setups by temperature, lowest first and then by name.

    Setups without a temperature come last.
    """
    return sorted(study.setups.all(), key=lambda setup: (_warmth(setup), setup.name))


def _warmth(setup: Setup) -> float:
    return math.inf if setup.temperature is None else setup.temperature


def without_replicate(rows: Sequence[R]) -> list[R]:
    """Return rows about arms without the second separate arm, if it repeats the separate arm."""
    is_repeated = any(row.arm == Arm.Kind.SEPARATE for row in rows)
    return [row for row in rows if not (is_repeated and row.arm == Arm.Kind.SEPARATE_2)]


def scenario_letters(setups: Sequence[Setup], arms: Sequence[str]) -> dict[tuple[str, str], str]:
    """Return the letter of each (setup, arm): A to D, where a study has the paper's four scenarios.

    These are two setups of different temperatures, each in the separate and in the merged arm. Any
    other study has no letters.

    Args:
        setups: the setups of a study, in the order of `setups_in_order`.
        arms: the kinds of its arms.
    """
    has_both = {Arm.Kind.SEPARATE, Arm.Kind.MERGED} <= set(arms)
    temperatures = {setup.temperature for setup in setups} - {None}
    if not (has_both and len(setups) == len(temperatures) == 2):
        return {}
    return {
        (setup.name, arm): letters[Arm.Kind(arm)]
        for setup, letters in zip(setups, _LETTERS, strict=True)
        for arm in arms
    }


def _planned(
    study: Study,
    of_arm: ArmCounts,
    questions: Sequence[Question],
    setups: Sequence[Setup],
    letters: Mapping[tuple[str, str], str],
) -> Iterator[Planned[ScenarioRow]]:
    all_dialogs = of_arm.all_dialogs
    weights = weights_of(study, all_dialogs.names)
    for question in questions:
        all_votes = of_arm.votes[question.key]
        is_rated = all_votes.any(axis=1)
        is_assumed = of_arm.assumed.to(question)
        for setup in setups:
            here = is_rated & (of_arm.items.setups == setup.pk)
            votes = all_votes[here]
            raters = n_raters(study, votes)
            assumed = is_assumed & (of_arm.assumed.setups == setup.pk)
            n_assumed = int(assumed.sum())
            of_items = item_values(question, votes, raters)
            values = with_assumed(of_items, n_assumed)
            missing = rater_answers.without_majority(votes, raters)
            halves = values_with_halves(question, of_items, missing.is_tied)
            dialogs = np.concatenate([all_dialogs.of_items[here], all_dialogs.of_assumed[assumed]])
            make = partial(
                ScenarioRow,
                question=question.key,
                scale=question.scale.kind,
                scenario=letters.get((setup.name, of_arm.arm.kind)),
                setup=setup.name,
                model=setup.model,
                temperature=setup.temperature,
                arm=of_arm.arm.kind,
                n=len(votes),
                n_assumed=n_assumed,
                n_dialogs=len(np.unique(of_arm.items.dialogs[here])),
                n_implied=int(votes.sum() - of_arm.given[question.key][here].sum()),
                waiting=int(missing.is_waiting.sum()),
                tied=int(missing.is_tied.sum()),
                n_mean=0 if values is None else int(np.count_nonzero(~np.isnan(values))),
                n_other_dialogs=n_other_dialogs(question, values, dialogs),
                is_weighted=not study.has_uniform_draw,
            )
            figures, ties_half = {}, {}
            of_dialogs = weights[dialogs]
            if values is not None:
                mean = weighted_statistics(values, of_dialogs)
                figures["mean"] = Statistic(mean, dialogs, mean_measure(question))
            if (with_ties := with_assumed(halves, n_assumed)) is not None:
                ties_half["mean"] = weighted_statistics(with_ties, of_dialogs)
            yield Planned(make, figures, ties_half)


SCENARIOS = ReportKind(
    key="scenarios",
    title="Scenarios",
    lede="Gives the mean of each question by scenario and setup, and SSA where a scheme has it.",
    group=ReportGroup.RATERS,
    about=Study,
    methods=methods.SCENARIOS,
    choices=Choices,
    make=scenarios_report,
    usual=usual_choices,
    check=check_choices,
    rows=(ScenarioRow, SsaRow),
)

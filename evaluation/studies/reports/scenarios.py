"""The report on scenarios: the mean of each question for every setup in every arm."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from string import ascii_uppercase
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
    signature,
    study_counts,
    votes_left_out,
    with_assumed,
)
from evaluation.reports.columns import UNKNOWN, Column, Estimate, Format
from evaluation.reports.estimates import Planned, with_estimates
from evaluation.reports.registry import ReportKind
from evaluation.reports.report import LeftOut, Report
from evaluation.statistics import rater_answers
from evaluation.statistics.intervals import Statistic
from evaluation.studies.reports import methods
from evaluation.studies.reports.choices import check_choices, usual_choices
from evaluation.votes.counts import ArmCounts, n_raters
from generation.models import Setup


class RowOfArm(Protocol):
    """Any row about one arm."""

    @property
    def arm(self) -> str: ...


R = TypeVar("R", bound=RowOfArm)


@dataclass(frozen=True, kw_only=True)
class ScenarioRow(RowOfQuestion):
    """The mean of a question for one setup in one arm; see `scenarios_report`."""

    question: Annotated[str, Column("Question")]
    scale: str
    scenario: Annotated[str, Column("Scenario")]  # the scenario's letter
    setup: Annotated[str, Column("Setup")]
    model: str
    temperature: float | None
    arm: Annotated[str, Column("Arm")]
    n: Annotated[int, Column("n", Format.COUNT)]
    n_assumed: int
    n_dialogs: int
    undecided: Annotated[int, Column("Undecided", Format.COUNT)]
    n_mean: Annotated[int, Column("n of mean", Format.COUNT)]  # 0 for a nominal question
    mean: Annotated[Estimate, Column("Mean", Format.MEAN)] = UNKNOWN


def scenarios_report(
    study: Study,
    choices: Choices = USUAL,
    counts: Sequence[ArmCounts] | None = None,
    left_out: LeftOut | None = None,
) -> Report[ScenarioRow]:
    """Return question means by scenario: a row per question × setup × arm.

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
    questions = load_scheme(study.scheme).questions
    rows: dict[tuple[str, str], ScenarioRow] = {}
    for of_arm in counts:
        planned = _planned(study, of_arm, questions, setups, letters)
        for row in with_estimates(planned, of_arm.all_dialogs.n, seed=study.seed):
            rows[row.question, row.scenario] = row
    in_order = [
        rows[question.key, letter]
        for question in questions
        for (setup, _), letter in letters.items()
        if choices.setup in ("", setup)
    ]
    n_undecided = sum(row.undecided for row in in_order if row.scale == "yes_no")
    left_out = {"undecided": n_undecided} | left_out
    return Report(
        study.name, "scenarios", in_order, left_out, signature(study, "scenarios", choices, counts)
    )


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
    """Return the letter of each (setup, arm): A, B, C, … Z, AA, AB, and so on.

    A second separate arm repeats the scenario of the separate arm: A2 is A with other raters.
    """
    repeats = Arm.Kind.SEPARATE_2 if Arm.Kind.SEPARATE in arms else None
    own = [(setup.name, arm) for setup in setups for arm in arms if arm != repeats]
    letters = {pair: _letter(place) for place, pair in enumerate(own)}
    pairs = [(setup.name, arm) for setup in setups for arm in arms]
    return {
        (setup, arm): f"{letters[setup, Arm.Kind.SEPARATE]}2"
        if arm == repeats
        else letters[setup, arm]
        for setup, arm in pairs
    }


def _letter(place: int) -> str:
    before, last = divmod(place, len(ascii_uppercase))
    return (_letter(before - 1) if before else "") + ascii_uppercase[last]


def _planned(
    study: Study,
    of_arm: ArmCounts,
    questions: Sequence[Question],
    setups: Sequence[Setup],
    letters: dict[tuple[str, str], str],
) -> Iterator[Planned[ScenarioRow]]:
    all_dialogs = of_arm.all_dialogs
    for question in questions:
        all_votes = of_arm.votes[question.key]
        is_rated = all_votes.any(axis=1)
        is_assumed = of_arm.assumed.to(question)
        for setup in setups:
            here = is_rated & (of_arm.items.setups == setup.pk)
            votes = all_votes[here]
            raters = n_raters(study, votes)
            assumed = is_assumed & (of_arm.assumed.setups == setup.pk)
            values = with_assumed(item_values(question, votes, raters), int(assumed.sum()))
            majority = rater_answers.majority_category(votes, raters)
            make = partial(
                ScenarioRow,
                question=question.key,
                scale=question.scale.kind,
                scenario=letters[setup.name, of_arm.arm.kind],
                setup=setup.name,
                model=setup.model,
                temperature=setup.temperature,
                arm=of_arm.arm.kind,
                n=len(votes),
                n_assumed=int(assumed.sum()),
                n_dialogs=len(np.unique(of_arm.items.dialogs[here])),
                undecided=int(np.count_nonzero(majority == rater_answers.UNDECIDED)),
                n_mean=0 if values is None else int(np.count_nonzero(~np.isnan(values))),
            )
            dialogs = np.concatenate([all_dialogs.of_items[here], all_dialogs.of_assumed[assumed]])
            figures = {}
            if values is not None:
                mean = rater_answers.mean_statistics(values)
                figures["mean"] = Statistic(mean, dialogs, mean_measure(question))
            yield Planned(make, figures)


SCENARIOS = ReportKind(
    key="scenarios",
    title="Scenarios",
    lede="Gives the mean of each question by scenario and setup.",
    about=Study,
    methods=methods.SCENARIOS,
    choices=Choices,
    make=scenarios_report,
    usual=usual_choices,
    check=check_choices,
    rows=(ScenarioRow,),
)

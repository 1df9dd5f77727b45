"""The report on a plan: how many dialogs, raters and arms give a wanted interval or power.

Numbers of dialogs are by formula, with the normal distribution, so they hold for large numbers.
Numbers of raters are simulated from the votes of a pilot, because no formula knows them.
"""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from django.conf import settings

from annotation.forms.setup import BOTH
from annotation.models import Study
from annotation.schemes import load_scheme
from evaluation.reports.registry import CannotReport, ReportGroup, ReportKind
from evaluation.reports.report import Report, number
from evaluation.runs.progress import titles_by_key
from evaluation.statistics import planning
from evaluation.statistics.pilot_simulation import RatersPlan, raters_plans
from evaluation.studies.reports import methods
from evaluation.studies.reports.assumptions import PlanAssumptions, assumptions_of
from evaluation.studies.reports.cached_figures import cached_of_study
from evaluation.studies.reports.pilot import PilotVotes
from evaluation.studies.reports.plan_choices import Goal, PlanChoices
from evaluation.studies.reports.plan_precision import PlanPrecision
from evaluation.studies.reports.plan_rows import (
    AnyPlanRow,
    ArmsDesign,
    AssumptionRow,
    DialogsDesign,
    RatersDesign,
)
from generation.choices.declaration import check_known
from generation.models import Dataset

NAME = "plan"
RATERS = (1, 3, 5, 7)
STEPS = (1, 2, 3, 5)  # the numbers of dialogs are these times powers of ten
FEWEST = 30  # dialogs of the first step; formulas for large numbers promise too much below it
MOST_SIMULATED = 1000  # dialogs of a simulated study
# The names of arms in the form of a new study.
ARMS_SAID = {
    ("separate",): "separate",
    ("merged",): "merged",
    ("separate", "merged"): BOTH,
}


def plan_report(dataset: Dataset, choices: PlanChoices) -> Report[AnyPlanRow]:
    """Return numbers of dialogs, of raters and of arms with what each gives, and the assumptions.

    Raises:
        CannotReport: the dataset has no examples.
    """
    assumptions = assumptions_of(dataset, choices)
    material = assumptions.material
    if not material.n_dialogs:
        raise CannotReport("The dataset has no examples, so nothing can be planned. Import some.")
    if choices.goal == Goal.DIFFERENCE and material.has_responses and material.n_setups < 2:
        raise CannotReport(
            "Found 1 setup with responses; expected two, whose difference is planned. Choose "
            "another goal, or generate responses by another setup."
        )
    precision = PlanPrecision(choices, assumptions)
    needed = [precision.dialogs_needed(with_metric=False)]
    if precision.has_metric:
        needed.append(precision.dialogs_needed(with_metric=True))
    n_planned = planned_dialogs(needed, material.n_dialogs)
    design = partial(_design, choices, assumptions)
    rows: list[AnyPlanRow] = [
        _dialogs_row(design, precision, n, is_in_dataset=n <= material.n_dialogs)
        for n in _ladder(material.n_dialogs, needed)
    ]
    rows += _raters_rows(design, choices, assumptions, n_planned)
    rows += _arms_rows(design, choices, assumptions, n_planned)
    rows += assumptions.rows
    figures = assumptions.figures
    left_out = {
        "waiting": figures.n_waiting if figures else 0,
        "tied": figures.n_tied if figures else 0,
        "without_score": figures.n_without_score if figures else 0,
    }
    return Report(dataset.name, NAME, rows, left_out, _signature(choices, assumptions))


def planned_dialogs(needed: Sequence[int | None], n_there: int) -> int:
    """Return the number of dialogs to plan: the first of those needed that the dataset has, or all.

    Args:
        needed: the number by raters alone, then the number with a metric; None: no number does.
        n_there: the dialogs of the dataset.
    """
    return next((n for n in needed if n is not None and n <= n_there), n_there)


def _ladder(n_there: int, needed: Sequence[int | None]) -> list[int]:
    """Return the numbers of dialogs to compare, up to all of the dataset or all that are needed."""
    answers = {n for n in needed if n is not None}
    most = max({n_there, *answers})
    steps = {step * 10**power for power in range(1, len(str(most)) + 1) for step in STEPS}
    return sorted({n for n in steps if FEWEST <= n <= most} | answers | {n_there})


def _design(
    choices: PlanChoices,
    assumptions: PlanAssumptions,
    n_dialogs: int,
    raters: int | None = None,
    arms: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Return the fields of a row that say what is rated, and its hours."""
    raters, arms = raters or choices.raters, arms or choices.arms
    n_setups = max(2 if choices.goal == Goal.DIFFERENCE else 1, assumptions.material.n_setups)
    time = assumptions.material.time
    n_per_example = time.n_per_example if time else n_setups
    n_responses = round(n_dialogs * assumptions.value("examples") * n_per_example)
    hours = sum(
        planning.rater_hours(
            n_responses,
            raters_per_response=raters,
            n_arms=1,
            seconds_per_response=assumptions.seconds[arm],
        )
        for arm in arms
    )
    return {
        "n_dialogs": n_dialogs,
        "raters": raters,
        "arms": ARMS_SAID[arms],
        "n_setups": n_setups,
        "n_responses": n_responses,
        "hours": hours,
    }


def _dialogs_row(
    design: Any, precision: PlanPrecision, n_dialogs: int, *, is_in_dataset: bool
) -> DialogsDesign:
    alone, helped = (precision.error(n_dialogs, with_metric=each) for each in (False, True))
    detects = precision.choices.detects
    power = partial(planning.power_of, precision.wish, level=precision.choices.level)
    nan = math.nan
    wanted = precision.wish / precision.distance * (1 + 1e-9)
    return DialogsDesign(
        compares=DialogsDesign.varied,
        **design(n_dialogs),
        half_width=number(precision.quantile * alone),
        half_width_with_metric=number(precision.quantile * helped),
        visible=number(precision.distance * alone if detects else nan),
        visible_with_metric=number(precision.distance * helped if detects else nan),
        power=number(power(alone) if detects else nan),
        power_with_metric=number(power(helped) if detects else nan),
        n_effective=_whole(precision.n_effective(n_dialogs)),
        is_enough=alone <= wanted,
        is_enough_with_metric=None if math.isnan(helped) else helped <= wanted,
        is_in_dataset=is_in_dataset,
        wish=precision.wish,
    )


def _whole(value: float) -> int | None:
    return None if math.isnan(value) else round(value)


# --- raters and arms ------------------------------------------------------------------------


def _raters_rows(
    design: Any, choices: PlanChoices, assumptions: PlanAssumptions, n_planned: int
) -> Iterator[RatersDesign]:
    """Yield each number of raters, by the votes of each arm of the plan that the pilot has."""
    pilot, figures = assumptions.pilot, assumptions.figures
    if not (pilot and figures):
        return
    n_dialogs = min(n_planned, MOST_SIMULATED)
    numbers = sorted({*RATERS, choices.raters})
    for arm in (arm for arm in choices.arms if arm in figures.votes):
        said = (choices.question, arm, numbers, n_dialogs, choices.level)
        simulated = partial(_simulated, pilot, figures.votes[arm], numbers, n_dialogs, choices)
        plans = cached_of_study(pilot, repr(("raters", *said)), simulated)
        for plan in plans:
            yield RatersDesign(
                compares=RatersDesign.varied,
                **design(n_planned, raters=plan.n_raters),
                of_arm=arm,
                n_simulated=n_dialogs,
                half_width=number(plan.half_width),
                tied=number(plan.tied),
                same_as_pilot=number(plan.same_as_pilot),
                is_extrapolated=plan.is_extrapolated,
            )


def _simulated(
    pilot: Study, votes: PilotVotes, numbers: Sequence[int], n_dialogs: int, choices: PlanChoices
) -> list[RatersPlan]:
    return raters_plans(
        votes.counts,
        votes.clusters,
        raters=numbers,
        n_dialogs=n_dialogs,
        seed=pilot.seed,
        level=choices.level,
    )


def _arms_rows(
    design: Any, choices: PlanChoices, assumptions: PlanAssumptions, n_planned: int
) -> Iterator[ArmsDesign]:
    """Yield each choice of arms. Merged against separate has no choice, because it needs both."""
    if choices.goal == Goal.ARMS:
        return
    for arms in ARMS_SAID:
        times = [assumptions.seconds[arm] for arm in arms]
        yield ArmsDesign(
            compares=ArmsDesign.varied,
            **design(n_planned, arms=arms),
            seconds=sum(times) / len(times),
        )


# --- the declaration ------------------------------------------------------------------------


def _signature(choices: PlanChoices, assumptions: PlanAssumptions) -> str:
    pilot, figures = assumptions.pilot, assumptions.figures
    assumed = ", ".join(f"{row.key} {row.amount!r} ({row.source})" for row in assumptions.rows)
    simulated = f"simulated studies of the pilot, seed {pilot.seed}" if pilot else ""
    parts = [
        NAME,
        f"{choices.goal}: {choices.wish:g} points, level {choices.level:g}, power "
        f"{choices.power:g}",
        f"{choices.raters} raters, {' and '.join(choices.arms)} arm",
        f"scheme {pilot.scheme['key'] if pilot else choices.scheme}",
        f"{assumptions.material.n_dialogs} dialogs, {assumptions.material.n_setups} setups",
        assumed,
        "normal approximation",
        simulated,
        f"data {figures.data}" if figures else "",
        f"attest {settings.VERSION}",
    ]
    return " | ".join(filter(None, parts))


def pilots_of(dataset: Dataset) -> list[Study]:
    """Return the studies of a dataset that may be pilots.

    Of citations, no dialogs are drawn. A draw by scores says nothing about other dialogs.
    """
    return [
        study
        for study in dataset.studies.order_by("-pk")
        if load_scheme(study.scheme).target == "response" and study.has_uniform_draw
    ]


def known_values(dataset: Dataset) -> dict[str, dict[str, str]]:
    """Return the pilots, their questions and the runs of a dataset, each in words."""
    pilots = pilots_of(dataset)
    questions = {key: key.replace("_", " ") for s in pilots for key in load_scheme(s.scheme).keys}
    return {
        "pilot": {"": "no pilot"} | {study.slug: study.name for study in pilots},
        "question": {"": "the first main one"} | questions,
        "metric": {"": "the one that agrees best"} | _runs(dataset),
    }


def _runs(dataset: Dataset) -> dict[str, str]:
    """Return the title of each run of a dataset by its key."""
    return titles_by_key(list(dataset.metric_runs.order_by("metric", "pk")))


def check_plan(dataset: Dataset, choices: PlanChoices) -> None:
    """Check that a dataset has the pilot, the question and the run that were chosen.

    Raises:
        ChoiceError: the dataset does not have them.
    """
    pilots = {study.slug: study for study in pilots_of(dataset)}
    if choices.pilot:
        check_known("pilot", choices.pilot, pilots)
    if choices.question:
        asked = [pilots[choices.pilot]] if choices.pilot else pilots.values()
        keys = sorted({key for study in asked for key in load_scheme(study.scheme).keys})
        check_known("question", choices.question, keys)
    if choices.metric:
        check_known("metric", choices.metric, _runs(dataset))


PLAN = ReportKind(
    key=NAME,
    title="Plan",
    lede="Says how many dialogs, raters and arms give a wanted interval or power.",
    group=ReportGroup.PLANNING,
    about=Dataset,
    choices=PlanChoices,
    make=plan_report,
    known=known_values,
    check=check_plan,
    rows=(DialogsDesign, RatersDesign, ArmsDesign, AssumptionRow),
    methods=methods.PLAN,
)

"""The assumptions of a plan: from the reader, a pilot, the dataset, or else a usual value."""

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from django.db.models import Count, QuerySet

from annotation.expected_times import ExpectedTime, expected_time
from annotation.models import Arm, Study
from annotation.schemes import built_in_schemes
from annotation.study_plan import StudyPlan
from evaluation.reports.columns import Format
from evaluation.reports.report import number
from evaluation.studies.reports.cached_figures import cached_of_study
from evaluation.studies.reports.pilot import PilotFigures, pilot_figures
from evaluation.studies.reports.plan_choices import Goal, PlanChoices
from evaluation.studies.reports.plan_rows import AssumptionRow
from generation.choices.declaration import fields_of
from generation.models import Dataset, Example, Setup
from work.amounts import UNDEFINED

USUAL = {"share": 0.5, "correlation": 0.5, "icc": 0.25, "seconds": 60.0}
NOTHING_TO_READ = "usual value; there is no response to read"
FORMATS: Mapping[str, Format] = {
    "share": Format.PERCENT,
    "correlation": Format.COEFFICIENT,
    "icc": Format.COEFFICIENT,
    "metric_correlation": Format.COEFFICIENT,
    "examples": Format.DECIMAL,
    "scored": Format.COUNT,
    "seconds": Format.SECONDS,
}
LABELS = {field.name: field.choice.label for field in fields_of(PlanChoices)}


class MaterialToRate(NamedTuple):
    """The numbers of what could be rated in a dataset; with a pilot, by the pilot's setups only."""

    n_dialogs: int
    n_examples: int
    n_setups: int
    has_responses: bool
    time: ExpectedTime | None  # None: raters could judge none of its responses


class Assumption(NamedTuple):
    """A value, NaN if unknown, and its origin in words."""

    value: float
    source: str


class PlanAssumptions(NamedTuple):
    """Everything that a plan is made from."""

    material: MaterialToRate
    pilot: Study | None
    figures: PilotFigures | None
    assumed: Mapping[str, Assumption]
    seconds: Mapping[str, float]  # arm → seconds per response

    def value(self, name: str) -> float:
        """Return the value of an assumption; NaN if it is unknown."""
        return self.assumed[name].value

    @property
    def rows(self) -> list[AssumptionRow]:
        """The assumptions as rows of the report."""
        return [
            AssumptionRow(
                key=name,
                assumption=LABELS[name],
                amount=number(value),
                written=_written(name, value),
                source=source,
            )
            for name, (value, source) in self.assumed.items()
        ]


def _written(name: str, value: float) -> str:
    if math.isnan(value):
        return UNDEFINED
    if FORMATS[name] is Format.COUNT:
        return Format.COUNT.write(round(value))
    unit = " %" if FORMATS[name] is Format.PERCENT else ""
    return FORMATS[name].write(value) + unit


def assumptions_of(dataset: Dataset, choices: PlanChoices) -> PlanAssumptions:
    """Return what a plan on a dataset assumes."""
    pilot = dataset.studies.get(slug=choices.pilot) if choices.pilot else None
    figures = None
    if pilot:
        said = (choices.goal, choices.arm, choices.question, choices.metric)
        figures = cached_of_study(
            pilot, repr(("pilot", *said)), lambda: pilot_figures(pilot, choices)
        )
    material = _material(dataset, choices, pilot)
    seconds = _seconds(choices, material.time)
    assumed = dict(_assumed(choices, material, pilot, figures))
    return PlanAssumptions(material, pilot, figures, assumed, seconds)


def setups_to_rate(dataset: Dataset, pilot: Study | None) -> QuerySet[Setup]:
    """Return the setups that the planned study rates: the pilot's, or else all of the dataset."""
    return pilot.setups.all() if pilot else dataset.setups.of_benchmark()


def _material(dataset: Dataset, choices: PlanChoices, pilot: Study | None) -> MaterialToRate:
    """Return the numbers of dialogs with responses; of all dialogs if none has a response."""
    examples = Example.objects.of_benchmark().filter(dataset=dataset).order_by()
    setups = setups_to_rate(dataset, pilot)
    n = {"dialogs": Count("dialog", distinct=True), "examples": Count("pk", distinct=True)}
    answered = examples.filter(responses__setup__in=setups).aggregate(**n)
    counted = answered if answered["dialogs"] else examples.aggregate(**n)
    scheme = pilot.scheme if pilot else built_in_schemes()[choices.scheme]
    evidence = pilot.evidence_choice if pilot else StudyPlan._field_defaults["evidence_choice"]
    return MaterialToRate(
        counted["dialogs"],
        counted["examples"],
        setups.count(),
        bool(answered["dialogs"]),
        expected_time(dataset.pk, setups, scheme, evidence),
    )


def _assumed(
    choices: PlanChoices,
    material: MaterialToRate,
    pilot: Study | None,
    figures: PilotFigures | None,
) -> Iterator[tuple[str, Assumption]]:
    """Yield the assumptions that matter for the goal."""
    measured = _measured(choices, figures)
    counted = {
        "examples": material.n_examples / max(1, material.n_dialogs) or 1.0,
        "scored": float(material.n_dialogs),
    }
    for name in needed_for(choices.goal):
        typed = getattr(choices, name)
        if typed is not None:
            yield name, Assumption(float(typed), "you")
        elif name == "seconds":
            yield name, _mean_seconds(choices, material.time)
        elif name in counted:
            yield name, Assumption(counted[name], f"the dataset: {material.n_dialogs:,} dialogs")
        elif pilot and figures and not math.isnan(measured[name]):
            yield name, Assumption(measured[name], _said(name, pilot, figures))
        else:
            usual = USUAL.get(name, math.nan)
            source = "unknown" if math.isnan(usual) else "usual value"
            yield name, Assumption(usual, f"{source}; the pilot has none" if pilot else source)


def needed_for(goal: str) -> Iterator[str]:
    """Yield the names of the assumptions that matter for a goal."""
    yield "share"
    if goal in (Goal.DIFFERENCE, Goal.ARMS):
        yield "correlation"
    yield "icc"
    yield "examples"
    if goal in (Goal.MEAN, Goal.DIFFERENCE):
        yield from ("metric_correlation", "scored")
    yield "seconds"


def _measured(choices: PlanChoices, figures: PilotFigures | None) -> Mapping[str, float]:
    """Return what the pilot says about each assumption; NaN where it says nothing.

    A share of 0 or 1 would need no labels at all. It counts as if one more response of each kind
    had been rated.
    """
    if figures is None:
        return {}
    n = figures.n_items
    share = figures.share
    if not math.isnan(share):
        share = min((n + 1) / (n + 2), max(1 / (n + 2), share))
    return {
        "share": share,
        "correlation": figures.correlation,
        "icc": figures.icc,
        "metric_correlation": max(0.0, figures.metric_correlation)
        if not math.isnan(figures.metric_correlation)
        else math.nan,
    }


def _seconds(choices: PlanChoices, time: ExpectedTime | None) -> Mapping[str, float]:
    """Return the seconds per response of each arm."""
    if choices.seconds is not None or time is None:
        return dict.fromkeys(Arm.Kind.values, choices.seconds or USUAL["seconds"])
    return time.seconds


def _mean_seconds(choices: PlanChoices, time: ExpectedTime | None) -> Assumption:
    """Return the mean seconds over the arms of the plan, and where they come from."""
    if time is None:
        return Assumption(USUAL["seconds"], NOTHING_TO_READ)
    seconds = [time.seconds[arm] for arm in choices.arms]
    return Assumption(sum(seconds) / len(seconds), time.pace.source(choices.arms))


def _said(name: str, pilot: Study, figures: PilotFigures) -> str:
    """Return the origin of a pilot's figure in words."""
    of_metric = f", {figures.metric}" if name == "metric_correlation" else ""
    return f"{pilot.name}{of_metric}: {figures.n_items:,} items, {figures.n_dialogs:,} dialogs"

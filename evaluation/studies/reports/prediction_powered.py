"""The report on prediction-powered means: few answers of raters, and scores of all responses."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, NamedTuple

import numpy as np

from annotation.models import Study
from evaluation.reports.base import CountedLabels, RowOfQuestion
from evaluation.reports.columns import UNKNOWN, Column, Estimate, Format
from evaluation.reports.estimates import estimate
from evaluation.reports.registry import ReportGroup, ReportKind
from evaluation.reports.report import Report, number
from evaluation.statistics.intervals import Interval
from evaluation.statistics.prediction_powered import (
    LEAST_LABELS,
    LEAST_OF_RARER,
    HumansOnly,
    PredictionPowered,
    prediction_powered_mean,
    prediction_powered_share,
)
from evaluation.statistics.weighted_means import weighted_prediction_powered
from evaluation.studies.reports import methods
from evaluation.studies.reports.choices import usual_labels
from evaluation.studies.reports.response_values import (
    Answers,
    QuestionKey,
    ResponseScores,
    RunKey,
    StudyValues,
    check_values,
    known_values,
    values_left_out,
    values_of_study,
)
from evaluation.studies.reports.run_columns import RunColumns, run_columns, to_run
from generation.models import Setup

NAME = "prediction_powered"
WHY: Mapping[HumansOnly, str] = {
    HumansOnly.NOT_DRAWN: "The rated dialogs are no sample that was drawn here from all dialogs.",
    HumansOnly.NO_SCORES: "No rated response has a score of this run.",
    HumansOnly.NOTHING_UNRATED: "No further dialogs have scores of this run.",
    HumansOnly.FEW_LABELS: f"There are fewer than {LEAST_LABELS} labels.",
    HumansOnly.RARE_ANSWER: f"The rarer answer has fewer than {LEAST_OF_RARER} labels.",
}


@dataclass(frozen=True, kw_only=True)
class PredictionPoweredRow(RowOfQuestion):
    """The mean of a question for one setup: by raters and a metric together, and by each alone."""

    named_by = ("title", "model", "question", "setup")

    question: Annotated[str, Column("Question")]
    scale: str
    setup: Annotated[str, Column("Setup")]
    model: str
    temperature: float | None
    of_run: RunColumns
    mean: Annotated[Estimate, Column("Raters and metric", Format.MEAN)]
    mean_ties_half: Annotated[float | None, Column("The same, ties half", Format.MEAN)] = None
    human_mean: Annotated[Estimate, Column("Raters alone", Format.MEAN)]
    human_mean_ties_half: Annotated[
        float | None, Column("Raters alone, ties half", Format.MEAN)
    ] = None
    metric_mean: Annotated[float | None, Column("Metric alone", Format.MEAN)]
    lam: Annotated[float | None, Column("λ", Format.DECIMAL)]
    n_labels: Annotated[int, Column("Labels", Format.COUNT)]
    n_left_out_waiting: Annotated[int, Column("Waiting", Format.COUNT)]
    n_left_out_tied: Annotated[int, Column("Tied", Format.COUNT)]
    # The labels that raters alone would need for the same precision.
    n_effective: Annotated[int | None, Column("Worth labels", Format.COUNT)]
    n_scored: Annotated[int, Column("Other scores", Format.COUNT)]  # in dialogs that are not rated
    narrower: Annotated[float | None, Column("Narrower by", Format.PERCENT)]
    helps: Annotated[bool | None, Column("Helps")]
    why: Annotated[str | None, Column("Why raters alone")]


class PredictionPoweredChoices(NamedTuple):
    """The choices that a reader may make about prediction-powered means."""

    counted: CountedLabels = CountedLabels()
    question: QuestionKey = ""
    metric: RunKey = ""


def prediction_powered_report(
    study: Study, choices: PredictionPoweredChoices
) -> Report[PredictionPoweredRow]:
    """Return a row for each question × setup × run, if the run has scores of the study.

    Raises:
        CannotReport: raters judge citations, or the study has no arm.
    """
    values = values_of_study(study, choices)
    rows = list(_rows(values))
    left_out = values_left_out(values) | {
        "without_score": sum(int(np.isnan(each.values).sum()) for each in values.scores),
    }
    return values.report(NAME, rows, left_out)


def _rows(values: StudyValues) -> Iterator[PredictionPoweredRow]:
    for answers in values.answers:
        if not answers.has_mean:
            continue
        for setup in values.setups:
            for of_run in values.scores:
                yield _row(values, answers, setup, of_run)


def _row(
    values: StudyValues, answers: Answers, setup: Setup, of_run: ResponseScores
) -> PredictionPoweredRow:
    here = values.everything.setups == setup.pk
    of_setup = answers.only(here)
    scores = np.where(here, of_run.on(answers.scale), math.nan)
    part = values.part(of_setup, scores)
    mean_of = prediction_powered_mean if answers.is_ordinal else prediction_powered_share
    probabilities = values.everything.probabilities
    if probabilities is not None:
        mean_of = partial(
            weighted_prediction_powered,
            probabilities=probabilities,
            is_share=not answers.is_ordinal,
        )
    found, missing = mean_of(part), of_setup.missing_values
    with_ties = (
        mean_of(values.part(of_setup.with_halves, scores)) if missing.is_tied.any() else None
    )
    rated = np.zeros(len(here), bool) if part.is_rated is None else part.is_rated[part.dialogs]
    has_mean = found.reason is None
    return PredictionPoweredRow(
        question=answers.question.key,
        scale="ordinal" if answers.is_ordinal else "yes_no",
        setup=setup.name,
        model=setup.model,
        temperature=setup.temperature,
        of_run=run_columns(of_run.run),
        mean=estimate(found.estimate, Interval(found.low, found.high)) if has_mean else UNKNOWN,
        mean_ties_half=number(with_ties.estimate) if with_ties else None,
        human_mean=estimate(found.human, Interval(found.human_low, found.human_high)),
        human_mean_ties_half=number(with_ties.human) if with_ties else None,
        metric_mean=number(found.metric),
        lam=number(found.lam),
        n_labels=found.n_labels,
        n_left_out_waiting=int(missing.is_waiting.sum()),
        n_left_out_tied=int(missing.is_tied.sum()),
        n_effective=round(found.n_effective) if has_mean else None,
        n_scored=int((~np.isnan(scores) & ~rated).sum()),
        narrower=number(_narrower(found)),
        helps=found.is_helpful if has_mean else None,
        why=WHY[found.reason] if found.reason else None,
    )


def _narrower(found: PredictionPowered) -> float:
    """Return by which share the interval is narrower than that of raters alone; NaN: undefined."""
    alone = found.human_high - found.human_low
    return 1 - (found.high - found.low) / alone if alone > 0 else math.nan


def usual_prediction_powered(study: Study) -> PredictionPoweredChoices:
    return PredictionPoweredChoices(usual_labels(study))


PREDICTION_POWERED = ReportKind(
    key=NAME,
    title="Estimate from few labels",
    lede=(
        "Estimates the mean of each setup from the answers of raters for a drawn sample, and a "
        "metric’s scores of all responses."
    ),
    group=ReportGroup.PLANNING,
    about=Study,
    choices=PredictionPoweredChoices,
    make=prediction_powered_report,
    usual=usual_prediction_powered,
    known=known_values,
    check=check_values,
    rows=(PredictionPoweredRow,),
    methods=methods.PREDICTION_POWERED,
    leads={"title": to_run},
)

"""The report on system-level correlation: does a metric put setups in the order of the raters?"""

from dataclasses import dataclass
from typing import Annotated

from annotation.models import Study
from evaluation.reports.columns import Column, Estimate, Format
from evaluation.reports.estimates import N_RESAMPLES, estimate
from evaluation.reports.registry import ReportGroup, ReportKind
from evaluation.reports.report import Report, ReportRow
from evaluation.statistics.intervals import Interval
from evaluation.statistics.system_correlation import LEAST_SETUPS, system_correlation
from evaluation.studies.reports import methods
from evaluation.studies.reports.prediction_powered import (
    PredictionPoweredChoices,
    usual_prediction_powered,
)
from evaluation.studies.reports.response_values import (
    Answers,
    ResponseScores,
    StudyValues,
    check_values,
    known_values,
    values_left_out,
    values_of_study,
)
from evaluation.studies.reports.run_columns import RunColumns, run_columns, to_run

NAME = "system_correlation"
TOO_FEW = f"Fewer than {LEAST_SETUPS} setups have answers and scores."
EQUAL = "All setups have equal means on one side."


@dataclass(frozen=True, kw_only=True)
class SystemCorrelationRow(ReportRow):
    """The agreement of two orders of setups: by the mean answer of raters, and by a run's mean."""

    named_by = ("title", "model", "question")

    question: Annotated[str, Column("Question")]
    of_run: RunColumns
    n_setups: Annotated[int, Column("Setups", Format.COUNT)]
    tau: Annotated[Estimate, Column("Kendall’s τ", Format.COEFFICIENT)]
    spearman: Annotated[Estimate, Column("Spearman", Format.COEFFICIENT)]
    why: Annotated[str | None, Column("Why")]


def system_correlation_report(
    study: Study, choices: PredictionPoweredChoices
) -> Report[SystemCorrelationRow]:
    """Return a row for each question × run, over the responses with an answer and a score.

    Raises:
        CannotReport: raters judge citations, or the study has no arm.
    """
    values = values_of_study(study, choices)
    rows = [
        _row(values, answers, of_run)
        for answers in values.answers
        if answers.has_mean
        for of_run in values.scores
    ]
    return values.report(NAME, rows, values_left_out(values))


def _row(values: StudyValues, answers: Answers, of_run: ResponseScores) -> SystemCorrelationRow:
    everything = values.everything
    found = system_correlation(
        answers.values,
        of_run.values,
        everything.setups,
        everything.dialogs,
        everything.n_dialogs,
        seed=values.study.seed,
        n_resamples=N_RESAMPLES,
    )
    tau = estimate(found.tau, Interval(found.tau_low, found.tau_high))
    is_too_few = found.n_setups < LEAST_SETUPS
    return SystemCorrelationRow(
        question=answers.question.key,
        of_run=run_columns(of_run.run),
        n_setups=found.n_setups,
        tau=tau,
        spearman=estimate(found.spearman, Interval(found.spearman_low, found.spearman_high)),
        why=TOO_FEW if is_too_few else EQUAL if tau.value is None else None,
    )


SYSTEM_CORRELATION = ReportKind(
    key=NAME,
    title="Order of setups",
    lede="Compares the order of setups by a metric with their order by raters.",
    group=ReportGroup.METRICS,
    about=Study,
    choices=PredictionPoweredChoices,
    make=system_correlation_report,
    usual=usual_prediction_powered,
    known=known_values,
    check=check_values,
    rows=(SystemCorrelationRow,),
    methods=methods.SYSTEM_CORRELATION,
    leads={"title": to_run},
)

"""The report on human–auto agreement: each run's scores compared with people, by question."""

import hashlib
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from annotation.models import Study
from evaluation.measures.fitness import Fitness
from evaluation.models import MetricRun
from evaluation.reports.base import USUAL, Choices, signature, study_counts, votes_left_out
from evaluation.reports.columns import UNKNOWN, Column, Estimate, Format
from evaluation.reports.estimates import N_RESAMPLES, estimates_in
from evaluation.reports.rarer_answer import no_interval_note
from evaluation.reports.registry import ReportGroup, ReportKind
from evaluation.reports.report import LeftOut, Report, ReportRow, number
from evaluation.runs.control_figures import fitness_of_runs
from evaluation.runs.item_scores import (
    WITHOUT_THRESHOLD,
    ItemScores,
    ScoresOf,
    runs_with_scores,
    scale_of,
    scores_of,
)
from evaluation.runs.plan import STUDIES_OF_CHOICE
from evaluation.runs.reports import FitnessColumns, fitness_columns
from evaluation.statistics.human_auto import (
    LABEL_MEASURES,
    MEASURES,
    Outcomes,
    calibration_bins,
    confusion,
    measures_with_intervals,
    n_rarer_dialogs,
    roc_points,
    with_ties_half,
)
from evaluation.studies.reports import methods
from evaluation.studies.reports.adjudicated_labels import decisions_signature, labels_left_out
from evaluation.studies.reports.ceilings import CeilingColumns, ceiling_columns
from evaluation.studies.reports.choices import check_choices, usual_choices
from evaluation.studies.reports.run_columns import (
    RunColumns,
    WithoutScore,
    run_columns,
    to_run,
    without_score,
)
from evaluation.studies.reports.segment_columns import SegmentColumns, segment_columns
from evaluation.votes.counts import ArmCounts, n_outside_full_share
from evaluation.votes.people import People, people_of

Point = dict[str, Any]  # a point of a curve, as charts draw it
CELLS = ("tp", "fn", "fp", "tn")
Curves = dict[str, dict[str, list[Point]]]  # "run/question" → "roc", "calibration"


@dataclass(frozen=True, kw_only=True)
class Confusion(ReportRow):
    """The numbers of items by the metric's label and the human label; None without a threshold."""

    tp: int | None
    fn: int | None
    fp: int | None
    tn: int | None


@dataclass(frozen=True, kw_only=True)
class AgreementRow(ReportRow):
    """The agreement of one run with people on one question.

    Of the rated targets, `n` are compared. Each of the others is unscored, failed, assumed or, if
    it has a score, waiting, tied, or decided as impossible to decide.
    """

    of_run: RunColumns
    question: Annotated[str, Column("Question")]
    label: str | None  # the rule for a human yes; None: there is no rule
    truth: Annotated[str, Column("Truth")]  # the arm whose labels are the truth
    threshold: float | None  # None: the run has ranks and no labels
    n: Annotated[int, Column("n", Format.COUNT)]
    n_human_yes: Annotated[int, Column("Human yes", Format.COUNT)]
    n_adjudicated: int = 0  # compared labels that are adjudicated decisions
    # The number of items for mean squared error and Spearman. It is more than `n` where votes are
    # tied or waiting, and may be less if the study stops asking as soon as a vote is decided.
    n_rater_score: int
    accuracy: Annotated[Estimate, Column("Accuracy", Format.PERCENT)] = UNKNOWN
    accuracy_ties_half: Annotated[float | None, Column("Accuracy, ties half", Format.PERCENT)] = (
        None
    )
    balanced_accuracy: Annotated[Estimate, Column("Balanced accuracy", Format.PERCENT)] = UNKNOWN
    precision: Annotated[Estimate, Column("Precision", Format.PERCENT)] = UNKNOWN
    recall: Annotated[Estimate, Column("Recall", Format.PERCENT)] = UNKNOWN
    f1: Annotated[Estimate, Column("F1", Format.PERCENT)] = UNKNOWN
    kappa: Annotated[Estimate, Column("Cohen’s kappa", Format.COEFFICIENT)] = UNKNOWN
    auc: Annotated[Estimate, Column("ROC AUC", Format.COEFFICIENT)] = UNKNOWN
    auc_ties_half: Annotated[float | None, Column("ROC AUC, ties half", Format.COEFFICIENT)] = None
    mse: Annotated[Estimate, Column("MSE, rater score", Format.MSE)] = UNKNOWN
    spearman: Annotated[Estimate, Column("Spearman, rater score", Format.COEFFICIENT)] = UNKNOWN
    baseline: Annotated[Estimate, Column("Majority-label baseline", Format.PERCENT)] = UNKNOWN
    segments: SegmentColumns
    ceilings: CeilingColumns
    of_controls: FitnessColumns
    confusion: Confusion
    n_rarer_dialogs: int  # dialogs that hold the rarer label of people
    waiting: int
    tied: int
    cannot_be_decided: int = 0
    without_score: WithoutScore
    truncated: int
    metric_scale: str | None  # '1–5'; None: 0 to 1
    flattered: bool  # the run's threshold was chosen on these votes
    # The reason why nothing can be compared, or no labels but only ranks.
    why: Annotated[str | None, Column("Why")]

    @property
    def rarer_note(self) -> str:
        """The reason why kappa and AUC have no interval, in words; "" if they may have one."""
        return no_interval_note(self.n_rarer_dialogs, "kappa and AUC")


def agreement_report(
    study: Study,
    choices: Choices = USUAL,
    counts: Sequence[ArmCounts] | None = None,
    left_out: LeftOut | None = None,
) -> Report[AgreementRow]:
    """Return the agreement of each run with people: a row per run × question.

    `raters_report` explains `counts` and `left_out`.
    """
    return agreement_with_curves(study, choices, counts, left_out, with_curves=False)[0]


def curves(
    study: Study,
    choices: Choices = USUAL,
    counts: Sequence[ArmCounts] | None = None,
) -> Curves:
    """Return the ROC and the calibration curve of each run and question with compared items."""
    counts = counts or study_counts(study, choices)
    of_arm, people = people_of(study, choices.truth, counts, adjudicated=choices.adjudicated)
    if of_arm is None:
        return {}
    return {
        f"{run.pk}/{each.question.key}": _curves_of(outcomes)
        for run in runs_with_scores(study)
        for scores in [scores_of(run, of_arm)]
        for each in people
        if _n_compared(outcomes := _outcomes(run, scores, of_arm, each))
    }


def agreement_with_curves(
    study: Study,
    choices: Choices,
    counts: Sequence[ArmCounts] | None = None,
    left_out: LeftOut | None = None,
    *,
    with_curves: bool = True,
    scores_of: ScoresOf = scores_of,
) -> tuple[Report[AgreementRow], Curves]:
    """Return the report, and the curves of each "run/question", from one reading of the scores."""
    if counts is None:
        counts = study_counts(study, choices)
    if left_out is None:
        left_out = votes_left_out(study, counts, choices)
    of_arm, people = people_of(study, choices.truth, counts, adjudicated=choices.adjudicated)
    said = signature(study, "agreement", choices, counts, has_labels=True)
    said += decisions_signature(people, choices)
    if of_arm is None:
        return Report(study.name, "agreement", [], left_out, said), {}
    rows: list[AgreementRow] = []
    drawn: Curves = {}
    digest = hashlib.sha256()
    missing: Counter[str] = Counter(unscored=0, failed=0, assumed_scores=0, truncated_pairs=0)
    runs = runs_with_scores(study)
    fitness = fitness_of_runs(runs)
    for run in runs:
        scores = scores_of(run, of_arm)
        missing.update(
            unscored=int((~scores.has_row).sum()),
            failed=int(scores.is_failed.sum()),
            assumed_scores=int(scores.is_assumed.sum()),
            truncated_pairs=int(scores.n_truncated.sum()),
        )
        said_of_run = f"{run.metric} {run.full_signature} {run.threshold!r} {fitness[run.pk]}"
        digest.update(said_of_run.encode())
        for column in scores:
            digest.update(column.tobytes())
        for each in people:
            outcomes = _outcomes(run, scores, of_arm, each)
            rows.append(_row(study, run, fitness[run.pk], of_arm, each, scores, outcomes))
            if with_curves and _n_compared(outcomes):
                drawn[f"{run.pk}/{each.question.key}"] = _curves_of(outcomes)
    said += f" | scores {digest.hexdigest()[:16]}"
    # These items have labels. Only mean squared error and Spearman leave them out.
    missing["items_outside_full_share"] = n_outside_full_share(of_arm)
    left_out = labels_left_out(people, choices) | missing | left_out
    return Report(study.name, "agreement", rows, left_out, said), drawn


# --- a run and people -----------------------------------------------------------------------


def _outcomes(run: MetricRun, scores: ItemScores, of_arm: ArmCounts, people: People) -> Outcomes:
    """Return a run's scores beside people's labels on one question. Assumed scores are left out."""
    return Outcomes(
        human=people.labels,
        score=scores.given,
        rater_score=people.rater_scores,
        dialogs=of_arm.items.dialogs,
        n_dialogs=of_arm.items.n_dialogs,
        threshold=math.nan if run.cut is None else run.cut,
        scale=scale_of(run),
    )


def _n_compared(outcomes: Outcomes) -> int:
    return int((~np.isnan(outcomes.score) & ~np.isnan(outcomes.human)).sum())


def _row(
    study: Study,
    run: MetricRun,
    fitness: Fitness,
    of_arm: ArmCounts,
    people: People,
    scores: ItemScores,
    outcomes: Outcomes,
) -> AgreementRow:
    """Return the row of one run and one question."""
    has_score = ~np.isnan(outcomes.score)
    is_compared = has_score & ~np.isnan(outcomes.human)
    why, rated = people.rule.why, people.is_rated
    has_labels = run.threshold is not None
    estimates, segments = {}, SegmentColumns()
    if not why:
        estimates = estimates_in(
            measures_with_intervals(
                outcomes, seed=study.seed, n_resamples=N_RESAMPLES, ceilings=people.ceilings
            )
        )
        undefined = _undefined(run, scores, people.ceilings)
        estimates |= dict.fromkeys(undefined, UNKNOWN)
        segments = segment_columns(outcomes, of_arm.items.examples, is_share="mse" not in undefined)
    figures: dict[str, Any] = {name: estimates.get(name, UNKNOWN) for name in MEASURES}
    if not why:
        for name, figure in with_ties_half(outcomes, people.is_tied).items():
            if has_labels or name not in LABEL_MEASURES:
                figures[f"{name}_ties_half"] = number(figure)
    return AgreementRow(
        of_run=run_columns(run),
        question=people.question.key,
        label=people.rule.description or None,
        truth=of_arm.arm.kind,
        threshold=run.threshold,
        n=int(is_compared.sum()),
        n_human_yes=int((outcomes.human[is_compared] == 1).sum()),
        n_adjudicated=int((is_compared & people.is_decided).sum()),
        n_rater_score=int((has_score & ~np.isnan(outcomes.rater_score)).sum()),
        **figures,
        segments=segments,
        ceilings=ceiling_columns(estimates, people.ceilings, has_score),
        of_controls=fitness_columns(fitness),
        confusion=Confusion(**(confusion(outcomes) if has_labels else dict.fromkeys(CELLS))),
        n_rarer_dialogs=n_rarer_dialogs(outcomes),
        waiting=int((people.is_waiting & has_score).sum()),
        tied=int((people.is_tied & has_score).sum()),
        cannot_be_decided=int((people.is_undecidable & has_score).sum()),
        without_score=without_score(scores, rated),
        truncated=int(scores.n_truncated[is_compared].sum()),
        metric_scale=_scale_said(run),
        flattered=study.slug in run.parameters.get(STUDIES_OF_CHOICE, []),
        why=why or (None if has_labels else WITHOUT_THRESHOLD),
    )


def _undefined(run: MetricRun, scores: ItemScores, ceilings: Collection[str]) -> list[str]:
    """Return the figures that a run cannot have: those of labels, or those of a scale.

    The scale of imported scores is not known. If one of them is outside 0 to 1, they are no shares,
    so their squared difference from rater scores means nothing.
    """
    undefined = []
    if run.threshold is None:
        of_ceilings = ("minus_ceiling_{}", "ceiling_{}_accuracy")
        undefined = [*LABEL_MEASURES]
        undefined += [figure.format(name) for name in ceilings for figure in of_ceilings]
    known = scores.score[~np.isnan(scores.score)]
    if run.is_imported and ((known < 0) | (known > 1)).any():
        undefined.append("mse")
    return undefined


def _scale_said(run: MetricRun) -> str | None:
    """Return the scale of a run's scores, such as '1–5'; None when it is 0 to 1."""
    low, high = scale_of(run)
    return None if (low, high) == (0, 1) else f"{low:g}–{high:g}"


def _curves_of(outcomes: Outcomes) -> dict[str, list[Point]]:
    return {"roc": _plain(roc_points(outcomes)), "calibration": _plain(calibration_bins(outcomes))}


def _plain(points: Sequence[Mapping[str, Any]]) -> list[Point]:
    """Return points in a form that JSON can hold.

    An undefined number becomes None. Numbers are rounded to four digits, enough for a drawing.
    """
    return [
        {
            name: (None if not math.isfinite(value) else round(float(value), 4) + 0.0)  # no −0.0
            if isinstance(value, float)
            else value
            for name, value in point.items()
        }
        for point in points
    ]


AGREEMENT = ReportKind(
    key="agreement",
    title="Human–auto agreement",
    lede="Compares the labels of each metric run with those of the raters.",
    group=ReportGroup.METRICS,
    about=Study,
    methods=methods.AGREEMENT,
    choices=Choices,
    make=agreement_report,
    usual=usual_choices,
    check=check_choices,
    rows=(AgreementRow,),
    leads={"title": to_run},
)

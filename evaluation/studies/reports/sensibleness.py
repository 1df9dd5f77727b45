"""The report on sensibleness: table 1 of the attribution/fluency paper, slice by slice.

A slice is a setup of the study. A metric that has the name of a question of the study ('sensible',
'specific') is compared with the rater scores of that question. Rater scores need no majority.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotation.models import Study
from annotation.schemes import Question, load_scheme
from evaluation.measures.sensibleness import table_1
from evaluation.models import MetricRun
from evaluation.reports.base import USUAL, Choices, signature, study_counts, votes_left_out
from evaluation.reports.columns import Column, Estimate, Format
from evaluation.reports.estimates import Planned, with_estimates
from evaluation.reports.registry import ReportGroup, ReportKind
from evaluation.reports.report import LeftOut, Report, ReportRow
from evaluation.runs.item_scores import ItemScores, ScoresOf, runs_with_scores, scores_of
from evaluation.statistics.intervals import Floats, MixOfShares, Statistic
from evaluation.studies.reports import methods
from evaluation.studies.reports.choices import check_choices, usual_choices
from evaluation.studies.reports.run_columns import (
    RunColumns,
    WithoutScore,
    run_columns,
    without_score,
)
from evaluation.studies.reports.scenarios import setups_in_order
from evaluation.votes.counts import ArmCounts, Ints, n_outside_full_share
from evaluation.votes.people import rater_scores_of, truth_of

METRICS_LIKE_QUESTIONS = ("sensible", "specific")
MEAN_OF_OTHERS = "mean of the others"
BY_LABEL = ("missed", "false_alarm", "error_rate")
MEASURES = ("mse", *BY_LABEL)


@dataclass(frozen=True, kw_only=True)
class SensibleRow(ReportRow):
    """The distance of one run from the raters on one slice, or on average over some slices."""

    paper_columns = (  # [A] table 1
        "title",
        "model",
        "slice",
        "mse",
        "missed",
        "false_alarm",
        "error_rate",
    )

    of_run: RunColumns
    question: str
    prompt: Annotated[str, Column("Prompt")]
    threshold: float | None
    slice: Annotated[str, Column("Slice")]  # a setup, or `MEAN_OF_OTHERS`
    n_slices: int
    built_on: Annotated[bool, Column("Built on it")]
    n: Annotated[int, Column("n", Format.COUNT)]
    n_human_yes: Annotated[int, Column("Human yes", Format.COUNT)]
    mse: Annotated[Estimate, Column("MSE", Format.MSE)]
    missed: Annotated[Estimate, Column("Missed", Format.PERCENT)]
    false_alarm: Annotated[Estimate, Column("False alarm", Format.PERCENT)]
    error_rate: Annotated[Estimate, Column("Error rate", Format.PERCENT)]
    without_score: WithoutScore


class _Slice(NamedTuple):
    """One setup: its name, and whether each item belongs to it."""

    name: str
    here: NDArray[np.bool_]


def sensibleness_report(
    study: Study,
    choices: Choices = USUAL,
    counts: Sequence[ArmCounts] | None = None,
    left_out: LeftOut | None = None,
    scores_of: ScoresOf = scores_of,
) -> Report[SensibleRow]:
    """Return the distance of each run from the raters: a row per run × slice, then their mean.

    The mean is over the slices that the run's prompt was not built on. Each slice has the same
    weight. The mean is undefined when there is no such slice, or when one of them is undefined.

    Args:
        counts: as in `raters_report`.
        left_out: as in `raters_report`.
        scores_of: the result of `scores_once` when another report reads the same scores.
    """
    if counts is None:
        counts = study_counts(study, choices)
    if left_out is None:
        left_out = votes_left_out(study, counts, choices)
    said = signature(study, "sensibleness", choices, counts, has_labels=True)
    missing: Counter[str] = Counter()
    of_arm = truth_of(choices.truth, counts)
    questions = {question.key: question for question in questions_with_metrics(study)}
    rows: list[SensibleRow] = []
    digest = hashlib.sha256()
    if of_arm is not None and questions:
        planned: list[Planned[SensibleRow]] = []
        for run in runs_with_scores(study):
            if run.metric not in questions:
                continue
            scores = scores_of(run, of_arm)
            built_on = _built_on(run, study)
            digest.update(
                f"{run.metric} {run.full_signature} {run.threshold!r} built on {built_on}".encode()
            )
            digest.update(scores.given.tobytes())
            raters = rater_scores_of(study, questions[run.metric], of_arm)
            without = without_score(scores, ~np.isnan(raters))
            missing.update(
                unscored=without.unscored,
                failed=without.failed,
                assumed_scores=without.assumed,
            )
            slices = _slices(study, of_arm)
            planned += _rows_of(run, scores, raters, of_arm, slices, built_on)
        missing["items_outside_full_share"] = n_outside_full_share(of_arm)
        rows = list(with_estimates(planned, of_arm.items.n_dialogs, seed=study.seed))
        said += f" | scores {digest.hexdigest()[:16]}"
    return Report(study.name, "sensibleness", rows, dict(missing) | left_out, said)


def questions_with_metrics(study: Study) -> list[Question]:
    """Return the questions of a study that have a metric of the same name."""
    asked = load_scheme(study.scheme).questions
    return [question for question in asked if question.key in METRICS_LIKE_QUESTIONS]


def _slices(study: Study, of_arm: ArmCounts) -> list[_Slice]:
    """Return the setups that have rated items, in the order of all reports."""
    slices = [
        _Slice(setup.name, of_arm.items.setups == setup.pk) for setup in setups_in_order(study)
    ]
    return [each for each in slices if each.here.any()]


def _built_on(run: MetricRun, study: Study) -> str:
    """Return the setup of the study's dataset that a run's prompt was built on; "" if none was."""
    is_here = run.parameters.get("built_on_dataset") == study.dataset.slug
    return str(run.parameters["built_on"]) if is_here else ""


def _rows_of(
    run: MetricRun,
    scores: ItemScores,
    raters: Floats,
    of_arm: ArmCounts,
    slices: Sequence[_Slice],
    built_on: str,
) -> Iterator[Planned[SensibleRow]]:
    """Yield the rows of one run: its slices, then the mean over those it was not built on."""
    # Here a score at the threshold is a yes, so the threshold is the number next to the cut.
    threshold = math.nan if run.cut is None else math.nextafter(run.cut, math.inf)
    dialogs = of_arm.items.dialogs
    others = []
    for each in slices:
        score = np.where(each.here, scores.given, math.nan)
        figures = table_1(score, raters, dialogs, threshold)
        undefined = [] if _are_probabilities(score) else ["mse"]
        undefined += BY_LABEL if run.cut is None else ()
        for name in undefined:
            nothing = np.zeros_like(figures[name].statistics)
            figures[name] = figures[name]._replace(statistics=nothing)
        if each.name != built_on:
            others.append(figures)
        make = partial(
            _row, run, scores, each.here, raters, name=each.name, is_built_on=each.name == built_on
        )
        yield Planned(make, {name: figures[name] for name in MEASURES})
    is_other = np.zeros(len(raters), bool)
    for each in slices:
        is_other |= each.here & (each.name != built_on)
    yield Planned(
        partial(_row, run, scores, is_other, raters, name=MEAN_OF_OTHERS, n_slices=len(others)),
        {name: _mean_of([each[name] for each in others], dialogs) for name in MEASURES},
    )


def _row(
    run: MetricRun,
    scores: ItemScores,
    here: NDArray[np.bool_],
    raters: Floats,
    *,
    name: str,
    n_slices: int = 1,
    is_built_on: bool = False,
    **estimates: Any,
) -> SensibleRow:
    """Return the row of one run over some items."""
    is_rated = here & ~np.isnan(raters)
    is_compared = is_rated & ~np.isnan(scores.given)
    return SensibleRow(
        of_run=run_columns(run),
        question=run.metric,
        prompt=run.parameters.get("prompt", ""),
        threshold=run.threshold,
        slice=name,
        n_slices=n_slices,
        built_on=is_built_on,
        n=int(is_compared.sum()),
        n_human_yes=int((raters[is_compared] >= 0.5).sum()),
        **estimates,
        without_score=without_score(scores, is_rated),
    )


def _mean_of(figures: Sequence[Statistic], dialogs: Ints) -> Statistic:
    """Return the mean of some figures with equal weights. It is undefined without any figure."""
    if len(figures) == 1:
        return figures[0]
    nothing = np.zeros((len(dialogs), 2))
    statistics = np.hstack([figure.statistics for figure in figures] or [nothing])
    n_slices = statistics.shape[1] // 2
    return Statistic(statistics, dialogs, MixOfShares((1 / n_slices,) * n_slices))


def _are_probabilities(scores: Floats) -> bool:
    there = scores[~np.isnan(scores)]
    return bool(((there >= 0) & (there <= 1)).all())


SENSIBLENESS = ReportKind(
    key="sensibleness",
    title="Sensibleness by slices",
    lede="Compares sensibleness metrics with the raters, by model and slice.",
    group=ReportGroup.METRICS,
    about=Study,
    methods=methods.SENSIBLENESS,
    choices=Choices,
    make=sensibleness_report,
    usual=usual_choices,
    check=check_choices,
    rows=(SensibleRow,),
)

"""The report on sensibleness: table 1 of the attribution/fluency paper, slice by slice.

A slice is a setup of the study. Metrics called like a question of the study ('sensible',
'specific') are held against its rater scores, which need no majority.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotation.models import Study
from annotation.schemes import Question, load_scheme
from evaluation.measures.sensibleness import table_1
from evaluation.models import MetricRun
from evaluation.reports.base import (
    USUAL,
    Choices,
    LeftOut,
    Planned,
    Report,
    Row,
    signature,
    study_counts,
    votes_left_out,
    with_intervals,
)
from evaluation.reports.registry import ReportKind, columns
from evaluation.runs.item_scores import Scores, ScoresOf, runs_with_scores, scores_of
from evaluation.runs.progress import title_of
from evaluation.statistics.intervals import Figure, Floats, Measure, ratio
from evaluation.studies.reports.choices import check_choices, usual_choices
from evaluation.studies.reports.scenarios import setups_in_order
from evaluation.votes.counts import ArmCounts, n_outside_full_share
from evaluation.votes.people import rater_scores_of, truth_of

METRICS_LIKE_QUESTIONS = ("sensible", "specific")
MEAN_OF_OTHERS = "mean of the others"
MEASURES = ("mse", "missed", "false_alarm", "error_rate")


class _Slice(NamedTuple):
    """One setup: its name, and which of the rated items belong to it."""

    name: str
    here: NDArray[np.bool_]


def sensibleness_report(
    study: Study,
    choices: Choices = USUAL,
    counts: Sequence[ArmCounts] | None = None,
    left_out: LeftOut | None = None,
    scores_of: ScoresOf = scores_of,
) -> Report[Any]:
    """Return how far each run is from the raters: a row per run × slice, and their mean below.

    The mean is over the slices that the run's prompt was not built on, each counting the same;
    undefined when there is none, or when one of them is. `counts` and `left_out` as for
    `raters_report`; `scores_of` of `scores_once` when another report reads the same scores.
    """
    if counts is None:
        counts = study_counts(study, choices)
    if left_out is None:
        left_out = votes_left_out(study, counts, choices)
    said = signature(study, "sensibleness", choices, counts, has_labels=True)
    missing: Counter[str] = Counter()
    of_arm = truth_of(choices.truth, counts)
    questions = {question.key: question for question in questions_with_metrics(study)}
    rows: list[Row] = []
    digest = hashlib.sha256()
    if of_arm is not None and questions:
        planned: list[Planned] = []
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
            without = _missing(scores, ~np.isnan(raters))
            missing.update(
                unscored=without["unscored"],
                failed=without["failed"],
                assumed_scores=without["assumed"],
            )
            slices = _slices(study, of_arm)
            planned += _rows_of(run, scores, raters, of_arm, slices, built_on)
        missing["items_outside_full_share"] = n_outside_full_share(of_arm)
        rows = list(with_intervals(study, planned, of_arm.items.n_dialogs))
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
    """Return the setup of the study's dataset that a run's prompt was built on; "" without one."""
    is_here = run.parameters.get("built_on_dataset") == study.dataset.slug
    return str(run.parameters["built_on"]) if is_here else ""


def _missing(scores: Scores, here: NDArray[np.bool_]) -> Row:
    """Return how many of some items have no score, by reason."""
    return {
        "unscored": int((here & ~scores.has_row).sum()),
        "failed": int((here & scores.is_failed).sum()),
        "assumed": int((here & scores.is_assumed).sum()),
    }


def _rows_of(
    run: MetricRun,
    scores: Scores,
    raters: Floats,
    of_arm: ArmCounts,
    slices: Sequence[_Slice],
    built_on: str,
) -> Iterator[Planned]:
    """Yield the rows of one run: its slices, then the mean over those not built on."""
    # A score above the cut is a yes: from the next number on.
    threshold = run.threshold if run.is_yes_at_threshold else math.nextafter(run.threshold, 2)
    dialogs = of_arm.items.dialogs
    others = []
    for each in slices:
        score = np.where(each.here, scores.given, math.nan)
        figures = table_1(score, raters, dialogs, threshold)
        if not _are_probabilities(score):
            figures["mse"] = figures["mse"]._replace(statistics=np.zeros((len(score), 2)))
        if each.name != built_on:
            others.append(figures)
        yield Planned(
            _before(run, each.name, score, raters, is_built_on=each.name == built_on),
            {name: (figures[name].statistics, figures[name].measure) for name in MEASURES},
            dialogs,
            _missing(scores, each.here & ~np.isnan(raters)),
        )
    is_other = np.zeros(len(raters), bool)
    for each in slices:
        is_other |= each.here & (each.name != built_on)
    yield Planned(
        _before(run, MEAN_OF_OTHERS, np.where(is_other, scores.given, math.nan), raters)
        | {"n_slices": len(others)},
        {name: _mean_of([each[name] for each in others], len(raters)) for name in MEASURES},
        dialogs,
        _missing(scores, is_other & ~np.isnan(raters)),
    )


def _before(
    run: MetricRun, name: str, score: Floats, raters: Floats, *, is_built_on: bool = False
) -> Row:
    is_compared = ~np.isnan(score) & ~np.isnan(raters)
    return {
        "run": run.pk,
        "metric": run.metric,
        "title": title_of(run),
        "model": run.model_name or run.backend,
        "run_signature": run.full_signature,
        "question": run.metric,
        "prompt": run.parameters.get("prompt", ""),
        "threshold": run.threshold,
        "slice": name,
        "n_slices": 1,
        "built_on": is_built_on,
        "n": int(is_compared.sum()),
        "n_human_yes": int((raters[is_compared] >= 0.5).sum()),
    }


def _mean_of(figures: Sequence[Figure], n_items: int) -> tuple[Floats, Measure]:
    """Return statistics and measure of the mean of some figures, each counting the same."""
    if len(figures) == 1:
        return figures[0].statistics, figures[0].measure
    nothing = np.zeros((n_items, 2))  # without any, the mean is undefined
    return np.hstack([figure.statistics for figure in figures] or [nothing]), _mean_over_slices


def _mean_over_slices(sums: Floats) -> Floats:
    """Return the mean of ratios from their sums, part and whole in turn: (..., 2 n) to (...)."""
    means: Floats = ratio(sums[..., ::2], sums[..., 1::2]).mean(axis=-1)
    return means


def _are_probabilities(scores: Floats) -> bool:
    there = scores[~np.isnan(scores)]
    return bool(((there >= 0) & (there <= 1)).all())


SENSIBLENESS = ReportKind(
    key="sensibleness",
    title="Sensibleness by slices",
    lede="How well sensibleness metrics repeat raters, by model and slice.",
    about=Study,
    choices=Choices,
    make=sensibleness_report,
    usual=usual_choices,
    check=check_choices,
    columns=columns(
        "title",
        "model",
        "prompt",
        "slice",
        "built_on",
        "n",
        "n_human_yes",
        "mse",
        "missed",
        "false_alarm",
        "error_rate",
        "failed",
        "unscored",
    ),
)

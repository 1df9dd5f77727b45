"""Axes of the trade-off: what says whether a response is attributable, or sensible. Reads only.

An axis is a metric run, or the majority of raters on a question in one arm of a study.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from django.db.models import Exists, OuterRef

from annotation.models import Arm, Study
from annotation.schemes import Question, load_scheme
from evaluation.auto_metrics.registry import METRICS, metric_of
from evaluation.metrics.labels import label_rule
from evaluation.models import AutoScore, MetricRun
from evaluation.reports.base import Choices, study_counts
from evaluation.reports.sides import people_of, scale_of
from generation.evidence import EvidenceChoice
from generation.models import Dataset

# What the two axes are made of where nobody chooses, best first: metrics, then questions.
ATTRIBUTION_METRICS, SENSIBLENESS_METRICS = ("auto_ais",), ("sensible",)
ATTRIBUTION_QUESTIONS = ("attributable", "faithfulness")
SENSIBLENESS_QUESTIONS = ("sensible", "naturalness")

FAILED, UNDECIDED, FLAGGED = "failed", "undecided", "flagged"  # why a response has no label


class Axis(NamedTuple):
    """What one axis shows."""

    key: str  # in addresses: 'run-12', or 'pilot/separate/attributable'
    title: str  # 'Auto-AIS, lexical, v3, golden evidence', 'Raters: Naturalness'
    said: str  # every choice that changes its numbers, in one line
    run: MetricRun | None = None  # or
    arm: Arm | None = None
    question: Question | None = None

    @property
    def is_human(self) -> bool:
        return self.run is None


class Axes(NamedTuple):
    """The two axes of a figure: x, then y. The same pair stands at index 0 and 1 of arrays."""

    attribution: Axis
    sensibleness: Axis


class Values(NamedTuple):
    """What an axis says about responses, by their ids.

    `problems` has those that it was asked about and has no label for, with the reason; in none of
    the three is who was never asked about.
    """

    labels: dict[int, float]  # 1 yes, 0 no
    scores: dict[int, float]  # in [0, 1]
    problems: dict[int, str]
    n_assumed: int = 0  # labels that no model was asked for: nothing had been shown


def axes_of(dataset: Dataset) -> list[Axis]:
    """Return what an axis of a dataset may show: runs with scores, then questions of studies."""
    has_scores = Exists(AutoScore.objects.filter(run=OuterRef("pk"), target__citation=None))
    runs = MetricRun.objects.filter(has_scores, dataset=dataset)
    in_order = sorted(runs, key=lambda run: (run.metric, run.full_signature, run.is_imported))
    studies = Study.objects.filter(dataset=dataset).prefetch_related("arms").order_by("pk")
    return [*map(of_run, in_order), *(axis for study in studies for axis in _of_study(study))]


def of_run(run: MetricRun) -> Axis:
    """Return the axis that a run makes."""
    return Axis(f"run-{run.pk}", _run_title(run), f"{run.metric}: {run.full_signature}", run)


def usual(axes: Sequence[Axis]) -> Axes | None:
    """Return the axes where nobody chooses; None if there is nothing for one of them.

    Auto-AIS against golden evidence before other Auto-AIS, and metrics before raters.
    """
    attribution = _first(axes, ATTRIBUTION_METRICS, ATTRIBUTION_QUESTIONS)
    sensibleness = _first(axes, SENSIBLENESS_METRICS, SENSIBLENESS_QUESTIONS)
    return Axes(attribution, sensibleness) if attribution and sensibleness else None


def _first(axes: Sequence[Axis], metrics: Sequence[str], questions: Sequence[str]) -> Axis | None:
    def rank(axis: Axis) -> tuple[int, int] | None:
        if axis.run:
            evidence = axis.run.parameters.get("evidence", EvidenceChoice.GOLDEN)
            is_known = axis.run.metric in metrics
            return (0, int(evidence != EvidenceChoice.GOLDEN)) if is_known else None
        key = axis.question.key if axis.question else ""
        return (1, questions.index(key)) if key in questions else None

    ranked = [(rank(axis), place) for place, axis in enumerate(axes)]
    known = [(of_axis, place) for of_axis, place in ranked if of_axis is not None]
    return axes[min(known)[1]] if known else None


def values_of(axis: Axis) -> Values:
    """Return what an axis says about each response; citations have no part in it."""
    return _of_scores(axis.run) if axis.run else _of_votes(axis)


def _of_scores(run: MetricRun) -> Values:
    low, high = scale_of(run)
    values = Values({}, {}, {})
    n_assumed = 0
    rows = AutoScore.objects.filter(run=run, target__citation=None)
    columns = ("target__response", "score", "is_assumed")
    for response, score, is_assumed in rows.values_list(*columns).iterator(chunk_size=20_000):
        if score is None:
            values.problems[response] = FAILED
            continue
        values.labels[response] = float(score > run.cut)
        values.scores[response] = (score - low) / (high - low)
        n_assumed += is_assumed
    return values._replace(n_assumed=n_assumed)


def _of_votes(axis: Axis) -> Values:
    if axis.arm is None or axis.question is None:
        raise ValueError(f"the axis {axis.key} has no run, and no question of an arm")
    study = axis.arm.study
    choices = Choices(truth=axis.arm.kind)
    counts, people = people_of(study, choices, study_counts(study, choices), axis.question.key)
    values = Values({}, {}, {})
    if counts is None:
        return values
    values.problems.update(dict.fromkeys(counts.flagged, FLAGGED))
    [said] = people
    columns = zip(
        counts.items.responses.tolist(), said.is_rated, said.labels, said.rater_scores, strict=True
    )
    for response, is_rated, label, score in columns:
        if not is_rated:
            continue
        if np.isnan(label):
            values.problems[response] = UNDECIDED
        else:
            values.labels[response] = float(label)
        if not np.isnan(score):
            values.scores[response] = float(score)
    return values


def _of_study(study: Study) -> Iterable[Axis]:
    """Yield an axis for each arm and question whose votes say yes or no about whole responses."""
    scheme = load_scheme(study.scheme)
    if scheme.target != "response":
        return
    for arm in study.arms.all():
        arm.study = study
        for question in scheme.questions:
            rule = label_rule(question, study.settings)
            if rule.why:
                continue
            key = f"{study.slug}/{arm.kind}/{question.key}"
            title = f"Raters: {question.key}, {study.name}, {arm.kind} arm"
            said = f"raters of {study.name}, {arm.kind} arm, {question.key}: {rule.said}"
            yield Axis(key, title, said, None, arm, question)


def _run_title(run: MetricRun) -> str:
    """Return the metric, who computed it, and what was chosen: 'Auto-AIS, lexical, v3, golden'."""
    if run.is_imported or run.metric not in METRICS:
        return " ".join(filter(None, [run.metric, run.signature, "(imported)"]))
    metric = metric_of(run.metric, run.parameters)
    evidence = f"{run.parameters['evidence']} evidence" if "evidence" in run.parameters else ""
    parts = [metric.title, run.model_name or run.backend, *metric.in_title, evidence]
    return ", ".join(filter(None, parts))

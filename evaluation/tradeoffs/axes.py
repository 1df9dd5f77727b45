"""Axes of the trade-off: judgements of whether a response is attributable, or sensible.

An axis is a metric run, or the majority of raters on a question in one arm of a study. This module
only reads.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from django.db.models import Exists, OuterRef, Prefetch
from numpy.typing import NDArray

from annotation.models import Arm, Study, Vote
from annotation.schemes import Question, load_scheme
from evaluation.metrics.registry import METRICS, is_of_earlier_rule, metric_of
from evaluation.models import AutoScore, MetricRun
from evaluation.reports.base import Choices, study_counts
from evaluation.runs.item_scores import scale_of
from evaluation.statistics.intervals import Floats
from evaluation.statistics.labels import label_rule
from evaluation.votes.assumed_answers import assumed_in_dataset
from evaluation.votes.counts import Ints
from evaluation.votes.people import people_of
from generation.evidence import EvidenceChoice
from generation.models import Dataset, Response

# The usual sources of the two axes, best first: metrics, then questions.
ATTRIBUTION_METRICS, SENSIBLENESS_METRICS = ("auto_ais",), ("sensible",)
ATTRIBUTION_QUESTIONS = ("attributable", "faithfulness")
SENSIBLENESS_QUESTIONS = ("sensible", "naturalness")

UNKNOWN, FAILED, UNDECIDED, FLAGGED = "unknown", "failed", "undecided", "flagged"
REASONS = (UNKNOWN, FAILED, UNDECIDED, FLAGGED)  # why a response has no label
NOT_ASKED = -1
CHUNK = 5_000  # rows that are read at once


class Axis(NamedTuple):
    """An axis: a metric run, or a question to raters in one arm of a study."""

    key: str  # in addresses: 'run-12', or 'pilot/separate/attributable'
    parts: Sequence[str]  # what it shows, then its choices; together they are its title
    said: str  # every choice that changes its numbers, in one line
    run: MetricRun | None = None  # None: raters
    arm: Arm | None = None
    question: Question | None = None

    @property
    def title(self) -> str:
        """Its whole name: 'Auto-AIS, lexical, v3, golden evidence'."""
        return ", ".join(self.parts)

    @property
    def is_human(self) -> bool:
        return self.run is None


class Axes(NamedTuple):
    """The two axes of a figure: x, then y. In arrays, they are at index 0 and 1."""

    attribution: Axis
    sensibleness: Axis


class Values(NamedTuple):
    """The values of an axis for the responses it was asked about; each place is one response."""

    ids: Ints  # ids of responses, sorted
    labels: Floats  # 1 yes, 0 no; NaN: none
    scores: Floats  # in [0, 1]; NaN: none
    reasons: Ints  # why there is no label, as a place in `REASONS`; 0 with a label
    is_assumed: NDArray[np.bool_]  # a no that is assumed and was not asked for

    def places(self, ids: Ints) -> Ints:
        """Return the places of responses by their ids; `NOT_ASKED` for those that have none."""
        if not self.ids.size:
            return np.full(len(ids), NOT_ASKED)
        places = np.minimum(np.searchsorted(self.ids, ids), self.ids.size - 1)
        return np.where(self.ids[places] == ids, places, NOT_ASKED)


def axes_of(dataset: Dataset) -> list[Axis]:
    """Return the axes that a dataset may show: runs with scores, then questions with votes.

    If an arm of a study has votes, each of its questions is an axis.
    """
    has_scores = Exists(AutoScore.objects.filter(run=OuterRef("pk"), target__citation=None))
    runs = MetricRun.objects.filter(has_scores, dataset=dataset)
    in_order = sorted(runs, key=lambda run: (run.metric, run.full_signature, run.is_imported))
    rated = Arm.objects.filter(Exists(Vote.objects.filter(arm=OuterRef("pk"))))
    studies = Study.objects.filter(dataset=dataset).order_by("pk")
    studies = studies.prefetch_related(Prefetch("arms", rated))
    return [*map(of_run, in_order), *(axis for study in studies for axis in _of_study(study))]


def of_run(run: MetricRun) -> Axis:
    """Return the axis of a run."""
    return Axis(f"run-{run.pk}", _run_parts(run), f"{run.metric}: {run.full_signature}", run)


def usual(axes: Sequence[Axis]) -> Axes | None:
    """Return the usual axes; None if there is nothing for one of them.

    Auto-AIS against golden evidence comes before other Auto-AIS, runs of an earlier rule come after
    all other runs, and metrics come before raters.
    """
    attribution = _first(axes, ATTRIBUTION_METRICS, ATTRIBUTION_QUESTIONS)
    sensibleness = _first(axes, SENSIBLENESS_METRICS, SENSIBLENESS_QUESTIONS)
    return Axes(attribution, sensibleness) if attribution and sensibleness else None


def _first(axes: Sequence[Axis], metrics: Sequence[str], questions: Sequence[str]) -> Axis | None:
    def rank(axis: Axis) -> tuple[int, int] | None:
        if axis.run:
            evidence = axis.run.parameters.get("evidence", EvidenceChoice.GOLDEN)
            is_known = axis.run.metric in metrics
            n_against = int(evidence != EvidenceChoice.GOLDEN) + 2 * is_of_earlier_rule(axis.run)
            return (0, n_against) if is_known else None
        key = axis.question.key if axis.question else ""
        return (1, questions.index(key)) if key in questions else None

    ranked = [(rank(axis), place) for place, axis in enumerate(axes)]
    known = [(of_axis, place) for of_axis, place in ranked if of_axis is not None]
    return axes[min(known)[1]] if known else None


def find(axes: Sequence[Axis], text: str) -> Axis:
    """Return the axis that a text names: by its key, else by what only one of the axes shows.

    Args:
        text: a key, or a metric or the key of a question, such as 'auto_ais' or 'naturalness', or
            what is said about the axis, which is the same in every database.

    Raises:
        LookupError: no axis has this name, or several have; the message lists the axes.
    """
    by_key = [axis for axis in axes if axis.key == text]
    found = by_key or [axis for axis in axes if text in (_shown(axis), axis.said)]
    if len(found) == 1:
        return found[0]
    if found:
        raise LookupError(
            f"{len(found)} axes show {text!r}. Give the key of one:\n{_listed(found)}"
        )
    raise LookupError(f"There is no axis {text!r}. The axes are:\n{_listed(axes)}")


def _listed(axes: Sequence[Axis]) -> str:
    return "\n".join(f"  {axis.key}: {axis.title}" for axis in axes) or "  none yet"


def named_axes(dataset: Dataset, attribution: str = "", sensibleness: str = "") -> Axes:
    """Return the named axes of a dataset, see `find`; "" stands for the usual axis.

    Raises:
        LookupError: an axis does not exist, or there is no usual one.
    """
    axes = axes_of(dataset)
    usually = usual(axes)
    chosen = []
    for side, text in zip(Axes._fields, (attribution, sensibleness), strict=True):
        try:
            axis = find(axes, text) if text else getattr(usually, side, None)
        except LookupError as exc:
            raise LookupError(f"{side.capitalize()}: {exc}") from exc
        if axis is None:
            raise LookupError(
                f"There is no usual axis for {side}, because no run and no raters have judged it. "
                "Run a metric, or name one of:\n"
                f"{_listed(axes)}"
            )
        chosen.append(axis)
    return Axes(*chosen)


def _shown(axis: Axis) -> str:
    """Return the metric or the question that an axis shows."""
    if axis.run:
        return axis.run.metric
    return axis.question.key if axis.question else ""


def values_of(axis: Axis, setups: Collection[int] | None = None) -> Values:
    """Return what an axis says about each response; what it says about citations is left out.

    Raters say no to what is assumed, even under setups that their study does not have.

    Args:
        setups: ids; a run is read only for their responses and for those that theirs were chosen
            from. None: all setups.
    """
    return _of_scores(axis.run, setups) if axis.run else _of_votes(axis)


def _of_scores(run: MetricRun, setups: Collection[int] | None) -> Values:
    low, high = scale_of(run)
    rows = AutoScore.objects.filter(run=run, target__citation=None)
    some = [rows]
    if setups is not None:
        of_chosen = Response.objects.filter(setup__in=setups, chosen_from__isnull=False)
        some = [
            rows.filter(target__response__setup__in=setups),
            rows.filter(target__response__in=of_chosen.values("chosen_from")),
        ]
    columns = "target__response", "score", "is_assumed"
    read = chain.from_iterable(
        each.order_by().values_list(*columns).iterator(chunk_size=CHUNK) for each in some
    )
    row = np.dtype([("id", np.int64), ("score", np.float64), ("is_assumed", np.bool_)])
    found = np.fromiter(read, row)
    ids, first = np.unique(found["id"], return_index=True)
    scores = found["score"][first]
    failed = np.isnan(scores)
    labels = np.where(failed, math.nan, scores > run.cut)
    reasons = np.where(failed, REASONS.index(FAILED), 0)
    is_assumed = found["is_assumed"][first]
    return Values(ids, labels, (scores - low) / (high - low), reasons, is_assumed)


def _of_votes(axis: Axis) -> Values:
    if axis.arm is None or axis.question is None:
        raise ValueError(f"the axis {axis.key} has no run, and no question of an arm")
    study = axis.arm.study
    truth = axis.arm.kind
    of_arms = study_counts(study, Choices(truth=truth))
    counts, people = people_of(study, truth, of_arms, axis.question.key)
    if counts is None:
        nobody = np.zeros(0, np.int64)
        return Values(nobody, np.zeros(0), np.zeros(0), nobody, np.zeros(0, bool))
    [said] = people
    rated = said.is_rated
    flagged = np.array(counts.flagged, np.int64)
    none = np.full(len(flagged), math.nan)
    found = assumed_in_dataset(study).unseen({*counts.items.responses.tolist(), *counts.flagged})
    assumed = found.responses[found.to(axis.question)]
    no = np.zeros(len(assumed))
    labels = said.labels[rated]
    undecided = np.where(np.isnan(labels), REASONS.index(UNDECIDED), 0)
    ids = np.concatenate([counts.items.responses[rated], flagged, assumed])
    is_flagged = np.full(len(flagged), REASONS.index(FLAGGED))
    in_order = np.argsort(ids)
    return Values(
        ids[in_order],
        np.concatenate([labels, none, no])[in_order],
        np.concatenate([said.rater_scores[rated], none, no])[in_order],
        np.concatenate([undecided, is_flagged, no.astype(np.int64)])[in_order],
        np.isin(ids[in_order], assumed),
    )


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
            parts = f"Raters: {question.key}", study.name, f"{arm} arm"
            said = f"raters of {study.name}, {arm} arm, {question.key}: {rule.description}"
            yield Axis(key, parts, said, None, arm, question)


def _run_parts(run: MetricRun) -> list[str]:
    """Return metric, model and choices of a run: 'Auto-AIS', 'lexical', 'v3', 'golden evidence'."""
    if run.is_imported or run.metric not in METRICS:
        return [" ".join(filter(None, [run.metric, run.signature, "(imported)"]))]
    metric = metric_of(run.metric, run.parameters)
    evidence = f"{run.parameters['evidence']} evidence" if "evidence" in run.parameters else ""
    rule = "earlier rule" if is_of_earlier_rule(run) else ""
    parts = [metric.title, run.model_name or run.backend, *metric.in_title, evidence, rule]
    return list(filter(None, parts))

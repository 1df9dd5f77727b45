"""Axes of the trade-off: judgements of whether a response is attributable, or sensible.

An axis is a metric run, or the majority of raters on a question in one arm of a study, or SSA, the
mean of two questions. This module only reads.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from django.db.models import Exists, OuterRef, Prefetch
from numpy.typing import NDArray

from annotation.models import Arm, Study, Vote
from annotation.schemes import Question, load_scheme
from evaluation.measures.ssa import SSA, ssa_questions
from evaluation.models import AutoScore, MetricRun
from evaluation.reports.base import Choices, study_counts
from evaluation.runs.item_scores import labels_of, scale_of
from evaluation.runs.main_metrics import SIDES, Side, candidates
from evaluation.runs.names import run_parts
from evaluation.statistics.intervals import Floats
from evaluation.statistics.labels import label_rule
from evaluation.votes.assumed_answers import assumed_on_axis
from evaluation.votes.counts import Ints
from evaluation.votes.people import people_of
from generation.models import Dataset, Response

UNKNOWN, FAILED, WAITING, TIED, FLAGGED = "unknown", "failed", "waiting", "tied", "flagged"
NO_THRESHOLD = "without_threshold"
# Why a response has no label.
REASONS = (UNKNOWN, FAILED, WAITING, TIED, FLAGGED, NO_THRESHOLD)
NOT_ASKED = -1
CHUNK = 5_000  # rows that are read at once


class Rank(NamedTuple):
    """The place of a run among those that may be the usual axis of a side."""

    place: int  # 0 for the best
    has_labels: bool
    is_pinned: bool


class Axis(NamedTuple):
    """An axis: a metric run, or a question to raters in one arm of a study, or SSA there."""

    key: str  # in addresses: 'run-12', or 'pilot/separate/attributable'
    parts: Sequence[str]  # what it shows, then its choices; together they are its title
    said: str  # every choice that changes its numbers, in one line
    run: MetricRun | None = None  # None: raters
    arm: Arm | None = None
    question: Question | None = None  # SSA has its first question, named SSA
    mean_of: Sequence[Question] = ()  # the questions of SSA; its labels are 0, 0.5 and 1
    # Of a run: by side, its place among the runs that may be the usual axis, the best first.
    ranks: Mapping[str, Rank] = {}

    @property
    def title(self) -> str:
        """Its whole name: 'Auto-AIS, lexical, v3, golden evidence'."""
        return ", ".join(self.parts)

    @property
    def is_human(self) -> bool:
        return self.run is None

    def place(self, side: str) -> float:
        """Its place among the runs that may be the usual axis of a side; infinity if it may not."""
        of_run = self.ranks.get(side)
        return of_run.place if of_run else math.inf

    def shows(self, side: Side) -> bool:
        """Whether it shows a metric or a question of a side."""
        if self.run:
            return self.run.metric in side.metrics
        return self.question is not None and self.question.key in side.questions


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

    If an arm of a study has votes, each of its questions is an axis, and so is SSA. A study that
    drew dialogs with different probabilities makes no axis, because a mark has no weights.
    """
    has_scores = Exists(AutoScore.objects.filter(run=OuterRef("pk"), target__citation=None))
    runs = MetricRun.objects.filter(has_scores, dataset=dataset)
    in_order = sorted(runs, key=lambda run: (run.metric, run.full_signature, run.is_imported))
    rated = Arm.objects.filter(Exists(Vote.objects.filter(arm=OuterRef("pk"))))
    studies = Study.objects.filter(dataset=dataset).order_by("pk")
    studies = studies.prefetch_related(Prefetch("arms", rated))
    ranks = _ranks(dataset, in_order)
    of_runs = [of_run(run)._replace(ranks=ranks.get(run.pk, {})) for run in in_order]
    of_studies = (axis for study in studies if study.has_uniform_draw for axis in _of_study(study))
    return [*of_runs, *of_studies]


def of_run(run: MetricRun) -> Axis:
    """Return the axis of a run."""
    return Axis(f"run-{run.pk}", run_parts(run), f"{run.metric}: {run.full_signature}", run)


def _ranks(dataset: Dataset, runs: Collection[MetricRun]) -> dict[int, dict[str, Rank]]:
    """Return by run, and by side, its place among the runs that may be the usual axis."""
    found: dict[int, dict[str, Rank]] = defaultdict(dict)
    for side, of_side in candidates(dataset, runs).items():
        for place, each in enumerate(of_side):
            found[each.run.pk][side] = Rank(place, each.has_labels, each.is_pinned)
    return found


def usual(axes: Sequence[Axis]) -> Axes | None:
    """Return the usual axes; None if there is nothing for one of them."""
    attribution, sensibleness = (usual_axis(axes, side) for side in SIDES)
    return Axes(attribution, sensibleness) if attribution and sensibleness else None


def usual_axis(axes: Sequence[Axis], side: Side) -> Axis | None:
    """Return the usual axis of a side; None if there is nothing for it.

    Runs come in the order of `evaluation.runs.main_metrics.candidates`, the pinned one first. They
    come before raters; only runs without labels come last.
    """

    def rank(axis: Axis) -> tuple[int, int] | None:
        if axis.run:
            of_run = axis.ranks.get(side.name)
            return of_run and (0 if of_run.has_labels else 2, of_run.place)
        key = axis.question.key if axis.question else ""
        return (1, side.questions.index(key)) if key in side.questions else None

    ranked = [(rank(axis), place) for place, axis in enumerate(axes)]
    known = [(of_axis, place) for of_axis, place in ranked if of_axis is not None]
    return axes[min(known)[1]] if known else None


def lost_pins(dataset: Dataset, axes: Sequence[Axis]) -> list[tuple[Side, str]]:
    """Return the sides whose pinned run is deleted or has no scores, with the run that is pinned.

    Args:
        dataset: the dataset of the axes.
        axes: all of them, from `axes_of`.
    """
    there = {side for axis in axes for side, rank in axis.ranks.items() if rank.is_pinned}
    pins = [(side, side.pinned(dataset)) for side in SIDES]
    return [(side, said) for side, said in pins if said and side.name not in there]


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

    Raters say no to what is assumed, see `evaluation.votes.assumed_answers.assumed_on_axis`.

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
    labels = labels_of(run, scores)
    without = REASONS.index(NO_THRESHOLD) if run.threshold is None else 0
    reasons = np.where(failed, REASONS.index(FAILED), without)
    is_assumed = found["is_assumed"][first]
    return Values(ids, labels, (scores - low) / (high - low), reasons, is_assumed)


def _of_votes(axis: Axis) -> Values:
    if axis.arm is None or axis.question is None:
        raise ValueError(f"the axis {axis.key} has no run, and no question of an arm")
    study = axis.arm.study
    truth = axis.arm.kind
    of_arms = study_counts(study, Choices(truth=truth))
    asked = axis.mean_of or [axis.question]
    answers = [people_of(study, truth, of_arms, question.key) for question in asked]
    counts = answers[0][0]
    if counts is None:
        nobody = np.zeros(0, np.int64)
        return Values(nobody, np.zeros(0), np.zeros(0), nobody, np.zeros(0, bool))
    said = [people for _, [people] in answers]
    rated = np.all([each.is_rated for each in said], axis=0)
    flagged = np.array(counts.flagged, np.int64)
    none = np.full(len(flagged), math.nan)
    found = assumed_on_axis(study).unseen({*counts.items.responses.tolist(), *counts.flagged})
    assumed = found.responses[found.to(asked[0])]
    no = np.zeros(len(assumed))
    # A response has a mean of questions only if it has an answer to each of them.
    labels = np.mean([each.labels[rated] for each in said], axis=0)
    scores = np.mean([each.rater_scores[rated] for each in said], axis=0)
    is_tied, is_waiting = (
        np.any([getattr(each, state)[rated] for each in said], axis=0)
        for state in ("is_tied", "is_waiting")
    )
    without = np.where(is_tied, REASONS.index(TIED), 0)
    without[is_waiting] = REASONS.index(WAITING)
    ids = np.concatenate([counts.items.responses[rated], flagged, assumed])
    is_flagged = np.full(len(flagged), REASONS.index(FLAGGED))
    in_order = np.argsort(ids)
    return Values(
        ids[in_order],
        np.concatenate([labels, none, no])[in_order],
        np.concatenate([scores, none, no])[in_order],
        np.concatenate([without, is_flagged, no.astype(np.int64)])[in_order],
        np.isin(ids[in_order], assumed),
    )


def _of_study(study: Study) -> Iterable[Axis]:
    """Yield an axis for each arm and question whose votes say yes or no about whole responses.

    If the scheme has SSA, it is the last axis of each arm.
    """
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
        if both := ssa_questions(scheme):
            parts = f"Raters: {SSA}", study.name, f"{arm} arm"
            names = " and ".join(question.key for question in both)
            said = f"raters of {study.name}, {arm} arm, {SSA}: mean of the majorities on {names}"
            named = both[0]._replace(key=SSA)
            yield Axis(f"{study.slug}/{arm.kind}/{SSA}", parts, said, None, arm, named, both)

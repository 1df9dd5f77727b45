"""The floor and the top of runs: what their controls say. This module only reads."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

import numpy as np
from django.db.models import Case, Count, Q, Value, When

from evaluation.measures.fitness import Fitness, ShareOfYes, threshold_by_floor
from evaluation.models import ControlScore, MetricRun
from evaluation.runs.item_scores import labels_of
from evaluation.statistics.intervals import (
    Floats,
    Indexes,
    Statistic,
    bootstrap_intervals,
    share_from,
)
from evaluation.statistics.rater_answers import mean_statistics

FLOOR, TOP, NOTHING = ControlScore.Kind


class ControlLabels(NamedTuple):
    """The labels of a run's controls of one kind, each place one control."""

    scores: Floats  # NaN: none
    labels: Floats  # 1 yes, 0 no; NaN: no score
    examples: Indexes  # ids of the examples of the drawn targets
    dialogs: Indexes  # numbers of their dialogs
    forms: tuple[str, ...]  # the form of a text that says nothing; else ""

    @property
    def share(self) -> ShareOfYes:
        """The share of yes among the controls with a label."""
        with_label = ~np.isnan(self.labels)
        n, n_left_out = int(with_label.sum()), int((~with_label).sum())
        if not n:
            return ShareOfYes(n_left_out=n_left_out)
        figure = Statistic(mean_statistics(self.labels), self.dialogs, share_from)
        n_dialogs = int(self.dialogs.max()) + 1
        [interval] = bootstrap_intervals([figure], n_dialogs, seed=0)  # a share draws nothing
        return ShareOfYes(float(np.nanmean(self.labels)), *interval, n, n_left_out)


Labels = Mapping[str, ControlLabels]  # kind → labels; a kind without controls is missing


def control_labels(runs: Collection[MetricRun]) -> dict[int, Labels]:
    """Return the labels of each run's controls, by run id and kind, in one query."""
    found: dict[tuple[int, str], list[tuple[float, int, str, str]]] = defaultdict(list)
    rows = ControlScore.objects.filter(run__in=[run.pk for run in runs]).order_by("pk")
    columns = "run", "kind", "score", "target__response__example", "form"
    dialog = "target__response__example__dialog"
    for run, kind, score, example, form, name in rows.values_list(*columns, dialog):
        found[run, kind].append((np.nan if score is None else score, example, form, name))
    labels: dict[int, dict[str, ControlLabels]] = {run.pk: {} for run in runs}
    by_id = {run.pk: run for run in runs}
    for (run_id, kind), of_kind in found.items():
        found_scores, examples, forms, names = zip(*of_kind, strict=True)
        scores = np.array(found_scores, float)
        _, dialogs = np.unique(names, return_inverse=True)
        run_labels = labels_of(by_id[run_id], scores)
        labels[run_id][kind] = ControlLabels(scores, run_labels, np.array(examples), dialogs, forms)
    return dict(labels)


def fitness_of(labels: Labels) -> Fitness:
    """Return what a run's controls say about it."""
    return _fitness({kind: of_kind.share for kind, of_kind in labels.items()})


def _fitness(shares: Mapping[str, ShareOfYes]) -> Fitness:
    return Fitness(*(shares.get(kind, ShareOfYes()) for kind in (FLOOR, TOP, NOTHING)))


def fitness_of_runs(runs: Collection[MetricRun]) -> dict[int, Fitness]:
    """Return what the controls of each run say about it, by run id, in one query."""
    return {pk: fitness_of(labels) for pk, labels in control_labels(runs).items()}


def unfit_among(runs: Iterable[MetricRun]) -> set[int]:
    """Return the ids of the runs that are unfit for their data, in one query that reads no score.

    Menus ask this. It makes no intervals, which no limit is about.
    """
    cuts = {run.pk: run.cut for run in runs if run.cut is not None}
    if not cuts:
        return set()
    cut = Case(*(When(run=run, then=Value(own)) for run, own in cuts.items()))
    of_kind = ControlScore.objects.filter(run__in=cuts).values("run", "kind").order_by()
    counted = of_kind.annotate(n=Count("score"), n_yes=Count("pk", filter=Q(score__gt=cut)))
    shares: dict[int, dict[str, ShareOfYes]] = defaultdict(dict)
    for run, kind, n, n_yes in counted.filter(n__gt=0).values_list("run", "kind", "n", "n_yes"):
        shares[run][kind] = ShareOfYes(n_yes / n, n=n)
    return {run for run, of_run in shares.items() if _fitness(of_run).is_unfit}


class FloorThreshold(NamedTuple):
    """The threshold that the floor chooses, and the shares of controls that are a yes at it."""

    threshold: float
    floor: float
    top: float  # NaN: the metric has no top


def floor_threshold(run: MetricRun, labels: Labels | None = None) -> FloorThreshold | None:
    """Return the threshold that a run's controls choose; None: there is none, or it is the run's.

    Args:
        run: the run.
        labels: the labels of its controls; None: they are read.
    """
    labels = control_labels([run])[run.pk] if labels is None else labels
    if FLOOR not in labels or run.is_imported:
        return None
    at = threshold_by_floor(
        labels[FLOOR].scores,
        np.concatenate([each.scores for each in labels.values()]),
        is_yes_at_threshold=run.is_yes_at_threshold,
    )
    if math.isnan(at) or at == run.threshold:
        return None

    def share(kind: str) -> float:
        scores = labels[kind].scores if kind in labels else np.empty(0)
        known = scores[~np.isnan(scores)]
        is_yes = known >= at if run.is_yes_at_threshold else known > at
        return float(is_yes.mean()) if known.size else math.nan

    found = FloorThreshold(at, share(FLOOR), share(TOP))
    return None if found.top == 0 else found  # then everything right would be a no


def shares_by_form(labels: ControlLabels) -> Iterable[tuple[str, ShareOfYes]]:
    """Yield the share of yes for each form of texts that say nothing.

    A control that could not be made has no form.
    """
    for form in dict.fromkeys(filter(None, labels.forms)):
        here = np.array([each == form for each in labels.forms])
        of_form = labels._replace(
            scores=labels.scores[here],
            labels=labels.labels[here],
            examples=labels.examples[here],
            dialogs=labels.dialogs[here],
            forms=(form,) * int(here.sum()),
        )
        yield form, of_form.share

"""The scores of runs in the order of the items of an arm. This module only reads."""

import math
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import numpy as np
from django.db.models import Exists, OuterRef
from numpy.typing import NDArray

from annotation.models import Study
from evaluation.metrics.registry import METRICS
from evaluation.models import AutoScore, MetricRun
from evaluation.runs.study_targets import is_about, is_of_citations
from evaluation.statistics.intervals import Floats
from evaluation.votes.counts import ArmCounts, Ints
from generation.models import Dataset

WITHOUT_THRESHOLD = "no threshold was given for these scores, so they have ranks and no labels"


class ItemScores(NamedTuple):
    """One run's scores of the items of an arm. The score of an item without one is NaN."""

    score: Floats
    has_row: NDArray[np.bool_]
    is_assumed: NDArray[np.bool_]
    n_truncated: Ints  # pairs whose premise was cut

    @property
    def is_failed(self) -> NDArray[np.bool_]:
        failed: NDArray[np.bool_] = self.has_row & np.isnan(self.score)
        return failed

    @property
    def given(self) -> Floats:
        """The scores that a metric gave. Assumed scores are NaN, because agreement ignores them."""
        return np.where(self.is_assumed, math.nan, self.score)


def runs_with_scores(study: Study) -> list[MetricRun]:
    """Return the runs with scores of what a study's raters judge, also imported runs."""
    has_scores = Exists(AutoScore.objects.filter(run=OuterRef("pk")))
    found = MetricRun.objects.filter(has_scores, dataset=study.dataset_id)
    citations = is_of_citations(study)
    runs = [run for run in found if is_about(run, citations=citations)]
    return sorted(runs, key=lambda run: (run.metric, run.full_signature, run.is_imported))


ScoresOf = Callable[[MetricRun, ArmCounts], ItemScores]


def scores_of(run: MetricRun, of_arm: ArmCounts) -> ItemScores:
    """Return a run's scores in the order of an arm's items."""
    return scores_of_runs([run], of_arm)[run.pk]


def scores_of_runs(runs: Sequence[MetricRun], of_arm: ArmCounts) -> dict[int, ItemScores]:
    """Return each run's scores in the order of an arm's items, by run id, in one statement."""
    place = {target: item for item, target in enumerate(of_arm.items.targets.tolist())}
    n_items = len(place)
    found = {
        run.pk: ItemScores(
            np.full(n_items, math.nan),
            np.zeros(n_items, bool),
            np.zeros(n_items, bool),
            np.zeros(n_items, np.int64),
        )
        for run in runs
    }
    rows = AutoScore.objects.filter(run__in=list(found)).values_list(
        "run", "target", "score", "is_assumed", "n_truncated"
    )
    for run_id, target, score, is_assumed, n_truncated in rows.iterator(chunk_size=20_000):
        item = place.get(target)
        if item is not None:
            scores = found[run_id]
            scores.has_row[item] = True
            scores.is_assumed[item] = is_assumed
            scores.n_truncated[item] = n_truncated
            if score is not None:
                scores.score[item] = score
    return found


def scores_once(metrics: Collection[str]) -> ScoresOf:
    """Return a `scores_of` that reads the runs of some metrics only once, for reports on one arm.

    The scores of other runs are not kept, because there may be many of them.
    """
    read: dict[int, ItemScores] = {}

    def kept_scores_of(run: MetricRun, of_arm: ArmCounts) -> ItemScores:
        if run.metric not in metrics:
            return scores_of(run, of_arm)
        if run.pk not in read:
            read[run.pk] = scores_of(run, of_arm)
        return read[run.pk]

    return kept_scores_of


def labelled_runs(dataset: Dataset, metric: str) -> list[MetricRun]:
    """Return the runs of a metric that have labels, oldest first."""
    runs = MetricRun.objects.filter(dataset=dataset, metric=metric, threshold__isnull=False)
    return list(runs.order_by("pk"))


def runs_left_out(dataset: Dataset, metric: str) -> dict[str, int]:
    """Return how many runs of a metric have no labels, for a report on labels."""
    without = MetricRun.objects.filter(dataset=dataset, metric=metric, threshold=None)
    return {"runs_without_threshold": without.count()}


def cut_of(run: MetricRun) -> float:
    """Return the cut of a run that has labels."""
    assert run.cut is not None, "the run has no threshold; expected one of `labelled_runs`"
    return run.cut


def labels_of(run: MetricRun, scores: Floats) -> Floats:
    """Return a run's label of each score: 1, 0, or NaN without a score or without a threshold."""
    if run.cut is None:
        return np.full(np.shape(scores), math.nan)
    return np.where(np.isnan(scores), math.nan, scores > run.cut)


def scale_of(run: MetricRun) -> tuple[float, float]:
    """Return the lowest and the highest score that a run can give; 0 and 1 for an imported run."""
    kind = None if run.is_imported else METRICS.get(run.metric)
    return kind.scale if kind else (0.0, 1.0)

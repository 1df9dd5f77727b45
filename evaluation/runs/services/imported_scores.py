"""Scores made elsewhere: imported runs."""

import math
import re
from collections.abc import Sequence
from typing import Any

from annotation.services.imported_votes import targets_of
from evaluation.models import AutoScore, MetricRun
from generation.models import Dataset
from generation.records import ScoreRecord

_THRESHOLD = re.compile(r"(?:^|\|)t(>=)?:([0-9.eE+-]+)(?=\||$)")


def store_scores(dataset: Dataset, records: Sequence[ScoreRecord]) -> int:
    """Store scores made elsewhere, with one imported run per metric and signature.

    Scores of targets that have one already are not stored. Return the number of new scores.
    """
    runs = _imported_runs(dataset, {(record.metric, record.signature) for record in records})
    targets = targets_of(dataset, {(record.response, record.citation) for record in records})
    known = set(
        AutoScore.objects.filter(run__in=runs.values(), target__in=targets.values()).values_list(
            "run", "target"
        )
    )
    scores = [
        AutoScore(
            run_id=runs[record.metric, record.signature],
            target_id=targets[record.response, record.citation],
            score=record.score,
            is_assumed=record.is_assumed,
            problem=record.problem,
            n_truncated=record.n_truncated,
            details=dict(record.details),
        )
        for record in records
    ]
    new = [score for score in scores if (score.run_id, score.target_id) not in known]
    AutoScore.objects.bulk_create(new, batch_size=5000)
    return len(new)


def _imported_runs(dataset: Dataset, wanted: set[tuple[str, str]]) -> dict[tuple[str, str], int]:
    imported = MetricRun.objects.filter(dataset=dataset, is_imported=True)
    known = {
        (metric, signature): pk
        for metric, signature, pk in imported.values_list("metric", "signature", "pk")
    }
    new = MetricRun.objects.bulk_create(
        MetricRun(
            dataset=dataset,
            metric=metric,
            signature=signature,
            is_imported=True,
            **_cut(signature),
        )
        for metric, signature in sorted(wanted - set(known))
    )
    return known | {(run.metric, run.signature): run.pk for run in new}


def _cut(signature: str) -> dict[str, Any]:
    """Return the threshold that a signature names, and whether a score equal to it is a yes.

    A signature names it by `t:`, or by `t>=:` when an equal score is a yes. Without a readable
    threshold the scores have ranks and no labels: what other tools write has any scale.
    """
    usual = {"threshold": None, "is_yes_at_threshold": False}
    found = _THRESHOLD.search(signature)
    if found is None:
        return usual
    try:
        threshold = float(found[2])
    except ValueError:  # '1-2', 'e'
        return usual
    if not math.isfinite(threshold):
        return usual
    return {"threshold": threshold, "is_yes_at_threshold": found[1] is not None}

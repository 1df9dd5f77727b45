"""Every write to metric runs and scores, and deletion of a dataset with all that hangs on it."""

from collections.abc import Sequence
from functools import partial

from django.db import transaction

from accounts.models import User
from accounts.services import record as record_in_audit_trail
from annotation.models import (
    Arm,
    Assignment,
    Exposure,
    Flag,
    GoldAnswer,
    Rater,
    Skip,
    Target,
    Unit,
    Vote,
    VoteChange,
)
from annotation.services.imported import targets_of
from evaluation.models import AutoScore, MetricRun
from generation.importers.records import ScoreRecord
from generation.models import Dataset, Example, Response


def store_scores(dataset: Dataset, records: Sequence[ScoreRecord]) -> int:
    """Store scores made elsewhere, one imported run per metric and signature; return the new."""
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
        )
        for record in records
    ]
    new = [score for score in scores if (score.run_id, score.target_id) not in known]
    AutoScore.objects.bulk_create(new, batch_size=5000)
    return len(new)


def _imported_runs(dataset: Dataset, wanted: set[tuple[str, str]]) -> dict[tuple[str, str], int]:
    imported = MetricRun.objects.filter(dataset=dataset, is_imported=True)
    known = set(imported.values_list("metric", "signature"))
    MetricRun.objects.bulk_create(
        MetricRun(dataset=dataset, metric=metric, signature=signature, is_imported=True)
        for metric, signature in sorted(wanted - known)
    )
    return {
        (metric, signature): pk
        for metric, signature, pk in imported.values_list("metric", "signature", "pk")
    }


@transaction.atomic
def delete_dataset(dataset: Dataset, actor: User) -> None:
    """Delete a dataset with its studies, votes and scores, and say so in the audit trail.

    The most numerous rows go first, so that the cascade has less to load. Imports stay as names
    and dates; what they showed of its texts goes.
    """
    for upload in dataset.imports.all():
        transaction.on_commit(partial(upload.problem_path.unlink, missing_ok=True))
    dataset.imports.update(report={})
    votes = Vote.objects.filter(arm__study__dataset=dataset)
    record_in_audit_trail(
        actor,
        "dataset.deleted",
        dataset.name,
        n_examples=dataset.examples.count(),
        n_responses=dataset.responses.count(),
        n_votes=votes.count(),
    )
    for rows in (
        GoldAnswer.objects.filter(study__dataset=dataset),
        VoteChange.objects.filter(vote__arm__study__dataset=dataset),
        votes,
        AutoScore.objects.filter(run__dataset=dataset),
        Flag.objects.filter(arm__study__dataset=dataset),
        Assignment.objects.filter(unit__arm__study__dataset=dataset),
        Exposure.objects.filter(rater__study__dataset=dataset),
        Skip.objects.filter(rater__study__dataset=dataset),
        Unit.objects.filter(arm__study__dataset=dataset),
        Rater.objects.filter(study__dataset=dataset),
        Arm.objects.filter(study__dataset=dataset),
        Target.objects.filter(response__dataset=dataset),
        Response.objects.filter(dataset=dataset),
        Example.objects.filter(dataset=dataset),
    ):
        rows.delete()
    dataset.delete()

"""Deletion of a dataset with everything that belongs to it."""

from functools import partial

from django.db import transaction
from django.db.models import Q

from accounts.models import User
from accounts.services import record as record_in_audit_trail
from annotation.models import (
    Arm,
    Assignment,
    Enquiry,
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
from evaluation.jobs.services import cancel_job
from evaluation.models import Adjudication, AutoScore, ControlScore, Job, RunChunk
from generation.models import (
    Alias,
    Call,
    Dataset,
    Entity,
    Example,
    Grid,
    KGQuestion,
    MinimumTriple,
    Passage,
    QuestionEntity,
    RankedPassage,
    Ranking,
    Response,
    Sample,
    Triple,
)
from generation.retrieval.dataset_index import delete_index
from generation.services.many_rows import delete_rows
from generation.text_html import forget_texts


@transaction.atomic
def delete_dataset(dataset: Dataset, actor: User) -> None:
    """Delete a dataset with its studies, votes and scores, and record that in the audit trail.

    The most numerous rows are deleted first, so that the cascade has less to load. Imports keep
    their names and dates, but the texts that they showed are deleted. The dataset's row is locked
    first and its jobs are cancelled: a process that adds to the dataset waits, and then finds it
    deleted.
    """
    if not Dataset.objects.select_for_update().filter(pk=dataset.pk).first():
        return  # another process has deleted it already
    for job in Job.objects.filter(Q(dataset=dataset) | Q(study__dataset=dataset)):
        cancel_job(job, actor)
    for upload in dataset.imports.all():
        transaction.on_commit(partial(upload.problem_path.unlink, missing_ok=True))
    transaction.on_commit(partial(delete_index, dataset.pk))
    dataset.imports.update(report={})
    votes = Vote.objects.filter(arm__study__dataset=dataset)
    record_in_audit_trail(
        actor,
        "dataset.deleted",
        dataset.name,
        n_examples=dataset.examples.count(),
        n_responses=dataset.responses.count(),
        n_votes=votes.count(),
        n_entities=dataset.entities.count(),
    )
    for rows in (
        GoldAnswer.objects.filter(study__dataset=dataset),
        VoteChange.objects.filter(vote__arm__study__dataset=dataset),
        votes,
        AutoScore.objects.filter(run__dataset=dataset),
        ControlScore.objects.filter(run__dataset=dataset),
        RunChunk.objects.filter(run__dataset=dataset),
        Adjudication.objects.filter(study__dataset=dataset),
        Flag.objects.filter(arm__study__dataset=dataset),
        Assignment.objects.filter(unit__arm__study__dataset=dataset),
        Exposure.objects.filter(rater__study__dataset=dataset),
        Skip.objects.filter(rater__study__dataset=dataset),
        Enquiry.objects.filter(rater__study__dataset=dataset),
        Unit.objects.filter(arm__study__dataset=dataset),
        Rater.objects.filter(study__dataset=dataset),
        Arm.objects.filter(study__dataset=dataset),
        Target.objects.filter(response__dataset=dataset),
        Call.objects.filter(grid__dataset=dataset),
        Grid.objects.filter(dataset=dataset),
        Sample.objects.filter(dataset=dataset),
        Response.objects.filter(dataset=dataset),
        Triple.objects.filter(subject__dataset=dataset),
        Alias.objects.filter(entity__dataset=dataset),
        Entity.objects.filter(dataset=dataset),
        QuestionEntity.objects.filter(question__example__dataset=dataset),
        MinimumTriple.objects.filter(question__example__dataset=dataset),
        KGQuestion.objects.filter(example__dataset=dataset),
        RankedPassage.objects.filter(ranking__dataset=dataset),
        Ranking.objects.filter(dataset=dataset),
        Example.objects.filter(dataset=dataset),
        Passage.objects.filter(dataset=dataset),
    ):
        delete_rows(rows)
    dataset.delete()
    transaction.on_commit(forget_texts)

"""Celery tasks. Their arguments are ids, and each may be delivered twice."""

import logging
from collections.abc import Sequence
from typing import Any

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from evaluation.import_process import carry_on_apart
from evaluation.models import Job, MetricRun, RunChunk
from evaluation.reports.base import Choices
from evaluation.reports.stored import compute_and_store
from evaluation.services.chunks import (
    claim_chunk,
    finish_runs,
    lost_chunks,
    message_lost_before,
    next_chunk,
    score_chunk,
)
from evaluation.services.job_kinds import do_job
from evaluation.services.jobs import asks_server, claim_job, lost_jobs, note_sent
from evaluation.services.runs import chunks_to_send
from evaluation.uploads import cancel_forgotten_imports, interrupted_imports
from generation.backends.registry import is_server
from generation.services.experiment_chunks import finish_experiments
from generation.services.experiment_chunks import lost_chunks as lost_experiment_chunks
from generation.services.experiments import lost_plans
from generation.services.samples import lost_samples
from generation.tasks import filter_sample, plan_experiment, queue_of
from generation.tasks import send_chunks as send_grid_chunks
from work.alive import at_work

logger = logging.getLogger(__name__)

DAY_SECONDS = 24 * 3600


# The process has a limit of its own; the task's are for a worker that does not see to it.
@shared_task(
    acks_late=True,
    soft_time_limit=settings.IMPORT_SECONDS + 60,
    time_limit=settings.IMPORT_SECONDS + 120,
)
def carry_on_import(import_id: int) -> None:
    """Check or store one uploaded file, as its row asks."""
    with at_work():
        carry_on_apart(import_id)


@shared_task
def resend_interrupted_imports() -> None:
    """Send imports again whose worker died, so that no broker has to be trusted."""
    for import_id in interrupted_imports():
        carry_on_import.delay(import_id)


@shared_task
def forget_old_imports() -> None:
    """Cancel imports that wait for somebody's decision since long, and delete their files."""
    cancel_forgotten_imports()


@shared_task(acks_late=True)
def execute_chunk(chunk_id: int) -> None:
    """Score one chunk of a run; who loses the claim does nothing."""
    claim = claim_chunk(chunk_id)
    if claim is None:
        logger.info("chunk %s is done, somebody else's, or has to wait", chunk_id)
        return
    score_chunk(claim)
    if is_server(claim.run.backend):  # its other messages may have come while it had to wait
        _send_chunks(next_chunk(claim.run))


def send_run(run: MetricRun) -> None:
    """Send the chunks of a run that wait for a worker, once what was asked for is committed."""
    _send_chunks(chunks_to_send(run))


def _send_chunks(ids: Sequence[int]) -> None:
    backends = RunChunk.objects.filter(pk__in=ids).order_by("number")
    for chunk_id, backend in backends.values_list("pk", "run__backend"):
        execute_chunk.apply_async_on_commit((chunk_id,), queue=queue_of(is_server(backend)))


@shared_task
def resend_lost_chunks() -> None:
    """Send chunks again whose worker died or whose message was lost."""
    finish_runs()
    _send_chunks(lost_chunks())


@shared_task
def resend_lost_grids() -> None:
    """Send what grids and samples wait for again, if its worker died or its message was lost."""
    finish_experiments()
    send_grid_chunks(lost_experiment_chunks(message_lost_before(timezone.now())))
    for experiment_id in lost_plans():
        plan_experiment.delay(experiment_id)
    for sample_id in lost_samples():
        filter_sample.delay(sample_id)


# One step of a job (a prompt over all examples, an epoch) may take longer than other tasks may.
@shared_task(acks_late=True, soft_time_limit=DAY_SECONDS - 60, time_limit=DAY_SECONDS)
def execute_job(job_id: int) -> None:
    """Do a job from behind its last step; who loses the claim does nothing."""
    claim = claim_job(job_id)
    if claim is None:
        logger.info("job %s has ended, or is somebody else's", job_id)
        return
    do_job(claim)


def send_job(job: Job) -> None:
    """Send a message about a job that waits, once what was asked for is committed."""
    if note_sent(job) is not None:
        _send_job(job)


def _send_job(job: Job) -> None:
    execute_job.apply_async_on_commit((job.pk,), queue=queue_of(asks_server(job)))


@shared_task
def resend_lost_jobs() -> None:
    """Send jobs again whose worker died or whose message was lost."""
    for job in Job.objects.filter(pk__in=lost_jobs()).order_by("pk"):
        _send_job(job)


@shared_task(acks_late=True)
def compute_figures(study_id: int, choices: dict[str, Any]) -> None:
    """Make the figures of a study, with the reader's choices by name."""
    with at_work():
        compute_and_store(study_id, Choices(**choices))

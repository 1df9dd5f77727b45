"""Celery tasks of jobs."""

import logging

from celery import shared_task

from evaluation.jobs.kinds import do_job
from evaluation.jobs.services import asks_server, claim_job, lost_jobs, note_sent
from evaluation.models import Job
from generation.tasks import queue_of
from work.lost_work import resends

logger = logging.getLogger(__name__)

DAY_SECONDS = 24 * 3600


# One step of a job (a prompt over all examples, an epoch) may take longer than any other task.
@shared_task(
    name="evaluation.tasks.execute_job",
    acks_late=True,
    soft_time_limit=DAY_SECONDS - 60,
    time_limit=DAY_SECONDS,
)
def execute_job(job_id: int) -> None:
    """Do a job from its last step on. A worker that does not get the claim does nothing."""
    claim = claim_job(job_id)
    if claim is None:
        logger.info("job %s has ended, or belongs to another worker", job_id)
        return
    do_job(claim)


def send_job(job: Job) -> None:
    """Send a message about a job that waits, after the transaction is committed."""
    if note_sent(job) is not None:
        _send_job(job)


def _send_job(job: Job) -> None:
    execute_job.apply_async_on_commit((job.pk,), queue=queue_of(asks_server(job)))


@resends
def resend_lost_jobs() -> None:
    """Send messages again for jobs whose worker died or whose message was lost."""
    for job in Job.objects.filter(pk__in=lost_jobs()).order_by("pk"):
        _send_job(job)

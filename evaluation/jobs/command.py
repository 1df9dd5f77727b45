"""Jobs that a command does itself. It needs no worker, but a worker may take the job instead."""

import time
from typing import Any

from django.core.management.base import CommandError

from evaluation.jobs.kinds import JOBS
from evaluation.jobs.services import ENDED, cancel_job
from evaluation.models import Job
from generation.progress import progress_bar

WAITS_SECONDS = 0.5  # pause while a worker has the job or a model may not be called yet


def do_here(job: Job, title: str, unit: str, stderr: Any) -> Job:
    """Do a job to its end, and return it in its final state. Ctrl-C cancels it.

    Raises:
        CommandError: the job failed, or was cancelled or deleted.
    """
    try:
        with progress_bar(title, stderr, unit) as on_progress:
            while job.state not in ENDED:
                claim = JOBS.claim(job.pk)
                if claim:
                    JOBS.do(claim)
                job = _again(job)
                if job.state not in ENDED:
                    time.sleep(WAITS_SECONDS)
                on_progress(job.n_done, job.n_done / (job.n_total or 1))
    except KeyboardInterrupt:
        cancel_job(job, None)
        job = _again(job)
        raise CommandError(
            f"Stopped after {job.n_done} of at most {job.n_total} {unit}. Give the same "
            "command again to go on from there.",
            returncode=130,
        ) from None
    if job.state != Job.State.DONE:
        verb = "is" if job.n_done == 1 else "are"
        kept = f"{job.n_done} of at most {job.n_total} {unit} {verb} kept."
        raise CommandError(f"{job.error or 'Another user cancelled it.'}\n{kept}")
    return job


def _again(job: Job) -> Job:
    found = Job.objects.filter(pk=job.pk).first()
    if found is None:
        raise CommandError("Another user deleted this job while the command was working.")
    return found

"""Jobs that a command does itself. It needs no worker, but a worker may take the job instead."""

import time
from collections.abc import Callable

from django.core.management.base import CommandError

from evaluation.jobs.kinds import JOBS
from evaluation.jobs.services import ENDED, cancel_job, left_to_ask
from evaluation.models import Job
from generation.call_plan import CallPlan
from generation.management.asking_command import AskingCommand
from generation.progress import progress_of_work

WAITS_SECONDS = 0.5  # pause while a worker has the job or a model may not be called yet


def do_here(
    command: AskingCommand,
    request: Callable[[], Job],
    asking: Callable[[], CallPlan],
    doing: str,
    unit: str,
) -> Job:
    """Request a job if the user wants to go on, do it to its end, and return it in its final state.

    Ctrl-C cancels it.

    Args:
        command: the command that does the job.
        request: the function that requests the job.
        asking: the function that returns what the job asks.
        doing: what the command does, as 'Searching'.
        unit: the word for the steps of the job.

    Raises:
        CommandError: the user says no, or the job failed, or was cancelled or deleted.
        JobError: the job is refused.
    """
    command.confirm(left_to_ask(request, asking))
    job = request()
    title, stderr = f"{doing} {job.name}", command.stderr

    def done() -> tuple[int, float]:
        now = _again(job)
        return now.n_done, now.n_done / (now.n_total or 1)

    try:
        with progress_of_work(title, stderr, unit, done) as show:
            while job.state not in ENDED:
                claim = JOBS.claim(job.pk)
                if claim:
                    JOBS.do(claim, show)
                job = _again(job)
                if job.state not in ENDED:
                    time.sleep(WAITS_SECONDS)
                show()
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

"""What each kind of job does once somebody has claimed it."""

from collections.abc import Callable, Mapping
from typing import Any

from accounts.models import User
from evaluation.models import Job
from evaluation.services.distillation import distil, forget_files
from evaluation.services.graph_pull import pull_graph
from evaluation.services.jobs import Hold, carry_out, delete_job
from evaluation.services.prompt_search import search_prompt

WORK: dict[str, Callable[[Hold], Mapping[str, Any]]] = {
    Job.Kind.PROMPT_SEARCH: search_prompt,
    Job.Kind.DISTILLATION: distil,
    Job.Kind.GRAPH_PULL: pull_graph,
}


def do_job(claim: Job) -> None:
    """Do a claimed job, as far as this worker gets with it."""
    carry_out(claim, WORK[claim.kind])


def delete(job: Job, user: User | None) -> None:
    """Delete a job that has ended, with its steps and what it left on the disk.

    Raises:
        JobError: it waits or goes on.
    """
    pk = job.pk
    delete_job(job, user)
    if job.kind == Job.Kind.DISTILLATION:
        forget_files(pk, job.name)

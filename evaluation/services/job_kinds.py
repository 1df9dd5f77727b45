"""What each kind of job does once somebody has claimed it."""

from collections.abc import Callable, Mapping
from typing import Any

from accounts.models import User
from evaluation.models import Job
from evaluation.services.construction import construct, delete_construction, resume_construction
from evaluation.services.distillation import distil, forget_files
from evaluation.services.graph_pull import pull_graph
from evaluation.services.jobs import Hold, carry_out, delete_job, resume_job
from evaluation.services.prompt_search import search_prompt

WORK: dict[str, Callable[[Hold], Mapping[str, Any]]] = {
    Job.Kind.PROMPT_SEARCH: search_prompt,
    Job.Kind.DISTILLATION: distil,
    Job.Kind.GRAPH_PULL: pull_graph,
    Job.Kind.CONSTRUCTION: construct,
}


def do_job(claim: Job) -> None:
    """Do a claimed job, as far as this worker gets with it."""
    carry_out(claim, WORK[claim.kind])


def resume(job: Job, user: User | None) -> bool:
    """Go on with a job behind what it has found; return whether there is anything to go on with.

    In a construction that is done, entries that failed get one more attempt each.
    """
    if job.construction is not None:
        return resume_construction(job.construction, user)
    return resume_job(job, user)


def delete(job: Job, user: User | None) -> None:
    """Delete a job that has ended, with its steps and what it left on the disk.

    That of a construction goes with its entries and calls.

    Raises:
        JobError: it waits or goes on, or a dataset is made of its construction.
    """
    pk = job.pk
    if job.construction is not None:
        delete_construction(job.construction, user)
    else:
        delete_job(job, user)
    if job.kind == Job.Kind.DISTILLATION:
        forget_files(pk, job.name)

"""Kinds of jobs: each registers here, from the `job_kinds` of the room of its subject."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.utils.module_loading import autodiscover_modules

from accounts.models import User
from evaluation.jobs.services import JobHold, carry_out, delete_job, resume_job
from evaluation.models import Job


@dataclass(frozen=True)
class JobKind:
    """What one kind of job does, and what its page shows beside its progress."""

    key: Job.Kind
    work: Callable[[JobHold], Mapping[str, Any]]
    template: str = ""  # of what it has found
    found: Callable[[Job, str | None], Mapping[str, Any]] | None = None  # by job and page number
    page: Callable[[Job], str] | None = None  # address of a page of its own, instead of the above
    # Choices of a metric run with what it has found, as the form of a new run names them.
    run_choices: Callable[[Job], Mapping[str, str]] | None = None
    asks_others: str = ""  # 'Pulls': the kind's plural if it asks other machines; for admins alone
    left: str = "Runs that used it stay as they are"  # when it is deleted
    resume: Callable[[Job, User | None], bool] = resume_job
    delete: Callable[[Job, User | None], None] = delete_job


_registered: dict[str, JobKind] = {}


def register(*kinds: JobKind) -> None:
    """Let jobs of these kinds be done and shown."""
    _registered.update({kind.key: kind for kind in kinds})


@cache
def _kinds() -> Mapping[str, JobKind]:
    """Return all kinds by key; what they need is imported when one is first asked for."""
    autodiscover_modules("job_kinds")
    return _registered


def kind_of(job: Job) -> JobKind:
    """Return the declaration of a job's kind."""
    return _kinds()[job.kind]


def do_job(claim: Job) -> None:
    """Do a claimed job, as far as this worker gets with it."""
    carry_out(claim, kind_of(claim).work)


def resume(job: Job, user: User | None) -> bool:
    """Go on with a job behind what it has found; return whether there is anything to go on with.

    In a construction that is done, entries that failed get one more attempt each.
    """
    return kind_of(job).resume(job, user)


def delete(job: Job, user: User | None) -> None:
    """Delete a job that has ended, with its steps and what it left on the disk.

    That of a construction goes with its entries and calls.

    Raises:
        JobError: it waits or goes on, or a dataset is made of its construction.
    """
    kind_of(job).delete(job, user)

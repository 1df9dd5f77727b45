"""Kinds of jobs. Each is registered here by the module `job_kinds` of the app of its subject."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.utils.module_loading import autodiscover_modules

from accounts.models import User
from evaluation.jobs.services import JobError, JobHold, delete_job, resume_job
from evaluation.models import Job
from generation.backends.registry import is_server
from generation.model_specs import BackendError
from work.pieces import PieceKind
from work.pieces import register as register_pieces


@dataclass(frozen=True)
class JobKind:
    """One kind of job: its work, and the data that its page shows beside its progress."""

    key: Job.Kind
    work: Callable[[JobHold], Mapping[str, Any]]
    template: str = ""  # the template that shows what a job has found
    # The context of `template`, from a job and a page number.
    found: Callable[[Job, str | None], Mapping[str, Any]] | None = None
    # The address of a page for this kind, which is used instead of `template` and `found`.
    page: Callable[[Job], str] | None = None
    # Choices for a metric run that uses what a job has found, by their names in the form.
    run_choices: Callable[[Job], Mapping[str, str]] | None = None
    # The kind's plural ('Pulls') if it asks other machines; only admins may change such jobs.
    asks_others: str = ""
    left: str = "Runs that used it stay as they are"  # shown after a job was deleted
    resume: Callable[[Job, User | None], bool] = resume_job
    delete: Callable[[Job, User | None], None] = delete_job


_registered: dict[str, JobKind] = {}


def register(*kinds: JobKind) -> None:
    """Register kinds, so that their jobs can be done and shown."""
    _registered.update({kind.key: kind for kind in kinds})


@cache
def _kinds() -> Mapping[str, JobKind]:
    """Return all kinds by key. Their modules are imported at the first call."""
    autodiscover_modules("job_kinds")
    return _registered


def kind_of(job: Job) -> JobKind:
    """Return the declaration of a job's kind."""
    return _kinds()[job.kind]


class JobWork(PieceKind[Job, JobHold]):
    """Jobs: each is one piece of work. A model or a choice that cannot be used makes it fail."""

    model = Job
    task_name = "evaluation.tasks.execute_job"
    doing = "does a job"
    related = ("study", "dataset", "construction")
    troubles = (BackendError, JobError)
    # One step (a prompt over all examples, an epoch) may take longer than any other task.
    longest_seconds = 24 * 3600

    def asks_server(self, piece: Job) -> bool:
        return "endpoint" in piece.parameters or is_server(piece.parameters.get("backend", ""))

    def hold(self, claim: Job) -> JobHold:
        return JobHold(claim)

    def work(self, hold: JobHold) -> None:
        """Do a job from its last step to its end."""
        hold.finish(kind_of(hold.job).work(hold))


JOBS = register_pieces(JobWork())


def send_job(job: Job) -> None:
    """Send a message about a job that waits, after the transaction is committed."""
    JOBS.send_waiting(pk=job.pk)


def resume(job: Job, user: User | None) -> bool:
    """Continue a job after what it has found; return whether there is anything left to do.

    In a construction that is done, entries that failed get one more attempt each.
    """
    return kind_of(job).resume(job, user)


def delete(job: Job, user: User | None) -> None:
    """Delete a job that has ended, with its steps and its files on the disk.

    With the job of a construction, its entries and calls are deleted too.

    Raises:
        JobError: the job is waiting or running, or a dataset was made from its construction.
    """
    kind_of(job).delete(job, user)

"""Kinds of jobs. Each is declared in the module `work_kinds` of the room of its subject."""

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, ClassVar

from django.db.models import Q, QuerySet, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce

from accounts.access import Role, roles_of
from accounts.models import User
from evaluation.jobs.private_endpoints import error_for
from evaluation.jobs.services import JobError, JobHold, cancel_job, delete_job, resume_job
from evaluation.models import Job
from generation.backends.registry import is_server
from generation.model_specs import BackendError
from generation.services.server_places import AsksModels
from work.kinds import WorkKind, work_kinds
from work.pieces import register as register_pieces
from work.work_row import WorkRow


class JobKind(WorkKind[Job]):
    """One kind of job: its work, and the data that its page shows beside its progress."""

    job_kind: Job.Kind
    model = Job
    view = "evaluation:job"
    columns: ClassVar = {"details": Cast("parameters", TextField())}
    template = ""  # the template that shows what a job has found
    in_short: str  # what lists say about one job: a format of its parameters

    def work(self, hold: JobHold) -> Mapping[str, Any]:
        """Do a job from its last step to its end, and return its result."""
        raise NotImplementedError

    def page_content(self, job: Job, page: str | None) -> Mapping[str, Any]:
        """Return the context of `template`, for a page number."""
        return {}

    def own_page(self, job: Job) -> str:
        """Return the address of the page that is used instead of that of jobs; "" for none."""
        return ""

    def run_choices(self, job: Job) -> Mapping[str, str] | None:
        """Return choices for a metric run that uses what a job has found; None: none uses it."""
        return None

    def rows(self) -> QuerySet[Job]:
        return Job.objects.filter(kind=self.job_kind)

    def on_dataset(self, slug: str) -> QuerySet[Job]:
        """Return the jobs on a dataset, and those that use the votes of one of its studies."""
        return self.rows().filter(Q(dataset__slug=slug) | Q(study__dataset__slug=slug))

    def titled(self, row: WorkRow, user: User) -> WorkRow:
        job = Job(parameters=json.loads(row.details), error=row.error)
        about = self.in_short.format_map(defaultdict(str, job.parameters))
        return row._replace(error=error_for(job, Role.ADMIN in roles_of(user)), about=about)

    def cancel(self, work: Job, user: User | None) -> bool:
        return cancel_job(work, user)

    def resume(self, work: Job, user: User | None) -> bool:
        is_queued = self.take_up(work, user)
        if is_queued:
            send_job(work)
        return is_queued

    def take_up(self, job: Job, user: User | None) -> bool:
        """Have a job continue after what it has found; return whether anything is left to do."""
        return resume_job(job, user)

    def delete(self, work: Job, user: User | None) -> None:
        delete_job(work, user)


def kind_of(job: Job) -> JobKind:
    """Return the declaration of a job's kind."""
    kind = work_kinds()[job.kind.replace("_", "-")]
    assert isinstance(kind, JobKind)
    return kind


class JobWork(AsksModels[Job, JobHold]):
    """Jobs: each is one piece of work. A model or a choice that cannot be used makes it fail."""

    model = Job
    task_name = "evaluation.tasks.execute_job"
    doing = "does a job"
    related = ("study", "dataset", "construction")
    model_asked = Coalesce(
        KeyTextTransform("model", "construction__parameters"),
        KeyTextTransform("model", "parameters"),
    )
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

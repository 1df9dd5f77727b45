"""Jobs: long work that is no metric run. One worker at a time claims a job; another may continue.

As for chunks of runs, only the rows in the database count: a worker writes only while the job has
the worker's token, and the steps of the job are what was found so far. Nothing here sends work to a
queue.
"""

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.formats import date_format

from accounts.models import User
from accounts.services import record as record_in_audit_trail
from annotation.models import Study
from evaluation.models import Job, JobStep
from generation.backends.problems import storable
from generation.call_plan import CallPlan
from generation.models import Construction, Dataset
from work.claims import Hold
from work.kinds import WorkRefused
from work.pieces import cancel, resume

ENDED = (Job.State.CANCELLED, Job.State.FAILED, Job.State.DONE)


class JobError(WorkRefused):
    """A refused job, or a refused change to one.

    The message gives the reason, and `field` is the choice that is wrong, if it is one.
    """

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


# --- asked for, cancelled, taken up again, deleted ------------------------------------------


@transaction.atomic
def request_job(
    kind: Job.Kind,
    name: str,
    parameters: Mapping[str, Any],
    *,
    n_total: int,
    data: Mapping[str, Any] = MappingProxyType({}),
    study: Study | None = None,
    dataset: Dataset | None = None,
    construction: Construction | None = None,
    user: User | None = None,
) -> Job:
    """Return the job of that name. If it exists with the same choices, it is resumed.

    Args:
        kind: the kind of the job.
        name: the name of the job.
        parameters: every choice that changes the result.
        n_total: the highest number of steps that it may have.
        data: the input data, as read now. They are stored, so that later votes change nothing.
        study: the study whose votes it uses.
        dataset: the dataset whose graph it adds to.
        construction: the construction that it carries out.
        user: the user who asks for it.

    Raises:
        JobError: a job of that name has other choices, or is done and used other data.
    """
    try:
        with transaction.atomic():
            job = Job.objects.create(
                kind=kind,
                name=name,
                study=study,
                dataset=dataset,
                construction=construction,
                parameters={**parameters, "data": dict(data)},
                n_total=n_total,
                requested_by=user,
            )
    except IntegrityError:
        return _same_again(kind, name, parameters, data, user)
    _record(user, "job.requested", job)
    return job


def _same_again(
    kind: Job.Kind,
    name: str,
    parameters: Mapping[str, Any],
    data: Mapping[str, Any],
    user: User | None,
) -> Job:
    job = Job.objects.get(name=name)
    if job.kind != kind or job.parameters != {**parameters, "data": job.parameters["data"]}:
        raise JobError(
            f"A job with other choices is named {name}. Choose another name, or delete that job.",
            "name",
        )
    has_changed = job.parameters["data"] != json.loads(json.dumps(dict(data)))
    if job.state == Job.State.DONE and has_changed and job.finished_at:
        ended = date_format(timezone.localtime(job.finished_at), "j F Y, H:i")
        raise JobError(
            f"This {job.get_kind_display().lower()} ended on {ended} UTC, and votes or scores have "
            "changed since. Delete it to start again with the current ones.",
            "name",
        )
    resume_job(job, user)
    job.refresh_from_db()
    return job


def left_to_ask(request: Callable[[], Job], asking: Callable[[], CallPlan]) -> CallPlan:
    """Return what a job would ask, or nothing if it is done. Nothing is stored.

    The request is tried and undone, so that a mistake is said before a person looks at a plan.

    Args:
        request: the function that requests the job.
        asking: the function that returns what it asks.

    Raises:
        JobError: the job is refused.
    """
    with transaction.atomic():
        is_done = request().state in ENDED
        transaction.set_rollback(True)
    return CallPlan() if is_done else asking()


@transaction.atomic
def cancel_job(job: Job, user: User | None) -> bool:
    """Stop a job that is waiting or running; return whether it was.

    Its worker stops when it next checks. Its steps are kept.
    """
    if not cancel(job):
        return False
    _record(user, "job.cancelled", job)
    return True


@transaction.atomic
def resume_job(job: Job, user: User | None) -> bool:
    """Continue a job that was cancelled or failed after its last step; return whether it was."""
    if not resume(job):
        return False
    _record(user, "job.resumed", job)
    return True


@transaction.atomic
def repeat_job(job: Job, n_total: int, user: User | None) -> bool:
    """Continue a job that was done, because there is more to do now; return whether it was done."""
    if not resume(job, [Job.State.DONE], n_total=n_total):
        return False
    _record(user, "job.resumed", job)
    return True


@transaction.atomic
def delete_job(job: Job, user: User | None) -> None:
    """Delete a job that has ended, with its steps.

    Raises:
        JobError: the job is waiting or running.
    """
    found = Job.objects.select_for_update().get(pk=job.pk)
    if found.state not in ENDED:
        raise JobError(f"{found.name} is going on. Cancel it first.")
    _record(user, "job.deleted", found)
    found.delete()


# --- a claimed job --------------------------------------------------------------------------


class JobHold(Hold[Job]):
    """A claimed job that is held by one worker."""

    @property
    def job(self) -> Job:
        return self.claim

    def next_step(self) -> None:
        """Renew the lease before a step.

        Raises:
            WorkStopped: for the reasons of `keep`, or because the turn is over.
        """
        self.end_turn()
        self.renew()

    @transaction.atomic
    def store(self, number: int, content: Mapping[str, Any]) -> None:
        """Store a step. A step that already has this number is not changed.

        Raises:
            WorkStopped: for the reasons of `keep`; nothing is stored.
        """
        self.advance(n_done=number)
        JobStep.objects.get_or_create(
            job=self.job, number=number, defaults={"content": dict(content)}
        )

    def note(self, **result: Any) -> None:
        """Store a part of the result that is known before the end.

        Raises:
            WorkStopped: for the reasons of `keep`; nothing is stored.
        """
        self.job.result = {**self.job.result, **result}
        self.renew(result=self.job.result)

    def finish(self, result: Mapping[str, Any]) -> None:
        """Mark the job as done, and store its result."""
        self.end(
            Job.State.DONE,
            finished_at=timezone.now(),
            error="",
            n_total=F("n_done"),
            result={**self.job.result, **result},
        )

    def fail(self, error: str) -> None:
        """Store why a job failed.

        Locations of models are replaced by the models' names, because only admins may see them.
        """
        parameters = self.job.parameters
        for location, name in (("location", "model"), ("base_location", "base")):
            if parameters.get(location):
                error = error.replace(parameters[location], parameters.get(name) or "the model")
        self.end(Job.State.FAILED, finished_at=timezone.now(), error=storable(error))


def _record(user: User | None, action: str, job: Job) -> None:
    record_in_audit_trail(user, action, job.name, job=job.pk, kind=job.kind)

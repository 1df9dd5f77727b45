"""Jobs: long work that is no metric run. One worker at a time claims a job; another may continue.

As for chunks of runs, only the rows in the database count: a worker writes only while the job has
the worker's token, and the steps of the job are what was found so far. Nothing here sends work to a
queue.
"""

import json
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from types import MappingProxyType
from typing import Any

from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.formats import date_format

from accounts.models import User
from accounts.services import record as record_in_audit_trail
from annotation.models import Study
from evaluation.models import Job, JobStep, RunChunk
from generation.backends.problems import storable
from generation.backends.registry import is_server
from generation.model_specs import BackendError
from generation.models import Construction, Dataset, GridChunk
from work import claims
from work.claims import (
    MOST_CLAIMS,
    TURN_SECONDS,
    WorkStopped,
    free,
    lost_if_sent_before,
    silent,
    take,
    unexpected,
    unheard,
)

logger = logging.getLogger(__name__)

GOING_ON = (Job.State.QUEUED, Job.State.RUNNING)
ENDED = (Job.State.CANCELLED, Job.State.FAILED, Job.State.DONE)


class JobError(Exception):
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


def note_sent(job: Job) -> int | None:
    """Record that a message about a waiting job is sent.

    Returns:
        The id of the job; None if it does not wait, so that no message is needed.
    """
    waiting = Job.objects.filter(pk=job.pk, state=Job.State.QUEUED)
    return job.pk if waiting.update(sent_at=timezone.now()) else None


@transaction.atomic
def cancel_job(job: Job, user: User | None) -> bool:
    """Stop a job that is waiting or running; return whether it was.

    Its worker stops when it next checks. Its steps are kept.
    """
    going_on = Job.objects.filter(pk=job.pk).exclude(state__in=ENDED)
    if not going_on.update(
        state=Job.State.CANCELLED, token="", lease_until=None, finished_at=timezone.now()
    ):
        return False
    _record(user, "job.cancelled", job)
    return True


@transaction.atomic
def resume_job(job: Job, user: User | None) -> bool:
    """Continue a job that was cancelled or failed after its last step; return whether it was."""
    stopped = Job.objects.filter(pk=job.pk, state__in=(Job.State.CANCELLED, Job.State.FAILED))
    if not stopped.update(
        state=Job.State.QUEUED, error="", attempts=0, sent_at=None, finished_at=None
    ):
        return False
    _record(user, "job.resumed", job)
    return True


@transaction.atomic
def repeat_job(job: Job, n_total: int, user: User | None) -> bool:
    """Continue a job that was done, because there is more to do now; return whether it was done."""
    done = Job.objects.filter(pk=job.pk, state=Job.State.DONE)
    if not done.update(
        state=Job.State.QUEUED, attempts=0, n_total=n_total, sent_at=None, finished_at=None
    ):
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


# --- who has it -----------------------------------------------------------------------------


def claim_job(job_id: int) -> Job | None:
    """Claim a job that is waiting, or whose lease has run out; return None if that is not possible.

    One database statement decides which worker gets it.
    """
    now = timezone.now()
    there = free(Job.objects.filter(pk=job_id), now)
    token = take(there, now)
    taken = Job.objects.filter(pk=job_id, token=token)
    return taken.select_related("study", "dataset", "construction").first()


def lost_jobs() -> list[int]:
    """Return the ids of the jobs to send (again), and record that they were sent.

    They are the jobs whose lease has run out, those that were given back, and those that have
    waited so long that their messages must have been lost.
    """
    now = timezone.now()
    lost = [
        pk
        for jobs in (
            silent(Job.objects.all(), now),
            unheard(Job.objects.all(), message_lost_before(now)),
        )
        for pk in jobs.order_by("pk").values_list("pk", flat=True)
    ]
    if lost:
        Job.objects.filter(pk__in=lost).update(sent_at=now)
    return lost


def message_lost_before(now: datetime) -> datetime:
    """Return the time before which a message must have been sent to count as lost.

    Chunks of runs, jobs and chunks of grids share a queue.
    """
    return lost_if_sent_before(now, (RunChunk, Job, GridChunk))


def asks_server(job: Job) -> bool:
    """Return whether a job mostly waits for a model's server or a SPARQL endpoint."""
    return "endpoint" in job.parameters or is_server(job.parameters.get("backend", ""))


class JobHold(claims.Hold):
    """A claimed job that is held by one worker."""

    def __init__(self, claim: Job) -> None:
        super().__init__(claim)
        self.job = claim
        self._turn_ends = time.monotonic() + TURN_SECONDS

    def next_step(self) -> None:
        """Renew the lease before a step. After a long turn the worker stops, so others get a turn.

        Raises:
            WorkStopped: for the reasons of `keep`, or because the turn is over.
        """
        if time.monotonic() > self._turn_ends:
            raise WorkStopped
        self.renew()

    @transaction.atomic
    def store(self, number: int, content: Mapping[str, Any]) -> None:
        """Store a step. A step that already has this number is not changed.

        Raises:
            WorkStopped: for the reasons of `keep`; nothing is stored.
        """
        self.renew(n_done=number, attempts=1)
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
            attempts=0,
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


# --- what is done with it -------------------------------------------------------------------


def carry_out(claim: Job, work: Callable[[JobHold], Mapping[str, Any]]) -> None:
    """Do a claimed job from its last step to its end.

    The work stops when the job was cancelled or another worker has it, and between two steps after
    a long turn. A model or choice that cannot be used makes the job fail, with the reason. A worker
    that is told to end gives the job back.
    """
    with JobHold(claim) as hold:
        try:
            if claim.attempts > MOST_CLAIMS:
                raise JobError(f"The worker stopped {MOST_CLAIMS} times without an error message.")
            hold.finish(work(hold))
        except WorkStopped:
            logger.info("job %s was stopped, is another's, or takes long", claim.pk)
            hold.release(attempts=0)
        except (BackendError, JobError) as error:
            hold.fail(str(error))
        except DatabaseError:
            with suppress(DatabaseError):
                hold.release()
            raise
        except Exception as error:
            logger.exception("job %s cannot be done", claim.pk)
            hold.fail(unexpected(error))
        except BaseException:
            hold.release()
            raise


def _record(user: User | None, action: str, job: Job) -> None:
    record_in_audit_trail(user, action, job.name, job=job.pk, kind=job.kind)

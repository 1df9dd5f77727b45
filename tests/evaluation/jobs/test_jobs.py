"""Jobs are done once, also when several workers try, and are resumed after their last step."""

from datetime import timedelta

import pytest
from django.db import DatabaseError
from django.utils import timezone

from evaluation.jobs.kinds import JOBS, kind_of
from evaluation.jobs.services import (
    JobError,
    JobHold,
    cancel_job,
    delete_job,
    request_job,
    resume_job,
)
from evaluation.models import Job, RunChunk
from evaluation.runs.services.chunks import RUN_CHUNKS
from generation.model_specs import BackendError
from tests.annotation.crowd import at_once
from tests.evaluation.metric_runs import mill, requested
from tests.evaluation.told import expire as expire_chunk
from tests.makers import audit_actions

pytestmark = pytest.mark.both

STATE = Job.State
KIND = Job.Kind.PROMPT_SEARCH


def asked_for(name="better", **parameters) -> Job:
    return request_job(KIND, name, parameters, n_total=3)


def three_steps(hold):
    """Work as a job does: what is there already is not done again."""
    done = set(hold.job.steps.values_list("number", flat=True))
    for number in {1, 2, 3} - done:
        hold.next_step()
        hold.store(number, {"found": number})
    return {"best": 3}


def do(claim, how):
    """Do a claimed job as a worker does, but with other work than that of its kind."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(kind_of(claim), "work", how)
        JOBS.do(claim)


def work(job, how=three_steps):
    claim = JOBS.claim(job.pk)
    assert claim is not None
    do(claim, how)
    job.refresh_from_db()
    return job


def steps(job):
    return [step.content["found"] for step in job.steps.all()]


def expire(job) -> None:
    past = timezone.now() - timedelta(seconds=1)
    Job.objects.filter(pk=job.pk).update(lease_until=past)


def until(n_steps, then):
    """Return work that, after so many steps, does something instead of going on."""

    def some(hold):
        first = hold.job.steps.count() + 1
        for number in range(first, n_steps + 1):
            hold.store(number, {"found": number})
        then(hold)
        hold.next_step()
        return three_steps(hold)

    return some


def raising(error):
    def raise_it(hold):
        raise error

    return raise_it


def test_a_job_keeps_its_steps_and_its_result():
    job = work(asked_for())

    assert (job.state, job.result, steps(job)) == (STATE.DONE, {"best": 3}, [1, 2, 3])
    assert (job.n_done, job.n_total, job.token, job.lease_until) == (3, 3, "", None)
    assert job.finished_at


@pytest.mark.both(transaction=True)
def test_of_many_workers_at_once_one_gets_the_job():
    job = asked_for()

    claims = at_once(*[lambda: JOBS.claim(job.pk)] * 8)

    assert len([claim for claim in claims if claim]) == 1


def test_a_job_that_ended_or_is_gone_is_not_claimed():
    done, cancelled = work(asked_for("done")), asked_for("cancelled")
    cancel_job(cancelled, None)

    assert JOBS.claim(done.pk) is None
    assert JOBS.claim(cancelled.pk) is None
    assert JOBS.claim(0) is None


def test_who_takes_over_from_a_dead_worker_goes_on_behind_the_last_step():
    job = asked_for()
    dead = JOBS.claim(job.pk)
    assert dead is not None
    with pytest.raises(SystemError):
        until(2, raising(SystemError()))(JobHold(dead))
    expire(job)

    seen = []

    def go_on(hold):
        seen.append(hold.job.steps.count())
        return three_steps(hold)

    work(job, go_on)

    assert seen == [2]
    assert (job.state, steps(job)) == (STATE.DONE, [1, 2, 3])


def test_who_lost_its_job_stores_nothing():
    job = asked_for()

    def taken_over(hold):
        expire(job)
        other = JOBS.claim(job.pk)
        assert other is not None
        do(other, three_steps)
        hold.store(1, {"found": "mine"})
        raise AssertionError("stored what is another's")

    work(job, taken_over)

    assert (job.state, steps(job)) == (STATE.DONE, [1, 2, 3])


def test_a_step_that_is_there_stays_as_it_is():
    job = asked_for()

    def twice(hold):
        hold.store(1, {"found": "first"})
        hold.store(1, {"found": "second"})
        return {}

    assert steps(work(job, twice)) == ["first"]


def test_a_cancelled_job_stops_at_its_next_step_and_goes_on_from_there():
    job = asked_for()
    work(job, until(1, lambda hold: cancel_job(job, None)))
    assert (job.state, steps(job)) == (STATE.CANCELLED, [1])

    assert resume_job(job, None)
    work(job)

    assert (job.state, steps(job)) == (STATE.DONE, [1, 2, 3])
    assert not resume_job(job, None)
    assert not cancel_job(job, None)
    assert [action for action, _ in audit_actions()] == [
        "job.requested",
        "job.cancelled",
        "job.resumed",
    ]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (BackendError("no server at /srv/secret/model"), "no server at tiny"),
        (JobError("nothing to do"), "nothing to do"),
        (
            ValueError("nonsense in /home/me/x"),
            "The work stopped at an error that Attest did not expect. The worker's log has more: "
            "ValueError: nonsense in …/x",
        ),
    ],
)
def test_what_cannot_be_done_fails_with_its_reason_and_without_paths(error, said):
    job = work(asked_for(location="/srv/secret/model", model="tiny"), raising(error))

    assert (job.state, job.error) == (STATE.FAILED, said)


@pytest.mark.parametrize("error", [DatabaseError("gone"), KeyboardInterrupt()])
def test_a_worker_that_is_interrupted_gives_its_job_back(error):
    job = asked_for()

    with pytest.raises(type(error)):
        work(job, raising(error))

    job.refresh_from_db()
    assert (job.state, job.token, job.sent_at) == (STATE.QUEUED, "", None)


def test_a_job_that_ends_every_worker_fails_in_the_end():
    job = asked_for()
    for _ in range(10):
        assert JOBS.claim(job.pk)
        expire(job)

    work(job)

    assert job.state == STATE.FAILED
    assert "stopped 10 times" in job.error


def test_the_same_again_is_taken_up_and_another_of_that_name_is_refused():
    job = asked_for(seed=1)
    cancel_job(job, None)

    again = asked_for(seed=1)
    assert (again.pk, again.state) == (job.pk, STATE.QUEUED)
    with pytest.raises(JobError, match="A job with other choices is named better"):
        asked_for(seed=2)
    assert asked_for("other", seed=2).pk != job.pk


def test_only_an_ended_job_is_deleted_and_its_steps_go_with_it():
    job = asked_for()
    with pytest.raises(JobError, match="Cancel it first"):
        delete_job(job, None)

    delete_job(work(job), None)

    assert not Job.objects.exists()


def test_jobs_whose_message_or_worker_was_lost_are_sent_again(settings):
    settings.CHUNK_LEASE_SECONDS = 60
    new, sent, at_work, silent = (asked_for(name) for name in ("a", "b", "c", "d"))
    assert JOBS.send_waiting(pk=sent.pk) == [sent.pk]
    for job in (at_work, silent):
        assert JOBS.send_waiting(pk=job.pk) == [job.pk]
        JOBS.claim(job.pk)
        assert JOBS.send_waiting(pk=job.pk) == []
    expire(silent)
    Job.objects.filter(pk=silent.pk).update(sent_at=timezone.now() - timedelta(minutes=5))

    assert JOBS.resend() == [silent.pk, new.pk]
    assert JOBS.resend() == []


def test_jobs_and_chunks_wait_behind_each_other(tmp_path, settings):
    settings.CHUNK_LEASE_SECONDS = 60
    some_time_ago = timezone.now() - timedelta(minutes=5)  # 5 of 10 minutes, which are ten leases
    job, run = asked_for(), requested(mill(tmp_path, 3))
    Job.objects.update(sent_at=some_time_ago)
    run.chunks.update(sent_at=some_time_ago)

    claim = RUN_CHUNKS.claim(run.chunks.get().pk)
    assert claim is not None
    assert JOBS.resend() == []
    expire_chunk(claim)
    assert JOBS.resend() == [job.pk]

    run.chunks.update(state=RunChunk.State.QUEUED, lease_until=None, sent_at=some_time_ago)
    assert JOBS.claim(job.pk) is not None
    assert RUN_CHUNKS.resend() == []
    expire(job)
    assert RUN_CHUNKS.resend() == [claim.pk]

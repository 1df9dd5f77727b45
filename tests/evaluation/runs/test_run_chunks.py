"""Chunks of runs are scored once, also when several workers try, and sent again when lost."""

import time
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from evaluation.backends.base import Entailment
from evaluation.measures.entailment import Pair
from evaluation.models import AutoScore, MetricRun, RunChunk
from evaluation.runs.services.chunks import RUN_CHUNKS
from evaluation.runs.services.runs import cancel_run, resume_run
from tests.evaluation.metric_runs import mill, requested, work
from tests.evaluation.told import claimed, expire, problems_of, rows_of
from work import claims
from work.claims import Hold

pytestmark = pytest.mark.both

State, ChunkState = MetricRun.State, RunChunk.State


# --- who has a chunk ------------------------------------------------------------------------


def test_a_chunk_is_claimed_once(tmp_path):
    run = requested(mill(tmp_path, 3))
    (chunk,) = run.chunks.all()

    assert RUN_CHUNKS.claim(chunk.pk) is not None
    assert RUN_CHUNKS.claim(chunk.pk) is None


def test_a_chunk_that_is_done_or_cancelled_or_gone_is_not_claimed(tmp_path):
    run = work(requested(mill(tmp_path, 12)), 1)
    done, queued, _ = run.chunks.all()
    cancel_run(run, None)

    assert RUN_CHUNKS.claim(done.pk) is None
    assert RUN_CHUNKS.claim(queued.pk) is None
    assert RUN_CHUNKS.claim(0) is None


def test_a_chunk_whose_worker_went_silent_goes_to_the_next_who_scores_what_is_left(tmp_path, told):
    backend = told()
    run = requested(mill(tmp_path, 12), backend="told")
    silent = claimed(run)
    first = silent.targets[0]
    AutoScore.objects.create(run=run, target_id=first, score=0.1)  # stored before it died
    expire(silent)

    again = claimed(run)
    assert (again.pk, again.attempts) == (silent.pk, 2)
    assert again.token != silent.token
    RUN_CHUNKS.do(again)

    assert len(backend.asked) == 4
    assert AutoScore.objects.get(target=first).score == 0.1


def test_who_lost_its_chunk_stores_nothing(tmp_path, told):
    run = requested(mill(tmp_path, 3), backend="told")
    slow = claimed(run)

    def taken_over(pair: Pair) -> Entailment:
        told(0.7)
        expire(slow)
        RUN_CHUNKS.do(claimed(run))
        backend.answer = lambda pair: Entailment(0.1)
        return Entailment(0.1)

    backend = told(taken_over)
    RUN_CHUNKS.do(slow)

    run.refresh_from_db()
    assert run.state == State.DONE
    assert [row.score for row in rows_of(run).values()] == [0.7] * 3


def test_a_worker_that_is_interrupted_gives_its_chunk_back(tmp_path, told):
    def interrupt(pair: Pair) -> Entailment:
        raise KeyboardInterrupt

    told(interrupt)
    run = requested(mill(tmp_path, 3), backend="told")

    with pytest.raises(KeyboardInterrupt):
        RUN_CHUNKS.do(claimed(run))

    assert run.chunks.get().state == ChunkState.QUEUED


def test_a_slow_model_keeps_its_lease_while_it_works(tmp_path, told, settings):
    settings.CHUNK_LEASE_SECONDS = 1
    run = requested(mill(tmp_path, 5), backend="told", window=1)
    claim = claimed(run)
    others = []

    def slow(pair: Pair) -> Entailment:
        time.sleep(0.2)
        others.append(RUN_CHUNKS.claim(claim.pk))
        return Entailment(0.9)

    told(slow)
    RUN_CHUNKS.do(claim)  # 10 pairs in one batch: 2 s

    assert others == [None] * 10
    assert len(rows_of(run)) == 5


@pytest.mark.both(transaction=True)
def test_one_call_that_takes_longer_than_the_lease_keeps_the_chunk(tmp_path, told, settings):
    settings.CHUNK_LEASE_SECONDS = 1
    run = requested(mill(tmp_path, 1), backend="told")
    claim = claimed(run)
    others = []

    def hang(pair: Pair) -> Entailment:
        time.sleep(2.5)  # like a server that does not answer
        others.append(RUN_CHUNKS.claim(claim.pk))
        return Entailment(0.9)

    told(hang)
    RUN_CHUNKS.do(claim)

    assert others == [None]
    assert len(rows_of(run)) == 1


def test_a_call_that_never_ends_gives_its_chunk_up(tmp_path, told, settings, monkeypatch):
    settings.CHUNK_LEASE_SECONDS = 1
    monkeypatch.setattr(claims, "LONGEST_CALL_SECONDS", 0.0)
    claim = claimed(requested(mill(tmp_path, 1), backend="told"))

    with Hold(claim):
        time.sleep(1.2)

    assert RUN_CHUNKS.claim(claim.pk)


@pytest.mark.both(transaction=True)
def test_no_transaction_is_open_while_the_model_is_asked(tmp_path, told):
    seen = []

    def look(pair: Pair) -> Entailment:
        seen.append(connection.in_atomic_block)
        return Entailment(0.9)

    told(look)
    work(requested(mill(tmp_path, 12), backend="told"))

    assert seen
    assert not any(seen)


def test_a_response_that_ends_every_worker_fails_alone_in_the_end(tmp_path, told):
    told()
    run = requested(mill(tmp_path, 3), backend="told")
    for _ in range(10):
        expire(claimed(run))

    RUN_CHUNKS.do(claimed(run))

    problem = "its worker stopped 10 times without an error message"
    assert problems_of(run) == {"r0": problem}
    assert [rows_of(run)[key].score for key in ("r1", "r2")] == [0.9, 0.9]


def test_progress_counts_as_a_sign_that_a_chunk_can_be_scored(tmp_path, told):
    told()
    dataset = mill(tmp_path, 120)  # chunks of 6
    run = requested(dataset, backend="told")
    RunChunk.objects.update(attempts=8)

    def end(pair: Pair) -> Entailment:
        if pair.hypothesis.endswith("1975."):
            raise KeyboardInterrupt
        return Entailment(0.9)

    told(end)
    with pytest.raises(KeyboardInterrupt):
        RUN_CHUNKS.do(claimed(run))

    first = run.chunks.get(number=1)
    assert (len(first.targets), first.attempts) == (1, 1)


# --- chunks that are lost -------------------------------------------------------------------


def sent(run: MetricRun, seconds_ago: float) -> None:
    run.chunks.update(sent_at=timezone.now() - timedelta(seconds=seconds_ago))


def test_a_silent_worker_s_chunk_is_sent_again_once(tmp_path):
    run = requested(mill(tmp_path))
    sent(run, 30)
    claim = claimed(run)
    expire(claim)
    other = claimed(run)  # the same chunk: it is free again
    expire(other)
    busy = RUN_CHUNKS.claim(run.chunks.get(number=2).pk)
    assert busy

    assert RUN_CHUNKS.resend() == [claim.pk]
    assert RUN_CHUNKS.resend() == []


def test_waiting_chunks_are_left_alone_while_somebody_works(tmp_path):
    run = requested(mill(tmp_path))
    sent(run, 500)  # 500 of 600 seconds, which are ten leases
    claim = claimed(run)

    assert RUN_CHUNKS.resend() == []

    RUN_CHUNKS.do(claim)
    assert len(RUN_CHUNKS.resend()) == 2
    assert RUN_CHUNKS.resend() == []


def test_a_message_that_waits_for_ten_leases_was_lost_whoever_is_at_work(tmp_path):
    dataset = mill(tmp_path)
    run, other = requested(dataset), requested(dataset, window=1)
    sent(run, 601)
    sent(other, 0)
    claimed(other)

    assert RUN_CHUNKS.resend() == list(run.chunks.values_list("pk", flat=True))


def test_a_chunk_that_was_given_back_is_sent_whoever_is_at_work(tmp_path):
    dataset = mill(tmp_path)
    run, other = requested(dataset), requested(dataset, window=1)
    sent(run, 0)
    sent(other, 0)
    claim = claimed(run)
    cancel_run(run, None)
    RUN_CHUNKS.do(claim)  # gives it back
    resume_run(run, None)
    claimed(other)

    assert RUN_CHUNKS.resend() == [claim.pk]


def test_the_next_twenty_chunks_of_a_run_are_sent_again_so_that_messages_do_not_pile_up(tmp_path):
    run = requested(mill(tmp_path, 1030))
    assert run.chunks.count() == 21
    sent(run, 5)
    assert RUN_CHUNKS.resend() == []

    sent(run, 11)

    assert RUN_CHUNKS.resend() == list(run.chunks.values_list("pk", flat=True)[:20])
    assert RUN_CHUNKS.resend() == []
    run.chunks.filter(number=1).update(state=ChunkState.DONE)
    assert RUN_CHUNKS.resend() == [run.chunks.get(number=21).pk]


def test_what_was_never_sent_is_sent(tmp_path):
    run = requested(mill(tmp_path))

    assert RUN_CHUNKS.resend() == list(run.chunks.values_list("pk", flat=True))


def test_a_run_that_does_not_go_on_has_nothing_to_send(tmp_path):
    run = requested(mill(tmp_path))
    cancel_run(run, None)

    assert RUN_CHUNKS.resend() == []
    assert RUN_CHUNKS.send_waiting(run=run) == []


def test_what_was_just_sent_is_not_lost(tmp_path):
    run = requested(mill(tmp_path))

    assert RUN_CHUNKS.send_waiting(run=run) == list(run.chunks.values_list("pk", flat=True))
    assert RUN_CHUNKS.resend() == []


def test_a_run_whose_last_worker_died_before_it_said_so_is_done(tmp_path):
    run = requested(mill(tmp_path))
    run.chunks.update(state=ChunkState.DONE, targets=[])

    RUN_CHUNKS.end_finished()

    run.refresh_from_db()
    assert run.state == State.DONE
    assert run.finished_at

"""A model's limit of calls at once holds for all work and all workers together."""

import pytest
from django.utils import timezone

from evaluation.jobs.kinds import JOBS, kind_of
from evaluation.jobs.services import request_job
from evaluation.models import Job, RunChunk
from evaluation.runs.services.chunks import RUN_CHUNKS
from generation.models import Checkpoint, GridChunk
from generation.services.grid_chunks import GRID_CHUNKS
from generation.services.server_places import n_free_places
from tests.annotation.crowd import at_once
from tests.evaluation.metric_runs import mill, requested
from tests.evaluation.told import expire
from tests.generation.question_makers import dataset_of, grid_of, started

pytestmark = pytest.mark.both

ADDRESS = "https://models.example.org/v1"


def listed(calls_at_once: int, name: str = "mini") -> Checkpoint:
    return Checkpoint.objects.create(
        name=name,
        backend="openai",
        location=ADDRESS,
        served_name="m",
        calls_at_once=calls_at_once,
    )


def search(name: str, model: str = "mini") -> Job:
    """Return a job that asks a model behind a server."""
    return request_job(
        Job.Kind.PROMPT_SEARCH, name, {"backend": "openai", "model": model}, n_total=1
    )


def judged(folder, model: str = "mini") -> RunChunk:
    """Return the chunk of a run whose judge is behind a server."""
    run = requested(
        mill(folder, 3),
        backend="openai",
        model_name=model,
        model_location=ADDRESS,
        served_name="m",
    )
    return run.chunks.get()


def asked(folder, model: str = "mini") -> GridChunk:
    """Return the chunk of a grid that asks a model behind a server."""
    return started(dataset_of(folder, 3), grid_of(model=model)).chunks.get()


# A worker makes four calls of a piece at once, or as many as the limit allows. So a limit of 8
# allows 8 / 4 = 2 pieces, one of 11 also 2, one of 3 one piece that makes 3 calls at once.
@pytest.mark.parametrize(("limit", "pieces"), [(1, 1), (3, 1), (4, 1), (7, 1), (8, 2), (20, 5)])
def test_a_limit_of_calls_allows_a_number_of_pieces(limit, pieces):
    listed(limit)
    jobs = [search(f"job-{n}") for n in range(7)]

    claimed = [job.pk for job in jobs if JOBS.claim(job.pk)]

    assert claimed == [job.pk for job in jobs[:pieces]]


def test_a_model_that_is_not_listed_has_the_usual_limit():
    claimed = [JOBS.claim(search(f"job-{n}").pk) for n in range(3)]

    assert [claim is not None for claim in claimed] == [True, True, False]


def test_pieces_of_all_kinds_are_counted_together_and_each_model_alone(tmp_path):
    listed(8)
    listed(4, "other")
    chunk, cell = judged(tmp_path / "run"), asked(tmp_path / "grid")
    job, other_job = search("job"), search("another", "other")

    assert RUN_CHUNKS.claim(chunk.pk) is not None
    assert GRID_CHUNKS.claim(cell.pk) is not None
    assert JOBS.claim(job.pk) is None
    assert JOBS.claim(other_job.pk) is not None

    assert (n_free_places("mini"), n_free_places("other")) == (0, 0)


def test_a_piece_whose_worker_went_silent_leaves_its_place(tmp_path):
    listed(4)
    chunk, job = judged(tmp_path), search("job")
    RUN_CHUNKS.claim(chunk.pk)
    assert JOBS.claim(job.pk) is None

    expire(chunk)

    assert JOBS.claim(job.pk) is not None
    assert RUN_CHUNKS.claim(chunk.pk) is None


def test_work_without_a_server_has_no_limit():
    local = Checkpoint.objects.create(name="here", backend="language-model", location="/models/x")
    for n in range(3):
        job = request_job(
            Job.Kind.PROMPT_SEARCH,
            f"job-{n}",
            {"backend": local.backend, "model": local.name},
            n_total=1,
        )
        assert JOBS.claim(job.pk) is not None
        pull = request_job(Job.Kind.GRAPH_PULL, f"pull-{n}", {"endpoint": ADDRESS}, n_total=1)
        assert JOBS.claim(pull.pk) is not None


def test_at_the_end_of_a_piece_other_work_that_waits_for_the_model_is_sent(tmp_path, monkeypatch):
    """A refused message is used up, so the worker that leaves a place sends one again."""
    listed(4)
    chunk, first, second = judged(tmp_path), search("first"), search("second")
    elsewhere = search("elsewhere", "other")
    RunChunk.objects.update(sent_at=None)
    monkeypatch.setattr(kind_of(first), "work", lambda hold: {})

    JOBS.claim_and_do(first.pk)

    for piece, is_sent in ((chunk, True), (second, True), (elsewhere, False)):
        piece.refresh_from_db()
        assert (piece.sent_at is not None) is is_sent


def test_a_piece_that_leaves_no_place_sends_none(monkeypatch):
    """The limit was lowered meanwhile, so the next piece waits until another has ended."""
    model = listed(8)
    first, second, third = search("first"), search("second"), search("third")
    held = JOBS.claim(first.pk)
    assert held is not None
    assert JOBS.claim(second.pk) is not None
    Checkpoint.objects.filter(pk=model.pk).update(calls_at_once=4)
    monkeypatch.setattr(kind_of(first), "work", lambda hold: {})

    JOBS.do(held)

    third.refresh_from_db()
    assert third.sent_at is None
    Job.objects.filter(pk=second.pk).update(lease_until=timezone.now())
    JOBS.send_next(held)
    third.refresh_from_db()
    assert third.sent_at is not None


@pytest.mark.both(transaction=True)
def test_of_many_that_claim_at_the_same_moment_only_as_many_as_allowed_get_a_piece():
    listed(8)
    jobs = [search(f"job-{n}") for n in range(8)]

    claims = at_once(*[lambda pk=job.pk: JOBS.claim(pk) for job in jobs])

    assert sum(claim is not None for claim in claims) == 2

"""Two grids over the same setups, and answers that cannot be stored unchanged."""

from datetime import timedelta
from threading import Thread

import pytest
from django.db import connection, transaction
from django.utils import timezone

from generation.backends.base import Completion
from generation.backends.registry import LANGUAGE_MODELS, LanguageModelKind
from generation.grids.progress import grids_progress
from generation.models import Call, Checkpoint, Grid, Response, Setup
from generation.services import grids
from generation.services.calls import response_key
from generation.services.grid_chunks import GRID_CHUNKS
from generation.services.grids import (
    cancel_grid,
    delete_grid,
    request_grid,
    retry_failed,
    start_grid,
)
from generation.services.planning import PLANNINGS
from tests.generation.question_makers import ask, dataset_of, grid_of, started
from tests.makers import response_row
from work import claims

pytestmark = pytest.mark.both


@pytest.fixture
def mills(tmp_path):
    """Three examples with a golden passage each."""
    return dataset_of(tmp_path / "mills", 3)


def counts(grid):
    """Return how many calls a grid has, how many are answered, and how many failed."""
    [progress] = grids_progress(Grid.objects.filter(pk=grid.pk))
    return progress.n_calls, progress.n_done, progress.n_failed


def test_what_failed_in_one_grid_stays_there_until_another_has_the_answer(mills, noting):
    noting.on_call = lambda n: "too long" if n == 2 else ""
    first = ask(started(mills, grid_of("first")))

    second = started(mills, grid_of("second"))
    assert counts(first) == (3, 2, 1)  # calls, answered, failed

    ask(second)
    assert (counts(first), counts(second)) == ((2, 2, 0), (1, 1, 0))
    assert len(noting.asked) == 4
    assert retry_failed(first, None) == 0


def test_a_grid_that_is_deleted_takes_no_failed_call_of_another_with_it(mills, noting):
    noting.on_call = lambda n: "too long" if n == 2 else ""
    first = ask(started(mills, grid_of("first")))
    second = started(mills, grid_of("second"))

    cancel_grid(second, None)
    delete_grid(second, None)

    assert counts(first) == (3, 2, 1)
    assert retry_failed(first, None) == 1


@pytest.mark.both(transaction=True)
def test_two_grids_that_start_at_the_same_moment_share_their_new_setup(mills, noting):
    one, other = planned(mills, "one"), planned(mills, "other")

    def start():
        start_grid(other, None)
        connection.close()

    starting = Thread(target=start)
    with transaction.atomic():  # the other cannot see its setup yet
        start_grid(one, None)
        starting.start()
        starting.join(0.5)
    starting.join()

    other.refresh_from_db()
    assert other.state == Grid.State.RUNNING
    assert Setup.objects.get() == one.cells.get().setup == other.cells.get().setup


def planned(dataset, name):
    grid = request_grid(dataset, grid_of(name), None)
    PLANNINGS.claim_and_do(grid.pk)
    return grid


@pytest.mark.parametrize(
    ("problem", "of_second"), [("", (3, 3, 0)), ("too long as well", (3, 0, 3))]
)
def test_what_failed_while_another_grid_waited_is_asked_for_that_one(
    mills, noting, problem, of_second
):
    first, second = started(mills, grid_of("first")), started(mills, grid_of("second"))
    noting.on_call = lambda n: "too long"
    ask(first)
    assert counts(first) == (3, 0, 3)

    noting.on_call = lambda n: problem
    ask(second)

    assert (counts(first), counts(second)) == ((0, 0, 0), of_second)  # a call is the last one's
    assert len(noting.asked) == 6
    assert retry_failed(second, None) == of_second[2]


def test_a_chunk_that_waits_for_another_grid_is_heard_of_again_at_once(mills, noting):
    one, other = started(mills, grid_of("one")), started(mills, grid_of("other"))
    claim = GRID_CHUNKS.claim_next(one)
    assert claim is not None
    [waiting] = GRID_CHUNKS.send_waiting(grid=other)
    assert GRID_CHUNKS.resend() == []  # its message is on its way

    assert GRID_CHUNKS.claim(waiting) is None
    assert GRID_CHUNKS.resend() == []  # no worker could do it yet
    GRID_CHUNKS.do(claim)

    assert GRID_CHUNKS.resend() == [waiting]


def test_the_first_chunk_that_can_be_taken_may_come_late(tmp_path, noting, monkeypatch):
    monkeypatch.setattr(grids, "SMALLEST_CHUNK", 1)
    monkeypatch.setattr(grids, "MOST_CHUNKS", 1000)
    dataset = dataset_of(tmp_path, claims.SENT_TOGETHER + 1)
    one = started(dataset, grid_of("one"))
    other = started(dataset, grid_of("other", prompts=["golden", "no-evidence"]))
    GRID_CHUNKS.claim_next(one)

    taken = GRID_CHUNKS.claim_next(other)

    assert taken is not None
    assert taken.setup.prompt == "no-evidence"


def test_half_a_character_is_stored_as_a_question_mark(mills, noting, monkeypatch):
    def halves(prompts, decoding):
        return (Completion("Cut \ud83d here. [eot]") for _ in prompts)

    monkeypatch.setattr(noting, "complete", halves)

    assert ask(started(mills, grid_of())).state == Grid.State.DONE
    assert set(Response.objects.values_list("text", flat=True)) == {"Cut ? here."}


def test_an_answer_that_cannot_be_stored_is_the_problem_of_its_call_alone(tmp_path, noting):
    """A response of another setup has the key that the first answer would get."""
    key = response_key("e1", "noting · T 0.0 · golden")
    dataset = dataset_of(tmp_path, 3, responses=[response_row(key, "e1", setup="people")])

    grid = ask(started(dataset, grid_of()))

    assert counts(grid) == (3, 2, 1)
    problem = Call.objects.get(response=None).problem
    assert problem.startswith("its answer cannot be stored: IntegrityError: ")


# --- a model with a limit -------------------------------------------------------------------


@pytest.fixture
def slow(noting, monkeypatch):
    """A listed model that answers at once, once a minute."""
    kind = LanguageModelKind("Slow", lambda spec: noting, is_server=True)
    monkeypatch.setitem(LANGUAGE_MODELS, "openai", kind)
    return Checkpoint.objects.create(
        name="slow", backend="openai", location="https://models.example.org", calls_per_minute=1
    )


def test_a_slow_model_does_not_keep_others_waiting(mills, noting, slow):
    choices = grid_of(models=[{"name": "slow"}, {"name": "noting"}])

    grid = ask(started(mills, choices))  # ends when no chunk can be claimed

    assert len(noting.asked) == 1 + 3
    [waiting] = grid.chunks.exclude(state="done")
    assert (waiting.setup.model, len(waiting.examples), waiting.sent_at) == ("slow", 2, None)
    slow.refresh_from_db()
    assert slow.next_call_at - timezone.now() < timedelta(minutes=1)  # one place is reserved
    assert GRID_CHUNKS.resend() == []
    assert GRID_CHUNKS.claim(waiting.pk) is None

    Checkpoint.objects.update(next_call_at=timezone.now())
    assert GRID_CHUNKS.resend() == [waiting.pk]
    ask(grid)
    assert len(noting.asked) == 1 + 3 + 1


def test_a_short_wait_is_waited_for(mills, noting, slow):
    Checkpoint.objects.update(calls_per_minute=1200)  # 60 / 1081 s apart

    assert ask(started(mills, grid_of(model="slow"))).state == Grid.State.DONE
    assert len(noting.asked) == 3

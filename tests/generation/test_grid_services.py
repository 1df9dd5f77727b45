"""Grids asked for, started, cancelled, taken up again, deleted: no call twice, none missing."""

from datetime import timedelta

import pytest
from django.utils import timezone

from generation.backends.base import Completion
from generation.grids.grid_file import GridError
from generation.grids.progress import grids_progress, setups_progress
from generation.model_specs import BackendError
from generation.models import Call, Grid, GridChunk, Planning, Response, Sample, Setup
from generation.services import grids
from generation.services.grid_chunks import GRID_CHUNKS
from generation.services.grids import (
    GridChangeError,
    cancel_grid,
    delete_grid,
    request_grid,
    resume_grid,
    retry_failed,
    start_grid,
)
from generation.services.planning import PLANNINGS
from generation.text.prompt_types import TWELVE
from tests.generation.question_makers import ask, dataset_of, grid_of, started
from tests.makers import audit_actions, response_row, row_counts, statements
from work import claims

pytestmark = pytest.mark.both
State = Grid.State
N_EXAMPLES = 40
N_ALL = 12 * 2 * N_EXAMPLES


@pytest.fixture
def mills(tmp_path):
    """Three examples with a golden passage each."""
    return dataset_of(tmp_path / "mills", 3)


# --- the whole grid -------------------------------------------------------------------------


def test_a_grid_cancelled_and_resumed_twice_makes_each_call_once(tmp_path, noting, monkeypatch):
    monkeypatch.setattr(claims, "LOOKS_EVERY_SECONDS", 0.0)
    dataset = dataset_of(tmp_path, N_EXAMPLES)
    prompts = [kind.key for kind in TWELVE]
    grid = started(dataset, grid_of(prompts=prompts, temperatures=[0.0, 0.7]))
    noting.on_call = lambda n: cancel_grid(grid, None) * "" if n in (300, 650) else ""

    for n_asked in (300, 650):  # what was in flight at the cancellation is stored
        assert ask(grid).state == State.CANCELLED
        assert len(noting.asked) == Response.objects.count() == n_asked
        resume_grid(grid, None)

    assert ask(grid).state == State.DONE
    assert len(noting.asked) == N_ALL
    answered = set(Response.objects.values_list("setup__prompt", "setup__temperature", "example"))
    assert len(answered) == Response.objects.count() == Call.objects.count() == N_ALL
    assert {prompt for prompt, _, _ in answered} == set(prompts)
    assert start_grid(grid, None) is False  # it is done


def test_what_is_stored_of_a_call(mills, noting):
    grid = ask(started(mills, grid_of(prompts=["retrieved-2"])))

    call = Call.objects.get(example__key="e1")
    prompt, decoding = noting.asked[0]
    assert decoding.stop == ("[eot]",)
    # BM25 by 'Question of e1?': e1 is in the golden passage; of the others the first by id.
    assert (
        call.prompt
        == prompt
        == ("Fact: Passage of e1.\nFact: Passage of e2.\n0 -1 0 Question of e1? [eot]\n1 0 1")
    )
    assert call.completion == " Answer. [eot] 5 4 0 More?"
    sizes = call.n_dialog_tokens, call.n_evidence_tokens, call.n_instruction_tokens, call.n_tokens
    assert sizes == (14, 12, 0, 26)
    assert (call.n_model_prompt_tokens, call.n_model_completion_tokens) == (100, 10)

    response = Response.objects.get(example__key="e1")
    assert call.response == response
    assert response.text == "Answer."
    assert response.key.startswith("e1|")
    assert [shown.passage.key for shown in response.shown.all()] == ["p-e1", "p-e2"]
    assert response.meta["tokens"] == {
        "dialog": 14,
        "evidence": 12,
        "instructions": 0,
        "total": 26,
    }
    assert response.setup.name == "noting · T 0.0 · retrieved-2"
    assert response.setup.made_with["signature"] == "noting|v:1"
    assert grid.state == State.DONE


def test_a_second_grid_finds_what_the_first_has_made(mills, noting):
    ask(started(mills, grid_of("first")))

    second = ask(started(mills, grid_of("second", temperatures=[0.0, 0.7])))

    assert second.state == State.DONE
    assert [decoding.temperature for _, decoding in noting.asked] == [0.0] * 3 + [0.7] * 3
    assert second.calls.count() == 3


def test_only_what_people_kept_of_a_sample_is_asked(mills, noting):
    sample = Sample.objects.create(dataset=mills, name="two", parameters={}, state="done")
    by_key = dict(mills.examples.values_list("key", "pk"))
    for position, key in enumerate(["e3", "e1", "e2"]):
        dropped = {"verdict": "drop", "reason": "unclear"} if key == "e1" else {}
        sample.members.create(example_id=by_key[key], position=position, **dropped)

    ask(started(mills, grid_of(sample="two")))

    assert [prompt.split("?")[0][-2:] for prompt, _ in noting.asked] == ["e3", "e2"]


def test_reasoning_is_kept_with_the_call_and_is_no_part_of_the_response(mills, noting):
    noting.complete = lambda prompts, decoding: [
        Completion("Ada.", reasoning="Who was it?", n_tokens=7) for _ in prompts
    ]
    ask(started(mills, grid_of()))

    call = Call.objects.select_related("response").filter(response__isnull=False)[0]
    assert call.response
    assert call.response.text == "Ada."
    assert call.completion == "<think>Who was it?</think>\n\nAda."
    assert call.n_model_completion_tokens == 7


# --- what fails -----------------------------------------------------------------------------


def test_a_call_that_fails_is_kept_and_made_again_when_asked_for(mills, noting):
    noting.on_call = lambda n: "too long" if n == 2 else ""
    grid = ask(started(mills, grid_of()))

    [progress] = grids_progress(Grid.objects.all())
    assert (progress.state, progress.n_done, progress.n_failed) == ("failed in part", 2, 1)
    assert Call.objects.get(response=None).problem == "too long"

    assert retry_failed(grid, None) == 1
    assert ask(grid).state == State.DONE
    assert len(noting.asked) == 4
    assert not Call.objects.filter(response=None).exists()
    assert retry_failed(grid, None) == 0


def test_an_example_without_a_prompt_is_a_call_that_failed(mills, noting):
    ask(started(mills, grid_of(budget=13)))

    assert noting.asked == []
    problems = set(Call.objects.values_list("problem", flat=True))
    assert len(problems) == 1
    assert "expected at most 13" in problems.pop()


def test_a_model_that_cannot_be_used_fails_the_grid(mills, noting):
    def refuse(n):
        raise BackendError("the key in /srv/keys/qwen is wrong")

    noting.on_call = refuse
    grid = ask(started(mills, grid_of()))

    assert (grid.state, grid.error) == (State.FAILED, "the key in …/qwen is wrong")
    noting.on_call = lambda n: ""
    assert resume_grid(grid, None)
    assert ask(grid).state == State.DONE
    assert Response.objects.count() == 3


def test_responses_of_two_revisions_do_not_mix(mills, noting):
    ask(started(mills, grid_of("first")))
    mills.responses.filter(example__key="e2").delete()
    Call.objects.filter(example__key="e2").delete()
    noting.revision = "b" * 40

    grid = ask(started(mills, grid_of("second")))

    assert grid.state == State.FAILED
    assert "were made with noting, noting|v:1, but the model here is now" in grid.error


def test_responses_of_unknown_origin_do_not_mix_with_new_ones(tmp_path, noting):
    setup = {"model": "noting", "temperature": 0.0, "prompt": "golden"}
    dataset = dataset_of(tmp_path, 2, responses=[response_row("r1", "e1", setup=setup)])

    grid = ask(started(dataset, grid_of()))

    assert grid.state == State.FAILED
    assert "its responses were imported" in grid.error
    assert noting.asked == []


def test_a_plan_that_cannot_be_made_says_why(tmp_path, noting):
    """The example that shall demonstrate has no golden answer."""
    dataset = dataset_of(tmp_path, 2)
    dataset.examples.update(golden_answer=None)
    choices = grid_of(prompts=["one-shot"], one_shot="e1")

    grid = started(dataset, choices)

    assert grid.state == State.FAILED
    assert grid.error.startswith("one_shot: found 'e1', which lacks a golden answer")


# --- several workers, lost ones -------------------------------------------------------------


def test_one_worker_has_a_chunk_until_it_goes_silent(mills, noting):
    grid = started(mills, grid_of())
    chunk = grid.chunks.get()

    first = GRID_CHUNKS.claim(chunk.pk)
    assert first is not None
    assert GRID_CHUNKS.claim(chunk.pk) is None

    an_hour_ago = timezone.now() - timedelta(hours=1)
    GridChunk.objects.update(lease_until=an_hour_ago, sent_at=an_hour_ago)
    assert GRID_CHUNKS.resend() == [chunk.pk]
    second = GRID_CHUNKS.claim(chunk.pk)
    assert second is not None
    GRID_CHUNKS.do(first)  # it wakes up: nothing is its own any more
    assert noting.asked == []
    GRID_CHUNKS.do(second)
    assert len(noting.asked) == Response.objects.count() == 3


def test_two_grids_do_not_ask_the_same_at_once(mills, noting):
    one, other = started(mills, grid_of("one")), started(mills, grid_of("other"))
    claim = GRID_CHUNKS.claim_next(one)

    assert claim is not None
    assert GRID_CHUNKS.claim_next(other) is None  # it waits
    GRID_CHUNKS.do(claim)
    ask(other)

    assert len(noting.asked) == 3
    assert {one.calls.count(), other.calls.count()} == {3, 0}
    assert other.state == State.DONE


def test_an_grid_whose_last_worker_died_at_the_end_is_done(mills, noting):
    grid = started(mills, grid_of())
    grid.chunks.update(state="done", examples=[])

    GRID_CHUNKS.end_finished()

    grid.refresh_from_db()
    assert grid.state == State.DONE


def test_what_ends_every_worker_is_given_up(mills, noting):
    grid = started(mills, grid_of())
    grid.chunks.update(attempts=claims.MOST_CLAIMS)

    ask(grid)

    assert len(noting.asked) == 2
    assert "stopped 10 times" in Call.objects.get(response=None).problem


def test_messages_are_for_chunks_that_wait(mills, noting):
    grid = started(mills, grid_of(temperatures=[0.0, 0.7]))

    assert len(GRID_CHUNKS.send_waiting(grid=grid)) == 2
    assert GRID_CHUNKS.resend() == []  # just sent
    cancel_grid(grid, None)
    assert GRID_CHUNKS.send_waiting(grid=grid) == []


def test_a_plan_whose_worker_died_is_sent_again(mills, noting):
    grid = request_grid(mills, grid_of(), None)
    assert PLANNINGS.send_waiting(grid=grid) == [grid.pk]
    assert PLANNINGS.claim(grid.pk) is not None
    assert PLANNINGS.resend() == []

    an_hour_ago = timezone.now() - timedelta(hours=1)
    Planning.objects.update(lease_until=an_hour_ago, sent_at=an_hour_ago)
    assert PLANNINGS.resend() == [grid.pk]
    assert PLANNINGS.resend() == []


def test_a_plan_whose_workers_all_die_fails_after_three(mills, noting, monkeypatch):
    grid = request_grid(mills, grid_of(), None)

    def die(*arguments: object) -> None:
        raise SystemExit  # like a killed worker: nothing is stored

    monkeypatch.setattr("generation.services.planning.planned", die)
    for _ in range(3):
        with pytest.raises(SystemExit):
            PLANNINGS.claim_and_do(grid.pk)
    PLANNINGS.claim_and_do(grid.pk)

    grid.refresh_from_db()
    assert grid.state == Grid.State.FAILED
    assert grid.error == "The worker stopped 3 times without an error message."
    resume_grid(grid, None)
    grid.refresh_from_db()
    assert (grid.state, grid.planning.attempts) == (Grid.State.PLANNING, 0)


# --- asked for, refused, deleted ------------------------------------------------------------


def test_the_same_grid_is_the_same_grid(mills, noting, rosa):
    first = request_grid(mills, grid_of("pilot"), rosa)

    assert request_grid(mills, grid_of("pilot"), rosa) == first
    with pytest.raises(GridChangeError, match="Another grid is named “pilot”"):
        request_grid(mills, grid_of("pilot", seeds=[1]), rosa)
    assert audit_actions()[-1] == ("grid.requested", "pilot: pilot")


def test_choices_without_a_form_are_the_grid_of_their_name_in_its_form(mills, noting, rosa):
    """An upgrade wrote the native form into grids that were made before there were forms."""
    first = request_grid(mills, grid_of("pilot", form=["native"]), rosa)
    other = request_grid(mills, grid_of("other"), rosa)

    assert request_grid(mills, grid_of("pilot"), rosa) == first
    with pytest.raises(GridChangeError, match="Another grid is named “other”"):
        request_grid(mills, grid_of("other", form=["native"]), rosa)
    assert "form" not in other.choices


@pytest.mark.parametrize(
    ("grid", "where"),
    [
        ({"sample": "none"}, "sample"),
        ({"sample": "not ready"}, "sample"),
        ({"one_shot": "e99"}, "one_shot"),
        ({"models": [{"name": "nobody"}]}, "models.1.name"),
    ],
)
def test_a_grid_of_what_is_not_there_is_refused(mills, noting, grid, where):
    Sample.objects.create(dataset=mills, name="not ready", parameters={})

    with pytest.raises(GridError) as error:
        request_grid(mills, grid_of(**grid), None)

    assert error.value.where == where
    assert not Grid.objects.exists()


def test_planning_can_be_cancelled_and_taken_up(mills, noting):
    grid = request_grid(mills, grid_of(), None)

    assert cancel_grid(grid, None)
    PLANNINGS.claim_and_do(grid.pk)  # its message comes too late
    grid.refresh_from_db()
    assert grid.state == State.CANCELLED
    assert resume_grid(grid, None)
    PLANNINGS.claim_and_do(grid.pk)
    grid.refresh_from_db()
    assert grid.state == State.PLANNED
    assert not resume_grid(grid, None)  # it waits to be started
    assert not cancel_grid(grid, None)


def test_a_grid_that_asked_nothing_can_be_deleted_with_its_setups(mills, noting):
    before = row_counts()
    grid = started(mills, grid_of())
    with pytest.raises(GridChangeError, match="Cancel it first"):
        delete_grid(grid, None)

    cancel_grid(grid, None)
    delete_grid(grid, None)

    assert row_counts() == before


def test_a_grid_whose_last_call_is_to_come_cannot_be_deleted_yet(mills, noting):
    grid = started(mills, grid_of())

    def delete_meanwhile(n):
        if n == 1:
            cancel_grid(grid, None)
            with pytest.raises(GridChangeError, match="Wait until its last call has ended"):
                delete_grid(grid, None)
        return ""

    noting.on_call = delete_meanwhile
    ask(grid)

    assert len(noting.asked) == Response.objects.count()
    assert Grid.objects.filter(pk=grid.pk).exists()


def test_a_grid_that_asked_stays(mills, noting):
    grid = ask(started(mills, grid_of()))

    with pytest.raises(GridChangeError, match="made calls"):
        delete_grid(grid, None)

    assert Setup.objects.get().responses.count() == 3


def test_a_grid_with_many_examples_comes_in_chunks(mills, noting, monkeypatch):
    monkeypatch.setattr(grids, "SMALLEST_CHUNK", 2)

    grid = started(mills, grid_of())

    assert [len(chunk.examples) for chunk in grid.chunks.all()] == [2, 1]


# --- how far it is --------------------------------------------------------------------------


def test_progress_counts_calls_tokens_and_cost(mills, noting):
    price = {"input": 10_000.0, "output": 100_000.0}
    choices = grid_of(temperatures=[0.0, 0.7], models=[{"name": "noting", "price": price}])
    grid = started(mills, choices)

    [before] = grids_progress(Grid.objects.all())
    assert (before.state, before.n_calls, before.n_left, before.card.percent) == ("queued", 6, 6, 0)
    assert (before.cost, before.calls_per_second, before.seconds_left) == (0.0, None, None)

    first_setups = GRID_CHUNKS.claim_next(grid)
    assert first_setups is not None
    GRID_CHUNKS.do(first_setups)
    [half] = grids_progress(Grid.objects.all())
    assert (half.state, half.n_done, half.n_left, half.card.percent) == ("running", 3, 3, 50)
    assert (half.n_tokens_in, half.n_tokens_out) == (300, 30)
    assert half.cost == 6.0  # 300 / 1,000,000 · 10,000 + 30 / 1,000,000 · 100,000
    assert half.seconds_left is not None

    first, second = setups_progress(grid)
    assert (first.n_done, first.n_left, second.n_done, second.n_left) == (3, 0, 0, 3)
    assert (first.mean_prompt_tokens, first.mean_completion_tokens) == (20.0, 10.0)
    assert (second.mean_prompt_tokens, second.cost) == (None, 0.0)


def test_progress_costs_three_statements_however_many_grids(mills, noting):
    for name in ("one", "two", "three"):
        started(mills, grid_of(name, seeds=[0, 1], temperatures=[0.7]))

    assert len(statements(lambda: grids_progress(Grid.objects.all()))) == 3
    grid = Grid.objects.all()[0]
    assert len(statements(lambda: setups_progress(grid))) == 3

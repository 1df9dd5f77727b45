"""A grid's figures on its answers: parts without room, tokens not counted, calls not answered."""

import pytest
from django.urls import reverse

from generation.backends.base import Completion
from generation.grids.progress import grids_progress, setups_progress
from generation.models import Call, Grid, Response
from generation.services.grids import (
    OutgrownPlan,
    request_grid,
    retry_failed,
    start_grid,
)
from generation.services.planning import PLANNINGS
from tests.generation.question_makers import ask, dataset_of, grid_of, started
from tests.makers import example_row, import_rows
from tests.shown import shown

pytestmark = pytest.mark.once
PRICED = [{"name": "noting", "price": {"input": 100_000.0, "output": 1_000_000.0}}]


def says(noting, *completions):
    """Have a model give these completions, one a call."""
    left = iter(completions)
    noting.complete = lambda prompts, decoding: (next(left) for _ in prompts)


# --- what had no room -----------------------------------------------------------------------


@pytest.fixture
def long_mill(tmp_path):
    """One example, with three turns and a passage of two sentences."""
    texts = ("user", "Who built it?"), ("assistant", "Monks did."), ("user", "When?")
    turns = [{"speaker": speaker, "text": text} for speaker, text in texts]
    evidence = [{"id": "p1", "text": "One stays. Two goes.", "golden": True}]
    rows = [example_row("mill", turns=turns, evidence=evidence)]
    return import_rows(tmp_path, examples=rows).dataset


def test_a_response_says_what_its_model_was_not_shown(long_mill, noting, rosa, client_for):
    # 'Fact: One stays.' has 5 tokens, '0 -1 0 When? [eot]' 9 and '1 0 1' 3.
    ask(started(long_mill, grid_of(budget=17)))

    response = Response.objects.get()
    assert noting.asked[0][0] == "Fact: One stays.\n0 -1 0 When? [eot]\n1 0 1"
    assert [shown.passage.key for shown in response.shown.all()] == ["p1"]
    assert response.meta["evidence"] == {"sentences_left_out": 1}
    assert response.meta["dialog"] == {"turns_left_out": 2}

    page = shown(client_for(rosa).get(reverse("evaluation:response", args=["pilot", response.pk])))
    assert "apart from 1 sentence" in page.text
    assert "1 sentence of the evidence and 2 turns of the dialog" in page.text


def test_a_response_whose_model_was_shown_all_says_nothing_of_it(long_mill, noting):
    ask(started(long_mill, grid_of()))

    assert Response.objects.get().meta.keys() == {"tokens"}


# --- what a model does not count ------------------------------------------------------------


def test_tokens_that_a_model_does_not_count_are_counted_here(tmp_path, noting):
    says(noting, Completion("It closed in 1971."), Completion("In 1971.", "", (), False, 100, 7))
    grid = ask(started(dataset_of(tmp_path, 2), grid_of(models=PRICED)))

    # 'It closed in 1971.' has five words and marks; its prompt has 20.
    [progress] = grids_progress(Grid.objects.all())
    assert (progress.n_tokens_in, progress.n_tokens_out) == (20 + 100, 5 + 7)
    assert progress.cost == 120 / 10 + 12
    [setup] = setups_progress(grid)
    assert setup.mean_completion_tokens == 6
    in_order = Call.objects.order_by("pk")
    assert list(in_order.values_list("n_model_prompt_tokens", flat=True)) == [0, 100]


# --- no answer ------------------------------------------------------------------------------


def test_an_empty_completion_is_a_response_that_says_nothing(tmp_path, noting):
    nothing = Completion(" \n[eot] 3 2 0 More?", "", (), False, 100, 8)
    says(noting, nothing, Completion("Yes."), Completion("No."))
    grid = ask(started(dataset_of(tmp_path, 2), grid_of(models=PRICED)))

    assert {response.text for response in Response.objects.all()} == {"", "Yes."}
    empty = Call.objects.get(response__text="")
    assert (empty.problem, empty.completion) == ("", nothing.text)
    [progress] = grids_progress(Grid.objects.all())
    assert (progress.n_done, progress.n_empty, progress.n_failed) == (2, 1, 0)
    assert (progress.n_tokens_in, progress.n_tokens_out) == (100 + 20, 8 + 2)  # it was paid for
    [setup] = setups_progress(grid)
    assert setup.mean_completion_tokens == 5  # 8 and 2
    assert retry_failed(grid, None) == 0


# --- more than was planned ------------------------------------------------------------------


def test_a_grid_is_planned_again_when_there_is_more_to_ask_than_its_plan_says(tmp_path, noting):
    dataset = dataset_of(tmp_path / "first", 2)
    grid = request_grid(dataset, grid_of(), None)
    PLANNINGS.claim_and_do(grid.pk)
    dataset_of(tmp_path / "more", 3)  # one example more

    with pytest.raises(OutgrownPlan, match=r"more to ask than the plan of “grid” says"):
        start_grid(grid, None)

    grid.refresh_from_db()
    assert (grid.state, grid.plan) == (Grid.State.PLANNING, {})
    assert not grid.cells.exists()
    PLANNINGS.claim_and_do(grid.pk)
    assert start_grid(grid, None)
    assert len(ask(grid).calls.all()) == 3


def test_a_grid_with_less_to_ask_than_its_plan_says_is_started(tmp_path, noting):
    dataset = dataset_of(tmp_path, 2)
    grid = request_grid(dataset, grid_of("second", temperatures=[0.0, 0.7]), None)
    PLANNINGS.claim_and_do(grid.pk)
    ask(started(dataset, grid_of("first")))

    assert start_grid(grid, None)
    assert ask(grid).calls.count() == 2

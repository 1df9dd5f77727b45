"""The plan of a grid, counted by hand."""

import pytest

from generation.grids import plan as module
from generation.grids.plan import PlanRow, plan_of, planned
from generation.grids.recipe import recipe_prompts
from generation.models import Call, Grid
from generation.services.grids import request_grid
from generation.services.planning import PLANNINGS
from generation.templatetags.grids import why_left_out
from tests.generation.question_makers import ask, dataset_of, grid_of, started
from tests.makers import example_row, import_rows, row_counts

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("noting")]

# '0 -1 0 Question of e1? [eot]' has the tokens 0 - 1 0 Question of e1 ? [ eot ], '1 0 1' has 3,
# 'Fact: Passage of e1.' has 6.
DIALOG, FACT = 14, 6


@pytest.fixture
def half_golden(tmp_path):
    """Two examples, one of which has no golden evidence."""
    rows = [example_row("e1"), example_row("e2", evidence=[])]
    return import_rows(tmp_path, examples=rows).dataset


def test_calls_tokens_and_price_by_model_and_prompt(half_golden):
    price = {"input": 10.0, "output": 20.0}  # for a million tokens
    grid = grid_of(
        prompts=["no-evidence", "golden"],
        temperatures=[0.0, 0.7],
        max_tokens=[10],
        models=[{"name": "noting", "price": price}],
    )

    plan = plan_for(half_golden, grid)

    assert plan.rows == (
        # 2 examples × 2 temperatures; (56 · 10 + 40 · 20) / 1,000,000
        PlanRow("noting", "fp32", "no-evidence", 2, 4, 0, 0, 0, 4 * DIALOG, 40, 0.00136),
        # the example without golden evidence is left out, at both; (40 · 10 + 20 · 20) / 1,000,000
        PlanRow("noting", "fp32", "golden", 2, 2, 0, 2, 0, 2 * (DIALOG + FACT), 20, 0.0008),
    )
    assert plan.total[3:14] == (4, 6, 0, 2, 0, 96, 60, pytest.approx(0.00216), 0, 0, 0)
    assert not plan.is_estimated


def test_what_is_answered_already_is_not_planned_again(tmp_path):
    dataset = dataset_of(tmp_path, 3)
    ask(started(dataset, grid_of("first")))

    plan = plan_for(dataset, grid_of("second", temperatures=[0.0, 0.7]))

    assert (plan.total.n_calls, plan.total.n_there) == (3, 3)
    assert plan.total.n_prompt_tokens == 3 * (DIALOG + FACT)


def test_parts_without_a_passage_of_their_own_are_left_out_and_no_call(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"  # the index of passages is stored there
    # Three examples bring a passage each, two of which have the same text: there are two to show.
    rows = [
        example_row(f"e{n}", evidence=[{"id": f"p{n}", "text": text}])
        for n, text in enumerate(["The mill closed.", "It burnt.", "It burnt."])
    ]
    dataset = import_rows(tmp_path, examples=rows).dataset
    assert dataset
    prompts = recipe_prompts(5, 2)

    plan = plan_for(dataset, grid_of(prompts=list(prompts)))
    ask(started(dataset, grid_of(prompts=list(prompts))))

    left_out = {row.prompt: (row.n_calls, row.n_left_out, row.n_unmade) for row in plan.rows}
    assert left_out == {
        "top-1-of-5-part-1": (3, 0, 0),
        "top-1-of-5-part-2": (3, 0, 0),
        "top-1-of-5-part-3": (0, 3, 0),
        "top-1-of-5-part-4": (0, 3, 0),
        "top-1-of-5-part-5": (0, 3, 0),
        "top-2-of-5-part-1": (3, 0, 0),
        "top-2-of-5-part-2": (0, 3, 0),
        "top-2-of-5-part-3": (0, 3, 0),
    }
    reasons = {why_left_out(row, {}) for row in plan.rows if row.n_left_out}
    assert reasons == {"no passage of its own"}
    assert Call.objects.count() == 9
    assert not Call.objects.filter(response=None).exists()


def test_the_example_that_demonstrates_is_left_out(tmp_path):
    plan = plan_for(dataset_of(tmp_path, 3), grid_of(prompts=["one-shot"], one_shot="e2"))

    assert (plan.total.n_calls, plan.total.n_left_out) == (2, 1)


def test_calls_without_a_prompt_are_foreseen(half_golden):
    """The only passage is golden for e1: there is no other one to show, and none has no room."""
    assert plan_for(half_golden, grid_of(prompts=["next-best"])).total.n_unmade == 1
    assert plan_for(half_golden, grid_of(budget=13)).total[4:14] == (
        1,
        0,
        1,
        1,
        0,
        0,
        None,
        0,
        0,
        0,
    )


def test_calls_that_show_more_than_their_type_says_are_foreseen(tmp_path):
    """Golden passages are always in: e1 has three of them, e2 one."""
    evidence = [{"id": f"g{n}", "text": f"Fact {n}.", "golden": True} for n in range(3)]
    rows = [example_row("e1", evidence=evidence), example_row("e2")]
    dataset = import_rows(tmp_path, examples=rows).dataset

    plan = plan_for(dataset, grid_of(prompts=["retrieved-2", "retrieved-3", "top-2", "golden"]))

    assert [row.n_widened for row in plan.rows] == [1, 0, 0, 0]
    assert plan.total.n_widened == 1


def test_a_large_grid_is_estimated_from_some_examples_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_PROMPTS", 4)

    plan = plan_for(dataset_of(tmp_path, 9), grid_of(prompts=["no-evidence", "golden"]))

    assert plan.is_estimated
    assert (plan.n_counted, plan.n_examples) == (2, 9)  # 4 prompts, of 2 types
    assert plan.total.n_calls == 18
    assert plan.total.n_prompt_tokens == 9 * DIALOG + 9 * (DIALOG + FACT)


def test_what_is_counted_of_a_large_grid_is_still_to_be_asked(tmp_path, monkeypatch):
    rows = [example_row(f"e{n}", golden_answer="Yes.") for n in range(1, 10)]
    of_eight = import_rows(tmp_path / "first", examples=[*rows[:7], rows[8]]).dataset
    assert of_eight
    ask(started(of_eight, grid_of("first")))
    dataset = dataset_of(tmp_path / "more", 9)  # e8, which the seed would draw last, is new
    monkeypatch.setattr(module, "MOST_PROMPTS", 2)

    plan = plan_for(dataset, grid_of("second", temperatures=[0.0, 0.7]))

    assert plan.n_counted == 1  # 2 prompts, of 2 setups
    # e8 at temperature 0, all nine at 0.7.
    assert (plan.total.n_calls, plan.total.n_there) == (10, 8)
    assert plan.total.n_prompt_tokens == 10 * (DIALOG + FACT)


def test_a_plan_is_stored_and_read_again(half_golden):
    grid = request_grid(half_golden, grid_of(), None)
    assert plan_of(grid) is None

    PLANNINGS.claim_and_do(grid.pk)

    grid.refresh_from_db()
    assert grid.state == Grid.State.PLANNED
    assert plan_of(grid) == plan_for(half_golden, grid_of())


def test_planning_asks_nothing_and_writes_nothing_else(half_golden):
    before = row_counts()

    plan_for(half_golden, grid_of())

    assert row_counts() == before
    assert not Call.objects.exists()


def plan_for(dataset, grid):
    return planned(Grid(dataset=dataset, choices=grid.as_data()))

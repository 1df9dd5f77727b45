"""K1 and K2 of a recipe: from recall and tokens counted by hand, or typed."""

import pytest

from evaluation.tradeoffs import recipe_plan
from evaluation.tradeoffs.recipe_plan import RecipeChoices, plan_recipe
from tests.evaluation.tradeoffs.valley import sample_of, valley

pytestmark = pytest.mark.once


@pytest.fixture(autouse=True)
def own_folder(own_cache_and_folder):
    """Indexes of other tests stay theirs."""


@pytest.fixture
def dataset(tmp_path):
    return valley(tmp_path, has_large=False)


def planned(dataset, **choices):
    return plan_recipe(dataset, RecipeChoices(**choices))


@pytest.mark.parametrize(
    ("recall", "k1"),
    # Golden evidence is found first twice, second and third once: recall@1 is 2/4, @2 3/4, @3 1.
    [(0.5, 1), (0.75, 2), (0.9, 3), (1.0, 3)],
)
def test_k1_follows_from_the_recall_curve(dataset, recall, k1):
    plan = planned(dataset, recall=recall)

    assert plan.k1 == k1
    assert [row["recall"] for row in plan.recall.records[:3]] == pytest.approx([0.5, 0.75, 1.0])
    assert not plan.problems


def test_k2_follows_from_the_mean_tokens_of_dialogs_and_items(dataset):
    plan = planned(dataset, budget=38)

    # A dialog is '0 -1 0 alpha? [eot]' and '1 0 1': 9 and 3 tokens. An item is 'Fact: ' and six
    # words and a full stop: 9, or with two commas in it 2 + 5 + 3 = 10. (6 · 9 + 10) / 7 = 9.14.
    assert plan.tokens.dialog == 12
    assert plan.tokens.item == pytest.approx(64 / 7)
    # (38 - 12) / 9.14 = 2.84
    assert plan.k2 == 2
    assert plan.parts == [(1, 3), (2, 2)]
    assert (plan.n_calls_each, plan.n_examples, plan.n_calls) == (5, 4, 20)


def test_instructions_leave_less_room(dataset):
    plan = planned(dataset, budget=38, has_instructions=True)

    # 'Instructions: use the information from the provided “fact” to answer the question': twelve
    # words and three marks. (38 - 12 - 15) / 9.14 = 1.2
    assert plan.tokens.instructions == 15
    assert plan.k2 == 1


def test_without_a_budget_all_of_k1_stand_in_one_prompt(dataset):
    # 3 + 2 + 1 calls
    assert planned(dataset).n_calls_each == 6


def test_both_may_be_typed(dataset):
    plan = planned(dataset, k1=5, k2=2)

    # 5 prompts of one, 3 of two: the last is filled up.
    assert plan.parts == [(1, 5), (2, 3)]
    assert plan.why_k1 == "as typed; recall@5 is 100 % over 4 examples with golden evidence"


def test_recall_is_of_the_examples_asked_about(dataset):
    # Golden evidence of gamma is found second: recall@1 is 0, recall@2 is 1. Of all it is 3/4.
    sample = sample_of(dataset, "gamma")

    plan = planned(dataset, sample=sample)

    assert [row["recall"] for row in plan.recall.records[:2]] == [0, 1]
    assert plan.k1 == 2
    assert plan.why_k1.endswith("recall@2 is 100 % over 1 example with golden evidence")
    assert plan.n_examples == 1
    assert plan.recall.left_out["examples_without_golden_evidence"] == 0


def test_no_room_for_one_passage_is_a_problem_that_typing_k2_settles(dataset):
    plan = planned(dataset, budget=5)

    # (5 - 12) / 9.1 is below 1.
    assert plan.k2 is None
    assert (
        "(5 tokens − 12.0 of the mean dialog) / 9.1 of the mean passage is below 1"
        in plan.problems["k2"]
    )
    assert planned(dataset, budget=5, k2=1).n_calls_each == 3


@pytest.mark.parametrize(
    ("choices", "field", "said"),
    [
        ({"k1": 8}, "k1", "Found 8; there are 7 passages"),
        ({"k1": 3, "k2": 4}, "k2", "Found 4; expected at most K1, which is 3."),
    ],
)
def test_what_does_not_go_together_is_a_problem_of_its_field(dataset, choices, field, said):
    assert said in planned(dataset, **choices).problems[field]


def test_without_golden_evidence_k1_is_to_be_typed(tmp_path):
    dataset = valley(tmp_path, has_golden=False, has_large=False)

    assert planned(dataset).problems == {
        "k1": "No example has golden evidence, so recall is not known: type K1."
    }
    assert planned(dataset, k1=2).n_calls_each == 3


def test_a_target_that_is_not_reached_says_how_far_it_goes(dataset, monkeypatch):
    monkeypatch.setattr(recipe_plan, "MOST_FACTS", 2)

    assert planned(dataset).problems["k1"].startswith("A recall of 0.75 is the most that is")
    usual = plan_recipe(dataset, RecipeChoices(), lowers_target=True)
    assert (usual.target, usual.k1, usual.problems) == (0.75, 2, {})


def test_nobody_waits_for_a_large_index(dataset, monkeypatch):
    monkeypatch.setattr(recipe_plan, "can_wait_for_index", lambda pk: False)

    plan = plan_recipe(dataset, RecipeChoices(), waits_for_index=False)

    assert plan.recall is None
    assert "not indexed yet" in plan.problems["k1"]

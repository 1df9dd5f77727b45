"""The pages of the recipe: its plan, its four stages one after the other, its results."""

import io
import json

import pytest
from django.core.management import call_command
from django.urls import reverse

from evaluation.models import AutoScore, MetricRun
from evaluation.tradeoffs.figures.recipe import recipe_chart
from evaluation.tradeoffs.forms.recipe import RecipeForm
from generation.models import Grid, Setup
from generation.retrieval import dataset_index
from generation.services.grids import start_grid
from generation.services.planning import PLANNINGS
from tests.evaluation.makers_of_scores import make_run, make_score
from tests.evaluation.metric_runs import work as score
from tests.evaluation.tradeoffs.valley import valley
from tests.generation.grid_runs import planned
from tests.generation.question_makers import ask
from tests.makers import statements
from tests.shown import shown

pytestmark = pytest.mark.once

CHOICES = {
    "model": "extractive",
    "sample": "",
    "recall": "0.9",
    "k1": "",
    "budget": "38",
    "k2": "",
    "query": "question",
    "temperature": "0",
    "name": "first try",
}


@pytest.fixture(autouse=True)
def own_folder(own_cache_and_folder):
    """Indexes of other tests stay theirs."""


@pytest.fixture
def dataset(tmp_path):
    return valley(tmp_path)


def new_page(client, dataset, **asked):
    return client.get(reverse("tradeoffs:recipe", args=[dataset.slug]), asked)


def start(client, dataset, **more):
    return client.post(reverse("tradeoffs:start-recipe", args=[dataset.slug]), CHOICES | more)


def address(name, **args):
    grid = Grid.objects.get()
    return reverse(f"tradeoffs:{name}", args=[grid.dataset.slug, grid.pk], **args)


def stages(page):
    """Return the states of the four stages, in their order."""
    tags = [page.part(f"stage-{number}").parts("tag") for number in (1, 2, 3, 4)]
    return [tag.text for [tag] in tags]


def copied(row, **changes):
    """Store a row once more, with some changes."""
    row.pk = None
    row._state.adding = True
    for name, value in changes.items():
        setattr(row, name, value)
    row.save()
    return row


def asked_recipe(client, dataset):
    """Have a recipe planned, started and asked."""
    start(client, dataset)
    grid = Grid.objects.get()
    PLANNINGS.claim_and_do(grid.pk)
    start_grid(grid, None)
    grid.refresh_from_db()
    return ask(grid)


def test_the_page_of_its_grid_leads_back_to_the_recipe(researcher, dataset):
    start(researcher, dataset)
    other = planned(dataset, name="no recipe")

    def links(grid):
        return shown(researcher.get(reverse("grids:grid", args=[grid.pk]))).addresses

    recipe = Grid.objects.exclude(pk=other.pk).get()
    there = reverse("tradeoffs:recipe-progress", args=[dataset.slug, recipe.pk])
    assert there in links(recipe)
    assert there not in links(other)


# --- the plan -------------------------------------------------------------------------------


def test_the_page_shows_the_plan_of_the_usual_choices(researcher, dataset):
    page = shown(new_page(researcher, dataset))
    plan = page.part("plan")

    # A budget of 1,024 has room for far more than K1 = 3: 3 + 2 + 1 calls.
    for said in ("K1 = 3", "recall of 90 %", "recall@3 is 100 % over 4", "K2 = 3"):
        assert said in plan.text
    assert plan.table("Calls").rows == [["1", "3"], ["2", "2"], ["3", "1"], ["all", "6"]]
    assert "each of 4 examples: at most 24" in plan.text
    assert "K1 = 3" in str(page.data("plots"))


def test_the_plan_follows_the_choices_while_they_are_made(researcher, dataset):
    plan = shown(new_page(researcher, dataset, **CHOICES)).part("plan")

    assert "K2 = 2 (38 tokens − 12.0 of the mean dialog) / 9.1 of the mean passage" in plan.text
    assert "at most 20" in plan.text


def test_a_typed_number_that_cannot_be_is_said_in_the_plan(researcher, dataset):
    page = shown(new_page(researcher, dataset, **CHOICES | {"k1": "8"}))

    assert "Found 8; there are 7 passages" in page.part("plan").text


def test_without_golden_evidence_k1_is_asked_for(researcher, tmp_path):
    dataset = valley(tmp_path, has_golden=False)

    page = shown(new_page(researcher, dataset))
    assert "recall is not known: type K1" in page.part("plan").text
    assert "appears when the plan is complete" in page.part("to-plan").text
    typed = shown(new_page(researcher, dataset, **CHOICES | {"k1": "2"}))
    assert typed.part("to-plan").buttons == ["Preview calls and cost"]
    assert start(researcher, dataset).status_code == 422
    assert start(researcher, dataset, k1="2").status_code == 302


def test_a_large_collection_waits_for_its_index(researcher, dataset, monkeypatch):
    monkeypatch.setattr(dataset_index, "MANY_PASSAGES", 5)

    plan = shown(new_page(researcher, dataset)).part("plan")

    assert "not indexed yet" in plan.text
    assert plan.links["Have them indexed"] == reverse("evaluation:retrieval", args=[dataset.slug])


def test_without_a_model_there_is_no_form(researcher, dataset, monkeypatch):
    monkeypatch.setattr("evaluation.tradeoffs.forms.recipe.offered_models", list)

    page = shown(new_page(researcher, dataset))

    assert "No model" in page.headings
    assert page.part("recipe").buttons == []


def test_starting_plans_the_grid_and_goes_to_its_stages(researcher, dataset):
    answer = start(researcher, dataset)

    grid = Grid.objects.get()
    assert answer.url == reverse("tradeoffs:recipe-progress", args=[dataset.slug, grid.pk])
    assert grid.state == Grid.State.PLANNING
    assert grid.choices["budget"] == 38
    row = shown(new_page(researcher, dataset)).table("Recipes").row("first try")
    assert list(row.values())[1:5] == ["extractive, T 0.0", "3", "2", "5"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"k1": "0"}, "greater than or equal to 1"),
        ({"k1": "2", "k2": "3"}, "Found 3; expected at most K1, which is 2."),
        ({"recall": "2"}, "less than or equal to 1"),
        ({"model": "x"}, "Select a valid choice"),
        ({"name": " "}, "This field is required"),
    ],
)
def test_a_mistake_is_said_and_nothing_is_asked_for(researcher, dataset, wrong, said):
    answer = start(researcher, dataset, **wrong)

    assert answer.status_code == 422
    *_, field = wrong
    assert said in shown(answer).errors[field]
    assert not Grid.objects.exists()


def test_a_name_that_another_grid_has_is_refused(researcher, dataset):
    start(researcher, dataset)

    answer = start(researcher, dataset, budget="100")

    assert answer.status_code == 422
    assert "Another grid" in shown(answer).errors["name"]


def test_the_first_choices_are_a_valid_form(dataset):
    form = RecipeForm(CHOICES, dataset=dataset)

    assert form.is_valid(), form.errors


# --- the stages -----------------------------------------------------------------------------


def test_each_stage_follows_the_one_before(researcher, dataset):
    start(researcher, dataset)
    page = shown(researcher.get(address("recipe-progress")))
    assert stages(page) == ["going on", "later", "later", "later"]

    grid = Grid.objects.get()
    PLANNINGS.claim_and_do(grid.pk)
    page = shown(researcher.get(address("recipe-progress")))
    assert stages(page) == ["next", "later", "later", "later"]
    start_grid(grid, None)
    grid.refresh_from_db()
    ask(grid)
    page = shown(researcher.get(address("recipe-progress")))
    assert stages(page) == ["done", "next", "later", "later"]
    # Twenty of the recipe and four of the large model, by two metrics.
    assert "Score 48 responses" in page.buttons
    assert page.table("How many responses").column("Without a score") == ["24", "24"]

    answer = researcher.post(address("score-recipe"), {})
    runs = {run.metric: run for run in MetricRun.objects.all()}
    assert set(runs) == {"auto_ais", "sensible"}
    assert runs["auto_ais"].parameters["evidence"] == "golden"
    assert f"attribution=run-{runs['auto_ais'].pk}" in answer.url
    assert stages(shown(researcher.get(answer.url))) == ["done", "going on", "later", "later"]
    for run in runs.values():
        score(run)
    assert stages(shown(researcher.get(answer.url))) == ["done", "done", "next", "later"]

    keys = {
        "attribution": f"run-{runs['auto_ais'].pk}",
        "sensibleness": f"run-{runs['sensible'].pk}",
    }
    answer = researcher.post(address("rerank-recipe"), keys)
    assert Setup.objects.get(prompt="reranked").responses.count() == 4
    page = shown(researcher.get(answer.url))
    assert stages(page) == ["done"] * 4
    assert "PaLM 540B with golden evidence" in page.text
    [warning] = [
        message for message in page.messages if "These numbers are too optimistic." in message
    ]
    assert "judge their attribution and sensibleness" in warning
    assert "No other metric and no raters judge attribution or sensibleness" in warning


def test_what_did_not_choose_judges_where_nobody_says_so(researcher, dataset):
    asked_recipe(researcher, dataset)
    call_command("run_metric", "auto_ais", "--dataset=valley", "--evidence=golden")
    call_command("run_metric", "sensible", "--dataset=valley")
    researcher.post(address("rerank-recipe"), {})
    chose = MetricRun.objects.get(metric="auto_ais")
    other = make_run(dataset, metric="auto_ais", signature="auto_ais|T5|t:0.5")
    AutoScore.objects.bulk_create(
        AutoScore(run=other, target=score.target, score=0.9)
        for score in AutoScore.objects.filter(run=chose)
    )

    page = shown(researcher.get(address("recipe-progress")))

    [flattered] = [
        message for message in page.messages if "These numbers are too optimistic." in message
    ]
    assert "judge their sensibleness" in flattered
    assert "No other metric and no raters judge sensibleness" in flattered
    [same] = [message for message in page.messages if "same metric with another model" in message]
    assert "judges the attribution" in same
    row = page.table("F1, attribution").row("First 5 of 5 calls")
    assert row["Attribution"].startswith("100.0")  # 0.9 of all
    by_name = {"judge_attribution": f"run-{chose.pk}"}
    page = shown(researcher.get(address("recipe-progress"), by_name))
    [warning] = [
        message for message in page.messages if "These numbers are too optimistic." in message
    ]
    assert "judge their attribution and sensibleness" in warning


def test_a_failed_grid_says_why_and_can_be_tried_again(researcher, dataset):
    start(researcher, dataset)
    Grid.objects.update(state=Grid.State.FAILED, error="No such model.")

    page = shown(researcher.get(address("recipe-progress")))

    assert any("No such model." in message for message in page.messages)
    assert any("Try again" in button for button in page.buttons)


def test_nothing_is_scored_or_reranked_before_there_are_responses(researcher, dataset):
    start(researcher, dataset)

    researcher.post(address("score-recipe"), {})
    researcher.post(address("rerank-recipe"), {})

    assert not MetricRun.objects.exists()
    assert not Setup.objects.filter(prompt="reranked").exists()


def test_what_was_new_when_it_was_offered_is_its_run_once_there_is_one(researcher, dataset):
    # Another run of the same metric is there: it is the usual one.
    call_command("run_metric", "auto_ais", "--dataset=valley", "--flavor=v1", "--evidence=golden")
    asked_recipe(researcher, dataset)
    keys = {"attribution": "auto_ais/lexical", "sensibleness": "sensible/heuristic"}

    first = researcher.post(address("score-recipe"), keys)
    again = researcher.post(address("score-recipe"), keys)

    [new] = MetricRun.objects.filter(signature__contains="v3|")
    assert f"attribution=run-{new.pk}&" in first.url
    assert again.url == first.url
    assert MetricRun.objects.count() == 3
    page = shown(researcher.get(address("recipe-progress"), keys))
    assert "is not there" not in page.text
    assert any("Auto-AIS, lexical, v3" in row[0] for row in page.table("How many").rows)


@pytest.mark.parametrize("key", ["run-0", "auto_ais/x", "rouge/lexical", "sensible/heuristic"])
def test_a_scorer_that_is_not_there_is_refused(researcher, dataset, key):
    asked_recipe(researcher, dataset)

    for name in ("score-recipe", "rerank-recipe"):
        answer = researcher.post(address(name), {"judge_attribution": key})
        assert answer.status_code == 422
        [message] = shown(answer).messages
        assert message.startswith(f"Attribution judged by “{key}”: this does not exist. Nothing")
    assert not MetricRun.objects.exists()
    [message] = shown(researcher.get(address("recipe-progress"), {"attribution": key})).messages
    assert message.startswith(
        f"Attribution by “{key}”: this does not exist. The usual choice is shown"
    )


def test_half_the_scores_are_not_reranked(researcher, dataset):
    asked_recipe(researcher, dataset)
    researcher.post(address("score-recipe"), {})
    score(MetricRun.objects.get(metric="auto_ais"))
    response = Setup.objects.get(prompt="top-1-of-3-part-1").responses.order_by("key")[0]
    make_score(MetricRun.objects.get(metric="sensible"), response.key, 1)

    answer = researcher.post(address("rerank-recipe"), {}, follow=True)

    assert any("nothing was re-ranked" in message for message in shown(answer).messages)
    assert not Setup.objects.filter(prompt="reranked").exists()


def test_another_grid_is_no_recipe(researcher, dataset):
    start(researcher, dataset)
    grid = Grid.objects.get()
    grid.choices["prompts"] = ["golden"]
    grid.save()

    assert researcher.get(address("recipe-progress")).status_code == 404


# --- what comes of it -----------------------------------------------------------------------


@pytest.fixture
def compared(dataset):
    call_command("run_recipe", "valley", "--model=extractive", "--budget=38", stdout=io.StringIO())
    return dataset


def test_the_results_stand_in_a_table_beside_the_chart_and_can_be_kept(researcher, compared):
    page = shown(researcher.get(address("recipe-progress")))

    figures = page.table("F1, attribution")
    assert figures.row("First 5 of 5 calls")["Calls"] == "5"
    assert figures.row("The stored aggregate")["n"] == "4"
    assert figures.row("Largest model, golden evidence: PaLM 540B")["n"] == "4"
    assert set(page.data("plots")["charts"]) == {"recipe"}

    def kept(format_key):
        return researcher.get(
            reverse("tradeoffs:recipe-file", args=["valley", Grid.objects.get().pk, format_key])
        )

    report = json.loads(kept("json").content)
    assert report["report"] == "recipe"
    assert kept("csv").content.count(b"\n") == 13  # twelve rows below the names
    assert b"$-$ largest model" in kept("latex").content
    assert kept("svg").content.startswith(b"<svg")
    assert kept("doc").status_code == 404
    assert report["rows"][0]["kind"] == "calls"
    assert recipe_chart([]) is None


def test_changed_scores_are_said_with_the_button_to_re_rank(researcher, compared):
    assert "Scores have changed" not in shown(researcher.get(address("recipe-progress"))).text
    chosen = Setup.objects.get(prompt="reranked").responses.get(example__key="alpha").chosen_from
    scores = AutoScore.objects.filter(target__response__example__key="alpha")
    scores.update(score=1)
    scores.filter(target__response=chosen).update(score=0)

    page = shown(researcher.get(address("recipe-progress")))

    assert "Scores have changed since. For 1 example" in page.text
    assert "Re-rank" in page.buttons
    researcher.post(address("rerank-recipe"), {})
    assert Setup.objects.filter(prompt="reranked").count() == 2
    page = shown(researcher.get(address("recipe-progress")))
    assert "Scores have changed" not in page.text
    assert "Re-rank" not in page.buttons


def test_the_number_of_queries_does_not_grow_with_what_is_there(researcher, compared):
    here = address("recipe-progress")

    def n_statements():
        return len(statements(lambda: researcher.get(here)))

    make_run(compared, signature="another 0")  # it judges attribution, as what re-ranks is another
    n_statements()
    before = n_statements()
    copied(Grid.objects.get(), name="another")
    for number in (1, 2):
        aggregate = Setup.objects.filter(prompt="reranked").order_by("pk")[0]
        responses = list(aggregate.responses.all())
        aggregate.settings |= {"choice": str(number)}
        copy = copied(aggregate, name=f"another {number}")
        for response in responses:
            copied(response, key=f"{number} {response.key}", setup=copy)
        make_run(compared, signature=f"another {number}")
    first = Setup.objects.get(prompt="top-1-of-3-part-1")
    for number, response in enumerate(list(first.responses.all())):
        copied(response, key=f"more-{number}")
        for run in MetricRun.objects.all():
            make_score(run, response.key, 0.5)

    assert n_statements() == before

"""The forms of KaLMA's experiments: their initial values, and the plans made from them."""

import pytest

from evaluation.graphs.experiments.forms.experiment import ScoreForm, StartForm
from evaluation.graphs.experiments.registry import EXPERIMENTS
from evaluation.graphs.experiments.services import ExperimentPlan, ScoringPlan, grid_of
from generation.grids.grid_file import GridModel
from generation.model_specs import ModelSpec, Price
from generation.models import Checkpoint
from tests.generation.lovelace import lovelace
from tests.makers import statements

pytestmark = pytest.mark.once

START = {
    "models": ["extractive"],
    "graph": "retrieved",
    "temperatures": "0.1, 0.5, 0.9",
    "seeds": "0, 1, 2",
    "sample": "",
    "max_tokens": "500",
}


@pytest.fixture
def graph(tmp_path):
    return lovelace(tmp_path)


@pytest.fixture
def judge():
    return Checkpoint.objects.create(
        name="judge", backend="openai", location="http://localhost:1/v1", served_name="judge"
    )


def start(dataset, **more):
    return StartForm(dataset, EXPERIMENTS["citations"], START | more)


@pytest.mark.parametrize("key", ["citations", "quality", "removal", "accuracy"])
def test_what_stands_there_first_is_what_the_paper_has(graph, key):
    shown = StartForm(graph, EXPERIMENTS[key])
    sent = {name: shown[name].value() for name in shown.fields}

    form = StartForm(graph, EXPERIMENTS[key], sent)

    assert form.is_valid(), form.errors
    usual = ExperimentPlan(key, (GridModel("extractive"),))
    assert grid_of(graph, form.plan()) == grid_of(graph, usual)
    assert ("graph" in form.fields) == (key in ("citations", "quality"))


def test_a_model_that_may_cost_something_has_prices_and_then_there_is_a_currency(graph, judge):
    assert "currency" in StartForm(graph, EXPERIMENTS["citations"]).fields
    sent = {"models": ["judge"], "currency": "EUR"}
    prices = {f"input_{judge.pk}": "1.5", f"output_{judge.pk}": "2"}

    form = start(graph, **sent, **prices)
    half = start(graph, **sent, **{f"input_{judge.pk}": "1.5"})

    assert form.is_valid(), form.errors
    assert form.plan().models == (GridModel("judge", "fp32", Price(1.5, 2.0)),)
    assert form.plan().currency == "EUR"
    assert half.errors == {
        f"output_{judge.pk}": [
            "Only one price is given. Give both prices, or none. A price may be 0."
        ]
    }


def test_without_such_a_model_there_is_no_currency(graph):
    assert "currency" not in StartForm(graph, EXPERIMENTS["citations"]).fields


@pytest.mark.parametrize(
    ("more", "field", "message"),
    [
        ({"models": []}, "models", "required"),
        ({"models": ["nobody"]}, "models", "not one of the available"),
        ({"temperatures": "3"}, "temperatures", "Found 3.0; expected a number from 0 to 2."),
        ({"temperatures": "hot"}, "temperatures", "Found 'hot'; expected a number"),
        ({"seeds": "-1"}, "seeds", "Found -1; expected a whole number from 0"),
        ({"seeds": ""}, "seeds", "required"),
        ({"sample": "dev"}, "sample", "not one of the available"),
        ({"graph": "any"}, "graph", "not one of the available"),
        ({"max_tokens": "0"}, "max_tokens", "greater than or equal to 1"),
    ],
)
def test_a_mistake_is_said_at_its_field(graph, more, field, message):
    form = start(graph, **more)

    assert not form.is_valid()
    assert message in form.errors[field][0]


def test_a_graph_is_offered_where_a_question_has_it(tmp_path):
    rows = [{"id": "q", "question": "Who was Lord Byron?", "entities": []}]
    form = StartForm(lovelace(tmp_path, kg_questions=rows), EXPERIMENTS["citations"])

    assert [option.data["value"] for option in form["graph"].subwidgets] == ["retrieved"]


def test_the_judge_of_quality_is_asked_about_100_answers_of_each_model(graph, judge):
    shown = ScoreForm(EXPERIMENTS["quality"])
    form = ScoreForm(EXPERIMENTS["quality"], {"model": "judge|fp32", "n_judged": 100, "seed": 0})
    of_all = ScoreForm(EXPERIMENTS["quality"], {"model": "judge|fp32", "n_judged": 0, "seed": 3})

    assert (shown["n_judged"].value(), shown["model"].label) == (100, "Judge")
    assert form.is_valid(), form.errors
    assert form.plan() == ScoringPlan(judge.spec(), "fp32", 100, 0)
    assert of_all.is_valid()
    assert of_all.plan() == ScoringPlan(judge.spec(), "fp32", 0, 3)


def test_entailment_scores_all_answers(graph):
    form = ScoreForm(EXPERIMENTS["citations"], {"model": "lexical|fp32"})

    assert form.is_valid(), form.errors
    assert form.plan() == ScoringPlan(ModelSpec("lexical"), "fp32")
    assert list(form.fields) == ["model"]


def test_without_a_judge_it_says_who_can_list_one(graph):
    form = ScoreForm(EXPERIMENTS["quality"])

    assert not form.can_score
    assert form.no_model_text.startswith("Only models that an admin has listed may score. ")


def test_a_model_whose_files_are_gone_is_refused_before_anything_is_scored(graph, tmp_path):
    gone = tmp_path / "gone"
    Checkpoint.objects.create(name="nli", backend="transformers", location=str(gone))

    form = ScoreForm(EXPERIMENTS["citations"], {"model": "nli|fp32"})

    assert not form.is_valid()
    assert "nli: its folder does not exist here" in str(form.errors["model"])


def test_more_models_take_no_more_queries(graph, judge):
    def shown():
        for form in (StartForm(graph, EXPERIMENTS["quality"]), ScoreForm(EXPERIMENTS["quality"])):
            form.as_div()

    n_with_one = len(statements(shown))
    for n in range(4):
        Checkpoint.objects.create(name=f"m{n}", backend="openai", location="http://localhost:1/v1")

    assert len(statements(shown)) == n_with_one

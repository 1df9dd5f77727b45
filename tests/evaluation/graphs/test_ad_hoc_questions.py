"""Ad-hoc questions about a graph enter no benchmark, and can be deleted."""

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.test import Client
from django.urls import reverse

from accounts.models import User
from annotation.planning import plan_units
from evaluation.graphs.experiments.pages.progress import state_of
from evaluation.graphs.reports.cited_answers import read_answers
from evaluation.graphs.reports.graph_retrieval import graph_retrieval
from evaluation.graphs.reports.graph_statistics import statistics_report
from evaluation.graphs.services.asked_questions import delete_asked_question
from evaluation.votes.export import export_folder
from generation.grids.plan import examples_of
from generation.models import Dataset, Example, Grid, Response, Sample, Setup
from generation.sample_choices import SampleChoices
from generation.services.asked_questions import AskedOf, QuestionError, ask, store_question
from generation.services.samples import request_sample
from generation.text_html import plain_html
from tests.annotation.makers import planned
from tests.generation.grid_runs import done, work
from tests.graph_material import QUESTION, hathaways
from tests.makers import audit_actions, import_path, import_rows
from tests.shown import shown

pytestmark = pytest.mark.once
WHO = "Who was the spouse of Anne Shakespeare?"


@pytest.fixture
def client(rosa: User, client_for: Callable[[User], Client]) -> Client:
    return client_for(rosa)


@pytest.fixture
def graph(tmp_path: Path) -> Dataset:
    """Return a dataset of two questions, with no answer."""
    return hathaways(tmp_path, responses=[])


@pytest.fixture
def question(graph: Dataset) -> Example:
    """Return a question that was asked of a model on a page, and answered."""
    example = store_question(graph, WHO, None)
    assert work(ask(example, AskedOf("extractive"), None)).state == "done"
    return example


def test_a_question_that_the_dataset_has_is_none(graph: Dataset):
    assert store_question(graph, WHO, None).is_ad_hoc
    assert not store_question(graph, QUESTION, None).is_ad_hoc


def test_counts_are_without_it(client: Client, graph: Dataset, question: Example):
    datasets = shown(client.get(reverse("generation:datasets"))).tables[0]
    graphs = client.get(reverse("graphs:graphs"))
    questions = shown(client.get(reverse("graphs:questions", args=[graph.slug])))
    dataset = shown(client.get(reverse("generation:dataset", args=[graph.slug])))
    api = client.get(f"/api/v1/datasets/{graph.slug}/").json()

    assert datasets.row(graph.name)["Examples"] == "2"
    assert datasets.row(graph.name)["Responses"] == "0"
    assert "2 + 1 ad hoc" in shown(graphs).text
    assert "2 questions" in questions.text
    assert "1 ad hoc" in questions.links
    assert len(dataset.table("Examples").rows) == 2
    assert dataset.links["1 ad-hoc question is listed separately"].endswith("?source=asked")
    assert (api["n_examples"], api["n_responses"], api["setups"]) == (2, 0, [])


def test_it_makes_no_experiment_done(graph: Dataset, question: Example):
    state = state_of(graph, "citations")

    assert (state.n_answers, state.grids, state.asked) == (0, [], "next")
    assert len(read_answers(graph).responses) == 0


def test_grids_samples_and_reports_are_without_it(graph: Dataset, question: Example):
    sample = request_sample(graph, SampleChoices("all of it"), None)

    assert sorted(examples_of(graph, None).values()) == ["k1", "k2"]
    assert sample.n_total == 2
    own = Sample.objects.exclude(pk=sample.pk).get()
    assert list(examples_of(graph, own)) == [question.pk], "unless it is asked for"
    [fact] = [row for row in statistics_report(graph).records if row["name"] == "questions"]
    assert fact["n"] == 2
    assert max(row["n"] for row in graph_retrieval(graph).report.records) == 2


def test_a_grid_of_the_same_setup_counts_without_its_answer(graph: Dataset, question: Example):
    grid = done(graph, models=[{"name": "extractive"}], prompts=["graph-retrieved"])

    [setup] = Setup.objects.answered()
    assert setup.grids.filter(pk=grid.pk).exists()
    assert sorted(read_answers(graph).examples) == sorted(examples_of(graph, None))
    counted: dict[str, object] = vars(Setup.objects.with_n_responses().get(pk=setup.pk))
    assert counted["n_responses"] == 2


def test_studies_and_forms_are_without_it(client: Client, graph: Dataset, question: Example):
    assert Response.objects.filter(example=question).exists()

    form = shown(client.get(reverse("annotation:new-study") + f"?dataset={graph.slug}"))
    scored = shown(client.get(reverse("evaluation:start-run")))
    study = planned(graph, scheme="SSA")

    assert "setups" not in form.fields or not form.choices("setups")
    assert f"dataset:{graph.slug}" not in scored.choices("over")
    assert plan_units(study).units == []


def test_it_is_exported_with_its_mark_and_imported_with_it(
    graph: Dataset, question: Example, tmp_path: Path
):
    export_folder(graph, None, tmp_path / "out")
    rows = (tmp_path / "out" / "kg_questions.jsonl").read_text("utf-8").splitlines()

    assert {row["id"]: row.get("ad_hoc") for row in map(json.loads, rows)} == {
        "k1": None,
        "k2": None,
        question.key: True,
    }
    again = import_path(tmp_path / "out", name="again").dataset
    assert again
    assert again.examples.get(is_ad_hoc=True).key == question.key
    assert again.responses.of_benchmark().count() == 0
    assert import_path(tmp_path / "out", name="again").n_examples == 0


def test_its_page_says_so_and_deletes_it(client: Client, graph: Dataset, question: Example):
    page = shown(client.get(reverse("graphs:question", args=[graph.slug, question.pk])))
    address = page.links["Delete"]

    sure = shown(client.get(address))
    done_ = shown(client.post(address, follow=True))

    assert "ad hoc" in page.text
    assert "its 1 answer," in sure.text
    assert done_.messages[0] == "The question and its answers are deleted."
    assert not Example.objects.filter(pk=question.pk).exists()
    for model in (Response, Grid, Sample, Setup):
        assert not model.objects.exists(), model
    assert audit_actions()[-1] == ("question.deleted", graph.name)


def test_pages_forget_its_text(
    question: Example, rosa: User, django_capture_on_commit_callbacks: Callable[..., Any]
):
    kept = plain_html(WHO)

    with django_capture_on_commit_callbacks(execute=True):
        delete_asked_question(question, rosa)

    assert plain_html(WHO) is not kept


def test_what_a_grid_asked_as_well_keeps_its_setup(graph: Dataset, question: Example, rosa: User):
    done(graph, models=[{"name": "extractive"}], prompts=["graph-retrieved"], max_tokens=[500])

    delete_asked_question(question, rosa)

    assert Setup.objects.answered().count() == Setup.objects.count() == 1
    assert Response.objects.count() == 2


def test_a_question_of_the_benchmark_is_not_deleted(client: Client, graph: Dataset, rosa: User):
    example = graph.examples.get(key="k1")

    page = shown(client.get(reverse("graphs:question", args=[graph.slug, example.pk])))
    answer = client.post(reverse("graphs:delete-question", args=[graph.slug, example.pk]))

    assert "Delete" not in page.links
    assert answer.status_code == 404
    with pytest.raises(QuestionError, match="cannot be deleted"):
        delete_asked_question(example, rosa)


def test_a_question_that_is_being_asked_is_kept_until_its_answer_is_there(
    client: Client, graph: Dataset
):
    example = store_question(graph, WHO, None)
    ask(example, AskedOf("extractive"), None)

    answer = client.post(
        reverse("graphs:delete-question", args=[graph.slug, example.pk]), follow=True
    )

    assert "being asked" in shown(answer).messages[0]
    assert Example.objects.filter(pk=example.pk).exists()


def test_questions_of_earlier_versions_are_recognised_by_their_keys(
    graph: Dataset, question: Example, tmp_path: Path
):
    like = {"id": "asked-0123456789abcdef", "question": "Who?", "entities": []}
    import_rows(tmp_path / "like", graph.name, kg_questions=[like])
    Example.objects.update(is_ad_hoc=False)

    migration = import_module("generation.migrations.0009_asked_questions_are_ad_hoc")
    migration.mark(apps, None)

    assert Example.objects.get(is_ad_hoc=True) == question

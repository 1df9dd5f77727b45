"""Entities that carry a text: a model is shown it, and metrics judge against what it was shown."""

import pytest
from django.urls import reverse

from evaluation.metrics.base import ScoreRequest
from evaluation.metrics.text_quality import Consistency, Rating
from evaluation.models import MetricRun
from evaluation.runs.materials import material_of
from evaluation.votes.export import export_folder
from generation.models import Call, Response
from generation.text.flat_graph import document_texts
from tests.generation.question_makers import ask, grid_of, started
from tests.makers import import_path, import_rows, response_row
from tests.shown import shown

pytestmark = pytest.mark.once

TEXT = "The mill closed in 1971.\nA flood, of all things: it was ruined."
ONE_LINE = "The mill closed in 1971. A flood, of all things: it was ruined."
PLAIN = "{name: Mary Hill, occupation: miller, qid: Q1}"
DOCUMENT = f"{{name: Old mill, author: Mary Hill, document text: {ONE_LINE}, qid: D1}}"
ENTITIES = [
    {
        "qid": "D1",
        "label": "Old mill",
        "type": "document",
        "text": TEXT,
        "triples": [{"relation": "author", "value": "Mary Hill", "value_qid": "Q1"}],
    },
    {
        "qid": "Q1",
        "label": "Mary Hill",
        "type": "human",
        "triples": [{"relation": "occupation", "value": "miller"}],
    },
]
QUESTIONS = [{"id": "k1", "question": "When did the mill close?", "entities": ["Q1", "D1"]}]


def graph_of(folder, name="mill", text=TEXT, **more):
    entities = [ENTITIES[0] | {"text": text}, ENTITIES[1]]
    rows = {"entities": entities, "kg_questions": QUESTIONS} | more
    dataset = import_rows(folder / name, name, **rows).dataset
    assert dataset
    return dataset


def answered(dataset, name="grid"):
    """Ask the question of a dataset, and return its answer."""
    ask(started(dataset, grid_of(name, model="extractive", prompts=["graph-gold"])))
    return Response.objects.get(dataset=dataset)


def seen_by_metrics(response):
    run = MetricRun(parameters={"evidence": "shown"})
    [material] = material_of({1: response.pk}, [1], run)
    return material


def test_a_prompt_and_metrics_have_the_same_text(tmp_path):
    response = answered(graph_of(tmp_path))

    assert f"information:\n{PLAIN}\n{DOCUMENT}\nWhen did" in Call.objects.get().prompt
    material = seen_by_metrics(response)
    assert [passage.text for passage in material.evidence_texts] == [f"{PLAIN}\n{DOCUMENT}"]
    asked = Consistency().asked(material)
    assert isinstance(asked, ScoreRequest)
    asks = [ask.text for ask in asked.asks if isinstance(ask, Rating)]
    assert asks
    assert all(f"{PLAIN}\n{DOCUMENT}" in text for text in asks)
    assert document_texts(response.graph_shown) == {"D1": ONE_LINE}


def test_an_answer_that_was_not_shown_the_text_is_not_judged_by_it(tmp_path):
    """Its file says which triples were shown; that the graph has more changes nothing."""
    triples = [["D1", "name", "Old mill"], ["D1", "author", "Mary Hill"]]
    imported = response_row("r1", "k1", graph_shown=triples)
    graph_of(tmp_path, responses=[imported])

    material = seen_by_metrics(Response.objects.get())

    [evidence] = material.evidence_texts
    assert evidence.text == "{name: Old mill, author: Mary Hill, qid: D1}"


def test_without_a_text_nothing_changes(tmp_path):
    response = answered(graph_of(tmp_path, text=" "))

    bare = "{name: Old mill, author: Mary Hill, qid: D1}"
    assert f"information:\n{PLAIN}\n{bare}\nWhen did" in Call.objects.get().prompt
    assert document_texts(response.graph_shown) == {}


def test_the_page_of_an_answer_shows_the_text_that_its_model_read(tmp_path, rosa, client_for):
    dataset = graph_of(tmp_path)
    response = answered(dataset)

    address = reverse("evaluation:response", args=[dataset.slug, response.pk])
    page = shown(client_for(rosa).get(address))

    assert DOCUMENT in page.text


def test_what_was_shown_comes_back_from_an_export(tmp_path):
    dataset = graph_of(tmp_path)
    response = answered(dataset)
    export_folder(dataset, None, tmp_path / "export")

    same = import_path(tmp_path / "export", "mill")
    other = import_path(tmp_path / "export", "elsewhere").dataset

    assert {kind: counts["new"] for kind, counts in same.counts.items() if counts["new"]} == {}
    assert Response.objects.get(dataset=other).graph_shown == response.graph_shown

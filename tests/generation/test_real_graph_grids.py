"""Prompts and answers over BioKaLMA: its graphs read back, and its first questions asked."""

import json

import pytest

from generation.models import Call, Response
from generation.services.citations import store_cited_facts
from generation.text.citations import parse_citations
from generation.text.graph_prompts import build_graph_prompt, shown_graphs
from generation.text.graph_reading import read_graph_prompt
from tests.generation.question_makers import ask, grid_of, started
from tests.makers import import_path

pytestmark = pytest.mark.once

PUBLISHED = "data/biokalma/complex_question_graph.json"
N_QUESTIONS = 20


@pytest.fixture(scope="module")
def items(shared):
    path = shared / PUBLISHED
    if not path.is_file():
        pytest.skip(f"no BioKaLMA at {path}")
    return json.loads(path.read_text("utf-8"))


def test_every_published_graph_is_read_back_from_its_prompt(items):
    """98 values hold ', ' and 8 hold ': ': none is taken for two triples."""
    n_graphs = 0
    for question, graphs in items:
        triples = [(each["qid"], name, value) for each in graphs for name, value in each.items()]
        read = read_graph_prompt(build_graph_prompt(triples, question).text)
        assert read is not None
        assert read.graphs == shown_graphs(triples)
        n_graphs += len(read.graphs)

    assert n_graphs == 617


def test_the_first_questions_are_answered_with_citations_of_their_graphs(items, tmp_path):
    some = items[:N_QUESTIONS]
    path = tmp_path / "complex_question_graph.json"
    path.write_text(json.dumps(some), "utf-8")
    dataset = import_path(path, "biokalma").dataset
    assert dataset

    grid = ask(
        started(dataset, grid_of(model="extractive", prompts=["graph-imported", "graph-retrieved"]))
    )

    assert (grid.state, grid.error) == ("done", "")
    responses = Response.objects.select_related("setup", "example").order_by("example__pk")
    assert responses.count() == 2 * N_QUESTIONS
    imported = [each for each in responses if each.setup.prompt == "graph-imported"]
    for response, (_, graphs) in zip(imported, some, strict=True):
        assert list(dict.fromkeys(qid for qid, _, _ in response.graph_shown or ())) == [
            graph["qid"] for graph in graphs
        ]
    for response in responses:
        shown = {tuple(triple) for triple in response.graph_shown or ()}
        parsed = parse_citations(response.text, {relation for _, relation, _ in shown})
        cited = {(fact.qid, fact.relation, fact.value) for fact in parsed.citations}
        assert cited <= shown
        assert bool(cited) == bool(shown)
    assert not Call.objects.exclude(problem="").exists()
    assert store_cited_facts([each.pk for each in imported]) > N_QUESTIONS

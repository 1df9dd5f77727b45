"""The triples that a response is judged against, by the evidence choice."""

import pytest

from generation.evidence import graphs_of, same_graph
from generation.models import Response
from tests.graph_material import SHOWN, hathaways
from tests.makers import response_row, statements

pytestmark = pytest.mark.once

# The gold entities of k1 are Q1 and Q3; the graph has these triples of them.
GOLD = [
    ("Q1", "name", "Anne Hathaway"),
    ("Q1", "spouse", "William Shakespeare"),
    ("Q1", "place of birth", "Shottery"),
    ("Q1", "date of death", "1623"),
    ("Q3", "name", "William Shakespeare"),
    ("Q3", "spouse", "Anne Hathaway"),
    ("Q3", "occupation", "playwright"),
    ("Q3", "notable work", "Hamlet"),
]
AS_SHOWN = [tuple(triple) for triple in SHOWN]


@pytest.fixture
def dataset(tmp_path, db):
    graph_and_more = [
        *SHOWN,
        ["Q1", "occupation", " "],
        ["Q1", "place  of birth", "Shottery\nvillage"],
    ]
    return hathaways(
        tmp_path,
        responses=[
            response_row("stated", "k1", graph_shown=SHOWN),
            response_row("untidy", "k1", setup="b", graph_shown=graph_and_more),
            response_row("nothing", "k1", setup="c", graph_shown=[]),
            response_row("no passages", "k1", setup="d", evidence_shown=[]),
            response_row("not stated", "k1", setup="e"),
            response_row("no gold", "k2", setup="e"),
        ],
    )


def judged_against(dataset, choice):
    graphs = dict(graphs_of(dataset.responses.all(), choice))
    return {key: list(graphs[pk]) for pk, key in dataset.responses.values_list("pk", "key")}


def test_shown_is_what_the_model_was_given(dataset):
    assert judged_against(dataset, "shown") == {
        "stated": AS_SHOWN,
        # As prompts have it: nothing without a value, one space for white space.
        "untidy": [*AS_SHOWN, ("Q1", "place of birth", "Shottery village")],
        "nothing": [],
        "no passages": [],
        "not stated": GOLD,  # a response that does not say counts as shown the golden evidence
        "no gold": [],
    }


def test_golden_is_the_sub_graphs_of_the_gold_entities_whatever_was_given(dataset):
    found = judged_against(dataset, "golden")

    assert found.pop("no gold") == []
    assert all(graph == GOLD for graph in found.values())


def test_a_search_finds_passages_and_no_graph(dataset):
    assert not any(judged_against(dataset, "retrieved").values())


def test_only_some_responses_can_be_asked_for(dataset):
    wanted = dataset.responses.get(key="stated").pk

    assert dict(graphs_of(dataset.responses.all(), "shown", {wanted})) == {wanted: tuple(AS_SHOWN)}


def test_responses_with_the_same_triples_have_one_graph_in_the_order_of_the_first(dataset):
    def graph(*stored, choice="shown"):
        question = dataset.examples.get(key="k1")
        responses = [
            Response(dataset=dataset, example=question, graph_shown=each, is_evidence_stated=True)
            for each in stored
        ]
        return list(same_graph(responses, choice))

    other_order = list(reversed(SHOWN))
    assert graph(SHOWN) == AS_SHOWN
    assert graph(SHOWN, other_order) == AS_SHOWN
    assert graph(other_order, SHOWN) == [tuple(triple) for triple in other_order]
    assert graph(SHOWN, SHOWN[:2]) == []
    assert graph(SHOWN, SHOWN[:2], choice="golden") == GOLD


def test_it_costs_the_same_statements_for_few_and_many(dataset, tmp_path):
    def cost(responses):
        return len(statements(lambda: dict(graphs_of(responses, "golden"))))

    assert cost(dataset.responses.filter(key="stated")) == cost(dataset.responses.all()) == 4

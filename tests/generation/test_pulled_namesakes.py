"""From a real Oxigraph server to a chosen sub-graph: namesakes pulled, filtered and re-ranked."""

import pytest

from generation.retrieval.sparql import Endpoint, EndpointPatience, Wikibase
from generation.retrieval.subgraphs import SubgraphRetriever, subgraphs
from generation.retrieval.wikibase import Shape
from tests.generation.graph_rows import graph_of
from tests.oxigraph_server import oxigraph_server
from tests.ruler_model import save_ruler_model
from tests.wikidata_shape import ntriples, world

pytestmark = pytest.mark.once

NAMES = [
    "Anne Hathaway",
    "William Shakespeare",
    "Stratford-upon-Avon",
    "Artemisia Gentileschi",
    "Chinese",
    "Paris",
]
AT_ONCE = EndpointPatience(between=0.0)


@pytest.fixture(scope="module")
def pulled(tmp_path_factory):
    """The entities that have one of the names, as a server of 10,000 triples and more has them."""
    with oxigraph_server(ntriples(world()), tmp_path_factory.mktemp("oxigraph")) as server:
        assert server.n_triples >= 10_000
        wikibase = Wikibase(
            Endpoint(server.url, "Attest tests", allow_private=True, patience=AT_ONCE), Shape()
        )
        matches = wikibase.named(NAMES)
        qids = [match.qid for name in NAMES for match in matches[name]]
        return [each.record for each in wikibase.described(qids).values()]


@pytest.fixture
def graph(db, pulled):
    return graph_of(pulled)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return str(save_ruler_model(tmp_path_factory.mktemp("model")))


@pytest.fixture(params=["labels", "model"])
def retriever(request, graph, settings, model):
    settings.SPACY_MODEL = model if request.param == "model" else ""
    return SubgraphRetriever(graph.pk)


@pytest.mark.parametrize(
    ("question", "qids"),
    [
        (
            "What did Anne Hathaway, wife of William Shakespeare of Stratford-upon-Avon, inherit?",
            ("Q232478", "Q692", "Q189288"),
        ),
        ("Which award did the actor Anne Hathaway, born in Brooklyn, receive?", ("Q36301",)),
        ("To which ethnic group does a Chinese poet belong?", ("Q6501380",)),
        ("Is Chinese a language with Chinese characters?", ("Q7850",)),
    ],
)
def test_namesakes_that_were_pulled_are_told_apart_by_the_question(retriever, question, qids):
    (found,) = retriever.retrieved([question])

    assert found.qids == qids
    assert len(found.steps[0].candidates) == 2


def test_the_type_filter_drops_the_man_where_the_city_is_named(graph, settings, model):
    question = "What did Artemisia Gentileschi, painter and human, see of Paris?"
    settings.SPACY_MODEL = model

    (found,) = SubgraphRetriever(graph.pk).retrieved([question])

    city, man = found.steps[1].candidates
    assert (city.qid, city.type, city.type_check) == ("Q90", "city", "fits")
    assert (man.qid, man.type, man.type_check) == ("Q167646", "human", "dropped")
    assert man.score > city.score  # neighbours alone would choose the man


def test_the_chosen_sub_graph_is_what_the_endpoint_says(graph):
    stated = subgraphs(graph.pk, ["Q232478"])["Q232478"]

    assert stated[0] == ("Q232478", "name", "Anne Hathaway")
    assert ("Q232478", "spouse", "William Shakespeare") in stated
    assert not any(relation == "VIAF ID" for _, relation, _ in stated)
    assert not any(relation == "mother" for _, relation, _ in stated)  # an unknown value

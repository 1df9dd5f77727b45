"""Edges between many namesakes: few queries, and the same edges as pair by pair."""

from itertools import product
from urllib.parse import quote

import pytest

from generation.retrieval.sparql import Wikibase
from generation.retrieval.wikibase import Shape, edges_among_query
from tests.endpoint_server import endpoint_server, forwards, refuses
from tests.generation.test_sparql import HASTY, endpoint

PATIENCE = HASTY._replace(query=20.0, most_bytes=10_000_000)
ANNES = ["Q36301", "Q232478"]


def wikibase(url):
    return Wikibase(endpoint(url, patience=PATIENCE), Shape())


def people(graph):
    """Return entities that edges of the graph connect, by asking for all that Anne leads to."""
    return ANNES + sorted(
        {
            t.value_qid
            for p in graph.described(ANNES).values()
            for t in p.record.triples
            if t.value_qid
        }
    )


def test_they_are_those_of_all_pairs_in_two_queries(oxigraph):
    everybody = people(wikibase(oxigraph.url))
    with endpoint_server(forwards(oxigraph.url)) as server:
        found = wikibase(server.url).edges_among(ANNES, everybody)
        assert len(server.asked) == 2
    pairs = [pair for a, b in product(ANNES, everybody) for pair in ((a, b), (b, a))]

    assert len(found) > 1
    assert set(found) == set(wikibase(oxigraph.url).edges(pairs))


def test_what_is_too_much_is_asked_in_halves(oxigraph):
    everybody = people(wikibase(oxigraph.url))
    whole = wikibase(oxigraph.url).edges_among(ANNES, everybody)
    with endpoint_server(refuses(413), forwards(oxigraph.url)) as server:
        found = wikibase(server.url).edges_among(ANNES, everybody)
        assert len(server.asked) == 4  # refused, two halves, and the other way

    assert set(found) == set(whole)


def test_fifty_and_fifty_fit_into_an_address():
    """Some servers cut addresses at 8,000 characters."""
    qids = [f"Q{120_000_000 + n}" for n in range(100)]
    assert len(quote(edges_among_query(qids[:50], qids[50:], Shape()))) < 8000
    with pytest.raises(ValueError, match="expected the name of an entity"):
        edges_among_query(["Q1"], ["Q2> ?p ?o"], Shape())

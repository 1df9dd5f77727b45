"""The sub-graphs that a question needs: labels, aliases, types, namesakes; number of queries."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from generation.models import Dataset
from generation.retrieval import subgraphs as module
from generation.retrieval.graph_state import graph_hash
from generation.retrieval.subgraphs import SubgraphRetriever, shown_subgraphs, subgraphs
from generation.services.graphs import store_entities
from generation.text.flat_graph import DOCUMENT_TEXT
from tests.generation.graph_rows import entity, from_row, graph_of
from tests.ruler_model import save_ruler_model
from tests.wikidata_shape import by_hand, interchange_rows

pytestmark = pytest.mark.both

ACTRESS, WIFE, SHAKESPEARE = "Q36301", "Q232478", "Q692"
PARIS, PARIS_THE_MAN = "Q90", "Q167646"
LANGUAGE, PEOPLE = "Q7850", "Q6501380"
OF_THE_WIFE = "What did Anne Hathaway, wife of William Shakespeare of Stratford-upon-Avon, inherit?"


@pytest.fixture
def graph():
    """The paper's examples, with what else is awkward."""
    return graph_of(map(from_row, interchange_rows(by_hand())))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return str(save_ruler_model(tmp_path_factory.mktemp("model")))


def retrieved(dataset, *questions):
    return SubgraphRetriever(dataset.pk).retrieved(questions)


def chosen(dataset, question):
    """Return the text and the chosen qid of each mention of a question."""
    (found,) = retrieved(dataset, question)
    return [(step.mention.text, step.chosen.qid if step.chosen else None) for step in found.steps]


# --- names ----------------------------------------------------------------------------------


def test_the_two_anne_hathaways_are_told_apart_by_their_neighbours(graph):
    of_the_actress = "Is Anne Hathaway, the actor from Brooklyn, the wife of Adam Shulman?"

    first, second = retrieved(graph, OF_THE_WIFE, of_the_actress)

    assert first.qids == (WIFE, SHAKESPEARE, "Q189288")
    wife, actress = first.steps[0].candidates
    assert (wife.qid, wife.score) == (WIFE, 4)
    assert set(wife.matched) == {"William Shakespeare", "Stratford-upon-Avon", "Anne", "Hathaway"}
    assert (actress.qid, set(actress.matched)) == (ACTRESS, {"Anne", "Hathaway"})
    assert [step.chosen.score for step in first.steps if step.chosen] == [4, 2, 0]
    assert second.qids[0] == ACTRESS


def test_a_name_is_looked_up_among_aliases_too_and_the_alias_is_said(graph):
    (found,) = retrieved(graph, "Was The Bard from Stratford?")

    bard, town = (step.chosen for step in found.steps)
    assert (bard.qid, bard.label, bard.alias) == (SHAKESPEARE, "William Shakespeare", "The Bard")
    assert (town.qid, town.alias) == ("Q189288", "Stratford")


def test_a_label_and_another_s_alias_are_namesakes(graph):
    # The language has the label, the people the alias.
    assert chosen(graph, "Is Chinese a language written in Chinese characters?") == [
        ("Chinese", LANGUAGE),
        ("Chinese characters", "Q8201"),  # the longest name
    ]
    assert chosen(graph, "Is Chinese an ethnic group?") == [("Chinese", PEOPLE)]


def test_only_the_exact_name_is_found(graph, settings, tmp_path):
    kinds = dict.fromkeys(("anne hathaway", "Anne Hathway", "Hathaway, Anne"), "PERSON")
    settings.SPACY_MODEL = str(save_ruler_model(tmp_path, kinds))

    (found,) = retrieved(graph, "Did anne hathaway know Anne Hathway, or Hathaway, Anne?")

    assert [step.candidates for step in found.steps] == [(), (), ()]
    assert found.qids == ()


def test_an_article_or_a_possessive_belongs_to_a_name_where_the_graph_has_it(settings, model):
    settings.SPACY_MODEL = model
    graph = graph_of(
        [
            entity("Q1", "The Hague", "city"),
            entity("Q2", "Hague", "city"),
            entity("Q3", "Royal Navy", "navy"),
            entity("Q4", "McDonald's", "company"),
            entity("Q5", "McDonald", "company"),
            entity("Q6", "Paris", "city"),
        ]
    )

    assert chosen(graph, "Is The Hague with the Royal Navy? McDonald's, Paris's?") == [
        ("The Hague", "Q1"),
        ("the Royal Navy", "Q3"),
        ("McDonald", "Q4"),
        ("Paris", "Q6"),
    ]


@pytest.mark.parametrize("stored", ["\u00c9amon", "E\u0301amon"])
@pytest.mark.parametrize("asked", ["\u00c9amon", "E\u0301amon"])
def test_composed_and_decomposed_names_are_one(stored, asked):
    graph = graph_of([entity("Q1", f"{stored} de Valera", aliases=[f"{stored} D"])])

    assert chosen(graph, f"Who was {asked} de Valera?") == [(f"{asked} de Valera", "Q1")]
    assert [qid for _, qid in chosen(graph, f"Who was {asked} D?")] == ["Q1"]


def test_an_entity_that_is_named_twice_is_chosen_once(graph):
    (found,) = retrieved(graph, "William Shakespeare or Shakespeare?")

    assert len(found.steps) == 2
    assert found.qids == (SHAKESPEARE,)


def test_entities_of_other_datasets_are_not_found(graph):
    other = graph_of([entity("Q1", "Rome")], "other")

    assert chosen(other, "Was Anne Hathaway in Rome?") == [("Rome", "Q1")]


# --- types ----------------------------------------------------------------------------------


def test_paris_the_man_is_dropped_where_a_place_is_named(graph, settings, model):
    question = "Did Paris, male and human, see the Trojan War?"  # his neighbours, all of them
    assert chosen(graph, question)[0] == ("Paris", PARIS_THE_MAN)

    settings.SPACY_MODEL = model
    (found,) = retrieved(graph, question)

    city, man = found.steps[0].candidates
    assert (city.qid, city.type_check, city.score) == (PARIS, "fits", 0)
    assert (man.qid, man.type_check, man.score) == (PARIS_THE_MAN, "dropped", 3)
    assert found.qids == (PARIS,)


def test_a_mention_whose_candidates_are_all_of_another_type_means_nobody(settings, model):
    settings.SPACY_MODEL = model
    graph = graph_of([entity("Q1", "Paris", "human"), entity("Q2", "1974", "human")])

    assert chosen(graph, "Was it in Paris in 1974?") == [("Paris", None), ("1974", None)]


def test_a_type_that_is_missing_or_in_no_list_is_kept_and_marked(settings, model):
    settings.SPACY_MODEL = model
    graph = graph_of([entity("Q1", "Paris"), entity("Q2", "Paris", "asteroid")])

    (found,) = retrieved(graph, "Paris?")

    assert [each.type_check for each in found.steps[0].candidates] == ["unchecked", "unchecked"]
    assert found.qids == ("Q1",)


# --- many of a name -------------------------------------------------------------------------


def test_of_very_many_namesakes_those_with_the_lowest_numbers_are_looked_at(monkeypatch):
    monkeypatch.setattr(module, "MOST_NAMESAKES", 3)
    said = [("occupation", "writer"), ("place of birth", "Rome"), ("place of death", "Pisa")]
    graph = graph_of(entity(f"Q{n}", "John Smith", "human", said[: n % 4]) for n in range(1, 9))
    # Triples: Q3 and Q7 three, Q2 and Q6 two, Q1 and Q5 one, Q4 and Q8 none.

    (found,) = retrieved(graph, "Who was John Smith?")

    (step,) = found.steps
    assert [each.qid for each in step.candidates] == ["Q3", "Q2", "Q1"]
    assert [each.n_triples for each in step.candidates] == [3, 2, 1]
    assert step.n_not_shown == 5


def test_triples_without_a_value_do_not_count():
    graph = graph_of(
        [
            entity("Q1", "Ada", "human", [("born", ""), ("died", " "), ("spouse", "")]),
            entity("Q2", "Ada", "human", [("occupation", "writer")]),
        ]
    )

    (found,) = retrieved(graph, "Who was Ada?")

    assert [(each.qid, each.n_triples) for each in found.steps[0].candidates] == [
        ("Q2", 1),
        ("Q1", 0),
    ]


# --- queries and signature ------------------------------------------------------------------


def test_any_number_of_questions_takes_four_queries(graph, django_assert_num_queries):
    retriever = SubgraphRetriever(graph.pk)
    for n in (1, 40):
        with django_assert_num_queries(4):
            found = retriever.retrieved([OF_THE_WIFE, "Was Chinese heard in Paris?"] * n)
        assert len(found) == 2 * n
        assert found[:2] * n == found


def test_a_retriever_of_a_graph_that_is_known_takes_one_query(graph, django_assert_num_queries):
    SubgraphRetriever(graph.pk)

    with django_assert_num_queries(1):
        SubgraphRetriever(graph.pk)


def test_more_names_than_a_statement_holds_are_asked_for_in_lots(graph, monkeypatch):
    whole = retrieved(graph, OF_THE_WIFE, "Was Chinese heard in Paris?")

    monkeypatch.setattr(module, "MOST_VALUES", 2)

    assert retrieved(graph, OF_THE_WIFE, "Was Chinese heard in Paris?") == whole


def test_questions_without_names_and_no_questions_need_no_query(graph, django_assert_num_queries):
    retriever = SubgraphRetriever(graph.pk)

    with django_assert_num_queries(0):
        assert retriever.retrieved([]) == []
        assert retriever.retrieved(["What is it?", ""]) == [((), ()), ((), ())]


def test_another_graph_another_signature_and_the_same_graph_the_same(graph, settings, model):
    before = SubgraphRetriever(graph.pk).signature
    rows = [from_row(row) for row in interchange_rows(by_hand())]
    copy = graph_of(reversed(rows), "copy")  # another order, other ids

    assert SubgraphRetriever(copy.pk).signature == before
    assert graph_hash(copy.pk) == graph_hash(graph.pk)
    assert graph_hash(graph.pk) in before

    store_entities(copy, [entity("Q1", "Universe")])
    assert graph_hash(copy.pk) != graph_hash(graph.pk)
    assert SubgraphRetriever(copy.pk).signature != before

    settings.SPACY_MODEL = model
    assert SubgraphRetriever(graph.pk).signature != before


def test_a_changed_triple_changes_the_hash_of_the_graph():
    once = graph_of([entity("Q1", "Rome", "city", [("country", "Italy")])], "a")
    again = graph_of([entity("Q1", "Rome", "city", [("country", "France")])], "b")

    assert graph_hash(once.pk) != graph_hash(again.pk)


def test_there_is_no_retriever_without_a_dataset():
    with pytest.raises(Dataset.DoesNotExist):
        SubgraphRetriever(0)


# --- sub-graphs -----------------------------------------------------------------------------


def test_a_sub_graph_is_the_name_and_then_the_triples_in_the_file_s_order():
    said = [("occupation", "writer"), ("born", ""), ("spouse", "  "), ("place of birth", "Rome")]
    graph = graph_of([entity("Q1", "Ada", "human", said), entity("Q2", "Rome")])
    graph_of([entity("Q3", "Pisa"), entity("Q1", "Another Ada")], "other")

    with CaptureQueriesContext(connection) as queries:
        found = subgraphs(graph.pk, ["Q2", "Q1", "Q3", "Q2"])

    assert len(queries) == 2
    assert list(found.items()) == [
        ("Q2", (("Q2", "name", "Rome"),)),
        (
            "Q1",
            (
                ("Q1", "name", "Ada"),
                ("Q1", "occupation", "writer"),
                ("Q1", "place of birth", "Rome"),
            ),
        ),
    ]


def test_models_are_shown_the_texts_of_document_nodes_behind_their_triples():
    documents = [
        entity("D1", "The mill", "document", [("author", "Mary")], text="It closed in 1971.\nWhy?"),
        entity("D2", "Empty", "document", text="  "),
        entity("Q1", "Ada", "human", [("occupation", "writer")]),
    ]
    graph = graph_of(documents)

    shown = shown_subgraphs(graph.pk, ["D1", "D2", "Q1"])
    stated = subgraphs(graph.pk, ["D1", "D2", "Q1"])

    assert shown["D1"] == (*stated["D1"], ("D1", DOCUMENT_TEXT, "It closed in 1971.\nWhy?"))
    assert stated["D1"] == (("D1", "name", "The mill"), ("D1", "author", "Mary"))
    assert [shown[qid] for qid in ("D2", "Q1")] == [stated[qid] for qid in ("D2", "Q1")]


def test_sub_graphs_of_more_entities_than_a_statement_holds(monkeypatch):
    graph = graph_of(entity(f"Q{n}", f"Name {n}", "", [("next", str(n + 1))]) for n in range(5))
    monkeypatch.setattr(module, "MOST_VALUES", 2)

    found = subgraphs(graph.pk, [f"Q{n}" for n in range(5)])

    assert [triples[1] for triples in found.values()] == [
        (f"Q{n}", "next", str(n + 1)) for n in range(5)
    ]
    assert subgraphs(graph.pk, []) == {}

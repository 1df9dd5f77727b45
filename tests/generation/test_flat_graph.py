"""Sub-graphs as flat text: the form of KaLMA's table 10."""

import pytest

from generation.text.flat_graph import DOCUMENT_TEXT, document_texts, flat_graph


def test_an_entity_is_a_line_with_its_qid_last():
    graph = [
        ("Q367360", "name", "Orazio Gentileschi"),
        ("Q212657", "name", "Artemisia Gentileschi"),
        ("Q367360", "place of death", "London"),
    ]

    assert flat_graph(graph) == (
        "{name: Orazio Gentileschi, place of death: London, qid: Q367360}\n"
        "{name: Artemisia Gentileschi, qid: Q212657}"
    )


@pytest.mark.parametrize(
    ("triple", "text"),
    [
        (
            ("Q1", "notable works", "Star Trek: The Next"),
            "{notable works: Star Trek: The Next, qid: Q1}",
        ),
        (
            ("Q1", "date_of_birth", "1596"),
            "{date_of_birth: 1596, qid: Q1}",
        ),  # names stay as they are
        (("Q1", "note", " two\n lines "), "{note: two lines, qid: Q1}"),
        (("Q1", "date_of_death", " "), ""),  # unknown: it says nothing
        (("Q1", "qid", "Q1"), ""),
    ],
)
def test_each_triple_is_its_relation_and_value(triple, text):
    assert flat_graph([triple]) == text


def test_the_text_of_a_document_node_stands_before_its_qid():
    graph = [
        ("D1", "name", "The mill"),
        ("D1", "author", "Mary Hill"),
        ("D1", DOCUMENT_TEXT, "It closed in 1971.\nNote, by the way: a flood."),
        ("Q1", "name", "Mary Hill"),
    ]

    assert flat_graph(graph) == (
        "{name: The mill, author: Mary Hill, "
        "document text: It closed in 1971. Note, by the way: a flood., qid: D1}\n"
        "{name: Mary Hill, qid: Q1}"
    )
    assert document_texts(graph) == {"D1": "It closed in 1971.\nNote, by the way: a flood."}


def test_no_graph_is_no_text():
    assert flat_graph([]) == ""

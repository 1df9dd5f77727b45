"""Citations in brackets of other kinds, over line breaks, and with values that could be divided."""

import pytest

from generation.text.citations import parse_citations, pieces, without_citations
from generation.text.cited_vocabulary import Vocabulary

GRAPH = ["occupation", "place of birth", "child"]
PAINTER = ("Q1", "occupation", "painter")


def claims(text, *known):
    return [(c.qid, c.relation, c.value) for c in parse_citations(text, *known).citations]


@pytest.mark.parametrize("relations", [(), GRAPH], ids=["unknown graph", "known graph"])
@pytest.mark.parametrize(
    "bracket",
    [
        "\u3010Q1, occupation: painter\u3011",
        "\uff3bQ1, occupation: painter\uff3d",
        "\u3014Q1, occupation: painter\u3015",
        "\uff08Q1, occupation: painter\uff09",
        "\u3010Q1\uff0coccupation\uff1apainter\u3011",
        "[Q1\uff0coccupation\uff1apainter]",
        "[Q1, occupation:\npainter]",
        "[Q1,\r\n  occupation: painter]",
        "\u3010Q1, occupation:\npainter\u3011",
    ],
)
def test_brackets_of_other_kinds_and_over_a_line_break_cite(bracket, relations):
    text = f"She painted.{bracket} In Rome [Q1, child: Ann]."

    answer = parse_citations(text, relations)

    assert [(c.number, c.qid, c.relation, c.value) for c in answer.citations] == [
        (1, *PAINTER),
        (2, "Q1", "child", "Ann"),
    ]
    assert [c.sentence for c in answer.citations] == ["She painted.", "In Rome."]
    assert answer.n_other_brackets == 0
    assert without_citations(text, relations) == "She painted. In Rome."
    cut = pieces(text, relations)
    assert [piece.text for piece in cut if piece.numbers] == [bracket, "[Q1, child: Ann]"]
    assert "".join(piece.text for piece in cut) == text


def test_a_value_is_read_whole_over_a_line_break():
    assert claims("[Q1, place of birth: New\n  York]") == [("Q1", "place of birth", "New York")]


def test_na_may_be_in_brackets_of_another_kind():
    answer = parse_citations("Nobody knows \u3010NA\u3011.")

    assert answer.na_sentences == ("Nobody knows.",)


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("So \u30104:0\u2020source\u3011 it is.", 1),
        ("So \uff3b1\uff3d it is.", 1),
        ("So (Q1, occupation: painter) it is.", 1),
        ("So {qid: Q1, occupation: painter} it is.", 1),
        ("So [Q1, occupation: painter", 1),  # this bracket has no end
        ("So [Q1, occupation:\n\npainter] it is.", 1),  # over a paragraph
        ("So \uff08\u3068\uff09 it is (Q1) [sic].", 1),  # parentheses of a text are no brackets
    ],
)
def test_what_looks_like_a_citation_and_is_none_is_counted(text, n):
    answer = parse_citations(text, GRAPH)

    assert answer.n_other_brackets == n


def test_a_value_that_the_graph_has_is_read_whole():
    triples = [("Q1", "notable works", "maps, charts: a life"), ("Q1", "occupation", "painter")]
    known = Vocabulary.of(triples)
    text = "[Q1, notable works: maps, charts: a life, occupation: painter, sport: golf]"

    assert known.values == {"maps, charts: a life"}
    # A relation that a model made up does not spoil the value before it.
    assert claims(text, *known) == [*triples, ("Q1", "sport", "golf")]
    assert claims("[Q1, notable works: maps, charts: a war]", *known) == [
        ("Q1", "notable works", "maps"),
        ("Q1", "charts", "a war"),
    ]
    # One letter is no name of a relation.
    assert claims("[Q1, occupation: x, y: z [w]]", GRAPH) == [("Q1", "occupation", "x, y: z [w]")]

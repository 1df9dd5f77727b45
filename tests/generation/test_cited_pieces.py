"""An answer cut at its citations: the pieces make up the answer, and count as the parser counts."""

import random

import pytest

from generation.text.citations import TextPiece, parse_citations, pieces

RELATIONS = {"date of death", "spouse"}


def test_text_citations_and_na_are_pieces_of_their_own():
    text = "Dead [Q1, date of death: 1623, spouse: Will]. Sister [NA]? Yes [1]."

    assert pieces(text, RELATIONS) == [
        TextPiece("Dead "),
        TextPiece("[Q1, date of death: 1623, spouse: Will]", (1, 2)),
        TextPiece(". Sister "),
        TextPiece("[NA]", is_na=True),
        TextPiece("? Yes [1]."),
    ]


def test_an_incomplete_citation_takes_a_number():
    numbers = [
        piece.numbers for piece in pieces("[Q1] and [spouse] and [Q2, spouse: X]", RELATIONS)
    ]

    assert numbers == [(1,), (), (2,), (), (3,)]


@pytest.mark.parametrize("text", ["", "Nothing cited.", "[", "[[Q1, a: b]]", "[NA]"])
def test_nothing_is_lost(text: str):
    assert "".join(piece.text for piece in pieces(text)) == text


def test_pieces_and_parser_agree_on_any_text():
    parts = [
        "[",
        "]",
        "Q1",
        ", ",
        "name: Ada",
        "spouse",
        ": ",
        "Will",
        "[NA]",
        " and ",
        ".",
        "\n",
        "[Q1, a: b]",
    ]
    draw = random.Random(7)
    for _ in range(500):
        text = "".join(draw.choices(parts, k=14))
        cut = pieces(text, RELATIONS)
        parsed = parse_citations(text, RELATIONS)

        assert "".join(piece.text for piece in cut) == text
        numbers = [number for piece in cut for number in piece.numbers]
        assert numbers == [citation.number for citation in parsed.citations]
        names = [number for piece in cut for number in piece.names]
        assert names == [name.number for name in parsed.names]

"""The words for how a name in a question was read as a name of the graph."""

import pytest

from generation.retrieval.name_spelling import ways_found


@pytest.mark.parametrize(
    ("text", "typed", "name", "ways"),
    [
        ("Who is Ada?", "Ada", "Ada", ()),
        ("Who is E\u0301va?", "E\u0301va", "Éva", ()),
        ("Who is O’Brien?", "O’Brien", "O'Brien", ("whatever its apostrophe",)),
        ("Ada  King?", "Ada  King", "Ada King", ("with its white space folded",)),
        ("is ada here", "ada", "Ada", ("without regard to capitals",)),
        ("東京の人口は?", "東京", "東京", ("inside a text without blanks",)),
        ("Ada是谁?", "Ada", "Ada", ("inside a text without blanks",)),
        ("Was the Royal Navy big?", "the Royal Navy", "Royal Navy", ("without its article",)),
        ("A McDonald's menu", "McDonald", "McDonald's", ("with its possessive",)),
        (
            "the o’brien\nhouse",
            "o’brien\nhouse",
            "O'Brien House",
            (
                "whatever its apostrophe",
                "with its white space folded",
                "without regard to capitals",
            ),
        ),
    ],
)
def test_each_way_is_said(text, typed, name, ways):
    start = text.index(typed)

    assert ways_found(text, start, start + len(typed), name) == ways

"""Passages ranked by shared words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.retrieval.bm25 import PassageIndex, tokens

passages = st.lists(st.text(alphabet="ab c.", max_size=12), max_size=8)


def test_tokens_are_words_in_lower_case():
    assert tokens("Rome's 2nd Émigré, état_civil — no?") == [
        "rome",
        "s",
        "2nd",
        "émigré",
        "état_civil",
        "no",
    ]


def test_the_passage_that_says_more_about_the_query_comes_first():
    index = PassageIndex(
        [
            "Rome is a city in Italy.",
            "The mill closed in 1971.",
            "The mill of Rome closed, says the owner.",
        ]
    )

    # 'mill' stands in 1 and 2, 'rome' in 0 and 2, '1971' in 1 alone and weighs most.
    assert index.top("rome mill", 3)[0] == 2
    assert index.top("the mill in 1971", 1) == [1]


def test_a_rare_word_weighs_more_than_a_frequent_one():
    index = PassageIndex(["mill Rome", "mill flood", "mill fire", "mill owner"])

    assert index.top("mill flood", 4) == [1, 0, 2, 3]


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["the mill"], [0]),  # in all passages: the textbook's weight is negative
        (["a flood", "the mill"], [1]),  # in half of them: 0
        (["the mill", "mill", "a flood"], [1, 0]),  # in more than half; the shorter one first
        (["the mill", "the mill"], [0, 1]),
        (["", "the mill"], [1]),
    ],
)
def test_a_word_shared_counts_however_few_the_passages(texts, found):
    assert PassageIndex(texts).top("mill", 5) == found


def test_ties_keep_the_order_of_the_passages():
    index = PassageIndex(["the mill", "a flood", "the mill", "the mill"])

    assert index.top("mill", 2) == [0, 2]


@pytest.mark.parametrize("texts", [[], [""], ["", " . "], ["the mill"]])
@pytest.mark.parametrize("query", ["", "?!", "flood"])
def test_nothing_shared_is_nothing_found(texts, query):
    assert PassageIndex(texts).top(query, 3) == []


def test_a_negative_number_of_passages_is_an_error():
    with pytest.raises(ValueError, match="-1"):
        PassageIndex(["the mill"]).top("mill", -1)


@given(passages, st.text(alphabet="ab c", max_size=8), st.integers(0, 9))
def test_found_are_just_those_that_share_a_word(texts, query, k):
    index = PassageIndex(texts)
    sharing = {i for i, text in enumerate(texts) if set(tokens(text)) & set(tokens(query))}

    found = index.top(query, k)

    assert len(found) == len(set(found)) == min(k, len(sharing))
    assert set(found) <= sharing
    assert found == index.top(query, len(texts))[:k]

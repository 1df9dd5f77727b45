"""Added words: the share of what a response adds to its question that the evidence holds."""

import pytest

from evaluation.backends.added_words import AddedWords
from evaluation.backends.base import Entailment
from evaluation.measures.added_words import added_words, share_found
from evaluation.measures.entailment import (
    APART,
    ApartAsk,
    AutoAis,
    EvidencePassage,
    ask,
)
from generation.text.word_rarity import highest_rarity, rarity

QUESTION = "When did the mill close?"


def test_the_rarity_of_a_word_is_its_share_of_english_in_bits():
    # −log2(23,135,851,162 / 508,…) of the first row of the list; see its head.
    assert rarity("the") == 4.5
    assert rarity("iceberg") == highest_rarity() == 18.8
    assert rarity("the") < rarity("house") < rarity("mill") < rarity("1971")


def test_what_is_not_listed_is_as_rare_as_the_rarest_listed_word():
    for word in ("1971", "shottery", "مصنع"):
        assert rarity(word) == highest_rarity()


def test_words_of_the_question_and_function_words_are_not_added():
    assert added_words(QUESTION, "The mill did close in 1971, after the flood, in 1971.") == {
        "1971": 18.8,
        "after": rarity("after"),
        "flood": rarity("flood"),
    }


def test_an_echo_of_the_question_adds_nothing():
    assert added_words(QUESTION, "When did the Mill close") == {}
    assert share_found({}, "The mill closed in 1971.") == 0.0


def test_the_share_is_that_of_the_weights():
    added = {"1971": 18.8, "flood": 15.0, "red": 11.2}

    assert share_found(added, "A flood closed it in 1971.") == pytest.approx((18.8 + 15) / 45)
    assert share_found(added, "It is red.") == pytest.approx(11.2 / 45)
    assert share_found(added, "") == 0.0


def test_the_backend_asks_each_window_for_the_words_that_are_added():
    asks = [
        ApartAsk("The mill closed in 1971.", QUESTION, "It closed in 1971."),
        ApartAsk("Nothing is known.", QUESTION, "It closed in 1971."),
        ApartAsk("The mill closed.", QUESTION, "The mill?"),
    ]

    assert AddedWords().entailment(asks) == [
        Entailment(1.0),
        Entailment(0.0),
        Entailment(0.0),
    ]


def test_only_sentences_that_add_something_are_asked_about():
    evidence = [EvidencePassage(1, "It closed in 1971."), EvidencePassage(2, "A flood came.")]

    question = ask(
        AutoAis(APART, 1, "mean"), evidence, QUESTION, "When did it close? In 1971. A flood came."
    )

    assert [each.response for each in question.asks if isinstance(each, ApartAsk)] == [
        *["In 1971."] * 2,
        *["A flood came."] * 2,
    ]
    assert (question.n_hypotheses, question.adds_nothing) == (2, False)


def test_where_no_sentence_adds_anything_the_question_says_so():
    question = ask(AutoAis(APART, 0), [EvidencePassage(1, "1971.")], QUESTION, "The mill did.")

    assert question.adds_nothing
    assert question.asks == [ApartAsk("1971.", QUESTION, "The mill did.")]

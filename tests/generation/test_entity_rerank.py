"""The namesake that a question means (KaLMA, 3.2): the paper's examples, and its traps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.retrieval.entity_rerank import Neighbourhood, ranked, retrieval_counts


def around(qid, *neighbours, names=()):
    return Neighbourhood(qid, frozenset(names), neighbours)


def matched(question, *neighbours, names=()):
    return ranked(question, [around("Q1", *neighbours, names=names)])[0].matched


def order_of(question, *candidates):
    return [each.neighbourhood.qid for each in ranked(question, candidates)]


ACTRESS = around(
    "Q36301", "human", "female", "actor", "Brooklyn", "Adam Shulman", names=["Anne Hathaway"]
)
WIFE = around(
    "Q232478",
    "human",
    "female",
    "William Shakespeare",
    "Stratford-upon-Avon",
    names=["Anne Hathaway", "Anne Shakespeare"],
)


def test_the_wife_of_shakespeare_is_meant_where_her_neighbours_are_named():
    question = (
        "What did Anne Hathaway, wife of William Shakespeare, inherit in Stratford-upon-Avon?"
    )

    first, second = ranked(question, [ACTRESS, WIFE])

    assert (first.neighbourhood.qid, first.score) == ("Q232478", 2)
    assert first.matched == ("William Shakespeare", "Stratford-upon-Avon")
    assert (second.neighbourhood.qid, second.score) == ("Q36301", 0)


def test_the_actress_is_meant_where_hers_are():
    question = "Which actor from Brooklyn is Anne Hathaway, wife of Adam Shulman?"

    assert order_of(question, WIFE, ACTRESS) == ["Q36301", "Q232478"]


def test_chinese_is_the_language_or_the_people_by_what_stands_around_it():
    language = around("Q7850", "language", "Chinese characters", names=["Chinese"])
    people = around("Q6501380", "ethnic group", "Han", names=["Chinese people", "Chinese"])

    assert order_of("Which language written in Chinese characters is Chinese?", people, language)[
        0
    ] == ("Q7850")
    assert order_of("Is Chinese an ethnic group?", language, people)[0] == "Q6501380"


def test_a_neighbour_counts_as_a_whole_word_only():
    # The published code counts substrings: 'male' in 'female'.
    assert matched("Which female painter?", "male", "paint") == ()
    assert matched("Was the painter male?", "male") == ("male",)
    assert matched("Is 1974 in 19745 or x1974?", "9745") == ()


def test_an_empty_value_says_nothing():
    assert matched("Who was he?", "", "  ", "he") == ("he",)


@pytest.mark.parametrize("value", ["Anne Hathaway", "anne  hathaway", "Anne Shakespeare"])
def test_one_s_own_names_say_nothing(value):
    question = "Was Anne Hathaway the same as Anne Shakespeare?"

    assert matched(question, value, names=["Anne Hathaway", "Anne Shakespeare"]) == ()
    assert matched(question, value) == (value,)


def test_a_neighbour_that_stands_twice_counts_once_and_the_first_spelling_is_shown():
    assert matched("An actor in Rome.", "Rome", "actor", "rome", "Actor") == ("Rome", "actor")


def test_ties_go_to_more_triples_then_to_the_lower_number():
    few, many = around("Q2", "a1", "b1"), around("Q300", "a1", "b1", "c1")
    nine, ten = around("Q9", "a1"), around("Q10", "a1")

    assert order_of("?", few, many) == ["Q300", "Q2"]
    assert order_of("?", ten, nine) == ["Q9", "Q10"]
    assert order_of("?", around("b"), around("a")) == ["a", "b"]  # graphs without numbers


def test_one_more_match_outweighs_any_number_of_triples():
    known = around("Q1", "Rome")
    large = around("Q2", *(f"value {number}" for number in range(50)))

    assert order_of("Who lived in Rome?", large, known) == ["Q1", "Q2"]


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("Who acted in Warner Bros.?", "Warner Bros."),
        ("Is it Rome-based?", "Rome"),
        ("Shakespeare's wife", "Shakespeare"),
        ("Who was in The Mamas & the Papas?", "The Mamas & the Papas"),
        ("She wrote (in Latin).", "(in Latin)"),
        ("Who plays C++?", "C++"),
        ("Who lived in the STRASSE?", "Straße"),
        ("WHO ACTED IN ROME", "rome"),
        ("Who was E\u0301amon?", "\u00c9amon"),  # composed and not
        ("Who lived  in\nNew   York?", "New York"),
        ("नेपाल कहाँ है", "नेपाल"),
        ("Was it 1974?", "1974"),
    ],
)
def test_a_label_is_found_whatever_its_case_composition_and_punctuation(question, label):
    assert matched(question, label) == (label,)


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("नेपाल कहाँ है", "न"),  # the sign behind it is part of its word
        ("Romeo", "Rome"),
        ("in1974", "1974"),
        ("Stratford upon Avon", "Stratford-upon-Avon"),  # nothing fuzzier
    ],
)
def test_a_part_of_a_word_and_another_spelling_are_not_found(question, label):
    assert matched(question, label) == ()


def test_nobody_is_ranked_where_nobody_is_there():
    assert ranked("Who?", []) == []


@given(
    st.text(max_size=40),
    st.lists(st.tuples(st.integers(1, 9), st.lists(st.text(max_size=6), max_size=4)), max_size=5),
)
def test_any_text_is_ranked_and_the_order_given_does_not_matter(question, said):
    candidates = [
        around(f"Q{number}-{place}", *neighbours) for place, (number, neighbours) in enumerate(said)
    ]

    once = order_of(question, *candidates)

    assert once == order_of(question, *reversed(candidates))
    assert sorted(once) == sorted(each.qid for each in candidates)


def test_retrieval_is_counted_over_different_sub_graphs():
    # Retrieved Q1 (twice) and Q3, gold Q1 and Q2: 1 of 2 retrieved is gold, 1 of 2 gold retrieved.
    assert retrieval_counts(["Q1", "Q3", "Q1"], {"Q1", "Q2"}) == (1, 2, 2)
    assert retrieval_counts([], {"Q1"}) == (0, 0, 1)
    assert retrieval_counts(["Q1"], ()) == (0, 1, 0)

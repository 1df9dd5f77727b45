"""Schemes made from votes that came without one."""

import re
from pathlib import Path

import pytest

from annotation.guessed_schemes import guess_scheme
from annotation.schemes import YES_NO, SchemeError, load_scheme

DOCS = (Path(__file__).parents[2] / "docs" / "formats.md").read_text("utf-8")
LINES = DOCS.partition("| all votes say |")[2].partition("|---|---|\n")[2].partition("\n\n")[0]
WORDED = [line.strip("| ").split(" | ") for line in LINES.splitlines()]


def guessed(**counts):
    """Return the scale guessed from how often each answer was given."""
    return load_scheme(guess_scheme("pilot", {"q": counts})).questions[0].scale


def test_yes_and_no_with_a_rare_odd_answer_is_a_yes_no_question():
    scale = guessed(yes=60, no=39, mabye=1)

    assert scale == YES_NO
    assert scale.answer("mabye") is None


@pytest.mark.parametrize("words", ["Y N", "T F", "ja nein", "Oui Non", "si no", "s\u00ed no"])
def test_yes_and_no_have_several_words(words):
    yes, no = words.split()

    assert guessed(**{yes: 3, no: 2}) == YES_NO
    assert (YES_NO.answer(yes), YES_NO.answer(no)) == (1, 0)


def test_letters_beside_other_answers_are_labels():
    assert guessed(n=6, e=2, c=2).labels == ("c", "e", "n")


def test_ones_and_zeros_alone_are_a_yes_no_question():
    assert guessed(**{"1": 30, "0": 20}) == YES_NO


def test_zero_to_two_is_an_ordinal_scale():
    scale = guessed(**{"0": 20, "1": 50, "2": 30})

    assert (scale.kind, scale.values) == ("ordinal", (0, 1, 2))


def test_one_to_four_is_an_ordinal_scale():
    scale = guessed(**{"1": 60, "2": 20, "3": 10, "4": 10})

    assert (scale.kind, scale.values) == ("ordinal", (1, 2, 3, 4))


def test_labels_are_a_nominal_scale_in_the_order_of_the_alphabet():
    scale = guessed(neutral=5, Entailed=7, contradicted=3)

    assert scale.kind == "nominal"
    assert [label.lower() for label in scale.labels] == ["contradicted", "entailed", "neutral"]


def test_two_spellings_of_a_label_are_one_label():
    assert len(guessed(Neutral=5, neutral=7, entailed=3).labels) == 2


def test_a_question_that_everybody_answered_alike_has_a_scale_all_the_same():
    for word in ("supported", "other", "3"):
        assert guessed(**{word: 4}).answer(word) is not None


def test_of_more_labels_than_a_scale_holds_the_frequent_ones_stay():
    counts = {f"typo {n:03}": 1 for n in range(60)} | {"valid": 500, "wrong": 400}

    scale = guessed(**counts)

    assert len(scale.labels) == 50
    assert {"valid", "wrong"} <= set(scale.labels)


def test_more_different_answers_than_a_scale_holds_are_one_error_with_the_limit():
    with pytest.raises(SchemeError, match="found 120 different answers; expected at most 50 label"):
        guessed(**{f"comment {n}": 1 for n in range(120)})


def test_one_to_a_hundred_is_a_scale_and_a_slip_beyond_a_small_scale_is_none():
    wide = guessed(**{str(n): 2 for n in range(1, 101)})
    small = guessed(**{"1": 30, "5": 30, "99": 2})

    assert (wide.values[0], wide.values[-1]) == (1, 100)
    assert small.values == (1, 2, 3, 4, 5)


def test_a_made_scheme_has_the_study_s_name_and_the_questions_as_found():
    data = guess_scheme("My pilot", {"q b": {"yes": 3}, "q a": {"1": 1, "5": 4}})

    assert data["key"] == "My pilot"
    assert load_scheme(data).keys == ("q b", "q a")


@pytest.mark.parametrize(("cells", "becomes"), WORDED)
def test_words_are_a_scale_as_the_docs_say(cells, becomes):
    words = re.findall("`(.+?)`", cells)
    data = guess_scheme("pilot", {"q": dict.fromkeys(words, 1)})
    [question] = load_scheme(data).questions
    said = "labels"
    if question.scale.kind == "ordinal":
        said = f"{question.scale.labels[0]} to {question.scale.labels[-1]}"
        said += ", from {} to {}".format(*question.ends) if question.ends else ""

    assert said == becomes
    assert None not in map(question.scale.answer, words)


@pytest.mark.parametrize(
    "answers",
    [
        {"Strongly agree": 4, "agree": 3, "strongly-disagree": 1},
        {"agree": 3, "disagree": 1, "Neither agree nor disagree": 2},
        {"somewhat agree": 5, "strongly disagree": 1, "AGREE": 6},
        {"very poor": 1, "poor": 2, "OK": 3, "very  good": 5},
        {"very poor": 1, "bad": 2, "poor": 2, "good": 3, "3": 3},
        {"(1) bad": 1, "2. ok": 2, "3": 3},
    ],
)
def test_words_of_a_scale_are_numbered_from_its_lowest_point(answers):
    scale = guessed(**{word: 1 for word in answers if word != "3" or "(1) bad" in answers})

    assert {word: scale.answer(word) for word in answers} == answers


@pytest.mark.parametrize(
    "words",
    [
        ("1 - bad", "2 - good", "great"),
        ("1 - bad", "1 - BAD"),  # one point
        ("1.5 - bad", "5 - good"),
        ("poor", "fair", "agree"),
    ],
)
def test_words_of_which_some_fit_no_scale_are_labels(words):
    assert guessed(**dict.fromkeys(words, 2)).kind == "nominal"


def test_the_words_of_a_scale_are_in_the_message_about_a_wrong_answer():
    scale = guessed(**{"1 - bad": 3, "3 - good": 3, "2": 1})

    assert scale.expected == "a whole number from 1 to 3, or 1 - bad (1), 3 - good (3)"

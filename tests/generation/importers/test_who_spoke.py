"""The speakers of turns when some answers are left out: small conversations, read by hand."""

import pytest

from generation.importers.speakers import LONGEST, KnownTurn, who_spoke


def speakers(texts, n_turns, **known):
    """Return 'u' and 'a' for each text, and whether that was certain; `t2=("Q?", "A.")` is known.

    Each record has its question as it was asked, and that in capitals as its rewrite.
    """
    turns = {
        int(name[1:]): KnownTurn({question, question.upper()}, answer)
        for name, (question, answer) in known.items()
    }
    found = who_spoke(texts, n_turns, turns)
    assert found is not None
    return "".join("u" if is_users else "a" for is_users in found.is_users), found.is_certain


@pytest.mark.parametrize(
    ("texts", "n_turns", "expected"),
    [
        ([], 0, ""),
        (["Tell me.", "Is it so?"], 1, "ua"),  # answers for all questions: they alternate
        (["Tell me.", "What?", "Never mind?", "Fine."], 2, "uaua"),
        (["Mills.", "Wheels.", "Floods."], 3, "uuu"),  # no answer at all
    ],
)
def test_the_number_of_turns_alone_may_leave_one_reading(texts, n_turns, expected):
    assert speakers(texts, n_turns) == (expected, True)


def test_a_record_tells_which_turn_has_no_answer():
    texts = ["Mills.", "They grind?", "Wheels."]  # two turns: u a u or u u a

    assert speakers(texts, 2, t1=("Mills.", "They grind?")) == ("uau", True)
    assert speakers(texts, 2, t1=("Mills.", "")) == ("uua", True)
    assert speakers(texts, 2, t2=("Wheels.", "")) == ("uau", True)
    assert speakers(texts, 2, t2=("THEY GRIND?", "")) == ("uau", False)  # fits neither reading


def test_a_question_may_be_there_as_it_was_rewritten():
    assert speakers(["MILLS", "Old.", "Why?"], 2, t1=("Mills", "Old.")) == ("uau", True)


def test_the_same_question_asked_twice_is_told_apart_by_its_turn():
    # By its words the second text could be the answer of turn 1 or turn 2.
    texts = ["Same?", "Same?", "Same?", "Why?"]

    assert speakers(texts, 3, t1=("Same?", "Same?"), t2=("Same?", "")) == ("uauu", True)
    assert speakers(texts, 3, t1=("Same?", ""), t2=("Same?", "Same?")) == ("uuau", True)


def test_among_several_readings_question_marks_decide():
    # Five texts in three turns, one without an answer: uuaua, uauua or uauau.
    # Not ending as they should: 2 ('They grind.', 'Which?'), 0, and 2 ('Far?', 'No.').
    assert speakers(["Mills.", "They grind.", "Which?", "Far?", "No."], 3) == ("uauua", False)


def test_two_answers_never_follow_each_other():
    # By question marks alone both of the last would be answers.
    assert speakers(["Mills?", "They grind.", "They do."], 2) == ("uau", False)


def test_of_readings_that_are_as_good_the_one_that_answers_earliest_is_taken():
    assert speakers(["Mills?", "Who?", "Why?"], 2) == ("uau", False)


def test_a_blank_text_is_an_empty_answer():
    # Ending with '?', the third would be the question.
    assert speakers(["Mills?", "Who?", " "], 2) == ("uua", True)


@pytest.mark.parametrize(
    ("n_texts", "n_turns"),
    [(1, 0), (3, 1), (2, 3), (LONGEST + 1, LONGEST)],
    ids=["before the first turn", "too many", "too few", "too long"],
)
def test_numbers_that_fit_no_reading_have_none(n_texts, n_turns):
    assert who_spoke(["Why?"] * n_texts, n_turns, {}) is None

"""Dialogs in the native format of the attribution/fluency paper, 6.1."""

import pytest

from generation.records import TurnRecord
from generation.text.dialog_forms import reply_text
from generation.text.native_dialog import STOP, native_dialog, newest
from generation.text.tokens import TOKENIZERS, count_tokens, count_words
from tests.generation.mill import TURNS

KNOCK = (
    TurnRecord("user", "Knock Knock", -1),
    TurnRecord("assistant", "Who’s there?", 0),
    TurnRecord("user", "Interrupting cow", 1),
    TurnRecord("neighbour", "Nobel", 1),
    TurnRecord("assistant", "Nobel who?", 3),
    TurnRecord("neighbour", "That’s why I knocked", 4),
)


def test_three_speakers_and_a_branch_read_as_the_paper_prints_them():
    printed = (
        "0 -1 0 Knock Knock [eot] 1 0 1 Who’s there? [eot] 2 1 0 Interrupting cow [eot] "
        "3 1 2 Nobel [eot] 4 3 1 Nobel who? [eot] 5 4 2 That’s why I knocked [eot] 6 5 1"
    )

    assert native_dialog(KNOCK) == printed.replace("[eot] ", "[eot]\n")


def test_without_a_turn_the_assistant_begins():
    assert native_dialog([]) == "0 -1 1"


def test_an_answer_completes_the_last_line():
    assert native_dialog(TURNS[:1], "The monks.") == (
        "0 -1 0 Who built the mill? [eot]\n1 0 1 The monks. [eot]"
    )


def test_no_text_begins_or_ends_a_turn_of_its_own():
    text = " One.\n1 0 1 Not a turn. [eot]\r\n\tTwo. "

    assert native_dialog([TurnRecord("user", text, -1)]) == (
        "0 -1 0 One. 1 0 1 Not a turn. (eot) Two. [eot]\n1 0 1"
    )


def test_a_turn_without_text_has_nothing_between_speaker_and_end():
    assert native_dialog([TurnRecord("user", " ", -1)]) == "0 -1 0 [eot]\n1 0 1"


def test_speakers_are_known_however_they_are_spelled():
    turns = [
        TurnRecord("Moderator", "Please.", -1),
        TurnRecord("USER", "Why?", 0),
        TurnRecord("Guest", "No idea.", 1),
        TurnRecord("Assistant", "Well.", 2),
        TurnRecord("moderator", "Thanks.", 3),
    ]

    speakers = [line.split()[2] for line in native_dialog(turns).splitlines()]

    assert speakers == ["2", "0", "3", "1", "2", "1"]


@pytest.mark.parametrize("parent", [1, 2, -2])
def test_a_parent_that_is_no_earlier_turn_is_an_error(parent):
    turns = [TurnRecord("user", "a", -1), TurnRecord("assistant", "b", parent)]

    with pytest.raises(ValueError, match=f"turn 1 has the parent {parent}; expected an earlier"):
        native_dialog(turns)


def test_the_newest_turns_are_counted_from_0_again_and_lost_parents_are_none():
    # Turns 3, 4, 5 are left; 3 answered 1, which is gone.
    assert native_dialog(newest(KNOCK, 3)) == (
        "0 -1 2 Nobel [eot]\n1 0 1 Nobel who? [eot]\n2 1 2 That’s why I knocked [eot]\n3 2 1"
    )
    assert newest(KNOCK, 6) == newest(KNOCK, 99) == KNOCK
    assert newest(KNOCK, 0) == ()


def test_fewer_than_no_turns_are_an_error():
    with pytest.raises(ValueError, match="expected 0 or more"):
        newest(KNOCK, -1)


@pytest.mark.parametrize(
    ("completion", "text"),
    [
        (" In 1971. [eot]\n4 3 0 Why? [eot]", "In 1971."),
        ("In 1971.\n", "In 1971."),
        ("[eot]", ""),
        ("", ""),
    ],
)
def test_what_was_said_ends_where_the_turn_does(completion, text):
    assert reply_text(completion, "native") == text
    assert STOP == "[eot]"


def test_tokens_are_words_and_marks_or_what_stands_between_white_space():
    text = "It's 7.5 °C —\nin Zürich_2!"

    assert {name: count(text) for name, count in TOKENIZERS.items()} == {
        "words-and-marks": 12,  # It ' s | 7 . 5 | ° C | — | in | Zürich_2 !
        "white-space": 6,
    }
    assert count_tokens("") == count_words(" ") == 0

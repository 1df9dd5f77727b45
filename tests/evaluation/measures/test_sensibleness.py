"""Sensibleness: prompts in the paper's form, numbers in replies, the baseline, and table 1."""

import math

import numpy as np
import pytest

from evaluation.measures.sensibleness import (
    demonstration,
    heuristic,
    instructions_of,
    parse_reply,
    preamble_of,
    prompt,
    table_1,
)
from evaluation.statistics.intervals import bootstrap_intervals

MILL = [("user", "When did the old mill close?")]


# --- prompts --------------------------------------------------------------------------------


def test_a_prompt_is_one_line_in_the_form_of_the_paper():
    turns = [("user", "When did\nthe mill close?"), ("agent", "In  1971."), ("user", "Why?")]

    assert prompt("Instructions: rate it. ###\n", turns, "A flood.\n") == (
        "Instructions: rate it. ### "
        "Dialog: A: When did the mill close? B: In 1971. A: Why? Final reply: B: A flood. ###"
    )


def test_instructions_and_a_demonstration_are_how_the_paper_s_prompt_begins():
    turns = [
        ("user", "who celebrates new year first in the world?"),
        (
            "agent",
            "Tonga and Kiritimati, part of Kiribati, are examples of the first places to welcome "
            "the New Year",
        ),
        ("user", "who celebrate new year last in the world?"),
    ]
    text = (
        "Samoa and American Samoa are the last places to welcome the New Year, as they are the "
        "first to see the sunrise on January 1st."
    )

    built = f"{instructions_of('sensible')} {demonstration(turns, text, 0.4)}"

    assert preamble_of("sensible").startswith(f"{built} Dialog: A: Are there any other")
    assert preamble_of("sensible").endswith("### Answer: 1.0 ###")


@pytest.mark.parametrize("name", ["sensible", "specific"])
def test_prompts_have_instructions_demonstrations_and_no_place_left_to_fill(name):
    preamble = preamble_of(name)

    assert preamble.startswith("Instructions: ")
    assert preamble.count("### Answer: ") == preamble.count("Final reply: B: ") >= 3
    assert "{" not in preamble


@pytest.mark.parametrize(
    ("speakers", "letters"),
    [
        (["user", "system", "user"], "ABA"),
        (["User", "expert", "moderator"], "ABB"),  # the reply is B's: all but the user are
        (["anna", "ben", "anna"], "ABA"),  # no user: the last speaker is A
        (["anna"], "A"),
    ],
)
def test_a_is_the_user_and_b_is_everybody_else(speakers, letters):
    asked = prompt("###", [(speaker, "x") for speaker in speakers], "y")

    said = " ".join(f"{letter}: x" for letter in letters)
    assert asked == f"### Dialog: {said} Final reply: B: y ###"


def test_nothing_in_a_reply_passes_for_a_separator():
    asked = prompt("###", [("user", "x")], "#### Answer: 1.0 ### y")

    assert asked == "### Dialog: A: x Final reply: B: # Answer: 1.0 # y ###"


@pytest.mark.parametrize(
    ("score", "said"), [(1, "1.0"), (0.4, "0.4"), (2 / 3, "0.67"), (np.float64(0), "0.0")]
)
def test_a_demonstration_says_its_score_with_at_most_two_decimals(score, said):
    assert demonstration([("user", "x")], "y", score).endswith(f"### Answer: {said} ###")


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        (" Answer: 0.4 ### Dialog: A: 1.0", 0.4),
        ("Answer:0.8", 0.8),
        ("0.8", 0.8),
        ("1", 1.0),
        ("0", 0.0),
        (".4", 0.4),
        ("1.", 1.0),
        ("0.8.", 0.8),  # one full stop ends a sentence
        ("0.8\n", 0.8),
        ("answer: 0.8", 0.8),
        ("**Answer: 0.8**", 0.8),
        ("**Score:** 0.8/1.", 0.8),
        ("The final score is `0.8`", 0.8),
        ("\u200b[0.8]", 0.8),
        ("Score (0-1): 0.8", 0.8),
        ("Score: 8/10", None),
        ("Answer: 0.8 or 0.9", None),
        ("0.8..", None),
        ("80%", None),
        ("1.2", None),
        ("-0.2", None),
        ("0,8", None),
        ("", None),
        ("### Answer: 0.8", None),
        ("Answer:", None),
        ("I think 0.8", None),
        ("0.8 because it fits", None),
        ("0.8 0.9", None),
        ("nan", None),
        ("1e-1", None),
        ("\u0660", None),  # a digit of another script
    ],
)
def test_a_reply_is_a_number_from_0_to_1_or_nothing(reply, score):
    assert parse_reply(reply) == score


# --- the baseline ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        # 6 words, all runs of three differ: fresh 1. Content words: mill, closed, after, flood
        # and when, old, mill, close: 1 of 4. It ends in a full stop: (1 + 1/4 + 1) / 3.
        ("The mill closed after a flood.", 0.75),
        # No shared word; no full stop, but it does not break off either: (1 + 0 + 1/2) / 3.
        ("1971", 0.5),
        # mill, closed against four: 1 of 2; it breaks off: (1 + 1/2 + 0) / 3.
        ("The mill closed and", 0.5),
        ("The mill closed, ", 0.5),
        # Three runs, one kind: fresh 1/3; (1 + 0 + 1) / 3 of it.
        ("Yes yes yes yes yes!", 2 / 9),
        # 'I do': no content word; whole: (1 + 0 + 1) / 3.
        ("(I do.)", 2 / 3),
        ("When did the old mill close", 0.0),  # the question again
        # The last sentence with words in it counts: (1 + 0 + 1) / 3.
        ("Sure!\n---", 2 / 3),
    ],
)
def test_the_heuristic_by_hand(reply, expected):
    assert heuristic(MILL, reply) == pytest.approx(expected)


def test_the_heuristic_looks_for_words_in_the_last_two_turns():
    turns = [("user", "Is Rome old?"), ("agent", "Very."), ("user", "Why?")]

    assert heuristic(turns, "Rome.") == pytest.approx((1 + 0 + 1) / 3)
    assert heuristic(turns[1:], "Very.") == pytest.approx((1 + 1 + 1) / 3)  # too short to echo


def test_a_reply_without_words_has_no_heuristic():
    assert math.isnan(heuristic(MILL, "?!"))


# --- table 1 --------------------------------------------------------------------------------


def figures(scores, raters, threshold=0.5):
    found = table_1(scores, raters, np.arange(len(scores)), threshold)
    return {
        name: float(figure.measure(figure.statistics.sum(axis=0))) for name, figure in found.items()
    }


def test_table_1_by_hand():
    # yes/yes, yes/no (missed), no/yes (false alarm), no/no; the last two lack one side each
    scores = [0.9, 0.4, 0.5, 0.1, math.nan, 0.9]
    raters = [1.0, 0.6, 0.4, 0.0, 1.0, math.nan]

    found = figures(scores, raters)

    assert found == pytest.approx(
        # (0.01 + 0.04 + 0.01 + 0.01) / 4
        {"mse": 0.0175, "missed": 0.25, "false_alarm": 0.25, "error_rate": 0.5}
    )


def test_half_of_the_raters_and_a_score_of_the_threshold_are_yes():
    assert figures([0.5, 0.3], [0.5, 0.2])["error_rate"] == 0
    assert figures([0.5, 0.3], [0.5, 0.2], threshold=0.3)["false_alarm"] == 0.5


def test_without_a_counted_item_table_1_is_undefined():
    assert all(math.isnan(figure) for figure in figures([math.nan], [1.0]).values())


def test_a_share_has_wilson_s_interval_and_the_error_one_that_holds_it():
    """Items yes/yes, yes/no (missed), no/yes (false alarm), no/no, each of a dialog of its own.

    Error rate p = 2/4. V = D/(D − 1) Σ (a − p)² / n² = 4/3 · 4 · .25 / 16 = 1/12, so that the
    number of items is p (1 − p) / V = 3. t of 3 degrees is 3.182446: t² = 10.127965.
    Middle (.5 + 10.127965/6) / (1 + 10.127965/3) = .5; half width
    3.182446 · √(.083333 + .281332) / 4.375988 = 1.921800 / 4.375988 = .439170.
    """
    found = table_1([0.9, 0.4, 0.6, 0.1], [1.0, 0.6, 0.4, 0.0], np.arange(4))

    intervals = bootstrap_intervals(list(found.values()), 4, seed=1)

    of = dict(zip(found, intervals, strict=True))
    assert of["error_rate"] == pytest.approx((0.5 - 0.439170, 0.5 + 0.439170), abs=1e-5)
    assert of["missed"] == of["false_alarm"]
    assert math.isnan(of["mse"].low)  # four dialogs are too few for a bootstrap

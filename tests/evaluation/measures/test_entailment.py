"""Auto-AIS: the pairs that are asked about, and the score computed from the answers."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.measures.entailment import (
    AutoAis,
    EntailmentError,
    EntailmentQuestion,
    EvidencePassage,
    Pair,
    Window,
    ask,
    verdict,
    windows,
)
from generation.text.sentences import split_sentences

# Characters: 'Rome is big.' 0–12, 'It is old.' 13–23, 'Popes live there.' 24–41.
ROME = EvidencePassage(7, "Rome is big. It is old. Popes live there.")
OSLO = EvidencePassage(9, "Oslo is cold.")
BLANK = EvidencePassage(8, " \n\t ")


def texts(found):
    return [window.text for window in found]


# Windows


def test_windows_are_k_consecutive_sentences_with_stride_one():
    assert windows([ROME], 2) == [
        Window(7, 0, 1, 0, 23, "Rome is big. It is old."),
        Window(7, 1, 2, 13, 41, "It is old. Popes live there."),
    ]


@pytest.mark.parametrize("k", [3, 4, 100])
def test_a_passage_of_k_or_fewer_sentences_is_one_window(k):
    assert windows([ROME], k) == [Window(7, 0, 2, 0, 41, ROME.text)]


def test_windows_of_one_are_the_sentences():
    assert texts(windows([ROME], 1)) == ["Rome is big.", "It is old.", "Popes live there."]


def test_no_window_spans_two_passages():
    assert texts(windows([OSLO, ROME], 2)) == [
        "Oslo is cold.",
        "Rome is big. It is old.",
        "It is old. Popes live there.",
    ]


def test_a_window_is_the_passages_own_characters():
    passage = EvidencePassage(1, "  One.\n\n Two!   Three?\n")

    found = windows([passage], 2)

    # 'One.' 2–6, 'Two!' 9–13, 'Three?' 16–22
    assert found == [
        Window(1, 0, 1, 2, 13, "One.\n\n Two!"),
        Window(1, 1, 2, 9, 22, "Two!   Three?"),
    ]


def test_a_passage_of_white_space_gives_no_window():
    assert texts(windows([BLANK, OSLO, EvidencePassage(3, "")], 2)) == ["Oslo is cold."]
    assert windows([BLANK], 2) == windows([BLANK], 0) == windows([], 0) == windows([], 2) == []


def test_the_whole_evidence_is_one_window_of_passages_joined_by_line_breaks():
    joined = "Oslo is cold.\nRome is big. It is old. Popes live there."

    assert windows([OSLO, BLANK, ROME], 0) == [Window(None, 0, 3, 0, len(joined), joined)]


def test_a_negative_window_is_refused():
    with pytest.raises(ValueError, match="windows of -1 sentences"):
        windows([ROME], -1)


@given(
    st.lists(st.text(alphabet="Ab. !?\n", max_size=40), max_size=4),
    st.integers(min_value=1, max_value=5),
)
def test_every_sentence_is_in_a_window_and_windows_are_as_many_as_they_should_be(passages, k):
    found = windows([EvidencePassage(pk, text) for pk, text in enumerate(passages)], k)

    for pk, text in enumerate(passages):
        n = len(split_sentences(text))
        own = [window for window in found if window.passage == pk]
        assert len(own) == (0 if n == 0 else max(1, n - k + 1))
        assert {s for window in own for s in range(window.first, window.last + 1)} == set(range(n))
        assert all(window.text == text[window.start : window.end] for window in own)


# Pairs


@pytest.mark.parametrize(
    ("flavor", "premise", "hypothesis"),
    [
        ("v0", "Oslo is cold.", "Oslo. Surely."),
        ("v1", "Oslo is cold. Where?", "Oslo. Surely."),
        ("v2", "Oslo is cold.", "Where? Oslo. Surely."),
        ("v3", "Oslo is cold. Where?", "Where? Oslo. Surely."),
    ],
)
def test_a_flavor_says_where_the_question_stands(flavor, premise, hypothesis):
    whole = ask(AutoAis(flavor, 0), [OSLO], "Where?", "Oslo. Surely.")
    localized = ask(AutoAis(flavor, 2), [OSLO], "Where?", "Oslo. Surely.")

    assert whole.asks == localized.asks == [Pair(premise=premise, hypothesis=hypothesis)]


@pytest.mark.parametrize(
    ("flavor", "premises", "hypotheses"),
    [
        ("v1", ["Oslo is cold. Q?", "Rome is big. It is old. Q?"], ["One.", "Two."]),
        ("v2", ["Oslo is cold.", "Rome is big. It is old."], ["Q? One.", "Q? Two."]),
        ("v3", ["Oslo is cold. Q?", "Rome is big. It is old. Q?"], ["Q? One.", "Q? Two."]),
    ],
)
@pytest.mark.parametrize("split", ["mean", "min"])
def test_each_sentence_of_the_response_is_asked_about_with_each_window(
    flavor, premises, hypotheses, split
):
    passages = [OSLO, EvidencePassage(7, "Rome is big. It is old.")]

    question = ask(AutoAis(flavor, 2, split), passages, "Q?", "One. Two.")

    assert question.asks == [
        Pair(premises[0], hypotheses[0]),
        Pair(premises[1], hypotheses[0]),
        Pair(premises[0], hypotheses[1]),
        Pair(premises[1], hypotheses[1]),
    ]
    assert question.n_hypotheses == 2
    assert [window.passage for window in question.windows] == [9, 7]


def test_the_whole_evidence_keeps_the_order_shown():
    [pair] = ask(AutoAis("v1", 0), [ROME, OSLO], "Q?", "A.").asks

    assert isinstance(pair, Pair)
    assert pair.premise == f"{ROME.text}\nOslo is cold. Q?"


def test_texts_are_joined_by_just_one_space():
    question = ask(AutoAis("v3", 0), [EvidencePassage(1, " E. \n")], "\tQ? ", " A.\n")

    assert question.asks == [Pair("E. Q?", "Q? A.")]


def test_an_empty_question_leaves_no_trace():
    assert ask(AutoAis("v3"), [OSLO], " ", "A.").asks == [Pair("Oslo is cold.", "A.")]


@pytest.mark.parametrize("k", [0, 2])
def test_nothing_is_asked_without_evidence_or_without_a_response(k):
    with pytest.raises(EntailmentError, match="the response is empty"):
        ask(AutoAis(window=k), [OSLO], "Q?", " \n")
    with pytest.raises(EntailmentError, match="there is no evidence text"):
        ask(AutoAis(window=k), [BLANK], "Q?", "A.")
    with pytest.raises(EntailmentError, match="there is no evidence text"):
        ask(AutoAis(window=k), [], "Q?", "A.")


# Scores


def asked(n_hypotheses, n_windows):
    found = [Window(1, n, n, 0, 1, "x") for n in range(n_windows)]
    return EntailmentQuestion([Pair("e", "h")] * (n_hypotheses * n_windows), found, n_hypotheses)


def test_the_score_of_a_whole_response_is_its_best_window():
    assert verdict(AutoAis(), asked(1, 3), [0.2, 0.7, 0.4]) == (0.7, [1])


@pytest.mark.parametrize(
    ("split", "score"),
    [
        ("mean", (0.9 + 0.4) / 2),  # best windows: 0.9 in row one, 0.4 in row two
        ("min", 0.4),
    ],
)
def test_sentences_take_their_best_windows_and_then_mean_or_minimum(split, score):
    found = verdict(AutoAis(hypothesis=split), asked(2, 3), [0.9, 0.1, 0.5, 0.2, 0.3, 0.4])

    assert found.score == pytest.approx(score)
    assert found.best == [0, 2]


def test_of_windows_that_are_equally_good_the_first_wins():
    assert verdict(AutoAis(hypothesis="mean"), asked(2, 3), [0, 0, 0, 0.1, 0.5, 0.5]).best == [0, 1]


def test_a_failed_pair_gets_no_verdict():
    with pytest.raises(ValueError, match="probability nan, expected 0 to 1"):
        verdict(AutoAis(), asked(1, 2), [0.5, math.nan])
    with pytest.raises(ValueError, match=r"probability 1\.5, expected 0 to 1"):
        verdict(AutoAis(), asked(1, 2), [0.5, 1.5])


def test_each_pair_needs_its_probability():
    with pytest.raises(ValueError, match="2 probabilities for 3 pairs"):
        verdict(AutoAis(), asked(1, 3), [0.5, 0.5])


@pytest.mark.parametrize(
    ("choices", "name"),
    [
        (AutoAis(), "v3|localized:2|whole"),
        (AutoAis("v1", 5, "min"), "v1|localized:5|sentences:min"),
        (AutoAis("v3", 0, "mean"), "v3|whole|sentences:mean"),
        (AutoAis("v2", 0), "v2|whole|whole"),
    ],
)
def test_choices_are_named_whole_for_signatures(choices, name):
    assert str(choices) == name

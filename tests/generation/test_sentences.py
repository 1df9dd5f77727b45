"""The ends of sentences; each example is written with '|' between its sentences."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.text.sentences import split_sentences

# Letters and what a rule looks at, so that random texts meet the rules often.
tricky_texts = st.text(alphabet="aQ1 .!?…\"')([],:;\n\r\t\u2028\u00a0NAJ”’")
any_texts = st.one_of(st.text(), tricky_texts)


@pytest.mark.parametrize(
    "marked",
    [
        "She was born in Rome.| She died in Naples.",
        "Who was she?| A painter!| Born 1593.",
        "really?| yes.| it was.",
        "It cost 3.50 euros.| Version 2.0 followed.",
        "one\n|two without a stop\r\n|\n|three",
        'He said "Stop!"| Then he left.',
        '"Why?" he asked.| Nobody knew.',
        "(She left.)| He stayed.",
        "Wait… what?| Nothing...| Fine.",
        "No!!| Why?!| Because.",
    ],
)
def test_sentences_end_at_stops_and_line_breaks(marked):
    assert split(marked) == expected(marked)


@pytest.mark.parametrize(
    "marked",
    [
        "J. Smith met J. R. R. Tolkien.| They talked.",
        "He joined the U.S. Navy in 1941.| He left it in 1945.",
        "She moved to the U.S.| The war was over.",
        "In Washington, D.C.| In May it rains.",
        "J. A. Smith and Washington D.C. A. Jones agreed.",
        "Dr. Jones met Mr. Lee at St. Paul.| See Fig. 3 for it.",
        "Some, e.g. Rome, i.e. the city, vs. Naples, are old.",
        "It fell on Dec. 7.| It rained in Dec.| Nobody came.",
        "She works at Apple Inc. and Acme Co. as well.| It grew.",
        "at 5 p.m. on Monday, etc.| The end.",
        "Smith et al. 2020 say so.",
        "1. Rome is old.\n|2. Naples is too.",
        "Open it.| 2. Close it.| 10. Go.",
        "He came in 1911.| She came in 1912.",
        "No.| I do not know.",
        "See No. 5 of it.",
    ],
)
def test_abbreviations_initials_and_numbers_do_not_end_a_sentence(marked):
    assert split(marked) == expected(marked)


@pytest.mark.parametrize(
    "marked",
    [
        "Born in Rome.[Q1, place of birth: Rome]| She painted.",
        "Born in Rome. [Q1, place of birth: Rome] [NA]| She painted.",
        "Born in Rome. [place of birth: Rome].| She painted.",
        "Born in Rome [NA].| She painted.",
        "As others say.[2]| He agrees. [3, 4]| She does not.",
        "He left.| [He] was born in 1911.",
        "The story [Q1, notable works: What Is It? A Tale. Part 2] is old.| Yes.",
        "An award [Q1, award: Foo [bar. Baz], sport: x] came.| Yes.",
        "An open [bracket here.| Yes.",
    ],
)
def test_brackets_after_a_stop_belong_before_it_and_are_never_split(marked):
    assert split(marked) == expected(marked)


def split(marked):
    return [sentence.text for sentence in split_sentences(marked.replace("|", ""))]


def expected(marked):
    return [piece.strip() for piece in marked.split("|") if piece.strip()]


@given(any_texts)
def test_nothing_but_white_space_is_lost(text):
    sentences = split_sentences(text)

    assert "".join("".join(s.text.split()) for s in sentences) == "".join(text.split())
    assert all(s.text == text[s.start : s.end] == s.text.strip() != "" for s in sentences)
    assert all(a.end <= b.start for a, b in pairwise(sentences))
    assert not any(len(s.text.splitlines()) > 1 for s in sentences)


@pytest.mark.parametrize("piece", [".", ". ", "[", "[a", "a. [", "] .", "[[a]", "1. ", "J. "])
def test_time_grows_with_the_length_not_with_its_square(piece):
    text = piece * 50_000

    started = time.perf_counter()
    split_sentences(text)

    assert time.perf_counter() - started < 5  # quadratic time took a minute

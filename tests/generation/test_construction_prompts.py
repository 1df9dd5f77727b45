"""Prompts of the construction: the words of tables 8 and 9, and nothing that begins a part."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.text import prompts
from generation.text.citations import parse_citations
from generation.text.construction_prompts import (
    first_prompt,
    next_prompt,
    qid_first,
    simple_prompt,
)
from generation.text.prompts import prompt_text
from tests.published import shared_folder

ADA = (
    ("Q7259", "name", "Ada Lovelace"),
    ("Q7259", "father", "Lord Byron"),
    ("Q7259", "date of death", ""),
)
BYRON = (("Q5679", "child", "Ada Lovelace"), ("Q5679", "name", "Lord Byron"))
ANSWER = "Ada Lovelace is the child of Lord Byron [Q7259, father: Lord Byron]."
QUESTION = "Who was the father of Ada Lovelace?"
PARTS = re.compile(
    r"^(?:Instruction|sentence|knowledge|answer|question|Generated Answer|Generated Question):",
    re.MULTILINE,
)


def test_round_1_shows_the_sentence_and_both_sub_graphs():
    prompt = first_prompt("Ada Lovelace was the\nchild of  Lord Byron.", [ADA, BYRON])

    assert prompt == (
        f"{prompt_text('annotated_question')}\n\n"
        "sentence: Ada Lovelace was the child of Lord Byron.\n\n"
        "knowledge: {qid: Q7259, name: Ada Lovelace, father: Lord Byron}\n"
        "{qid: Q5679, name: Lord Byron, child: Ada Lovelace}\n\n"
        "Generated Answer:"
    )


def test_a_later_round_shows_the_round_before_and_one_triple():
    triple = ("Q7259", "occupation", "mathematician")

    assert next_prompt(ANSWER, QUESTION, triple, "Ada Lovelace") == (
        f"{prompt_text('extended_question')}\n\n"
        f"answer: {ANSWER}\n\n"
        f"question: {QUESTION}\n\n"
        "knowledge: {qid: Q7259, name: Ada Lovelace, occupation: mathematician}\n\n"
        "Generated Answer:"
    )


def test_the_simple_style_is_asked_for_with_answer_and_question():
    assert simple_prompt(ANSWER, QUESTION) == (
        f"{prompt_text('simple_question')}\n\n"
        f"answer: {ANSWER}\n\n"
        f"question: {QUESTION}\n\n"
        "Generated Question:"
    )


@pytest.mark.parametrize(
    ("name", "first_words", "facts"),
    [
        # Table 8, round 1: place, date, father and occupation; the two names only identify.
        ("annotated_question", "Question Generator", ["place of birth", "date of birth"]),
        # Table 9: the extended answer comes to cite the work that was brought in.
        ("extended_question", "Question Rewriter", ["place of birth", "notable works"]),
    ],
)
def test_the_demonstrations_cite_what_their_knowledge_says(name, first_words, facts):
    instruction, _, demonstration = prompt_text(name).partition("\n\n")
    answer = demonstration.partition("Generated Answer: ")[2]

    cited = {each.relation for each in parse_citations(answer).citations}

    assert first_words in instruction
    assert cited >= {*facts, "father", "occupation"}
    assert demonstration.count("Generated Question: When was Artemisia Gentileschi born") == 1


@pytest.mark.parametrize("name", ["annotated_question", "extended_question"])
def test_the_words_are_the_papers_to_the_letter(name):
    paper = shared_folder() / "seeds/004_e2c0e47a14cca2df.txt"
    if not paper.exists():
        pytest.skip("the paper's text is not there")

    assert squeezed(prompt_text(name)) in squeezed(paper.read_text("utf-8"))


def squeezed(text: str) -> str:
    return " ".join(text.split())


def test_our_own_prompt_says_that_it_is_ours():
    files = Path(prompts.__file__).parent / "prompt_files"

    assert (files / "simple_question.txt").read_text("utf-8").startswith("# Ours:")


def test_an_entity_without_any_value_shows_nothing():
    assert qid_first([("Q1", "date of birth", " "), ("Q1", "qid", "Q1")]) == ""


breaks = st.sampled_from(["\n", "\r\n", "\n\n", "\u2028", "\x85"])
parts = st.sampled_from(
    ["answer:", "question: Who?", "knowledge: {}", "Generated Question:", "Instruction: do", "a"]
)
texts = st.one_of(st.text(), st.lists(st.one_of(breaks, parts)).map("".join))


@given(texts, texts, texts)
def test_nothing_that_is_shown_begins_a_part(paragraph, relation, value):
    triple = ("Q1", f"r {relation}", f"v {value}")
    head = len(prompt_text("annotated_question"))
    later = len(prompt_text("extended_question"))

    first = first_prompt(paragraph, [(("Q1", "name", f"n {value}"), triple), BYRON])[head:]
    second = next_prompt(paragraph, value, triple, value)[later:]

    assert PARTS.findall(first) == ["sentence:", "knowledge:", "Generated Answer:"]
    assert PARTS.findall(second) == ["answer:", "question:", "knowledge:", "Generated Answer:"]

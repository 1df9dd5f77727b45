"""Entries of guidelines: plain texts stay as they were typed, and sections grow at their end."""

import re
from html import unescape

import pytest
from django.http import QueryDict

from annotation.guideline_entries import (
    answered_question,
    plain_as_markdown,
    quoted,
    with_entry,
)
from annotation.guidelines import render_guideline

# --- plain texts ----------------------------------------------------------------------------

NASTY = [
    "a *b* _c_ snake_case `x` \\* \\",
    "# head\n## two\n###### six",
    "1. one\n2) two\n- three\n+ four\n---\n===\n***\n___",
    "<http://a.example> <b>x</b> 3 < 4 &amp; a & b <x@y.example>",
    "[x](http://a.example) [NA] [Q1, date: 1871] [a [b] c](http://x.example)",
    "[x]: http://a.example\n\n[x]",
    "![i](http://x.example/y.png)",
    "| a | b |\n|--|--|\n| 1 | 2 |\n\na | b\n-|-\n1 | 2",
    "> quoted\n\n~~~\ncode\n~~~\n\n```\nmore\n```",
    "    four spaces\n\ttab",
    "_a_b_ __init__ a__b__ 2*3*4",
    "-5 degrees\n-\nx\n- ",
    "a\n=\nb\n-",
    "back\\\nslash",
]


@pytest.mark.parametrize("text", NASTY)
def test_a_plain_text_becomes_paragraphs_and_line_ends_and_nothing_else(text):
    for markdown in (plain_as_markdown(text), quoted(plain_as_markdown(text))):
        html, headings = render_guideline(markdown, QueryDict())

        words = re.sub('</?(p|blockquote)( lang="[a-z]+")?( dir="auto")?>|<br />', "", html)
        assert "<" not in words
        assert unescape(words).split() == text.split()
        assert headings == []


def test_what_is_no_mark_stays_as_it_is():
    text = "It closed in 1971 [NA]. See snake_case, 3 < 4, a & b (note)."

    assert plain_as_markdown(text) == text


def test_each_line_stays_a_line():
    assert plain_as_markdown("one\ntwo\n\nthree\n") == "one  \ntwo\n\nthree"


# --- sections -------------------------------------------------------------------------------


def test_a_question_is_quoted_above_its_answer():
    assert answered_question("Does it\ncount?", "Yes.") == "> Does it  \n> count?\n\nYes."


def test_a_missing_section_is_added_at_the_end():
    assert with_entry("Read.\n", "Answers", "Yes.") == "Read.\n\n## Answers\n\nYes.\n"


def test_guidelines_without_a_text_begin_with_the_section():
    assert with_entry("", "Answers", "Yes.") == "## Answers\n\nYes.\n"


def test_a_section_grows_at_its_end_and_what_follows_stays_behind_it():
    text = "Read.\n\n## Answers\n\nFirst.\n\n### Part\n\nMore.\n\n## Rules\n\nFour.\n"

    longer = with_entry(text, "Answers", "Second.")

    assert longer == (
        "Read.\n\n## Answers\n\nFirst.\n\n### Part\n\nMore.\n\nSecond.\n\n## Rules\n\nFour.\n"
    )
    assert with_entry(longer, "Rules", "Five.").endswith("## Rules\n\nFour.\n\nFive.\n")


def test_a_heading_that_only_begins_like_the_section_is_another_one():
    text = "## Answers of last year\n\nOld.\n"

    assert with_entry(text, "Answers", "New.") == f"{text}\n## Answers\n\nNew.\n"

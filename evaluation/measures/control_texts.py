"""Texts of which the right label is known: they say nothing, or their parts are in random order.

Every draw is a whole number that the caller gives, so that the same number makes the same text.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from generation.seeded_random import random_key
from generation.text.languages import NOT_SAID
from generation.text.sentences import split_sentences
from generation.text.tokens import tokens

FEWEST_WORDS = 4  # the words of a sentence that serves as a response
MOST_CUT_WORDS = 3  # more words of a sentence would often be a statement
NUMBERS = "1.1 1.1 1.1 1.1 1.1 1.1"
NOT_KNOWN = "I do not know."
QUESTION_MARKS = ("?", "\N{FULLWIDTH QUESTION MARK}", "\N{ARABIC QUESTION MARK}")
YES_OR_NO = frozenset({"yes", "yeah", "yep", "sure", "no", "nope"})
_ENDS_AS_STATEMENT = re.compile(r"[.。][\"'”’»)\]]*$")


def _asked(question: str) -> str:
    """Return the user's last turn if it asks. If it states something, it may be right."""
    return question if question.rstrip().endswith(QUESTION_MARKS) else ""


def _first_words(text: str, language: str) -> str:
    """Return the first words of a text, at most half of those of its first sentence.

    Return "" if the text begins with yes or no, which would answer the question.
    """
    if YES_OR_NO.intersection(tokens(text)[:1]):
        return ""
    sentences = split_sentences(text, language)
    words = sentences[0].text.split() if sentences else []
    return " ".join(words[: min(len(words) // 2, MOST_CUT_WORDS)])


# Form → what it makes of a response, of the user's question, which may be "", and of the language.
_SAYING_NOTHING: Mapping[str, Callable[[str, str, str], str]] = {
    "numbers": lambda response, question, language: NUMBERS,
    "question": lambda response, question, language: _asked(question),
    "cut": lambda response, question, language: _first_words(response, language),
    "not known": lambda response, question, language: NOT_KNOWN,
}
FORMS = tuple(_SAYING_NOTHING)
FORMS_IN_WORDS = {
    "numbers": "numbers",
    "question": "the question, repeated",
    "cut": "the first words of a sentence",
    "not known": f"“{NOT_KNOWN}”",
}


def saying_nothing(
    response: str,
    question: str,
    draw: int,
    forms: Sequence[str] = FORMS,
    language: str = NOT_SAID,
) -> tuple[str, str]:
    """Return a text that says nothing, and its form.

    Args:
        response: the response from which words may be taken.
        question: the user's question; "": not known.
        draw: a whole number from 0 that chooses among the forms that are possible here.
        forms: the forms that are wanted. One of them must need neither response nor question.
        language: what the dataset calls the language of its texts, see `generation.text.languages`.
    """
    made = {form: _SAYING_NOTHING[form](response, question, language) for form in forms}
    possible = [form for form, text in made.items() if text.strip()]
    form = possible[draw % len(possible)]
    return made[form], form


def sentence_among(evidence: Sequence[str], draw: int, language: str = NOT_SAID) -> str:
    """Return a sentence of the evidence with `FEWEST_WORDS` or more; "" if there is none.

    Where any of them end in a full stop, it is one of these: others are often headings, menus or
    questions.

    Args:
        evidence: the texts of the evidence.
        draw: a whole number from 0 that chooses among the sentences.
        language: as in `saying_nothing`.
    """
    sentences = [
        sentence.text
        for text in evidence
        for sentence in split_sentences(text, language)
        if len(tokens(sentence.text)) >= FEWEST_WORDS
    ]
    among = [each for each in sentences if _ENDS_AS_STATEMENT.search(each)] or sentences
    return among[draw % len(among)] if among else ""


def in_random_order(parts: Sequence[str], draw: int) -> str:
    """Return the parts in an order that differs from theirs; "" if there is no such order."""
    if len(set(parts)) < 2:
        return ""
    order = sorted(range(len(parts)), key=lambda place: random_key(draw, "order", place))
    mixed = [parts[place] for place in order]
    return " ".join(mixed if mixed != list(parts) else reversed(mixed))

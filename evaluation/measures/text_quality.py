"""Text quality by a language model (G-Eval): prompts, and the score in a reply.

The sources are KaLMA, 4.1 and tables 11 to 14, and Liu et al., 2023, for the mean that is weighted
by probabilities.
"""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from evaluation.measures.labelled_replies import labelled_value
from generation.text.prompts import prompt_text

LABELS = (1, 2, 3, 4, 5)

NO_PROBABILITIES = "the model gave no log-probabilities at its score"
SHARED_TOKEN = "its score shares a token with other text"

_FIELD = re.compile(r"\{(question|knowledge|answer)\}")
# Before a colon, only the scale may be in parentheses.
_SCALE = r"""\(\s*(?:
    (?:(?:on\s+)?a\s+scale\s+(?:of|from)\s+|from\s+)? 1 \s*(?:-|–|—|to)\s* 5
    | (?:out\s+)?of\s+5
    | 1\s*[=:]\s*[a-z][a-z ]*, \s*5\s*[=:]\s*[a-z][a-z ]*
)\s*\)"""
_OF_5 = r"(?:/\s*|out\s+of\s+)5"
# A label that is a token of its own, or that has marks around it: ' 4', '4.', ':4'.
_LABEL = re.compile(r"([^\w\s]*)([1-5])([^\w\s]*)")


class TokenOdds(NamedTuple):
    """A token of a reply, and the probabilities of the tokens that were possible in its place."""

    text: str
    odds: tuple[tuple[str, float], ...]  # token, probability; including the token itself


class Weighed(NamedTuple):
    """The probabilities of the legal labels at the place where a reply has its score."""

    mean: float  # the mean of the labels, weighted by their probabilities
    probabilities: dict[int, float]  # label → the model's probability, 0 where it gave none
    discarded_mass: float  # probability of everything that is no legal label


def prompt(metric: str, question: str, answer: str, knowledge: str = "") -> str:
    """Return the prompt for a judge.

    Args:
        metric: 'coherence', 'consistency', 'fluency' or 'relevance'.
        question: the question.
        answer: the answer to judge.
        knowledge: the knowledge that the answer should agree with; only the prompt of consistency
            has a place for it.
    """
    fields = {"question": question, "knowledge": knowledge, "answer": answer}
    template = prompt_text(f"geval_{metric}")
    return _FIELD.sub(lambda field: fields[field[1]].strip(), template)


def parse_score(reply: str, metric: str) -> int | None:
    """Return the score in a reply; None if the reply is not just a score.

    A score is one digit from 1 to 5. A name may be before it ('Score', 'Rating', 'Answer', the
    metric's name), '/5' or 'out of 5' and a full stop may be after it, and marks around each: '4',
    'Score: 4', '**Fluency** (1-5): 4/5.'. In a longer reply the first or last number may not be
    the score, so it has none.
    """
    place = _place(reply, metric)
    return int(reply[place]) if place is not None else None


def weigh(tokens: Sequence[TokenOdds], reply: str, metric: str) -> Weighed | str:
    """Return the probability of each label at the token that holds a reply's score.

    Marks around the digit in its token must be the same: an alternative to '4.' is '5.', not '5'.

    Args:
        tokens: the tokens of the reply.
        reply: a reply that has a score.
        metric: the name of the metric.

    Returns:
        The probabilities, or the reason why there are none.
    """
    at = _token_of_score(tokens, reply, metric)
    if at is None:
        return NO_PROBABILITIES
    if (taken := _label(at.text)) is None:
        return SHARED_TOKEN
    found = dict.fromkeys(LABELS, 0.0)
    for text, probability in at.odds:
        label = _label(text)
        if label is not None and label[::2] == taken[::2]:
            found[label[1]] += probability
    if not (total := math.fsum(found.values())):
        return NO_PROBABILITIES
    mean = math.fsum(label * probability for label, probability in found.items()) / total
    return Weighed(mean, found, max(0.0, 1.0 - total))


def _place(reply: str, metric: str) -> int | None:
    """Return the place of the score in a reply; None if the reply is no score."""
    found = labelled_value(reply, "[1-5]", names=(metric,), scale=_SCALE, unit=_OF_5)
    return found.start("value") if found else None


def _label(text: str) -> tuple[str, int, str] | None:
    """Return the marks before a token's label, the label, and the marks after it; None without one.

    White space does not count.
    """
    # '▁' and 'Ġ' are a space in the tokens of some tokenizers.
    found = _LABEL.fullmatch(text.strip(" \t\r\n▁Ġ"))
    return (found[1], int(found[2]), found[3]) if found else None


def _token_of_score(tokens: Sequence[TokenOdds], reply: str, metric: str) -> TokenOdds | None:
    """Return the token that holds the score's digit; None if the tokens have no such digit.

    It is found by counting the digits before it, because the tokens may have different white space
    and more text at their end than the reply.
    """
    place = _place(reply, metric)
    if place is None:
        return None
    n_before = len(re.findall("[0-9]", reply[:place]))
    for token in tokens:
        digits = re.findall("[0-9]", token.text)
        if n_before < len(digits):
            return token if digits[n_before] == reply[place] else None
        n_before -= len(digits)
    return None

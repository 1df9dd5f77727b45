"""Tokens as prompts and filters count them. Rules find them, so a count never needs a model."""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache

TOKEN = re.compile(r"\w+|[^\w\s]")
TOKENISER = "lower-words"  # the name of `tokens` in signatures
_WORD = re.compile(r"\w+")


def tokens(text: str) -> list[str]:
    """Return the words of a text in lower case; an apostrophe ends a word."""
    return _WORD.findall(text.lower())


def count_tokens(text: str) -> int:
    """Return how many words and punctuation marks a text has: "it's 7.5" has six.

    A word is a run of letters, digits and underscores. Every other character except white space is
    a mark of its own. A model's tokenizer finds more tokens in rare words and in numbers.
    """
    return sum(1 for _ in TOKEN.finditer(text))


def count_words(text: str) -> int:
    """Return how many pieces a text has between its white space."""
    return len(text.split())


# Counting functions by their names in settings and tables.
TOKENIZERS: Mapping[str, Callable[[str], int]] = {
    "words-and-marks": count_tokens,
    "white-space": count_words,
}


def token_recall(wanted: str, found: str) -> float:
    """Return the share of the tokens of `wanted` that `found` has too.

    Tokens are those of the retrieval (words in lower case). A token that is wanted twice must be
    found twice, as in SQuAD's recall.

    Returns:
        A fraction in [0, 1]; NaN when `wanted` has no token.
    """
    asked, there = _counts(wanted), _counts(found)
    if not asked:
        return math.nan
    both = asked.keys() & there.keys()
    return sum(min(asked[token], there[token]) for token in both) / asked.total()


@lru_cache(maxsize=128)  # the questions of a conversation are compared with the same few passages
def _counts(text: str) -> Counter[str]:
    return Counter(tokens(text))

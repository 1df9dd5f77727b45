"""Tokens as prompts and filters count them: by rules, so that a count never needs a model."""

import re
from collections.abc import Callable, Mapping

TOKEN = re.compile(r"\w+|[^\w\s]")


def count_tokens(text: str) -> int:
    """Return how many words and punctuation marks a text has: "it's 7.5" has six.

    A word is a run of letters, digits and underscores; every other character but white space is
    a mark of its own. A model's tokenizer finds more in rare words and in numbers.
    """
    return sum(1 for _ in TOKEN.finditer(text))


def count_words(text: str) -> int:
    """Return how many pieces a text has between its white space."""
    return len(text.split())


# By the names that settings and tables give them.
TOKENIZERS: Mapping[str, Callable[[str], int]] = {
    "words-and-marks": count_tokens,
    "white-space": count_words,
}

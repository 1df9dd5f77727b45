"""Added words: the share of what a response adds to its question that the evidence holds.

A baseline of our own for attribution. Measures of shared words take the premise and the hypothesis
of an entailment model, which both may contain the user's question. A response that only repeats
the question then has all its words in the premise. Here the evidence, the question and the
response come apart, and words of the question do not count.
"""

import math
from collections.abc import Mapping

from generation.text.languages import NOT_SAID, follows_english, function_words
from generation.text.tokens import tokens
from generation.text.word_rarity import rarity


def added_words(user_question: str, response: str, language: str = NOT_SAID) -> dict[str, float]:
    """Return the content words of a response that the question does not have, with their weights.

    Words are those of `tokens`: in small letters, without punctuation. Function words have no
    content and are left out. The weight of a word is its rarity in English in bits, so numbers,
    names and technical terms weigh most; in other languages all words weigh the same. A word counts
    once, however often the response has it.

    Args:
        language: what the dataset calls the language of its texts, see `languages`.
    """
    asked = frozenset(tokens(user_question)) | function_words(language)
    weight = rarity if follows_english(language) else _same
    return {word: weight(word) for word in tokens(response) if word not in asked}


def _same(word: str) -> float:
    return 1.0


def share_found(added: Mapping[str, float], evidence: str) -> float:
    """Return the share of the added words, by weight, that the evidence has.

    Args:
        added: from `added_words`.
        evidence: the text in which the words are looked for.

    Returns:
        A fraction in [0, 1]. Without an added word it is 0: the response gives nothing that the
        evidence could support.
    """
    total = math.fsum(added.values())
    there = frozenset(tokens(evidence))
    return math.fsum(added[word] for word in added if word in there) / total if total else 0.0

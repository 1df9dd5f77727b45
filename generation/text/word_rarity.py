"""The rarity of English words, from a word list that is part of the code.

It never depends on other texts of a dataset, so a score stays the same whatever is imported.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

WORD_LIST = Path(__file__).with_name("english_words.tsv")


@cache
def _listed() -> Mapping[str, float]:
    """Return the rarity of each listed word, in bits."""
    lines = WORD_LIST.read_text("utf-8").splitlines()
    rows = (line.split("\t") for line in lines if not line.startswith("#"))
    return {word: float(bits) for word, bits in rows}


@cache
def highest_rarity() -> float:
    """Return the rarity of the rarest listed word, in bits."""
    return max(_listed().values())


def rarity(word: str) -> float:
    """Return how rare a word is: −log2 of its share of English text, in bits.

    Args:
        word: in lower case.

    Returns:
        From 4.5 for 'the' to 18.8. A word that is not among the 20,000 listed ones counts as
        rare as the rarest of these: names, numbers, technical terms and words of other languages.
    """
    return _listed().get(word, highest_rarity())

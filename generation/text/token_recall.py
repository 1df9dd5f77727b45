"""How much of a text is found in another one, token by token."""

import math
from collections import Counter
from functools import lru_cache

from generation.retrieval.bm25 import tokens


def token_recall(wanted: str, found: str) -> float:
    """Return the share of the tokens of `wanted` that `found` has too.

    Tokens are those of the retrieval (words in lower case); a token that is wanted twice has to be
    found twice, as in SQuAD's recall.

    Returns:
        A fraction in [0, 1]; NaN when `wanted` has no token.
    """
    asked, there = _counts(wanted), _counts(found)
    if not asked:
        return math.nan
    both = asked.keys() & there.keys()
    return sum(min(asked[token], there[token]) for token in both) / asked.total()


@lru_cache(maxsize=128)  # the questions of a conversation are held against the same few passages
def _counts(text: str) -> Counter[str]:
    return Counter(tokens(text))

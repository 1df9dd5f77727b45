"""Passages ranked by the words that they share with a query (BM25)."""

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np
from rank_bm25 import BM25Okapi  # type: ignore[import-untyped]

_WORD = re.compile(r"\w+")


def tokens(text: str) -> list[str]:
    """Return the words of a text in lower case; an apostrophe ends a word."""
    return _WORD.findall(text.lower())


class PassageIndex:
    """BM25 over a fixed sequence of passages (Okapi, k1 = 1.5, b = 0.75)."""

    def __init__(self, texts: Sequence[str]) -> None:
        words = [tokens(text) for text in texts]
        # rank_bm25 divides by the mean length; without a word there is nothing to find.
        self._okapi = _Okapi(words) if any(words) else None

    def top(self, query: str, k: int) -> list[int]:
        """Return the positions of the `k` best passages, best first, ties by position.

        Fewer than `k` when fewer share a word with the query: the others are left out.

        Raises:
            ValueError: `k` is negative.
        """
        if k < 0:
            raise ValueError(f"the {k} best passages; expected 0 or more")
        if self._okapi is None:
            return []
        scores = self._okapi.get_scores(tokens(query))
        best = np.argsort(-scores, kind="stable")[:k]
        return [int(position) for position in best if scores[position] > 0]


class _Okapi(BM25Okapi):  # type: ignore[misc]
    """Okapi with Lucene's inverse document frequency, log(1 + (N − n + ½) / (n + ½)).

    The textbook's, log((N − n + ½) / (n + ½)), is 0 for a word in half of the passages and
    negative above that: among a handful of passages the one that matches would come last.
    """

    def _calc_idf(self, nd: Mapping[str, int]) -> None:
        self.idf = {
            word: math.log(1 + (self.corpus_size - n + 0.5) / (n + 0.5)) for word, n in nd.items()
        }

"""A baseline without a model: how many of the hypothesis's words the premise has."""

import math
from collections.abc import Sequence

from evaluation.backends.base import Entailment
from evaluation.metrics.entailment import Pair
from generation.retrieval.bm25 import tokens

FUNCTION_WORDS = frozenset(
    tokens(
        "a an the and or but if as at by for from in into of on onto than to with "
        "am is are was were be been being do does did has have had will would can could "
        "i you he she it we they me him her us them my your his its our their "
        "this that these those there s"
    )
)


class Lexical:
    """Shared words; a baseline that knows nothing of order, negation or meaning."""

    signature = "lexical|v:1"
    revision = ""
    files: dict[str, str] = {}
    device = "cpu"

    def entailment(self, pairs: Sequence[Pair]) -> list[Entailment]:
        """Return the share of each hypothesis's distinct content words that its premise has."""
        words = {text: frozenset(tokens(text)) for pair in pairs for text in pair}
        return [_share(words[pair.premise], words[pair.hypothesis]) for pair in pairs]


def _share(premise: frozenset[str], hypothesis: frozenset[str]) -> Entailment:
    if not hypothesis:
        return Entailment(math.nan, problem="the response has no words")
    asked = hypothesis - FUNCTION_WORDS or hypothesis
    return Entailment(len(asked & premise) / len(asked))

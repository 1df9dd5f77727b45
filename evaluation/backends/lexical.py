"""A baseline without a model: the share of the hypothesis's words that the premise has."""

import math
from collections.abc import Sequence

from evaluation.backends.base import Entailment
from evaluation.measures.entailment import Pair
from generation.text.function_words import FUNCTION_WORDS
from generation.text.tokens import tokens


class Lexical:
    """A baseline from shared words, which ignores order, negation and meaning."""

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

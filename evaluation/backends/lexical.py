"""A baseline without a model: the share of the hypothesis's words that the premise has."""

import math
from collections.abc import Sequence

from evaluation.backends.base import Entailment
from evaluation.measures.entailment import Pair
from generation.text.languages import NOT_SAID, function_words
from generation.text.tokens import tokens


class Lexical:
    """A baseline from shared words, which ignores order, negation and meaning.

    Args:
        language: what the dataset calls the language of its texts, see `generation.text.languages`.
    """

    signature = "lexical|v:2"  # version 1 knew words of English only
    revision = ""
    files: dict[str, str] = {}
    device = "cpu"

    def __init__(self, language: str = NOT_SAID) -> None:
        self._function_words = function_words(language)

    def entailment(self, pairs: Sequence[Pair]) -> list[Entailment]:
        """Return the share of each hypothesis's distinct content words that its premise has."""
        words = {text: frozenset(tokens(text)) for pair in pairs for text in pair}
        return [self._share(words[pair.premise], words[pair.hypothesis]) for pair in pairs]

    def _share(self, premise: frozenset[str], hypothesis: frozenset[str]) -> Entailment:
        if not hypothesis:
            return Entailment(math.nan, problem="the response has no words")
        asked = hypothesis - self._function_words or hypothesis
        return Entailment(len(asked & premise) / len(asked))

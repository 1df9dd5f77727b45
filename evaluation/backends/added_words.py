"""A baseline without a model: the share of a response's added words that the evidence has."""

from collections.abc import Sequence

from evaluation.backends.base import Entailment
from evaluation.measures.added_words import added_words, share_found
from evaluation.measures.entailment import ApartAsk


class AddedWords:
    """Words that a response adds; a baseline that knows nothing of order, negation or meaning.

    It is an Auto-AIS backend of its own kind, because it gets evidence, question and response apart
    and not as premise and hypothesis.
    """

    signature = "added_words|v:1"
    revision = ""
    files: dict[str, str] = {}
    device = "cpu"

    def entailment(self, asks: Sequence[ApartAsk]) -> list[Entailment]:
        """Return the share of each response's added words that its evidence has."""
        added = {
            (ask.user_question, ask.response): added_words(ask.user_question, ask.response)
            for ask in asks
        }
        return [
            Entailment(share_found(added[ask.user_question, ask.response], ask.evidence))
            for ask in asks
        ]

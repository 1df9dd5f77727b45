"""A baseline without a model: the share of a response's added words that the evidence has."""

from collections.abc import Sequence

from evaluation.backends.base import Entailment
from evaluation.measures.added_words import added_words, share_found
from evaluation.measures.entailment import ApartAsk
from generation.text.languages import NOT_SAID


class AddedWords:
    """Words that a response adds; a baseline that knows nothing of order, negation or meaning.

    It is an Auto-AIS backend of its own kind, because it gets evidence, question and response apart
    and not as premise and hypothesis.

    Args:
        language: what the dataset calls the language of its texts, see `generation.text.languages`.
    """

    signature = "added_words|v:2"  # version 1 knew words of English only
    revision = ""
    files: dict[str, str] = {}
    device = "cpu"

    def __init__(self, language: str = NOT_SAID) -> None:
        self._language = language

    def entailment(self, asks: Sequence[ApartAsk]) -> list[Entailment]:
        """Return the share of each response's added words that its evidence has."""
        added = {
            ask[1:]: added_words(ask.user_question, ask.response, self._language) for ask in asks
        }
        return [Entailment(share_found(added[ask[1:]], ask.evidence)) for ask in asks]

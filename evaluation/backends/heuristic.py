"""A baseline without a model: how sensible a reply looks from its words and its last sentence."""

import math
from collections.abc import Sequence

from evaluation.backends.base import Judged, Reply
from evaluation.measures.sensibleness import heuristic
from generation.text.languages import NOT_SAID


class Heuristic:
    """A baseline from shared words, repetition and the end of the last sentence.

    Args:
        language: what the dataset calls the language of its texts, see `generation.text.languages`.
    """

    signature = "heuristic|v:2"  # version 1 knew words of English only
    revision = ""
    files: dict[str, str] = {}
    device = "cpu"

    def __init__(self, language: str = NOT_SAID) -> None:
        self._language = language

    def sensibleness(self, replies: Sequence[Reply]) -> list[Judged]:
        """Return the heuristic of each reply (`evaluation.measures.sensibleness.heuristic`)."""
        return [_judged(heuristic(each.turns, each.text, self._language)) for each in replies]


def _judged(score: float) -> Judged:
    return Judged(score, problem="the response has no words" if math.isnan(score) else "")

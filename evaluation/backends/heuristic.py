"""A baseline without a model: how sensible a reply looks from its words and its last sentence."""

import math
from collections.abc import Sequence

from evaluation.backends.base import Judged, Reply
from evaluation.measures.sensibleness import heuristic


class Heuristic:
    """A baseline from shared words, repetition and the end of the last sentence."""

    signature = "heuristic|v:1"
    revision = ""
    files: dict[str, str] = {}
    device = "cpu"

    def sensibleness(self, replies: Sequence[Reply]) -> list[Judged]:
        """Return the heuristic of each reply (`evaluation.measures.sensibleness.heuristic`)."""
        return [_judged(heuristic(reply.turns, reply.text)) for reply in replies]


def _judged(score: float) -> Judged:
    return Judged(score, problem="the response has no words" if math.isnan(score) else "")

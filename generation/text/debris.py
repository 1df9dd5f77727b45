"""Replies that go on with the form of their prompt, or say nothing in words.

A model that does not know a form continues it: it writes turn numbers, labels, or the same line
again and again. Such a reply is no answer, and metrics cannot say so: '1.1 1.1 1.1' follows from
many passages. The rule looks at the reply alone, so it finds what can be seen without the question.
A reply that was cut at its limit of length is no debris for that reason.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from generation.text.native_dialog import STOP
from generation.text.tokens import tokens

Debris = Literal["turn numbers", "labels of the prompt", "no words", "repeats itself"]
_TURN_NUMBERS = re.compile(r"\s*[0-9]+ -?[0-9]+ [0-9]+\b")
_LABEL = re.compile(r"^\s*(?:User|Assistant|Fact(?: [0-9]+)?|Instructions):", re.MULTILINE)
_PIECE = re.compile(r"\w+|[^\w\s]")
_WORD = re.compile(r"[^\W\d_]{2,}")
LENGTH_OF_RUN = 6  # words in the same order; fewer come again in any text


def debris_in(reply: str) -> Debris | None:
    """Return what is wrong with a reply; None if it is no debris, or empty.

    It is debris if it begins with three numbers like a turn's, or has a label of the prompt at the
    beginning of a line. It is debris too if fewer than half of its pieces are words, and each of
    its numbers and marks is there more than twice on average: '1971' and '1939–1945' are answers.
    The last kind repeats itself: more than half of its words are in runs of `LENGTH_OF_RUN` words
    that come more than once.
    """
    text = reply.strip()
    if not text:
        return None
    if _TURN_NUMBERS.match(text):
        return "turn numbers"
    if STOP in text or _LABEL.search(text):
        return "labels of the prompt"
    pieces = _PIECE.findall(text)
    n_words = sum(bool(_WORD.fullmatch(piece)) for piece in pieces)
    if 2 * n_words < len(pieces) and len(pieces) > 2 * len(set(pieces)):
        return "no words"
    words = tokens(text)
    return "repeats itself" if 2 * _n_repeated(words) > len(words) else None


def _n_repeated(words: Sequence[str]) -> int:
    """Return how many words are in runs that come more than once, the first time included."""
    runs = [tuple(words[at : at + LENGTH_OF_RUN]) for at in range(len(words) - LENGTH_OF_RUN + 1)]
    counts = Counter(runs)
    repeated = {
        place
        for at, run in enumerate(runs)
        if counts[run] > 1
        for place in range(at, at + LENGTH_OF_RUN)
    }
    return len(repeated)

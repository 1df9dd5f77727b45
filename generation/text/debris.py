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
_TURN_NUMBERS = re.compile(r"(?P<index>[0-9]{1,3}) (?P<parent>-?[0-9]{1,3}) (?P<speaker>[0-9]+)\b")
_LABEL = re.compile(r"^[^\S\n]*(?:User|Assistant|Fact(?: [0-9]+)?|Instructions):", re.MULTILINE)
_NUMBER = re.compile(r"[0-9]+")
FEWEST_NUMBERS = 6  # a reply without a letter needs these; 1,000,000,000 is an answer
LENGTH_OF_RUN = 6  # words in the same order; fewer come again in any text


def debris_in(reply: str) -> Debris | None:
    """Return what is wrong with a reply; None if it is no debris, or empty.

    It is debris if it begins with three numbers like a turn's, or has a label of the prompt at the
    beginning of a line. It is debris too if it has no letter, but `FEWEST_NUMBERS` numbers or more,
    each of which is there more than twice on average. The last kind repeats itself: more than half
    of its words are in runs of `LENGTH_OF_RUN` words that come more than once. So do refrains.
    """
    text = reply.strip()
    if not text:
        return None
    if (found := _TURN_NUMBERS.match(text)) and _is_turn(**found.groupdict()):
        return "turn numbers"
    if STOP in text or _LABEL.search(text):
        return "labels of the prompt"
    if not any(map(str.isalpha, text)):
        numbers = _NUMBER.findall(text)
        repeat = len(numbers) > 2 * len(set(numbers))
        return "no words" if repeat and len(numbers) >= FEWEST_NUMBERS else None
    words = tokens(text)
    return "repeats itself" if 2 * _n_repeated(words) > len(words) else None


def _is_turn(index: str, parent: str, speaker: str) -> bool:
    """Return whether three numbers may be a turn's: '12 11 0', and not '555 123 4567'."""
    return abs(int(index) - int(parent)) <= 1 or speaker in ("0", "1")


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

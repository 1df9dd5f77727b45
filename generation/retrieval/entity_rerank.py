"""The choice among namesakes by exact matches of neighbours in a question (KaLMA, 3.2).

The score of a candidate is the number of its neighbours' labels that occur in the question as whole
words. Ties go to the candidate with more triples, then by qid. The published code counts substrings
instead, so that 'male' is found in 'female', and an unknown date, which is empty, is found
everywhere.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

_DIGITS = re.compile(r"[0-9]+")


class Neighbourhood(NamedTuple):
    """An entity that may be meant, with its names and its neighbours."""

    qid: str
    names: frozenset[str]  # its label and aliases, which do not count as matches
    neighbours: tuple[str, ...]  # the values of its triples


class RankedEntity(NamedTuple):
    """An entity that may be meant, and the labels that support it."""

    neighbourhood: Neighbourhood
    matched: tuple[str, ...]  # neighbours' labels that occur in the question, each once

    @property
    def score(self) -> int:
        return len(self.matched)


def ranked(question: str, candidates: Iterable[Neighbourhood]) -> list[RankedEntity]:
    """Return the candidates, the likeliest first."""
    words = _plain(question)
    scored = [RankedEntity(each, _matched(words, each)) for each in candidates]
    return sorted(
        scored,
        key=lambda each: (
            -each.score,
            -len(each.neighbourhood.neighbours),
            by_number(each.neighbourhood.qid),
        ),
    )


def by_number(qid: str) -> tuple[str, int, str]:
    """Return the sort key of a qid: Q9 comes before Q10."""
    found = _DIGITS.search(qid)
    return (qid[: found.start()], int(found[0]), qid) if found else (qid, 0, qid)


def retrieval_counts(retrieved: Sequence[str], gold: Collection[str]) -> tuple[int, int, int]:
    """Return three counts: retrieved sub-graphs that are gold, all retrieved ones, all gold ones.

    Precision is the first over the second, recall the first over the third. Each qid counts once.
    """
    found, wanted = set(retrieved), set(gold)
    return len(found & wanted), len(found), len(wanted)


def _matched(words: str, candidate: Neighbourhood) -> tuple[str, ...]:
    own = {_plain(name) for name in candidate.names}
    labels: dict[str, str] = {}
    for label in candidate.neighbours:
        labels.setdefault(_plain(label), label)
    return tuple(
        label
        for plain, label in labels.items()
        if plain and plain not in own and _occurs(plain, words)
    )


def _occurs(label: str, text: str) -> bool:
    """Return whether a text holds a label as whole words; both are in the form of `_plain`."""
    start = text.find(label)
    while start >= 0:
        end = start + len(label)
        is_begun = start == 0 or not (_in_word(text[start - 1]) and _in_word(text[start]))
        is_ended = end == len(text) or not (_in_word(text[end - 1]) and _in_word(text[end]))
        if is_begun and is_ended:
            return True
        start = text.find(label, start + 1)
    return False


def _in_word(character: str) -> bool:
    """Return whether a character is part of a word: letters, digits, and the marks on them."""
    return character.isalnum() or unicodedata.category(character).startswith("M")


def _plain(text: str) -> str:
    """Return a text for comparison: in Unicode NFC, case-folded, with single spaces."""
    folded = unicodedata.normalize("NFC", text).casefold()
    return " ".join(unicodedata.normalize("NFC", folded).split())

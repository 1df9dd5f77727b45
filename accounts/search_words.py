"""The words of a search. Every search for words takes them from here, so that none takes long."""

from typing import NamedTuple

LONGEST_SEARCH = 200  # characters
MOST_WORDS = 8


class SearchWords(NamedTuple):
    """The different words of a search, in their order; upper and lower case are one word."""

    used: tuple[str, ...]  # at most `MOST_WORDS`
    left_out: tuple[str, ...]


def words_of(asked: str) -> SearchWords:
    """Return the words that are searched for, and those that are too many."""
    different: dict[str, str] = {}
    for word in asked[:LONGEST_SEARCH].split():
        different.setdefault(word.casefold(), word)
    words = tuple(different.values())
    return SearchWords(words[:MOST_WORDS], words[MOST_WORDS:])

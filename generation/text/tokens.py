"""Words of texts in any script, and tokens as prompts and filters count them.

Rules find them, so a count never needs a model. A word is a run of letters, digits, underscores and
the marks on letters, in Unicode NFC and case-folded. Characters without width, such as soft
hyphens, are no part of a text, and forms of full and half width are those of usual width. A script
without blanks between words gives its characters in overlapping pairs, as search engines read it:
'灯塔建于' has the words 灯塔, 塔建 and 建于.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise

import regex

from generation.text.scripts import UNSPACED

TOKENISER = "unicode-words"  # the name of `tokens` in signatures
_LATIN_WORD = re.compile(r"\w+")
_LATIN_TOKEN = re.compile(r"\w+|[^\w\s]")
# Anything but Latin letters that have no marks of their own, in small letters too, and punctuation.
_BEYOND_LATIN = regex.compile(
    r"[^\x00-\xac\xae-\u012f\u0131-\u01ef\u01f1-\u02ff\u2010-\u2027\u2030-\u205e\u20a0-\u20cf]"
)
_NO_WIDTH = r"\p{Default_Ignorable_Code_Point}"
_WITHOUT_WIDTH = regex.compile(rf"{_NO_WIDTH}+")
_OTHER_WIDTH = regex.compile(r"[\uff00-\uffef]+")
_MARKS = r"\p{Mn}\p{Mc}"
_CHARACTER = rf"{UNSPACED}[{_MARKS}]*+"
_WORD = rf"[[\p{{L}}\p{{N}}_]--{UNSPACED}][[\p{{L}}{_MARKS}\p{{N}}_]--{UNSPACED}]*+"
_ANY_CHARACTER = regex.compile(_CHARACTER, regex.VERSION1)
_ANY_WORD = regex.compile(rf"(?P<unspaced>(?:{_CHARACTER})++)|{_WORD}", regex.VERSION1)
_ANY_TOKEN = regex.compile(
    rf"{_CHARACTER}|{_WORD}(?:{_NO_WIDTH}++(?:{_WORD})?)*+|[^\p{{L}}\p{{N}}\p{{M}}{_NO_WIDTH}_\s]",
    regex.VERSION1,
)


def tokens(text: str) -> list[str]:
    """Return the words of a text in small letters; an apostrophe ends a word."""
    if _is_plain(text):
        return _LATIN_WORD.findall(text.casefold())
    return _words_of(unicodedata.normalize("NFC", plain(text).casefold()))


def _is_plain(text: str) -> bool:
    """Return whether a text is of letters without marks, so that the words of `re` are right."""
    return text.isascii() or _BEYOND_LATIN.search(text) is None


def words_as_written(text: str) -> list[str]:
    """Return the words of a text with their capitals."""
    return _words_of(plain(text))


def _words_of(text: str) -> list[str]:
    return [word for found in _ANY_WORD.finditer(text) for word in _words_in(found)]


def _words_in(found: regex.Match[str]) -> list[str]:
    if not found["unspaced"]:
        return [found[0]]
    characters = _ANY_CHARACTER.findall(found[0])
    return ["".join(pair) for pair in pairwise(characters)] or characters


def plain(text: str) -> str:
    """Return a text in the form in which its words are compared, with its capitals."""
    composed = unicodedata.normalize("NFC", _WITHOUT_WIDTH.sub("", text))
    return _OTHER_WIDTH.sub(lambda found: unicodedata.normalize("NFKC", found[0]), composed)


def token_ends(text: str) -> list[int]:
    """Return the places in a text where its words and punctuation marks end, see `count_tokens`."""
    return [found.end() for found in _found_tokens(text)]


def count_tokens(text: str) -> int:
    """Return how many words and punctuation marks a text has: "it's 7.5" has six.

    Every character that is no part of a word is a mark of its own, except white space. In a script
    without blanks every letter counts. A model's tokenizer finds more tokens in rare words and in
    numbers.
    """
    return sum(1 for _ in _found_tokens(text))


def _found_tokens(text: str) -> Iterator[re.Match[str]] | Iterator[regex.Match[str]]:
    if _is_plain(text):
        return _LATIN_TOKEN.finditer(text)
    return _ANY_TOKEN.finditer(text)


def count_words(text: str) -> int:
    """Return how many pieces a text has between its white space.

    In a script without blanks every letter counts.
    """
    if _is_plain(text):
        return len(text.split())
    return sum(
        len(_ANY_CHARACTER.findall(piece)) + bool(_ANY_CHARACTER.sub("", piece))
        for piece in text.split()
    )


# Counting functions by their names in settings and tables.
TOKENIZERS: Mapping[str, Callable[[str], int]] = {
    "words-and-marks": count_tokens,
    "white-space": count_words,
}


def token_recall(wanted: str, found: str) -> float:
    """Return the share of the tokens of `wanted` that `found` has too.

    Tokens are those of the retrieval (`tokens`). A token that is wanted twice must be found twice,
    as in SQuAD's recall.

    Returns:
        A fraction in [0, 1]; NaN when `wanted` has no token.
    """
    asked, there = _counts(wanted), _counts(found)
    if not asked:
        return math.nan
    both = asked.keys() & there.keys()
    return sum(min(asked[token], there[token]) for token in both) / asked.total()


@lru_cache(maxsize=128)  # the questions of a conversation are compared with the same few passages
def _counts(text: str) -> Counter[str]:
    return Counter(tokens(text))

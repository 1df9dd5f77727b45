"""The spelling of names: how people type them, and how a graph writes them."""

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from generation.text.word_rarity import rarity

COMMON = 12.0  # bits; words that are less rare in English are names only with their capitals

_CURLY = "’\u2018\u02bc\uff07\u2032"  # apostrophes that phones, books and primes have
_STRAIGHT = str.maketrans(dict.fromkeys(_CURLY, "'"))
# Scripts without blanks between words: Han, kana and Hangul. A decomposed syllable is one piece.
_NO_BLANKS = (
    r"[\u1100-\u115f][\u1160-\u11a7]?[\u11a8-\u11ff]?"
    r"|[\u2e80-\u2fdf\u3005-\u3007\u3040-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff"
    r"\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff][\u3099\u309a\ufe00-\ufe0f]*"
)
_IS_NO_BLANKS = re.compile(_NO_BLANKS)
# A full stop is a piece too: 'Inc.' and 'inc.' are cut alike.
_PIECE = re.compile(rf"{_NO_BLANKS}|\.|(?:(?!{_NO_BLANKS})[^.])+")
_APOSTROPHE = re.compile(f"['{_CURLY}]")
_SPACE = re.compile(r"\s+")
_POSSESSIVE = re.compile(r"['’]s\b")
_ARTICLE = re.compile(r"(?:the|an?)\s+(?=\S)", re.IGNORECASE)


class KnownName(NamedTuple):
    """A name of the graph, in its form as pieces, and whether it is PROPER or SMALL."""

    name: str
    form: str
    what: str


class FoundName(NamedTuple):
    """A place in a text, in pieces, that has the form of some names."""

    start: int
    end: int
    names: tuple[str, ...]


def straight(text: str) -> str:
    """Return a text of the same length in which every apostrophe is the straight one."""
    return text.translate(_STRAIGHT)


def pieces(token: str) -> list[tuple[int, int]]:
    """Return where the pieces of a token are, as which names are compared.

    Each character of a script without blanks is one, so that a name is found inside a sentence.
    """
    return [found.span() for found in _PIECE.finditer(token)]


def folded(name: str) -> str:
    """Return a name in Unicode NFC, with straight apostrophes and one blank for white space."""
    return " ".join(straight(unicodedata.normalize("NFC", name)).split())


def longest(found: Iterable[FoundName], taken: set[int]) -> list[FoundName]:
    """Return the longest places, then the first, so that none overlaps another or what is taken.

    Their pieces are taken from then on.
    """
    kept: list[FoundName] = []
    for each in sorted(found, key=lambda each: (each.start - each.end, each.start)):
        if taken.isdisjoint(inside := range(each.start, each.end)):
            taken.update(inside)
            kept.append(each)
    return kept


def is_common(form: str) -> bool:
    """Return whether a name in small letters is a frequent word of English: 'time', 'life'."""
    return form.islower() and rarity(form) < COMMON


def without_article(name: str) -> str:
    """Return a name without the article before it; "" if there is none."""
    found = _ARTICLE.match(name)
    return name[found.end() :] if found else ""


def ways_found(text: str, start: int, end: int, name: str) -> tuple[str, ...]:
    """Return in words how characters `start` to `end` of a text were read as a name of the graph.

    The result is empty if they are the name, apart from composed characters.
    """
    typed = unicodedata.normalize("NFC", text[start:end])
    possessive = _POSSESSIVE.match(text, end)
    whole = f"{typed}{possessive[0]}" if possessive else ""
    ways: list[str] = []
    if _caseless(whole) == _caseless(name):
        typed = whole
        ways.append("with its possessive")
    elif _caseless(bare := without_article(typed)) == _caseless(name):
        typed = bare
        ways.append("without its article")
    wanted = unicodedata.normalize("NFC", name)
    if _APOSTROPHE.findall(typed) != _APOSTROPHE.findall(wanted):
        ways.append("whatever its apostrophe")
    if _SPACE.findall(typed) != _SPACE.findall(wanted):
        ways.append("with its white space folded")
    if folded(typed) != folded(wanted):
        ways.append("without regard to capitals")
    if _touches(text[:start][-1:], typed[:1]) or _touches(typed[-1:], text[end:][:1]):
        ways.append("inside a text without blanks")
    return tuple(ways)


def _caseless(name: str) -> str:
    return folded(name).casefold()


def _touches(before: str, after: str) -> bool:
    """Return whether two characters belong to different names although nothing is between them."""
    is_word = before.isalnum() and after.isalnum()
    return is_word and bool(_IS_NO_BLANKS.match(before) or _IS_NO_BLANKS.match(after))

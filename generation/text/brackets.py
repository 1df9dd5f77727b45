"""The brackets in which models cite: of other kinds than [ ], and over a line break.

Readers of citations know brackets of one kind on one line. So a bracket that cites is written so
before it is read. The text keeps its length, and with it every place in it.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import NamedTuple

from generation.text.sentences import BREAKS

# A line break that does not begin a new paragraph.
_BREAK = rf"(?:\r\n|[{BREAKS}])(?![^\S{BREAKS}]*+[{BREAKS}])"
_NESTED = rf"\[[^\[\]{BREAKS}]*+\]"


def _inside(marks: str) -> str:
    return rf"(?:[^\[\]{marks}{BREAKS}]++|{_BREAK}|{_NESTED})*+"


def _pair(opening: str, closing: str) -> str:
    return f"{opening}{_inside(opening + closing)}{closing}"


_BLACK, _SQUARE, _TORTOISE = "\u3010\u3011", "\uff3b\uff3d", "\u3014\u3015"
_ROUND = "\uff08\uff09"  # the usual parentheses of Chinese and Japanese text
_OTHER_KIND = re.compile(
    rf"{_pair(*_BLACK)}|{_pair(*_SQUARE)}|{_pair(*_TORTOISE)}"
    rf"|(?P<round>{_pair(*_ROUND)})|(?P<square>\[{_inside('')}\])"
)
_ANY_BREAK = re.compile(rf"[{BREAKS}]")
_BLANKS_AND_BREAK = re.compile(rf"\s*[{BREAKS}]\s*")
_SEPARATORS = str.maketrans({"\uff0c": ",", "\uff1b": ";", "\uff1a": ":"})
# The beginning of a citation in whatever brackets: '(Q1, …', or '[Q1, …' without an end.
_OPENINGS = rf"\[({{<{_BLACK[0]}{_SQUARE[0]}{_TORTOISE[0]}{_ROUND[0]}"
_LOOKS = re.compile(
    rf"[{_OPENINGS}]\s*+(?:qid\s*+[:\uff1a]\s*+)?+Q[0-9]{{1,99}}\s*+[,;:\uff0c\uff1b\uff1a]"
)


class PlainBrackets(NamedTuple):
    """A text whose citing brackets are all [ ] on one line, and its brackets of other kinds."""

    text: str
    others: tuple[tuple[int, int], ...]  # the places of those that do not cite


def plain_brackets(text: str, cites: Callable[[str], bool]) -> PlainBrackets:
    """Return a text of the same length, in which each bracket that cites is [ ] on one line.

    Args:
        text: the text.
        cites: says of the inside of a bracket whether it cites.
    """
    others: list[tuple[int, int]] = []

    def plain(found: re.Match[str]) -> str:
        bracket = found[0]
        if found["square"] and not _ANY_BREAK.search(bracket):
            return bracket
        if cites(bracket[1:-1]):
            return f"[{_ANY_BREAK.sub(' ', bracket[1:-1])}]"
        if not found["round"] and not found["square"]:
            others.append(found.span())
        return bracket

    return PlainBrackets(_OTHER_KIND.sub(plain, text), tuple(others))


def lookalikes(text: str) -> Iterator[int]:
    """Yield the places where something begins like a citation with a qid."""
    return (found.start() for found in _LOOKS.finditer(text))


def on_one_line(inside: str) -> str:
    """Return the inside of a bracket in Unicode NFC, with one blank for each line break."""
    return unicodedata.normalize("NFC", _BLANKS_AND_BREAK.sub(" ", inside)).strip()


def with_plain_separators(inside: str) -> str:
    """Return a text of the same length in which commas and colons of full width are plain."""
    return inside.translate(_SEPARATORS)

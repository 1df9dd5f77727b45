"""Sentences of a text, with their places. They are found by rules, which need no download."""

import re
from collections.abc import Iterator
from typing import NamedTuple

BREAKS = r"\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
# Brackets on one line, with brackets inside brackets one level deep: '[Q1, award: Foo [bar], sport:
# x]'.
_BRACKET = rf"\[(?:[^\[\]{BREAKS}]++|\[[^\[\]{BREAKS}]*+\])*+\]"
BRACKET = re.compile(_BRACKET)

_LINE = re.compile(rf"[^{BREAKS}]+")
_STOP_OR_BRACKET = re.compile(rf"{_BRACKET}|(?P<stop>[.!?…]+)(?P<closing>[\"'”’»)\]}}]*)")
_BRACKET_AFTER = re.compile(rf"(?P<gap>\s*+)(?P<bracket>{_BRACKET})[.!?…]*")
# Brackets that cite even after a space: '[NA]', '[Q1, …]', '[2, 3]', '[relation: value]'; but not
# '[He] left'.
_CITING = re.compile(r"\[\s*+(?:NA\s*+\]|Q[0-9]|[0-9][0-9,;\s–-]*+\]|[^:]*+:\s)")
_NEXT_WORD = re.compile(r"\s*+[^\w\s]{0,3}+(\w+)(?=(\s?))")
_DOTTED = re.compile(r"(?:[^\W\d_]{1,2}\.)*[^\W\d_]")  # 'J', 'U.S', 'a.m', 'Ph.D'


def _words(words: str) -> frozenset[str]:
    return frozenset(words.split())


_NEVER_LAST = _words(
    "Dr Mr Mrs Ms Mx Prof St Ste Mt Gen Col Capt Lt Sgt Maj Cmdr Adm Gov Sen Rep Rev Fr Hon Pres "
    "Mme Mlle Messrs e.g E.g i.e I.e cf Cf vs viz"
)
_NEVER_LAST_BEFORE_A_NUMBER = _words(
    "Fig Figs fig figs Eq Eqs eq No Nos nos Vol vol Ch ch Sec Art pp Pp approx ca "
    "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec"
)
_MAY_BE_LAST = _words("Jr Sr Inc Ltd Co Corp Bros Ave Blvd Rd al ed eds etc est approx")
_STARTERS = _words(
    "A An And As At After Although Before Both But By During For From He Her His However I If In "
    "It Its On She Since That The Their Then There These They This Those To Under We When Where "
    "While With You"
)


class Sentence(NamedTuple):
    """One sentence: characters `start` to `end` of the whole text, without space around it."""

    start: int
    end: int
    text: str


def split_sentences(text: str) -> list[Sentence]:
    """Return the sentences of a text in order; everything but white space is in one of them.

    A line break always ends a sentence. A full stop does not end one after a title or an
    abbreviation ('Dr.', 'e.g.', 'Fig. 3'). After initials and the like ('J. Smith', 'U.S. Navy',
    'Inc.') it ends one only if the next word often starts a sentence ('in the U.S. The …'). Closing
    quotes and brackets belong to the sentence that they close. A citation right after the full
    stop, or after a space, belongs to the sentence before it. Nothing is split inside `[…]`.
    """
    sentences: list[Sentence] = []
    for line in _LINE.finditer(text):
        start = line.start()
        for end in _ends(text, *line.span()):
            piece = text[start:end]
            if stripped := piece.strip():
                first = start + piece.index(stripped[0])
                sentences.append(Sentence(first, first + len(stripped), stripped))
            start = end
    return sentences


def _ends(text: str, line_start: int, line_end: int) -> Iterator[int]:
    """Yield the places where the sentences of a line end."""
    start = position = line_start
    while found := _STOP_OR_BRACKET.search(text, position, line_end):
        position = found.end()
        if found["stop"] is None:  # a bracket, with any full stops that it holds
            continue
        while after := _BRACKET_AFTER.match(text, position, line_end):
            if after["gap"] and not _CITING.match(after["bracket"]):
                break
            position = after.end()
        if position == line_end or not text[position].isspace():
            continue
        before = text[max(start, found.start() - 40) : found.start()]
        is_numbering = found.start() - start <= 3 and before.strip().isdigit()  # '2. Then …'
        if not is_numbering and _is_end(before, found, text, position, line_end):
            yield position
            start = position
    yield line_end


def _is_end(before: str, found: re.Match[str], text: str, position: int, line_end: int) -> bool:
    """Return whether a stop (.!?…), with white space at `position`, ends its sentence."""
    following = _NEXT_WORD.match(text, position, line_end)
    next_word = following[1] if following else ""
    if next_word[:1].islower() and (found["closing"] or found["stop"] not in (".", "!", "?")):
        return False  # '"Why?" he asked', 'Wait… what'
    if found["stop"] != ".":
        return True

    word = before.split()[-1].lstrip("([{\"'“\u2018") if before and not before[-1].isspace() else ""
    if word in _NEVER_LAST:
        return False
    if word in _NEVER_LAST_BEFORE_A_NUMBER and next_word[:1].isdigit():
        return False
    if word in _MAY_BE_LAST or _DOTTED.fullmatch(word):
        is_whole = following is not None and following[2] != ""  # not the 'A' of 'J. A. Smith'
        return next_word in _STARTERS and is_whole
    return True

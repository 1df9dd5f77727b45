"""Sentences of a text, with their places. They are found by rules, which need no download.

The marks that end a sentence are those of Unicode for every script (Sentence_Terminal, see UAX #29,
sentence boundaries). What a mark of a language with capitals needs beside that, such as its
abbreviations, stands in `languages.toml`.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

import regex

from generation.text.languages import NOT_SAID, Rules, rules_of
from generation.text.scripts import UNSPACED

SPLITTER = 2  # version of the rules; version 1 knew the marks and abbreviations of English only

BREAKS = r"\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
# Brackets on one line, with brackets inside brackets one level deep: '[Q1, award: Foo [bar], sport:
# x]'.
_BRACKET = rf"\[(?:[^\[\]{BREAKS}]++|\[[^\[\]{BREAKS}]*+\])*+\]"
BRACKET = re.compile(_BRACKET)

_LINE = re.compile(rf"[^{BREAKS}]+")
# A title, as Chinese and Japanese mark it, may hold a stop.
_TITLE = rf"《[^《》{BREAKS}]*+》"
# The marks that close a quotation differ: ”, “ and « before white space, and ' »' in French.
_CLOSING = r"[\"'\p{Pe}\p{Pf}]|\p{Pi}(?=\s|$)|[\x20\xa0\u202f]»(?=\s|$)"
# \u2047 stands for a character that a tokeniser did not know, also in the middle of a word.
_STOP = r"[[\p{Sentence_Terminal}…]--[\u2047]]"
_STOP_OR_BRACKET = regex.compile(
    rf"{_BRACKET}|{_TITLE}|(?P<stop>{_STOP}++)(?P<closing>(?:{_CLOSING})*+)", regex.VERSION1
)
_BRACKET_AFTER = re.compile(rf"(?P<gap>\s*+)(?P<bracket>{_BRACKET})[.!?…]*")
# Brackets that cite even after a space: '[NA]', '[Q1, …]', '[2, 3]', '[relation: value]'; but not
# '[He] left'.
_CITING = re.compile(r"\[\s*+(?:NA\s*+\]|Q[0-9]|[0-9][0-9,;\s–-]*+\]|[^:]*+:\s)")
_NEXT_WORD = regex.compile(r"\s*+(?:[–—-]\s)?+[^\w\s]{0,3}+([\p{L}\p{M}\p{N}_]++)(?=(\s?))")
_CASED = r"[\p{Lu}\p{Ll}\p{Lt}]\p{M}*+"
_DOTTED = regex.compile(rf"(?:(?:{_CASED}){{1,2}}\.)*{_CASED}")  # 'J', 'U.S', 'a.m', 'Ph.D'
_OPENING = regex.compile(r"\A[\p{Ps}\p{Pi}\p{Pf}\"'¿¡]+")
_ELIDED = re.compile(r"\A\w+['’]")  # the article in 'dall’ing.'
_UNSPACED = regex.compile(UNSPACED, regex.VERSION1)


class Sentence(NamedTuple):
    """One sentence: characters `start` to `end` of the whole text, without space around it."""

    start: int
    end: int
    text: str


def split_sentences(text: str, language: str = NOT_SAID) -> list[Sentence]:
    """Return the sentences of a text in order; everything but white space is in one of them.

    A line break always ends a sentence. A stop (.!?) ends one before white space, and a stop of
    another script (。 । ؟ ።) anywhere. A full stop does not end one after a title or an
    abbreviation ('Dr.', 'e.g.', 'Fig. 3', 'am 3. März'). After initials and the like ('J. Smith',
    'U.S. Navy', 'Inc.') it ends one only if the next word often starts a sentence ('in the U.S.
    The …'). Closing quotes and brackets belong to the sentence that they close. A citation right
    after the full stop, or after a space, belongs to the sentence before it. Nothing is split
    inside `[…]` and `《…》`.

    Args:
        language: what the dataset calls the language of its texts, see `languages`.
    """
    rules = rules_of(language)
    sentences: list[Sentence] = []
    for line in _LINE.finditer(text):
        start = line.start()
        for end in _ends(text, *line.span(), rules):
            piece = text[start:end]
            if stripped := piece.strip():
                first = start + piece.index(stripped[0])
                sentences.append(Sentence(first, first + len(stripped), stripped))
            start = end
    return sentences


def _ends(text: str, line_start: int, line_end: int, rules: Rules) -> Iterator[int]:
    """Yield the places where the sentences of a line end."""
    start = position = counted = line_start
    n_quotes = 0  # straight ones so far: whether one opens or closes
    while found := _STOP_OR_BRACKET.search(text, position, line_end):
        position = found.end()
        if found["stop"] is None:  # a bracket, with any full stops that it holds
            continue
        if not found["stop"].isascii() and found["closing"].startswith('"'):
            n_quotes += text.count('"', counted, found.end("stop"))
            counted = found.end("stop")
            position = found.end() if n_quotes % 2 else found.end("stop")
        elif found["closing"].endswith("»") and not _is_quoted(text, line_start, found.start()):
            position = found.end("stop")  # a mark of its own, as in '» more'
        while after := _BRACKET_AFTER.match(text, position, line_end):
            if after["gap"] and not _CITING.match(after["bracket"]):
                break
            position = after.end()
        if position == line_end or not _may_end(found, text, position):
            continue
        before = text[max(start, found.start() - 40) : found.start()]
        is_numbering = found.start() - start <= 3 and before.strip().isdigit()  # '2. Then …'
        if not is_numbering and _is_end(before, found, text, position, line_end, rules):
            yield position
            start = position
    yield line_end


def _is_quoted(text: str, line_start: int, position: int) -> bool:
    """Return whether a quotation in « » is open at a place in a line."""
    return text.rfind("«", line_start, position) > text.rfind("»", line_start, position)


def _may_end(found: regex.Match[str], text: str, position: int) -> bool:
    """Return whether the character after a stop, at `position`, lets the stop end a sentence."""
    if text[position].isspace():
        return True
    mark = found["stop"][-1]
    if mark in ".…":
        return False
    if mark in "!?":
        return _UNSPACED.match(text, position) is not None
    digits = text[found.start() - 1 : found.start()] + text[position]
    return not (len(digits) == 2 and digits.isnumeric())  # 3.5 in characters of full width


def _is_end(
    before: str, found: regex.Match[str], text: str, position: int, line_end: int, rules: Rules
) -> bool:
    """Return whether a stop, with its closing marks up to `position`, ends its sentence."""
    stop, is_closed = found["stop"], bool(found["closing"])
    if is_closed and rules.after_a_quote.match(text, position, line_end):
        return False  # '「雨だ。」と言った'
    following = _NEXT_WORD.match(text, position, line_end)
    next_word = _composed(following[1]) if following else ""
    hesitates = stop not in (".", "!", "?") and stop[-1] in ".!?…"
    if next_word[:1].islower() and (is_closed or hesitates):
        return False  # '"Why?" he asked', 'Wait… what'
    if stop != ".":
        return True
    if rules.small_goes_on.match(next_word):
        return False
    is_whole = following is not None and following[2] != ""  # not the 'A' of 'J. A. Smith'
    begins = next_word in rules.starters and (is_whole or len(next_word) > 1)
    return _ends_before(_composed(before), next_word, rules, begins=begins)


def _ends_before(before: str, next_word: str, rules: Rules, *, begins: bool) -> bool:
    """Return whether a full stop ends its sentence, by the words on both sides of it.

    Args:
        before: the end of the sentence, without the stop.
        next_word: the word after the stop.
        begins: whether that word often begins a sentence.
    """
    words = before.split()
    word = words[-1] if words and not before[-1].isspace() else ""
    if not word[:1].isalnum():
        word = _OPENING.sub("", word)
    if word in rules.abbreviations or _ELIDED.sub("", word) in rules.abbreviations:
        return False
    if word in rules.before_a_number and next_word[:1].isdigit():
        return False
    if word.isdigit():
        is_announced = len(words) > 1 and words[-2] in rules.before_an_ordinal
        return next_word not in rules.after_an_ordinal and (begins or not is_announced)
    if word in rules.may_end or _DOTTED.fullmatch(word):
        return begins
    return True


def _composed(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)

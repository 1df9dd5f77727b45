"""The meaning of a cell of a vote or of a score, for every reader, every format and every scale.

docs/formats.md has the rules as a table, `What a cell may say`.
"""

import math
import re
import unicodedata
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from generation.importers.errors import excerpt

LARGEST_SCORE = 1e12
# The words for nothing, folded. Numbers and yes/no are never written so; labels may be.
MISSING = frozenset(
    [
        *("", "na", "n/a", "n.a.", "#n/a", "#na", "<na>", "nan", "none", "null", "nil", "nat"),
        *("-", "--", "\N{EN DASH}", "\N{EM DASH}", "."),
    ]
)
_WHOLE = re.compile(r"([+-]?)0*(\d{1,9})(?:\.0*|,00?)?")  # 1,000 may be a thousand
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,4})?")
_WITH_COMMA = re.compile(r"[+-]?\d*,\d+(?:e[+-]?\d{1,4})?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")  # a comma between thousands, or a decimal one
_UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))  # characters without a width
# The words for yes and for no, folded.
YES = frozenset(
    ["yes", "true", "y", "t", "ja", "oui", "si", "s\N{LATIN SMALL LETTER I WITH ACUTE}"]
)
NO = frozenset(["no", "false", "n", "f", "nein", "non"])
_LOGICAL = {"true": 1.0, "false": 0.0}
IN_RANGE = f"a number from {-LARGEST_SCORE:.0e} to {LARGEST_SCORE:.0e}"
PERCENT = "cells of scores in percent, read as shares (50% is 0.5)"
COMMA = "cells of scores with a decimal comma"
UNREADABLE = "cells of scores that are no number, which is kept as the reason"


class ScoreCell(NamedTuple):
    """The content of a cell of a score.

    Attributes:
        score: None: there is none.
        problem: why there is none. "": the cell says nothing.
        note: how it was read, as the name of a count. "": as it is written.
    """

    score: float | None
    problem: str = ""
    note: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether the cell says nothing, so that it is as if there was none."""
        return self.score is None and not self.problem


def folded(text: str) -> str:
    """Return a text by which spellings are compared: as `spelled`, without capitals."""
    return unicodedata.normalize("NFC", spelled(text).casefold())


def spelled(text: str) -> str:
    """Return a text as a label is written: composed, with one usual blank between its words."""
    return " ".join(unicodedata.normalize("NFC", text.translate(_UNSEEN)).split())


def is_missing(text: str) -> bool:
    """Return whether a cell is empty, or its only word says that there is nothing."""
    return folded(text) in MISSING


def whole_number(text: str) -> int | None:
    """Return the whole number that a text is: '5', '05', '5.0' and '5,0' are 5. None: none."""
    found = _WHOLE.fullmatch(text.strip())
    return int(found[1] + found[2]) if found and found[2].isascii() else None


def meaning_of(word: str, meanings: Mapping[str, str]) -> str | None:
    """Return what a mapping says that a word means, in any spelling. None: it does not say.

    What it says of yes and no holds for Excel's TRUE and FALSE as well.
    """
    if not meanings or word in meanings:
        return meanings.get(word)
    for of in (folded, whole_number, _yes_or_no):
        said = of(word)
        found = [
            meaning for key, meaning in meanings.items() if said is not None and of(key) == said
        ]
        if found:
            return found[0]
    return None


def _yes_or_no(word: str) -> str | None:
    said = folded(word)
    return {"true": "yes", "false": "no"}.get(said, said if said in ("yes", "no") else None)


def score_in(value: Any, decimal: str = ".") -> ScoreCell:
    """Return the content of a cell of a score. True and false are 1 and 0.

    A decimal comma is read where it can be nothing else. 50% is 0.5.
    """
    if isinstance(value, bool | int | float):
        try:
            return _finite(float(value), value)
        except OverflowError:  # a whole number of hundreds of digits
            return no_score(value, IN_RANGE)
    if value is not None and not isinstance(value, str):
        return no_score(value, "a number")
    text = folded(value or "")
    if text in MISSING:
        return ScoreCell(None, "", without("score", value or ""))
    if text in _LOGICAL:
        return ScoreCell(_LOGICAL[text])
    number, note = text.removesuffix("%").rstrip().replace("\N{MINUS SIGN}", "-"), ""
    if decimal == ",":
        number = number.replace(",", ".")
    elif _WITH_COMMA.fullmatch(number):
        if _THOUSANDS.fullmatch(number):
            expected = 'a point in the number, or decimal = "," in a mapping'
            return no_score(value, expected)
        number, note = number.replace(",", "."), COMMA
    if not _NUMBER.fullmatch(number):
        return no_score(value, "a number")
    if text.endswith("%"):
        return _finite(float(Decimal(number).scaleb(-2)), value, PERCENT)
    return _finite(float(number), value, note)


def _finite(number: float, value: Any, note: str = "") -> ScoreCell:
    if math.isnan(number):
        return ScoreCell(None, "", without("score", "NaN"))
    if abs(number) > LARGEST_SCORE:
        return no_score(value, IN_RANGE)
    return ScoreCell(number, "", note)


def no_score(value: Any, expected: str) -> ScoreCell:
    """Return the content of a cell that has no score, with the reason."""
    return ScoreCell(None, f"found {excerpt(value)}; expected {expected}", UNREADABLE)


def without(what: str, word: str) -> str:
    """Return the name of a count: the cells that are empty or say a word, and so no vote or score.

    Args:
        what: 'vote' or 'score'.
    """
    return f"cells without a {what} ({excerpt(word.strip()) if word.strip() else 'empty'})"

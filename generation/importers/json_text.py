"""JSON, read strictly: no duplicate keys, bounded nesting, text that can be stored, and no NaN.

Rows of data may have NaN, which Python and pandas write for a value that is missing.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from generation.importers.errors import excerpt

MOST_VALUES = 1_000_000  # values in one text; each takes up to a hundred times its bytes there
_SURROGATE = re.compile("[\ud800-\udfff]")
_TEXT_OR_SIGN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{,]', re.DOTALL)


class JSONTrouble(ValueError):
    """A text is not acceptable JSON. The error tells what was found and what was expected."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(f"found {found}; expected {expected}")
        self.found = found
        self.expected = expected


def parse_row(text: str, max_nesting: int) -> Any:
    """Return the value of data: as `parse_json`, but NaN is null, and Infinity is this word.

    Raises:
        JSONTrouble: as for `parse_json`.
    """
    return parse_json(text, max_nesting, _OF_ROWS)


def parse_json(text: str, max_nesting: int, decoder: json.JSONDecoder | None = None) -> Any:
    """Return the value that `text` holds.

    Raises:
        JSONTrouble: the text is malformed, has a key twice in one object, NaN or Infinity (also as
            1e999), is nested deeper than `max_nesting`, has more than `MOST_VALUES` values, or
            has a text with a NUL or a lone surrogate.
    """
    if has_too_many_values(text):
        raise JSONTrouble(f"more than {MOST_VALUES:,} values", "fewer values in one JSON text")
    try:
        value = (decoder or _STRICT).decode(text)
    except json.JSONDecodeError as error:
        written = text.rstrip()
        is_cut = error.pos >= len(written) or error.msg.startswith("Unterminated string")
        place = f"character {error.pos + 1:,} of {excerpt(written)}"
        if "\n" in written:
            place = f"line {error.lineno:,}, column {error.colno:,}"
        elif is_cut:
            place = f"the end of {excerpt(written)}"
        found = f"text that is not JSON ({error.msg}, at {place})" if written else "an empty text"
        end = ", up to its last quote or bracket" if written and is_cut else ""
        raise JSONTrouble(found, f"valid JSON{end}") from error
    except RecursionError as error:
        raise JSONTrouble("brackets that are nested too deep", _at_most(max_nesting)) from error
    except JSONTrouble:
        raise
    except ValueError as error:  # raised for an integer of thousands of digits
        raise JSONTrouble("a number of thousands of digits", "a shorter number") from error

    if text.count("[") + text.count("{") > max_nesting:
        _check_nesting(value, max_nesting)
    if "\\u" in text:  # a NUL or a lone surrogate in decoded text can only be written so
        check_texts(value)
    return value


def has_too_many_values(text: str) -> bool:
    """Return whether JSON holds more than `MOST_VALUES` values, before any of them is made.

    There is a comma or an opening bracket before every value but the first, except in an empty
    list.
    """
    if sum(map(text.count, ",[{")) < MOST_VALUES:
        return False
    signs = (found for found in _TEXT_OR_SIGN.finditer(text) if text[found.start()] != '"')
    return next(islice(signs, MOST_VALUES - 1, None), None) is not None


def unstorable_character(text: str) -> str:
    """Return the name of the first character that a database refuses, or '' if there is none."""
    if "\0" in text:
        return f"a NUL character (character {text.index(chr(0)) + 1:,})"
    lone = _SURROGATE.search(text)
    return f"a lone surrogate (character {lone.start() + 1:,})" if lone else ""


def check_texts(value: Any) -> None:
    """Refuse a value if one of its texts or keys cannot be stored.

    Raises:
        JSONTrouble: it has a NUL or a lone surrogate.
    """
    waiting = [value]
    while waiting:
        item = waiting.pop()
        texts = [item] if isinstance(item, str) else list(item) if isinstance(item, dict) else []
        for text in texts:
            if trouble := unstorable_character(text):
                raise JSONTrouble(f"{trouble} in {excerpt(text)}", "text without this character")
        waiting.extend(_children(item))


def first_repeated(names: Iterable[str]) -> str | None:
    """Return the first name that occurred before. None: all names differ."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        twice = first_repeated([key for key, _ in pairs])
        raise JSONTrouble(f"the key {excerpt(twice)} twice", "each key once in an object")
    return unique


def _finite_float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise JSONTrouble(digits[:40], "a finite number")
    return number


def _refuse_constant(name: str) -> float:
    raise JSONTrouble(name, "a finite number or null")


_STRICT = json.JSONDecoder(
    object_pairs_hook=_unique_pairs,
    parse_float=_finite_float,
    parse_constant=_refuse_constant,
)
_OF_ROWS = json.JSONDecoder(
    object_pairs_hook=_unique_pairs,
    parse_float=lambda digits: number if math.isfinite(number := float(digits)) else digits[:40],
    parse_constant=lambda name: None if name == "NaN" else name,
)


def _children(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _check_nesting(value: Any, max_nesting: int) -> None:
    level, depth = [value], 0
    while level := [item for item in level if isinstance(item, dict | list)]:
        depth += 1
        if depth > max_nesting:
            raise JSONTrouble(f"more than {max_nesting} levels", _at_most(max_nesting))
        level = [child for item in level for child in _children(item)]


def _at_most(max_nesting: int) -> str:
    return f"at most {max_nesting} levels of brackets"

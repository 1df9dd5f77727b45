"""Lists and objects in the text of a cell, as JSON, Python, numpy, pandas or LangChain write them.

Besides JSON it reads literals of Python in any quotes, arrays of numpy (`['a' 'b']`, `array([...],
dtype=object)`), `nan` and the like as nothing, and objects that are written as they are made
(`Document(page_content='a', metadata={})`, `np.str_('a')`). Nothing is evaluated.
"""

import re
import unicodedata
from typing import Any, NamedTuple

from generation.importers.json_text import (
    MOST_VALUES,
    JSONTrouble,
    check_texts,
    has_too_many_values,
    parse_row,
)

_BEGINNING = re.compile(
    r"""\s*(?:[\[{]|\(\s*['"\[{]|(?:np\.|numpy\.)?array\(|(?:\w+\.)*Document\()"""
)
_LIST = re.compile(
    r"""\s*(?:(?:np\.|numpy\.)?array\(\s*\[|\[\s*(?:['"\[{]|[\w.]+\(|(?:nan|None)\b))"""
)
_TOKEN = re.compile(
    r"""
    (?P<blank>\s*+)(?:
    (?P<raw>[rR]?)[uU]?(?P<text>
        '''(?:[^\\]|\\.)*?''' | \"""(?:[^\\]|\\.)*?\"""
        | '(?!'')(?:[^'\\\n]|\\.)*+' | "(?!"")(?:[^"\\\n]|\\.)*+"
    )
    | (?P<number>[+-]?(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?\d++)?+(?![\w.]))
    | (?P<word>[-+]?[^\W\d][\w.]*|<NA>)
    | (?P<sign>[\[\](){},:=])
    )""",
    re.DOTALL | re.VERBOSE,
)
_ESCAPE = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})"
    r"|U(?P<long>[0-9a-fA-F]{8})|N\{(?P<name>[-\w ]{1,100})\}|(?P<one>[\s\S]))"
)
_ONE = {"\n": "", "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ONE |= {sign: sign for sign in "\\'\""}
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("None", "null", "nan", "NaN", "NaT", "np.nan", "pd.NA", "<NA>")),
    **dict.fromkeys(("True", "true"), True),
    **dict.fromkeys(("False", "false"), False),
}
_INFINITE = frozenset(f"{sign}{word}" for sign in ("", "-", "+") for word in ("inf", "Infinity"))
_CLOSING = {"[": "]", "(": ")", "{": "}"}
_OF_ARRAYS = {"dtype", "shape", "maxlen"}  # what else is said of a list
_MESSAGE = re.compile(r"(?:\w+\.)*([A-Z]\w*?)Message(?:Chunk)?")
_LONGEST_NUMBER = 300  # digits


class WrittenCell(NamedTuple):
    """The content of a cell of text.

    Attributes:
        value: its list, its object, or the text as it is written.
        is_unread: whether it begins like a list that cannot be read. Then it stays a text.
    """

    value: Any
    is_unread: bool = False


def written_cell(text: str, max_nesting: int) -> WrittenCell:
    """Return the list or the object that is written in a cell. Any other text stays as it is.

    Lists of nothing but numbers stay texts: '[1846]' is one.
    """
    if not _BEGINNING.match(text):
        return WrittenCell(text)
    try:
        value = parse_row(text, max_nesting)
    except JSONTrouble:
        value = _as_written(text, max_nesting)
    if not isinstance(value, list | dict):
        return WrittenCell(text, _is_like_a_list(text))
    if isinstance(value, list) and value and all(map(_is_number, value)):
        return WrittenCell(text, len(value) > 1)
    return WrittenCell(value)


def _is_like_a_list(text: str) -> bool:
    """Return whether a text is no text in brackets, as '[1] The light' and '[NA]' are."""
    inside = text.strip()[1:-1]
    is_one = text.lstrip()[:1] == "[" and text.rstrip()[-1:] == "]"
    is_plain = is_one and "," in inside and "[" not in inside and "]" not in inside
    return is_plain or bool(_LIST.match(text))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _as_written(text: str, max_nesting: int) -> Any:
    """Return what a text writes otherwise than JSON does. None: it cannot be read."""
    if has_too_many_values(text):
        return None
    try:
        value = _Literal(text, max_nesting).whole()
        check_texts(value)  # an escape may stand for a character that cannot be stored
    except (_UnreadableError, JSONTrouble):
        return None
    return value


class _UnreadableError(ValueError):
    """A text is no literal that is read here."""


class _Literal:
    """One pass over the text of a literal, from token to token."""

    def __init__(self, text: str, max_nesting: int) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self._max_nesting = max_nesting
        self._n_left = MOST_VALUES
        self._next()

    def whole(self) -> Any:
        value = self._value()
        if self._token is not None:
            raise _UnreadableError
        return value

    def _next(self) -> None:
        """Move to the next token. None: the text ends."""
        self._token = _TOKEN.match(self._text, self._at)
        if self._token:
            self._at = self._token.end()
        elif self._text[self._at :].strip():
            raise _UnreadableError

    @property
    def _sign(self) -> str | None:
        return self._token["sign"] if self._token else None

    def _take(self, sign: str) -> bool:
        """Move behind a sign if it is the next token."""
        if self._sign != sign:
            return False
        self._next()
        return True

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            raise _UnreadableError

    def _value(self) -> Any:
        token = self._token
        self._n_left -= 1
        if token is None or not self._n_left:
            raise _UnreadableError
        if token["text"] is not None:
            self._next()
            return _text_in(token["text"], is_raw=bool(token["raw"]))
        if token["number"] is not None:
            self._next()
            return _number_in(token["number"])
        if token["word"] is not None:
            self._next()
            return self._named(token["word"], token.start("word"))
        return self._bracket(token["sign"])

    def _bracket(self, sign: str) -> Any:
        if sign not in _CLOSING:
            raise _UnreadableError
        self._go_in(sign)
        value = self._pairs_or_items() if sign == "{" else self._items(_CLOSING[sign])
        if sign == "(" and len(value) == 1 and not self._has_comma:
            value = value[0]  # a value in brackets, and no tuple
        self._depth -= 1
        return value

    def _go_in(self, sign: str) -> None:
        self._depth += 1
        if self._depth > self._max_nesting:
            raise _UnreadableError
        self._expect(sign)

    def _items(self, closing: str) -> list[Any]:
        """Return values with commas between them, or in a list of numpy with blanks."""
        found: list[Any] = []
        separators: set[bool] = set()
        while self._sign != closing:
            if found:
                has_comma = self._take(",")
                separators.add(has_comma)
                if has_comma and self._sign == closing:
                    break
                is_apart = has_comma or (self._token is not None and bool(self._token["blank"]))
                if not is_apart or len(separators) > 1:
                    raise _UnreadableError
            found.append(self._value())
        if False in separators and closing != "]":
            raise _UnreadableError
        self._has_comma = True in separators
        self._close(closing)
        return found

    def _close(self, closing: str) -> None:
        self._closed_at = self._token.start("sign") if self._token else 0
        self._expect(closing)

    def _pairs_or_items(self) -> Any:
        """Return what is in curly brackets: an object, or as a list the members of a set."""
        found: dict[str, Any] = {}
        members: list[Any] = []
        while self._sign != "}":
            if (found or members) and (not self._take(",") or self._sign == "}"):
                break
            key = self._value()
            if not self._take(":"):
                members.append(key)
            elif isinstance(key, list | dict) or str(key) in found:
                raise _UnreadableError
            else:
                found[str(key)] = self._value()
        self._close("}")
        if found and members:
            raise _UnreadableError
        return members or found

    def _named(self, word: str, begin: int) -> Any:
        if self._sign == "(" and self._token and not self._token["blank"]:
            return self._made(word, begin)
        if word in _WORDS:
            return _WORDS[word]
        if word in _INFINITE:
            return word
        raise _UnreadableError

    def _made(self, of: str, begin: int) -> Any:
        """Return what an object was made from: its only value, or its values by name.

        A message has its kind as `type`. Of several values without names, as those of a date, the
        text is returned.
        """
        self._go_in("(")
        values: list[Any] = []
        named: dict[str, Any] = {}
        while self._sign != ")":
            if (values or named) and (not self._take(",") or self._sign == ")"):
                break
            name = self._name_of_value()
            if name in named:
                raise _UnreadableError
            if name:
                named[name] = self._named_value()
            else:
                values.append(self._value())
        self._close(")")
        self._depth -= 1
        if not values:
            kind = _MESSAGE.fullmatch(of)
            return {"type": kind[1].lower(), **named} if kind else named
        if named.keys() - _OF_ARRAYS:
            raise _UnreadableError
        return values[0] if len(values) == 1 else self._text[begin : self._closed_at + 1]

    def _name_of_value(self) -> str:
        """Move behind `name=` and return the name. "": the next value has no name."""
        token = self._token
        if token is None or token["word"] is None or self._text[self._at : self._at + 1] != "=":
            return ""
        self._next()
        self._next()
        return token["word"]

    def _named_value(self) -> Any:
        """Return a value; a word that names a type (`dtype=object`) is its text."""
        token = self._token
        is_plain = token is not None and token["word"] is not None and token["word"] not in _WORDS
        if token is None or not is_plain or self._text[self._at : self._at + 1] == "(":
            return self._value()
        self._next()
        return token["word"]


def _text_in(quoted: str, *, is_raw: bool) -> str:
    n_quotes = 3 if quoted[:3] in ("'''", '"""') and len(quoted) >= 6 else 1
    text = quoted[n_quotes:-n_quotes]
    return text if is_raw or "\\" not in text else _ESCAPE.sub(_unescaped, text)


def _unescaped(found: re.Match[str]) -> str:
    if (one := found["one"]) is not None:
        return _ONE.get(one, found[0])  # Python keeps a backslash that escapes nothing
    try:
        if found["name"] is not None:
            return unicodedata.lookup(found["name"])
        if found["octal"] is not None:
            return chr(int(found["octal"], 8))
        return chr(int(found["x"] or found["u"] or found["long"], 16))
    except (KeyError, ValueError) as error:
        raise _UnreadableError from error


def _number_in(digits: str) -> int | float:
    if len(digits) > _LONGEST_NUMBER:
        raise _UnreadableError
    try:
        return int(digits)
    except ValueError:
        number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise _UnreadableError
    return number

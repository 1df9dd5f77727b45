"""Raters without names: an import brings in no name, no address and no number of a person."""

import hashlib
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from generation.importers.cell_meanings import folded
from generation.importers.mapped.roles import PERHAPS_RATERS, RATERS, plain_name

NOMINAL = "published"  # the rater of votes whose raters are not known
N_CHARACTERS = 8
# Words that a code may have, besides the usual names of columns of raters.
OF_CODES = ("anon", "crowd", "group", "human", "model", "person", "student", "subject", "team")
_OF_RATERS = {*RATERS, *(f"{rater}_{end}" for rater in RATERS for end in ("id", "name", "code"))}
_USUAL = {*OF_CODES, *RATERS, *PERHAPS_RATERS}
_WORD = re.compile(r"[^\W\d_]{3,}")
_NUMBER = re.compile(r"[A-Z0-9]+|[0-9a-f]{8,}")  # A2ZDEERVRN5AMC, 5f3adeb2c1a4
_WHOLE = re.compile(r"(\d+)\.0+")
_ADDRESS = re.compile(r"[^\s@,;<>\"']+@[^\s@,;<>\"']+")
# The last words of the names of columns that say who a person is, or where they can be found.
OF_PERSONS = (
    *("email", "mail", "phone", "telephone", "ip", "ip_address", "ipaddress"),
    *("first_name", "last_name", "full_name", "surname", "real_name", "display_name"),
    *("username", "user_name", "participant_name", "expert_name", "judge_name"),
)


def is_code(name: str) -> bool:
    """Return whether a name is a code and names no person.

    A code has a digit, and no "@" or blank. Where three letters stand together, they are a usual
    word (`rater7`), or in capitals, or part of a long hexadecimal number. The nominal rater is no
    person.
    """
    if not _has_form_of_a_code(name):
        return False
    parts = re.split(r"[\W_]+", name)
    words = [word for part in parts if not _NUMBER.fullmatch(part) for word in _WORD.findall(part)]
    return {word.lower() for word in words} <= {*_USUAL, NOMINAL}


def without_addresses(text: str) -> str:
    """Return a text that may be shown: each address of a person is replaced by `…@…`."""
    return _ADDRESS.sub("…@…", text)


def rater_code(
    name: str, hashed: Callable[[str], str] | None = None, stored: Collection[str] = ()
) -> str:
    """Return a code unchanged. For a name, return a code that is the same each time.

    An address has the same code in any capitals, and 1.0 is 1.

    Args:
        hashed: a function that makes hexadecimal digits of a name. A site gives one with a secret
            in it, so that names cannot be found out by trying them.
        stored: the codes that the study has. One that an earlier import gave the name is kept.
    """
    before = name if _has_form_of_a_code(name) else _code_of(name, hashed)
    if before in stored:
        return before
    whole = _WHOLE.fullmatch(name)
    plain = whole[1] if whole else name.lower() if is_address(name) else name
    return plain if is_code(plain) else _code_of(plain, hashed)


class RaterNames:
    """The names of raters in one pass over a file. The first spelling of each name counts.

    Attributes:
        n_respelled: how many names are spelled in another way than before.
    """

    def __init__(self) -> None:
        self._first: dict[str, str] = {}
        self._seen: set[str] = set()
        self.n_respelled = 0

    def first_spelling(self, name: str) -> str:
        """Return a name as it was first spelled: `R1` is `r1`, and `1.0` is `1`."""
        plain = folded(name)
        whole = _WHOLE.fullmatch(plain)
        first = self._first.setdefault(whole[1] if whole else plain, name)
        if name not in self._seen:
            self._seen.add(name)
            self.n_respelled += name != first
        return first


class WithoutPersons(NamedTuple):
    """Fields without what tells who a person is.

    Attributes:
        names: the fields that were left out. Those whose name is an address are not named.
    """

    fields: dict[str, Any]
    names: list[str]


def is_address(text: str) -> bool:
    """Return whether a text is only the address of a person's mail."""
    return _ADDRESS.fullmatch(text.strip()) is not None


def without_persons(fields: Mapping[str, Any], before: str = "") -> WithoutPersons:
    """Return the fields that tell no name, address or number of a rater, also inside objects."""
    kept: dict[str, Any] = {}
    left_out: list[str] = []
    for name, value in fields.items():
        label = before + name
        if is_address(name):
            left_out.append("a column whose name is an address")
        elif _tells_a_person(name, value):
            left_out += [label] if value not in (None, "") else []
        elif isinstance(value, dict):
            kept[name], names = without_persons(value, f"{label}.")
            left_out += names
        elif isinstance(value, list):
            numbered = without_persons({str(n): each for n, each in enumerate(value)})
            kept[name] = [*numbered.fields.values()]
            left_out += [label] * len(numbered.names)
        else:
            kept[name] = value
    return WithoutPersons(kept, left_out)


def _tells_a_person(column: str, value: Any) -> bool:
    name = plain_name(column).replace("e_mail", "email")
    if isinstance(value, str) and (is_address(value) or name in _OF_RATERS):
        return not is_code(value.strip())
    return is_of_persons(column)


def is_of_persons(column: str) -> bool:
    """Return whether a name of a column says that it tells persons: their names or addresses."""
    name = plain_name(column).replace("e_mail", "email")
    return f"_{name}".endswith(tuple(f"_{word}" for word in OF_PERSONS))


def _has_form_of_a_code(name: str) -> bool:
    has_digit = any(each.isdigit() for each in name)
    return name == NOMINAL or (has_digit and "@" not in name and not any(map(str.isspace, name)))


def _code_of(name: str, hashed: Callable[[str], str] | None) -> str:
    digits = hashed(name) if hashed else hashlib.sha256(name.encode()).hexdigest()
    return f"rater-{digits[:N_CHARACTERS]}"

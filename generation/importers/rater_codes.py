"""Raters without names: an import brings in no name or address of a person."""

import hashlib
import re
from collections.abc import Callable

NOMINAL = "published"  # the rater of votes whose raters are not known
N_CHARACTERS = 8
_ADDRESS = re.compile(r"[^\s@,;<>\"']+@[^\s@,;<>\"']+")


def is_code(name: str) -> bool:
    """Return whether a name is a code and names no person: it has a digit, and no "@" or blank.

    The nominal rater is no person either.
    """
    has_digit = any(each.isdigit() for each in name)
    return name == NOMINAL or (has_digit and "@" not in name and not any(map(str.isspace, name)))


def without_addresses(text: str) -> str:
    """Return a text that may be shown: each address of a person is replaced by `…@…`."""
    return _ADDRESS.sub("…@…", text)


def rater_code(name: str, hashed: Callable[[str], str] | None = None) -> str:
    """Return a code unchanged. For a name, return a code that is the same each time.

    Args:
        hashed: a function that makes hexadecimal digits of a name. A site gives one with a secret
            in it, so that names cannot be found out by trying them.
    """
    if is_code(name):
        return name
    digits = hashed(name) if hashed else hashlib.sha256(name.encode()).hexdigest()
    return f"rater-{digits[:N_CHARACTERS]}"

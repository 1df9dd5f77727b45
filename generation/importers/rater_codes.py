"""Raters without names: no name or address of a person comes in with an import."""

import hashlib
from collections.abc import Callable

NOMINAL = "published"  # the rater of votes of which nobody says whose they are
N_CHARACTERS = 8


def is_code(name: str) -> bool:
    """Return whether this names no person: it has a digit, and neither "@" nor a blank.

    The nominal rater is none either.
    """
    has_digit = any(each.isdigit() for each in name)
    return name == NOMINAL or (has_digit and "@" not in name and not any(map(str.isspace, name)))


def rater_code(name: str, hashed: Callable[[str], str] | None = None) -> str:
    """Return a code as it is, and for a name the same code whenever it comes.

    Args:
        hashed: makes hexadecimal digits of a name; a site gives one with a secret in it, so that
            nobody finds out names by trying them.
    """
    if is_code(name):
        return name
    digits = hashed(name) if hashed else hashlib.sha256(name.encode()).hexdigest()
    return f"rater-{digits[:N_CHARACTERS]}"

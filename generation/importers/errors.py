"""The errors that stop a whole import, and the quotes of found values in messages."""

import json
from typing import Any

EXCERPT_LENGTH = 80
_ENCODER = json.JSONEncoder(ensure_ascii=False, default=repr)


class DatasetError(Exception):
    """The given data cannot be imported. The text tells where, what was found and was expected."""

    def __init__(self, where: str, found: str = "", expected: str = "") -> None:
        message = where
        if found:
            message += f": found {found}"
        if expected:
            message += f"; expected {expected}"
        super().__init__(message)


class TooLargeError(DatasetError):
    """The given data are more than one import may hold."""


def excerpt(value: object) -> str:
    """Return `value` as JSON, at most 80 characters long, safe to store and to print."""
    if isinstance(value, str):
        quoted = json.dumps(value[: EXCERPT_LENGTH + 1], ensure_ascii=False)
    else:
        quoted = _beginning(value)
    quoted = quoted.encode("utf-8", "backslashreplace").decode("utf-8")
    return quoted if len(quoted) <= EXCERPT_LENGTH else quoted[: EXCERPT_LENGTH - 1] + "…"


def quotation(value: object) -> str:
    """Return `value` as `excerpt` does; a value that is missing is 'nothing'."""
    return "nothing" if value is None else excerpt(value)


def _beginning(value: Any) -> str:
    """Return the beginning of a value as JSON. A large value is not written out as a whole."""
    quoted = ""
    for piece in _ENCODER.iterencode(value):
        quoted += piece
        if len(quoted) > EXCERPT_LENGTH:
            break
    return quoted

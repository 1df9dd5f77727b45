"""What a record takes in memory, about: a small file may become very much."""

from collections.abc import Mapping
from typing import Any

OF_A_PART = 100  # bytes that a text, a list or a field takes beside its characters, about


def weight(part: Any) -> int:
    """Return the characters of all texts in a record, with something for each of its parts."""
    if isinstance(part, str):
        return OF_A_PART + len(part)
    if isinstance(part, tuple | list):
        return OF_A_PART + sum(map(weight, part))
    if isinstance(part, Mapping):
        return OF_A_PART + sum(map(weight, part)) + sum(map(weight, part.values()))
    return 0

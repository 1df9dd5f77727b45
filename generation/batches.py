"""Long lists, cut into lots."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

Entry = TypeVar("Entry")


def lots(entries: Sequence[Entry], size: int) -> Iterator[list[Entry]]:
    """Yield the entries in order, `size` of them at a time; the last lot may be smaller."""
    for start in range(0, len(entries), size):
        yield list(entries[start : start + size])

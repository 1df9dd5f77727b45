"""The keys of the examples and responses of a table, and so which rows are about one response."""

import hashlib
from collections import Counter
from collections.abc import Iterator

from generation.importers.mapped.mapped_rows import MappedResponse, MappedRow
from generation.importers.short_keys import short_key


class ResponseKeys:
    """The keys of the responses met in one pass. Every pass over the rows gives the same keys.

    Args:
        is_by_row: whether each row is a response of its own, whatever it says.
        has_votes: whether the rows have votes. Then other evidence is another response.
    """

    def __init__(self, *, is_by_row: bool, has_votes: bool) -> None:
        self._is_by_row = is_by_row
        self._has_votes = has_votes
        self._keys: dict[str, str] = {}  # hash of a response → its key
        self._n_of_key: Counter[str] = Counter()
        self._lines: dict[str, int] = {}  # hash of what a row without a question says → its line

    def __len__(self) -> int:
        return len(self._n_of_key)

    def clear(self) -> None:
        """Begin a pass."""
        self._keys.clear()
        self._n_of_key.clear()
        self._lines.clear()

    def line_of(self, line: int, *said: str) -> int:
        """Return the line of the first row that says the same: claims of several raters are one."""
        return self._lines.setdefault(hash_of(*said), line)

    def named(self, row: MappedRow) -> Iterator[tuple[MappedResponse, bool]]:
        """Yield the responses of a row with their keys, and whether each of them is new.

        A row without evidence is about the first response with its text.
        """
        for answer in row.answers:
            base = answer.key or f"{row.example}|{answer.setup}"
            content = of_text = hash_of(base, answer.text)
            if self._has_votes and row.shown and not answer.key:
                content = hash_of(of_text, *(passage.key for passage in row.shown))
            if content in self._keys and not self._is_by_row:
                yield answer._replace(key=self._keys[content]), False
                continue
            self._n_of_key[base] += 1
            n = self._n_of_key[base]
            key = short_key(base if n == 1 or answer.key else f"{base}|{n}")
            self._keys[content] = key
            self._keys.setdefault(of_text, key)
            yield answer._replace(key=key), True


def hash_of(*texts: str) -> str:
    """Return 16 hexadecimal digits that are the same for the same texts."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]

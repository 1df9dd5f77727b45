"""Which keys an import has met: on disk, so that memory does not grow with the file."""

import hashlib
from collections.abc import Iterable, Mapping
from types import TracebackType

from generation.importers.disk_database import temporary_database

LOOKUP = 500  # keys in one query


class SeenKeys:
    """A map key → content on disk, for as long as it is open.

    Keys and contents are kept as 16-byte hashes, a content of bytes as it is; the file is private
    and vanishes on closing.
    """

    def __init__(self) -> None:
        self._db = temporary_database()
        self._db.execute("CREATE TABLE seen (key BLOB PRIMARY KEY, content BLOB) WITHOUT ROWID")

    def __enter__(self) -> "SeenKeys":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let the temporary file go."""
        self._db.close()

    def contents(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Return the content of each key that is there."""
        by_hash = {_hash(key): key for key in keys}
        hashes = list(by_hash)
        found: dict[str, bytes] = {}
        for start in range(0, len(hashes), LOOKUP):
            some = hashes[start : start + LOOKUP]
            marks = ",".join("?" * len(some))
            rows = self._db.execute(f"SELECT key, content FROM seen WHERE key IN ({marks})", some)
            found |= {by_hash[key]: content for key, content in rows}
        return found

    def add(self, contents: Mapping[str, str | bytes]) -> None:
        """Add keys with their content; a key that is there keeps the content it has."""
        rows = (
            (_hash(key), content if isinstance(content, bytes) else _hash(content))
            for key, content in contents.items()
        )
        self._db.executemany("INSERT OR IGNORE INTO seen VALUES (?, ?)", rows)


def is_content(found: bytes, content: str | bytes) -> bool:
    """Return whether what was found for a key is this content."""
    return found == (content if isinstance(content, bytes) else _hash(content))


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()

"""The keys that an import has met. They are on disk, so memory does not grow with the file."""

import hashlib
from collections.abc import Iterable, Mapping
from types import TracebackType

from generation.importers.disk_database import temporary_database

LOOKUP = 500  # keys in one query


class SeenKeys:
    """A map of keys to contents on disk, which exists while it is open.

    Keys and contents are stored as 16-byte hashes, but a content of bytes is stored unchanged. The
    file is private and is deleted on closing.
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
        """Close and delete the temporary file."""
        self._db.close()

    def contents(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Return the contents of those keys that were added."""
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
        """Add keys with their contents. A key that was added before keeps its content."""
        rows = (
            (_hash(key), content if isinstance(content, bytes) else _hash(content))
            for key, content in contents.items()
        )
        self._db.executemany("INSERT OR IGNORE INTO seen VALUES (?, ?)", rows)


def is_content(found: bytes, content: str | bytes) -> bool:
    """Return whether the content found for a key is this content."""
    return found == (content if isinstance(content, bytes) else _hash(content))


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()

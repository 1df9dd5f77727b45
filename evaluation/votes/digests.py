"""Digests of the files of an export: of each file, and of each item in it.

Two exports have the same digest of a file if it has the same rows, in any order. An item is an
example, a response, or the votes on one response in one arm. Its digest is the sum of the hashes of
its rows. So a vote that was changed, added or taken away can be found: the difference of two sums
is the difference of two rows.
"""

import csv
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any, NamedTuple

Row = Mapping[str, Any]

MODULUS = 1 << 48
BETWEEN_PARTS = " / "  # between the parts of the name of an item
# The columns whose values together name an item, by file. Other files are one item.
ITEM_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "examples.jsonl": ("id",),
    "responses.jsonl": ("id",),
    "passages.jsonl": ("id",),
    "entities.jsonl": ("qid",),
    "kg_questions.jsonl": ("id",),
    "samples.jsonl": ("name",),
    "rankings.csv": ("ranking",),
    "scores.csv": ("metric", "signature"),
    "votes.csv": ("arm", "response"),
    "flags.csv": ("response",),
    "raters.csv": ("rater",),
    "adjudications.csv": ("response",),
    "runs.jsonl": ("metric", "signature"),
    "grids.jsonl": ("name",),
    "calls.csv": ("setup",),
}


class FileDigest(NamedTuple):
    """The digest of a file: the number of its rows, and the sum of their hashes by item."""

    n_rows: int
    items: Mapping[str, int]

    @property
    def sha256(self) -> str:
        """The hash of the whole file."""
        content = json.dumps(sorted(self.items.items()), ensure_ascii=False)
        return hashlib.sha256(content.encode()).hexdigest()

    def as_json(self) -> dict[str, Any]:
        items = {name: f"{of_item:012x}" for name, of_item in sorted(self.items.items())}
        return {"rows": self.n_rows, "sha256": self.sha256, "items": items}


def digest_from(data: Mapping[str, Any]) -> FileDigest:
    """Return a digest that was written as JSON."""
    return FileDigest(data["rows"], {name: int(value, 16) for name, value in data["items"].items()})


def file_digest(name: str, text: IO[str]) -> FileDigest:
    """Return the digest of a file that an export has written, which is read row by row."""
    return digest_of(name, rows_of(name, text))


def digest_of(name: str, rows: Iterable[Row]) -> FileDigest:
    """Return the digest of a file of an export from its rows."""
    items: dict[str, int] = {}
    n_rows = 0
    for row in rows:
        n_rows += 1
        item = item_of(name, row)
        items[item] = (items.get(item, 0) + row_hash(row)) % MODULUS
    return FileDigest(n_rows, items)


def rows_of(name: str, text: IO[str]) -> Iterator[Row]:
    """Yield the rows that an export has written; a file that is one JSON object is one row."""
    if name.endswith(".csv"):
        csv.field_size_limit(sys.maxsize)
        yield from csv.DictReader(text)
    elif name.endswith(".jsonl"):
        yield from map(json.loads, text)
    else:
        yield json.load(text)


def item_of(name: str, row: Row) -> str:
    """Return the name of the item that a row of a file belongs to."""
    columns = ITEM_COLUMNS.get(name, ())
    return BETWEEN_PARTS.join(str(row.get(column, "")) for column in columns)


def row_hash(row: Row) -> int:
    """Return the hash of a row. Empty cells and the order of columns do not change it."""
    known = {key: value for key, value in row.items() if value not in (None, "")}
    content = json.dumps(known, ensure_ascii=False, sort_keys=True)
    return int.from_bytes(hashlib.sha256(content.encode()).digest()[:6], "big")


def changed_row(
    before: int, rows: Iterable[Row], alternatives: Mapping[str, Iterable[str]]
) -> tuple[Row | None, Row | None] | None:
    """Return the one row of an item that differs from an earlier state, before and after.

    A row that is only after has None before. None: more than one row differs, or in other ways.

    Args:
        before: the digest of the item in the earlier state.
        rows: the rows of the item now.
        alternatives: the answers that each question allows.
    """
    now = list(rows)
    difference = (before - sum(map(row_hash, now))) % MODULUS
    for row in now:
        here = row_hash(row)
        if (difference + here) % MODULUS == 0:
            return None, row
        for answer in alternatives.get(row.get("question", ""), ()):
            other = {**row, "answer": answer}
            if answer != row.get("answer") and (row_hash(other) - here) % MODULUS == difference:
                return other, row
    return None

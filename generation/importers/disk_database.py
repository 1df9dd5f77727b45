"""A private database on disk for data too large for memory. It is deleted on closing."""

import sqlite3
from itertools import groupby
from operator import itemgetter
from typing import Any

OF_A_ROW = 100  # characters that a row takes beside its texts, roughly
# KiB of pages in memory, and of a sort before it goes to disk.
SMALL_CACHE, LARGE_CACHE = 2_000, 32_000


def temporary_database(cache: int = SMALL_CACHE) -> sqlite3.Connection:
    """Return an empty database in a temporary file, inside one transaction that never ends."""
    database = sqlite3.connect("", isolation_level=None)  # "": a temporary file
    database.execute("PRAGMA journal_mode=OFF")
    database.execute("PRAGMA synchronous=OFF")
    database.execute("PRAGMA temp_store=FILE")
    database.execute(f"PRAGMA cache_size=-{cache}")
    database.execute("BEGIN")
    return database


def put_in_order(database: sqlite3.Connection, table: str, by: str) -> None:
    """Sort the rows of a table by a column. Rows with the same value keep the order of adding."""
    database.execute(f"CREATE TABLE in_order AS SELECT * FROM {table} ORDER BY {by}, rowid")
    database.execute(f"DROP TABLE {table}")
    database.execute(f"ALTER TABLE in_order RENAME TO {table}")


class Groups:
    """The rows of a query, grouped by a number.

    Their first column is the number, which never falls. The second is about how many characters the
    row has. The rows of one number are held in memory, unless they have more than `most` characters
    together.
    """

    def __init__(self, database: sqlite3.Connection, query: str, most: int) -> None:
        self._most = most
        self._groups = groupby(database.execute(query), itemgetter(0))
        self._next = next(self._groups, None)

    def of(self, number: int) -> list[tuple[Any, ...]] | None:
        """Return the rows of a number without these two columns. None: they are too large.

        Numbers must be asked for in rising order, none twice.
        """
        while self._next is not None and self._next[0] < number:
            self._next = next(self._groups, None)
        if self._next is None or self._next[0] > number:
            return []
        rows: list[tuple[Any, ...]] = []
        n_characters = 0
        for _, size, *row in self._next[1]:
            n_characters += size + OF_A_ROW
            if n_characters <= self._most:
                rows.append(tuple(row))
            else:
                rows.clear()
        self._next = next(self._groups, None)
        return rows if n_characters <= self._most else None

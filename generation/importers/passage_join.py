"""The passages of a collection that belong to questions, joined by page or by question id.

The wanted pages and the passages found for them are in temporary files, so that memory does not
grow with the questions. Of passages that are not wanted, only a hash of the id is kept.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from generation.importers.seen_keys import SeenKeys
from generation.records import CollectionPassageRecord, Where

_LOT = 100  # passages held at a time; they may be long
_PART = re.compile(r"_p\d+$")  # SCAI's and QReCC's collections number the passages of a page
_ARCHIVED = re.compile(r"^https?://web\.archive\.org/web/\d+(id_)?/")

_TABLES = """
    PRAGMA journal_mode=OFF;
    PRAGMA synchronous=OFF;
    CREATE TABLE passage (
        number INTEGER PRIMARY KEY,
        file TEXT, line INTEGER, id TEXT, text TEXT, title TEXT, url TEXT
    );
    CREATE TABLE joined (name TEXT, number INTEGER, PRIMARY KEY (name, number)) WITHOUT ROWID;
    BEGIN;
"""
_OF = """
    SELECT file, line, id, text, title, url FROM joined JOIN passage USING (number)
    WHERE name = ? ORDER BY number
"""


class QuestionToJoin(NamedTuple):
    """The facts by which a question is joined."""

    key: str
    urls: tuple[str, ...]


class FoundPassage(NamedTuple):
    """A passage with the id that its file gives it. Its key may be shorter."""

    id: str
    record: CollectionPassageRecord


class PassageJoin:
    """The passages that were wanted, by question, until it is closed.

    A passage belongs to a question if its id is the question's key. Otherwise it belongs to the
    question if its url, its id, or its id without `_p<number>` is one of the question's urls. Pages
    are compared without the Wayback Machine's address before them and without `#` and what follows
    it.
    """

    def __init__(self) -> None:
        self._wanted = SeenKeys()
        self._offered = SeenKeys()  # ids
        self._found = sqlite3.connect("", isolation_level=None)  # "": a temporary file
        self._found.executescript(_TABLES)

    def close(self) -> None:
        """Close and delete the temporary files."""
        self._wanted.close()
        self._offered.close()
        self._found.close()

    def want(self, questions: Iterable[QuestionToJoin]) -> None:
        """Note the questions to keep passages for. Call this before any passage is offered."""
        questions = iter(questions)
        while lot := list(islice(questions, _LOT)):
            self._wanted.add({name: "" for question in lot for name in _names(question)})

    def offer(self, passages: Iterable[FoundPassage]) -> None:
        """Keep those passages that are wanted. Of several with one id, only the first counts."""
        passages = iter(passages)
        while some := list(islice(passages, _LOT)):
            first = {passage.id: passage for passage in reversed(some)}
            before = self._offered.contents(first)
            self._offered.add(dict.fromkeys(first, ""))
            lot = [one for one in some if one.id not in before and one is first[one.id]]
            names = [_names_of_passage(passage) for passage in lot]
            wanted = self._wanted.contents(name for its_names in names for name in its_names)
            for passage, its_names in zip(lot, names, strict=True):
                if kept := [name for name in its_names if name in wanted]:
                    self._keep(passage.record, kept)

    def passages_of(self, question: QuestionToJoin) -> Iterator[CollectionPassageRecord]:
        """Yield the passages of a question in the order of their file, each once.

        If a passage has the question's key as its id, yield only that one.
        """
        own, *pages = _names(question)
        names = [own] if self._has(own) else pages
        met: set[str] = set()
        for name in names:
            for file, line, *content in self._found.execute(_OF, [name]):
                if content[0] not in met:
                    met.add(content[0])
                    yield CollectionPassageRecord(Where(file, line), *content)

    def _has(self, name: str) -> bool:
        query = "SELECT EXISTS (SELECT 1 FROM joined WHERE name = ?)"
        return bool(self._found.execute(query, [name]).fetchone()[0])

    def _keep(self, record: CollectionPassageRecord, names: list[str]) -> None:
        added = self._found.execute(
            "INSERT INTO passage VALUES (NULL, ?, ?, ?, ?, ?, ?)",
            (*record.where, *record[1:]),
        )
        rows = [(name, added.lastrowid) for name in names]
        self._found.executemany("INSERT INTO joined VALUES (?, ?)", rows)


def page_of_part(id: str) -> str:
    """Return the address of a page from the id of one of its numbered passages."""
    return _PART.sub("", id)


def _page(url: str) -> str:
    return _ARCHIVED.sub("", url.strip()).partition("#")[0]


def _names(question: QuestionToJoin) -> list[str]:
    return [f"key {question.key}", *dict.fromkeys(f"page {_page(url)}" for url in question.urls)]


def _names_of_passage(passage: FoundPassage) -> list[str]:
    addresses = (passage.record.url, passage.id, page_of_part(passage.id))
    pages = dict.fromkeys(f"page {_page(address)}" for address in addresses if address)
    return [f"key {passage.id}", *pages]

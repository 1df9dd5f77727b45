"""Entries of one large JSON list, streamed: each entry is cut out and parsed on its own."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from generation.importers.errors import DatasetError, excerpt
from generation.importers.fields import NOTHING, Row
from generation.importers.json_text import JSONTrouble, parse_row
from generation.importers.sources import Source
from generation.records import Problem, Where

_BETWEEN_ENTRIES = re.compile(rb'["\[\]{},]')
_IN_ENTRY = re.compile(rb'["\[\]{}]')  # commas have no meaning here
_IN_TEXT = re.compile(rb'["\\]')
_SPACE = b" \t\r\n"
_CITED = 80  # bytes of an unfinished entry that its problem cites
_ENTRY = "one JSON object in each entry of the list"


class JsonEntry(NamedTuple):
    """One entry of the list. Its line is its number, from 1."""

    where: Where
    value: Any


def json_items(source: Source, name: str) -> Iterator[Row | Problem]:
    """Yield one row for each entry, which has to be an object. See `json_entries`."""
    for entry in json_entries(source, name):
        if isinstance(entry, Problem):
            yield entry
        elif isinstance(entry.value, dict):
            yield Row(entry.where, entry.value)
        else:
            yield Problem(entry.where, "", excerpt(entry.value), _ENTRY)


def json_entries(source: Source, name: str) -> Iterator[JsonEntry | Problem]:
    """Yield the entries of a list, of any type.

    No more than one entry and one piece of the file is held at a time. An entry that cannot be read
    is a problem and does not stop the others, unless its brackets or quotes hide where it ends.

    Raises:
        DatasetError: the file holds something else than one list.
    """
    limits = source.limits
    for number, raw in enumerate(_entries(source.chunks(name), name, limits.max_line_bytes), 1):
        source.count_row(name)
        where = Where(name, number)
        if raw is None:
            found = f"an entry of more than {limits.max_line_bytes:,} bytes"
            yield Problem(where, "", found, "a shorter entry")
        elif isinstance(raw, _Unfinished):
            yield _cut_off(where, raw)
        else:
            yield _entry(where, source.text_of(raw, where, "entry"), limits.max_nesting)


class _Unfinished(NamedTuple):
    """An entry in which a file ends, as far as it goes; blank where the end of the list lacks."""

    entry: str


def _cut_off(where: Where, unfinished: _Unfinished) -> Problem:
    """Return the problem of a list that does not end."""
    if unfinished.entry:
        found = f"the end of the file in this entry ({excerpt(unfinished.entry)})"
        return Problem(where, "", found, "the whole entry, and ] at the end of the list")
    return Problem(
        where, "", "the end of the file after the last entry", "] at the end of the list"
    )


class _Bytes:
    """The bytes of the present entry that were met so far, at most `max_bytes`."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._begin()

    def _begin(self) -> None:
        self._pieces: list[bytes] = []
        self._n_bytes = 0

    @property
    def is_blank(self) -> bool:
        return self._n_bytes <= self._max_bytes and not b"".join(self._pieces).strip(_SPACE)

    def add(self, piece: bytes) -> None:
        self._n_bytes += len(piece)
        if self._n_bytes <= self._max_bytes:
            self._pieces.append(piece)
        else:
            self._pieces = []

    def taken(self) -> bytes | None:
        """Return the entry, or None if it is too long, and begin the next one."""
        found = b"".join(self._pieces) if self._n_bytes <= self._max_bytes else None
        self._begin()
        return found


def _entry(where: Where, text: str | Problem, max_nesting: int) -> JsonEntry | Problem:
    if isinstance(text, Problem):
        return text
    text = text.strip()
    if not text:
        return Problem(where, "", NOTHING, "one JSON value in each entry of the list")
    try:
        return JsonEntry(where, parse_row(text, max_nesting))
    except JSONTrouble as trouble:
        return Problem(where, "", trouble.found, trouble.expected)


def _entries(
    chunks: Iterable[bytes], name: str, max_bytes: int
) -> Iterator[bytes | _Unfinished | None]:
    """Yield the bytes of each entry of a list. None: it has more than `max_bytes`.

    Brackets and quotes are single bytes in UTF-8, never part of another character.
    """
    entry = _Bytes(max_bytes)
    n_before = 0
    depth = 0  # depth of brackets: 1 between the entries, 0 before and after the list
    is_begun = in_text = is_escaped = False
    for chunk in chunks:
        at = begin = 0
        if is_escaped:
            at, is_escaped = 1, False
        if not is_begun:
            at = begin = _after_opening(chunk, name)
            if not at:
                continue
            is_begun, depth = True, 1
        while depth and (mark := _signs(in_text, depth).search(chunk, at)):
            at, sign = mark.end(), mark.group()
            if sign == b'"':
                in_text = not in_text
            elif sign == b"\\":
                is_escaped = at == len(chunk)
                at += 1
            elif sign in b"[{":
                depth += 1
            elif depth == 1 and sign in b",]":
                entry.add(chunk[begin : mark.start()])
                if sign == b"," or n_before or not entry.is_blank:
                    yield entry.taken()
                    n_before += 1
                begin, depth = at, int(sign == b",")
            elif sign in b"]}":
                depth = max(1, depth - 1)
        if depth:
            entry.add(chunk[begin:])
        elif rest := chunk[begin:].strip(_SPACE):
            found = excerpt(rest[:80].decode("utf-8", "replace"))
            raise DatasetError(name, f"{found} after the list", "one JSON list and nothing else")
    if not is_begun:
        raise DatasetError(name, "an empty file", "one JSON list")
    if depth:
        begun = entry.taken() or b""
        yield _Unfinished(begun[:_CITED].decode("utf-8", "replace").strip())


def _signs(in_text: bool, depth: int) -> re.Pattern[bytes]:
    if in_text:
        return _IN_TEXT
    return _BETWEEN_ENTRIES if depth == 1 else _IN_ENTRY


def _after_opening(chunk: bytes, name: str) -> int:
    """Return where the list's first entry begins in a chunk. 0: the chunk has only blanks."""
    content = chunk.lstrip(_SPACE)
    if content and not content.startswith(b"["):
        found = excerpt(content[:80].decode("utf-8", "replace"))
        raise DatasetError(name, found, "one JSON list")
    return len(chunk) - len(content) + 1 if content else 0

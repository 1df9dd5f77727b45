"""Uploaded entries of a construction, checked before anything is asked for. Stores nothing.

What was checked comes back with the next form, signed: nothing lies about between the two, and
what is started is what was looked at.
"""

import base64
import hashlib
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from django.core import signing

from evaluation.graphs.construction.services.constructions import left_out_at_once
from generation.importers.entries import LIMITS, EntryRecord, read_entries
from generation.importers.errors import TooLargeError
from generation.importers.sources import Source
from generation.models import ConstructionEntry
from generation.records import Problem
from generation.retrieval.relations import (
    Relation,
    read_relations,
    usual_relations,
)

LARGEST_FILE = 1024**2  # bytes; larger ones go through the command
MOST_ROWS = 2000
WEB_LIMITS = LIMITS._replace(max_bytes=4 * LARGEST_FILE)  # of what is packed, once unpacked
LONGEST_FILE_NAME = 200  # bytes, of the 255 that a disk takes
MOST_PROBLEMS = 50  # bad rows that the page lists
_SALT = "entries of a construction"


class Upload(NamedTuple):
    """What somebody uploaded: entries, and their own file of relations if they have one."""

    file: str
    content: bytes
    relations_file: str = ""  # "": the usual relations
    relations_text: str = ""

    @property
    def signed(self) -> str:
        """The upload as one text that only this site can have written."""
        content = base64.b64encode(self.content).decode()
        parts = [self.file, content, self.relations_file, self.relations_text]
        return signing.dumps(parts, salt=_SALT, compress=True)


def unsigned(text: str) -> Upload:
    """Return the upload that `Upload.signed` wrote.

    Raises:
        signing.BadSignature: it did not.
    """
    file, content, relations_file, relations_text = signing.loads(text, salt=_SALT)
    return Upload(file, base64.b64decode(content), relations_file, relations_text)


class EntriesCheck(NamedTuple):
    """What a file of entries holds, and what is known of it before anybody is asked."""

    file: str
    content_hash: str  # SHA-256
    entries: tuple[EntryRecord, ...]
    problems: tuple[Problem, ...]  # rows that cannot be read
    relations: Mapping[str, Relation]
    relations_file: str
    incomplete: tuple[tuple[EntryRecord, str], ...]  # names, each with what was found
    unknown: Mapping[str, int]  # relations without a property: how many entries have them

    @property
    def n_unknown(self) -> int:
        return sum(self.unknown.values())

    @property
    def n_ready(self) -> int:
        """How many entries will be looked up."""
        return len(self.entries) - len(self.incomplete) - self.n_unknown

    @property
    def may_start(self) -> bool:
        return not self.problems and self.n_ready > 0


def checked(upload: Upload) -> EntriesCheck:
    """Return what an upload holds.

    Raises:
        TooLargeError: it holds more than is read while somebody waits for the page.
        DatasetError: it is no file of entries, or no file of relations.
    """
    relations = usual_relations()
    if upload.relations_file:
        relations = read_relations(upload.relations_text, upload.relations_file)
    rows = list(_rows(upload))
    entries = tuple(row for row in rows if isinstance(row, EntryRecord))
    incomplete: list[tuple[EntryRecord, str]] = []
    unknown: Counter[str] = Counter()
    for entry in entries:
        why = left_out_at_once(entry, relations)
        if why and why.problem == ConstructionEntry.Problem.INCOMPLETE_NAME:
            incomplete.append((entry, why.detail))
        elif why:
            unknown[entry.relation] += 1
    return EntriesCheck(
        file=upload.file,
        content_hash=hashlib.sha256(upload.content).hexdigest(),
        entries=entries,
        problems=tuple(row for row in rows if isinstance(row, Problem)),
        relations=relations,
        relations_file=upload.relations_file,
        incomplete=tuple(incomplete),
        unknown=dict(unknown.most_common()),
    )


def _rows(upload: Upload) -> Iterator[EntryRecord | Problem]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / _name_on_disk(upload.file)
        path.write_bytes(upload.content)
        source = Source(path, WEB_LIMITS)
        try:
            for n_rows, row in enumerate(read_entries(source), start=1):
                if n_rows > MOST_ROWS:
                    raise TooLargeError(upload.file, f"more than {MOST_ROWS:,} rows", "fewer")
                yield row
        finally:
            source.close()


def _name_on_disk(file: str) -> str:
    """Return the end of a file's name, as much as a disk takes: it says how to read the file."""
    end = Path(file).name.encode("utf-8", "replace")[-LONGEST_FILE_NAME:].decode(errors="ignore")
    return end if end.strip(".") else "entries"

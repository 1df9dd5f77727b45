"""Checks of uploaded entries, before a construction is requested. This module stores nothing.

The checked upload is part of the next form, with a signature. So no file has to be kept between
the two forms, and the construction that is started uses exactly what was checked.
"""

import base64
import hashlib
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from django.core import signing

from evaluation.graphs.construction.services.constructions import (
    ConstructionPlan,
    left_out_at_once,
)
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

LARGEST_FILE = 1024**2  # bytes; larger files need the command
MOST_ROWS = 2000
# The limit holds for a packed file after it is unpacked.
WEB_LIMITS = LIMITS._replace(max_bytes=4 * LARGEST_FILE)
LONGEST_FILE_NAME = 200  # bytes; file systems allow 255
MOST_PROBLEMS = 50  # bad rows that the page lists
_SALT = "entries of a construction"


class Upload(NamedTuple):
    """The files that an admin uploaded: entries and, optionally, a file of relations."""

    file: str
    content: bytes
    relations_file: str = ""  # "": the usual relations
    relations_text: str = ""

    @property
    def signed(self) -> str:
        """The upload as one text with a signature that only this site can make."""
        content = base64.b64encode(self.content).decode()
        parts = [self.file, content, self.relations_file, self.relations_text]
        return signing.dumps(parts, salt=_SALT, compress=True)


def unsigned(text: str) -> Upload:
    """Return the upload that `Upload.signed` wrote.

    Raises:
        signing.BadSignature: the text was not written by it.
    """
    file, content, relations_file, relations_text = signing.loads(text, salt=_SALT)
    return Upload(file, base64.b64decode(content), relations_file, relations_text)


class EntriesCheck(NamedTuple):
    """The contents of a file of entries, and what is known before an endpoint or model is asked."""

    file: str
    content_hash: str  # SHA-256
    entries: tuple[EntryRecord, ...]
    problems: tuple[Problem, ...]  # rows that cannot be read
    relations: Mapping[str, Relation]
    relations_file: str
    incomplete: tuple[tuple[EntryRecord, str], ...]  # entries with incomplete names, and details
    unknown: Mapping[str, int]  # relation without a known property → number of its entries

    @property
    def n_unknown(self) -> int:
        return sum(self.unknown.values())

    @property
    def n_ready(self) -> int:
        """The number of entries that will be looked up."""
        return len(self.entries) - len(self.incomplete) - self.n_unknown

    @property
    def may_start(self) -> bool:
        return not self.problems and self.n_ready > 0

    def plan(self, **choices: Any) -> ConstructionPlan:
        """Return the plan of a construction of these entries with the other choices."""
        return ConstructionPlan(
            **choices,
            entries=self.entries,
            entries_hash=self.content_hash,
            file=self.file,
            relations=self.relations,
        )


def checked(upload: Upload, *, is_page: bool = True) -> EntriesCheck:
    """Return the checked contents of an upload.

    Args:
        upload: the files.
        is_page: whether an admin waits for a page, so that only smaller files are read.

    Raises:
        TooLargeError: it contains more than can be read while an admin waits for the page.
        DatasetError: it is no file of entries, or no file of relations.
    """
    relations = usual_relations()
    if upload.relations_file:
        relations = read_relations(upload.relations_text, upload.relations_file)
    rows = list(_rows(upload, is_page=is_page))
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


def _rows(upload: Upload, *, is_page: bool) -> Iterator[EntryRecord | Problem]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / _name_on_disk(upload.file)
        path.write_bytes(upload.content)
        source = Source(path, WEB_LIMITS if is_page else LIMITS)
        try:
            for n_rows, row in enumerate(read_entries(source), start=1):
                if is_page and n_rows > MOST_ROWS:
                    raise TooLargeError(upload.file, f"more than {MOST_ROWS:,} rows", "fewer")
                yield row
        finally:
            source.close()


def _name_on_disk(file: str) -> str:
    """Return the end of a file's name, cut to what file systems allow.

    The end is kept because the suffix tells how to read the file.
    """
    end = Path(file).name.encode("utf-8", "replace")[-LONGEST_FILE_NAME:].decode(errors="ignore")
    return end if end.strip(".") else "entries"

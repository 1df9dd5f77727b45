"""BEGIN: responses to a knowledge snippet with the experts' consensus label, as plain TSV.

From https://github.com/google/BEGIN-dataset. Our readings:

- The consensus is one vote by the rater `published` on `attributable`: yes for 'Fully
  attributable', no for 'Not fully attributable' and 'Generic'. The label itself stays in `meta`.
- Rows with the same knowledge and message are responses to one example. The message is its only
  turn. If the message is blank (two rows of CMU-DoG), the dialog is not known.
- The file names no conversation. Examples with the same knowledge are one `dialog`: they are about
  the same few sentences, and in CMU-DoG and Topical-Chat many conversations share a document.
- Keys are made from the texts, so that files of several sources fit into one dataset.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from generation.importers.errors import excerpt
from generation.importers.fields import LONGEST_KEY, NOTHING, Row
from generation.importers.interchange_rows import passage_key
from generation.importers.material import FileMaterial
from generation.importers.sources import Source
from generation.importers.tables import csv_columns, tsv_rows
from generation.limits import LONGEST_NAME
from generation.records import (
    ExampleRecord,
    PassageRecord,
    Problem,
    Record,
    ResponseRecord,
    SetupRecord,
    TurnRecord,
    VoteRecord,
    Where,
)

COLUMNS = ("model_name", "data_source", "knowledge", "message", "response", "begin_label")
ATTRIBUTABLE = "Fully attributable"
LABELS = (ATTRIBUTABLE, "Not fully attributable", "Generic")
RATER = "published"
SCHEME = {
    "key": "begin",
    "title": "BEGIN",
    "questions": [
        {
            "key": "attributable",
            "wording": "Is the response fully attributable to the knowledge?",
            "scale": "yes_no",
            "better": "yes",
        }
    ],
}


class BeginRow(NamedTuple):
    """One row that was checked."""

    where: Where
    key: str  # the key of the response
    example: str
    passage: str
    model: str
    source: str
    knowledge: str
    message: str
    response: str
    label: str


class BeginMaterial(FileMaterial):
    """One of the published TSV files. The problems of its rows come with the responses."""

    format = "begin"
    one_file = "one BEGIN TSV file"

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.scheme = SCHEME
        self.kinds = ("examples", "responses", "votes")

    @property
    def bytes_total(self) -> int:
        return self._source.sizes[self._file] * len(self.kinds)

    def records(self, kind: str) -> Iterator[Record | Problem]:
        seen: set[str] = set()
        for row in self._rows():
            if isinstance(row, Problem):
                if kind == "responses":
                    yield row
            elif kind == "examples":
                if row.example not in seen:
                    seen.add(row.example)
                    yield _example(row)
            elif kind == "responses":
                yield _response(row)
            elif kind == "votes":
                yield _vote(row)

    def _rows(self) -> Iterator[BeginRow | Problem]:
        seen: Counter[str] = Counter()
        for row in tsv_rows(self._source, self._file, COLUMNS, self._note):
            if isinstance(row, Problem):
                yield row
                continue
            found = _checked(row)
            if row.problems:
                yield from row.problems
                continue
            seen[found.key] += 1
            self._source.refuse_more_in_memory(self._file, len(seen))
            if seen[found.key] > 1:
                found = found._replace(key=f"{found.key}|{seen[found.key]}")
            yield found

    def _note(self, column: str) -> None:
        self.note_unknown(f"{self._file}: column {column!r:.100}")


def recognises(source: Source) -> bool:
    """Return whether this is one file with the columns `knowledge` and `begin_label`."""
    name = source.only_data_file()
    if name is None:
        return False
    head = source.head(name, 1 << 16).decode("utf-8", "replace")
    return {"knowledge", "begin_label"} <= set(csv_columns(head))


def _checked(row: Row) -> BeginRow:
    source = row.key("data_source", longest=LONGEST_NAME)
    model = row.key("model_name", longest=LONGEST_NAME)
    knowledge = row.filled_text("knowledge")
    message = row.text("message", "")
    label = row.text("begin_label", "").strip()
    if label not in LABELS:
        row.refuse("begin_label", excerpt(label) if label else NOTHING, " or ".join(LABELS))
    texts = hashlib.sha256(f"{knowledge}\n{message}".encode()).hexdigest()[:16]
    found = BeginRow(
        where=row.where,
        key=f"{source}:{texts}|{model}",
        example=f"{source}:{texts}",
        passage=passage_key("", knowledge),
        model=model,
        source=source,
        knowledge=knowledge,
        message=message,
        response=row.text("response", ""),
        label=label,
    )
    if len(found.key) > LONGEST_KEY:
        row.refuse("model_name", excerpt(found.key), f"at most {LONGEST_KEY} with data_source")
    return found


def _example(row: BeginRow) -> ExampleRecord:
    return ExampleRecord(
        where=row.where,
        key=row.example,
        dialog=row.passage,
        turns=(TurnRecord("user", row.message, -1),) if row.message.strip() else (),
        golden_answer=None,
        evidence=(PassageRecord(row.passage, row.knowledge, "", "", True),),
        meta={"data_source": row.source},
    )


def _response(row: BeginRow) -> ResponseRecord:
    return ResponseRecord(
        where=row.where,
        key=row.key,
        example=row.example,
        setup=SetupRecord(row.model, row.model, None, "", "", {}),
        text=row.response,
        evidence_shown=None,
        graph_shown=None,
        removed=None,
        meta={"begin_label": row.label},
    )


def _vote(row: BeginRow) -> VoteRecord:
    return VoteRecord(
        where=row.where,
        response=row.key,
        rater=RATER,
        question="attributable",
        answer="yes" if row.label == ATTRIBUTABLE else "no",
        arm="separate",
        citation=None,
        position=None,
        seconds=None,
        at=None,
        is_implied=False,
    )

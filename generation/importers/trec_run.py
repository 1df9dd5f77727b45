"""A TREC run: the results of a retriever as lines `qid Q0 docid rank score tag`.

Each line has one passage. A qid is the key of an example, a docid the key of a passage, and a tag
the name of a ranking: several tags are several rankings. We read it as trec_eval does:

- The passages of an example rank by score, the highest first. Passages with equal scores rank by
  docid, the last in the order of bytes first. The rank in the file is ignored. Scores are 32-bit
  numbers.
- The second column may hold anything. Blank lines and lines that begin with `#` are left out. The
  lines of an example may be scattered; they are put in order on disk.

A line with an unknown passage keeps its rank, so that those after it do not move up.
"""

import re
import sqlite3
from collections.abc import Iterator

import numpy as np

from generation.importers.disk_database import LARGE_CACHE, temporary_database
from generation.importers.errors import excerpt
from generation.importers.fields import Row
from generation.importers.material import FileMaterial
from generation.importers.sources import Source
from generation.limits import LONGEST_NAME
from generation.records import Problem, RankedPassageRecord, Record, Where

FIELDS = ("qid", "Q0", "docid", "rank", "score", "tag")
EXPECTED = f"6 fields with blanks between: {' '.join(FIELDS)}"
_LINE = re.compile(rb"\S+\s+Q0\s+\S+\s+\d+\s+[-+]?[\d.]+([eE][-+]?\d+)?\s+\S+")
_BETWEEN, _BLANKS = re.compile(r"[ \t]+"), " \t\r\n"
_HEAD_BYTES = 1 << 16
_LINES_BETWEEN_REPORTS = 5000
_TABLES = (
    "CREATE TABLE problems (line INTEGER, field TEXT, found TEXT, expected TEXT)",
    "CREATE TABLE lines (line INTEGER, tag TEXT, qid TEXT, docid TEXT, score REAL)",
)
_IN_ORDER = """
CREATE TABLE ranked AS SELECT line, tag, qid, docid,
    ROW_NUMBER() OVER (PARTITION BY tag, qid ORDER BY score DESC, docid DESC) AS rank
FROM lines ORDER BY tag, qid, rank
"""


class TrecRunMaterial(FileMaterial):
    """One run. `prepare` puts it in order once, however often it is read."""

    format = "trec-run"
    one_file = "one TREC run"

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.kinds = ("rankings",)
        self._db: sqlite3.Connection | None = None

    def prepare(self) -> None:
        self._in_order()

    def records(self, kind: str) -> Iterator[Record | Problem]:
        if kind not in self.kinds:
            return
        database = self._in_order()
        for line, *said in database.execute("SELECT * FROM problems ORDER BY rowid"):
            yield Problem(Where(self._file, line), *said)
        for line, *ranked in database.execute("SELECT * FROM ranked ORDER BY rowid"):
            yield RankedPassageRecord(Where(self._file, line), *ranked)

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None
        super().close()

    def _in_order(self) -> sqlite3.Connection:
        if self._db is None:
            database = temporary_database(LARGE_CACHE)
            try:
                self._fill(database)
            except BaseException:
                database.close()
                raise
            self._db = database
        return self._db

    def _fill(self, database: sqlite3.Connection) -> None:
        for statement in _TABLES:
            database.execute(statement)
        for number, row in enumerate(self._rows()):
            if number % _LINES_BETWEEN_REPORTS == 0:
                self.on_work()
            if isinstance(row, Problem):
                problem = (row.where.line, *row[1:])
                database.execute("INSERT INTO problems VALUES (?, ?, ?, ?)", problem)
            else:
                database.execute("INSERT INTO lines VALUES (?, ?, ?, ?, ?)", row)
        self.on_work()
        database.execute(_IN_ORDER)

    def _rows(self) -> Iterator[tuple[int, str, str, str, float] | Problem]:
        """Yield line, tag, qid, docid and score of each line, or the problem of the line."""
        for line in self._source.lines(self._file):
            if line.problem is None and (line.text.isspace() or line.text.startswith("#")):
                continue
            self._source.count_row(self._file)
            where = Where(self._file, line.number)
            text = line.text.strip(_BLANKS)
            parts = _BETWEEN.split(text, maxsplit=len(FIELDS))
            if line.problem or len(parts) != len(FIELDS):
                yield line.problem or Problem(where, "", excerpt(text), EXPECTED)
                continue
            row = Row(where, dict(zip(FIELDS, parts, strict=True)), is_csv=True)
            tag, score = row.key("tag", longest=LONGEST_NAME), row.score("score")
            qid, docid = row.key("qid"), row.key("docid")
            yield from row.problems
            if not row.problems:
                yield line.number, tag, qid, docid, float(np.float32(score))


def recognises(source: Source) -> bool:
    """Return whether the first line that is no comment is a line of a run, with `Q0` in place."""
    name = source.only_data_file()
    if name is None:
        return False
    lines = map(bytes.strip, source.head(name, _HEAD_BYTES).splitlines())
    first = next((line for line in lines if line and not line.startswith(b"#")), b"")
    return _LINE.fullmatch(first) is not None

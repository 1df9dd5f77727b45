"""Triples as a table: CSV or TSV, each row with one triple of an entity.

The columns are `qid`, `relation`, `value`, and optionally `label`, `type`, `aliases` (with `|`
between them) and `value_qid`. The rows of an entity may be scattered. Our readings:

- The label and the type of an entity may be in any of its rows, in each or only in one. Two
  different ones are a problem of the later row.
- A row without relation and value only names an entity. A row with a relation and no value makes no
  triple. A triple that comes again is left out. Both are counted.
- An entity without a label in any row is called by its qid. - `instance of` is the type of an
entity without a type in any row.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from generation.importers.disk_database import Groups, put_in_order
from generation.importers.errors import excerpt
from generation.importers.fields import NOTHING, Row
from generation.importers.graph_file import LONGEST_ENTITY, GraphFile, GraphStore
from generation.importers.interchange_rows import LONGEST_LABEL, LONGEST_RELATION
from generation.importers.sources import Source
from generation.importers.tables import csv_columns, csv_rows
from generation.limits import LONGEST_NAME
from generation.records import EntityRecord, EntityTriple, Problem, Where

REQUIRED = ("qid", "relation", "value")
OPTIONAL = ("label", "type", "aliases", "value_qid")
TYPE = "instance of"
BETWEEN_ALIASES = "|"
LONGEST_TYPE = 200
MOST_REMEMBERED = 100_000  # entities held in memory, besides those on disk
MOST_CHARACTERS = 1 << 24  # characters of the names held in memory
_ROWS_BETWEEN_REPORTS = 5000
_ENTITIES_BETWEEN_REPORTS = 2000
_NO_VALUE = "rows with a relation and no value"
_TWICE = "repeated triples"
_TABLES = """
CREATE TABLE entities (
    id INTEGER PRIMARY KEY, qid TEXT UNIQUE, line INTEGER, label TEXT, type TEXT
);
CREATE TABLE names (entity INTEGER, name TEXT);
CREATE TABLE triples (entity INTEGER, relation TEXT, value TEXT, value_qid TEXT);
"""


class TriplesMaterial(GraphFile["_Entities"]):
    """One table of triples."""

    format = "triples"
    one_file = "one CSV or TSV of triples"

    def _new_store(self) -> "_Entities":
        return _Entities(self._file)

    def _fill(self, store: "_Entities") -> Iterator[Problem]:
        known = frozenset(REQUIRED + OPTIONAL)
        rows = csv_rows(self._source, self._file, REQUIRED, known, self._note)
        for n_rows, row in enumerate(rows):
            if n_rows % _ROWS_BETWEEN_REPORTS == 0:
                self.on_work()
            yield from [row] if isinstance(row, Problem) else store.add(row)

    def _note(self, column: str) -> None:
        self.note_unknown(f"{self._file}: column {column!r:.100}")


def recognises(source: Source) -> bool:
    """Return whether this is one table with the columns of triples."""
    name = source.only_data_file()
    if name is None:
        return False
    head = source.head(name, 1 << 16).decode("utf-8", "replace")
    columns = {column.lower().replace(" ", "_") for column in csv_columns(head)}
    return columns.issuperset(REQUIRED)


class _MetEntity(NamedTuple):
    """The known facts about an entity that was met."""

    id: int
    label: str
    type: str


class _Entities(GraphStore):
    """Entities and their triples on disk, to be read back entity by entity."""

    def __init__(self, file: str) -> None:
        super().__init__(file, _TABLES)
        self._known: dict[str, _MetEntity] = {}
        self._n_entities = 0
        self._n_remembered = 0  # characters in `_known`

    def add(self, row: Row) -> list[Problem]:
        """Add a row. Return what is wrong with it."""
        qid = row.key("qid", longest=LONGEST_NAME)
        label = row.text("label", "", LONGEST_LABEL).strip()
        type_ = row.text("type", "", LONGEST_TYPE).strip()
        relation = row.key("relation", "", LONGEST_RELATION)
        value = row.text("value", "")
        value_qid = row.key("value_qid", "", LONGEST_NAME)
        names = list(filter(None, map(str.strip, row.text("aliases", "").split(BETWEEN_ALIASES))))
        for name in names:
            if len(name) > LONGEST_LABEL:
                row.refuse("aliases", excerpt(name), f"at most {LONGEST_LABEL} characters each")
        if value.strip() and not relation:
            row.refuse("relation", NOTHING, f"the relation to {excerpt(value)}")
        if row.problems:
            return row.problems
        known = self._entity(qid, row.where.line)
        for field, said, before in (("label", label, known.label), ("type", type_, known.type)):
            if said and before and said != before:
                row.refuse(field, excerpt(said), f"{excerpt(before)}, as a row of {qid} before")
        if row.problems:
            return row.problems
        if (label and not known.label) or (type_ and not known.type):
            known = _MetEntity(known.id, label or known.label, type_ or known.type)
            self._remember(qid, known)
            values = (known.label, known.type, known.id)
            self._db.execute("UPDATE entities SET label = ?, type = ? WHERE id = ?", values)
        self._db.executemany("INSERT INTO names VALUES (?, ?)", ((known.id, n) for n in names))
        if value.strip():
            triple = (known.id, relation, value, value_qid)
            self._db.execute("INSERT INTO triples VALUES (?, ?, ?, ?)", triple)
        elif relation:
            self.n_left_out[_NO_VALUE] += 1
        return []

    def _entity(self, qid: str, line: int) -> _MetEntity:
        known = self._known.get(qid)
        if known is not None:
            return known
        found = None
        if self._n_entities > len(self._known):  # some are only on disk
            query = "SELECT id, label, type FROM entities WHERE qid = ?"
            found = self._db.execute(query, (qid,)).fetchone()
        if found is None:
            self._n_entities += 1
            values = (self._n_entities, qid, line)
            self._db.execute("INSERT INTO entities VALUES (?, ?, ?, '', '')", values)
            found = (self._n_entities, "", "")
        known = _MetEntity(*found)
        self._remember(qid, known)
        return known

    def _remember(self, qid: str, known: _MetEntity) -> None:
        if len(self._known) >= MOST_REMEMBERED or self._n_remembered > MOST_CHARACTERS:
            self._known.clear()
            self._n_remembered = 0
        self._n_remembered += len(qid) + len(known.label) + len(known.type)
        self._known[qid] = known

    def _put_in_order(self, on_work: Callable[[], None]) -> None:
        for table in ("triples", "names"):
            on_work()
            put_in_order(self._db, table, "entity")

    def _entities(self, on_work: Callable[[], None]) -> Iterator[EntityRecord | Problem]:
        query = """
            SELECT entity, LENGTH(value), relation, value, value_qid FROM triples ORDER BY rowid
        """
        triples = Groups(self._db, query, LONGEST_ENTITY)
        query = "SELECT entity, LENGTH(name), name FROM names ORDER BY rowid"
        names = Groups(self._db, query, LONGEST_ENTITY)
        entities = self._db.execute("SELECT id, qid, line, label, type FROM entities ORDER BY id")
        for number, (id_, qid, line, label, type_) in enumerate(entities):
            if number % _ENTITIES_BETWEEN_REPORTS == 0:
                on_work()
            stated, called = triples.of(id_), names.of(id_)
            if stated is None or called is None:
                yield self._too_large(line, qid)
                continue
            unique = tuple(EntityTriple(*each) for each in dict.fromkeys(stated))
            if n_twice := len(stated) - len(unique):
                self.n_left_out[_TWICE] += n_twice
            if not label:
                self.notes["entities without a label, named by their qid"] += 1
            first = next((t.value for t in unique if t.relation == TYPE), "")
            yield EntityRecord(
                where=Where(self._file, line),
                qid=qid,
                label=label or qid,
                type=type_ or (first if len(first) <= LONGEST_TYPE else ""),
                aliases=tuple(dict.fromkeys(name for (name,) in called if name != (label or qid))),
                text="",
                triples=unique,
            )

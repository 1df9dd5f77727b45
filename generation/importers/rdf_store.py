"""An RDF graph put in order on disk, and read back as entities with named relations and values.

Triples are read like this:

- The qid of a thing is the end of its IRI, after the last `/` or `#`. Two IRIs with the same end
  cannot be distinguished: the later one is a problem, and no value refers to it.
- Names are those in English, else in no language (or in Wikidata's `mul`). The first `rdfs:label`
  is the label; further ones and `skos:altLabel` are aliases. Other languages are left out. A thing
  without such a name is called by its qid.
- A relation is named by the label of its property: of the predicate itself, or of the entity that
  names it as its `wikibase:directClaim`. Without a label it is named by the end of its IRI. Triples
  about a property make no entity.
- Wikidata's `instance of` (P31) and `rdf:type` give the type, and are a triple as well.
- A value is an entity if its IRI begins like that of one of the file's subjects. Its text is that
  entity's label. Other IRIs (addresses of pages, files) are text; for a type, the text is the end
  of the IRI.
- Wikidata's own records (statement nodes, pages, versions, descriptions, identifiers elsewhere,
  files) are not read. A subject that has names and no triple makes no entity.
- Everything that is left out is counted.
"""

from collections.abc import Callable, Iterator, Sized
from typing import Any, NamedTuple

from generation.importers.disk_database import Groups, put_in_order
from generation.importers.errors import DatasetError
from generation.importers.fields import Row
from generation.importers.graph_file import LONGEST_ENTITY, GraphStore
from generation.importers.interchange_rows import LONGEST_LABEL, LONGEST_RELATION
from generation.limits import LONGEST_NAME
from generation.records import EntityRecord, EntityTriple, Problem, Where

RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
ALIAS = "http://www.w3.org/2004/02/skos/core#altLabel"
# Predicates that give a label. Earlier ones are preferred.
LABELS = (LABEL, "http://www.w3.org/2004/02/skos/core#prefLabel", "http://schema.org/name")
WIKIBASE = "http://wikiba.se/ontology#"
DIRECT_CLAIM = WIKIBASE + "directClaim"
PROPERTY_TYPE = WIKIBASE + "propertyType"
# Types of values that are no knowledge.
NO_KNOWLEDGE = (WIKIBASE + "ExternalId", WIKIBASE + "CommonsMedia")
ABOUT = "http://schema.org/about"
INSTANCE_OF = "/prop/direct/P31"
DIRECT = "/prop/direct/"
ENTITY = "/entity/"  # precedes the qid in a Wikibase's IRIs of entities
# Predicates that begin like this describe a Wikibase's own records.
RECORDS = (WIKIBASE, "http://schema.org/")

LONGEST_TYPE = 200
MOST_RELATIONS = 100_000
MOST_REMEMBERED = 200_000  # IRIs held in memory, besides those on disk
MOST_CHARACTERS = 1 << 24  # characters of these IRIs
_BETWEEN_REPORTS = 2000
_TABLES = """
CREATE TABLE nodes (
    id INTEGER PRIMARY KEY, iri TEXT UNIQUE, start TEXT, qid TEXT, line INTEGER,
    label TEXT DEFAULT '', role TEXT DEFAULT '', is_entity INTEGER DEFAULT 0
);
CREATE TABLE labels (node INTEGER, rank INTEGER, name TEXT, PRIMARY KEY (node, rank)) WITHOUT ROWID;
CREATE TABLE names (node INTEGER, name TEXT);
CREATE TABLE triples (
    subject INTEGER, line INTEGER, relation INTEGER, text TEXT, object INTEGER
)
"""
# The role of a node. A value has none; things become entities.
_THING, _RELATION, _RECORD, _TAKEN = "thing", "relation", "record", "taken"
_OF_RECORDS = "triples of Wikidata's own records (pages, statement nodes, versions, descriptions)"
_OF_RELATIONS = "triples that describe relations"
_OTHER_NAMES = "names in other languages"
_OTHER_VALUES = "values in other languages"
_IDENTIFIERS = "identifiers elsewhere and files"
_EMPTY = "empty values"
_CALLED_BY_QID = "entities without an English name, named by their qid"
_LANGUAGES = ("English", "a kind of English", "no language or mul")  # the best one first
_NAMES_ALONE = "things that have a name but no triple"
_TWICE = "repeated triples"


class _Relation(NamedTuple):
    """One predicate: its number, and what its IRI tells about it."""

    id: int
    label_rank: int  # rank of its label: 0 or more for labels, -1 otherwise
    is_name: bool  # a label or an alias
    # Whether its triples only describe records if a Wikibase's entity has it.
    is_record: bool


class _Named(NamedTuple):
    """One predicate, in the form that triples have."""

    name: str
    is_type: bool
    is_knowledge: bool


class _Node(NamedTuple):
    id: int
    is_wikibase: bool


class RdfStore(GraphStore):
    """The triples of one file, on disk."""

    def __init__(self, file: str) -> None:
        super().__init__(file, _TABLES)
        self._nodes: dict[str, _Node] = {}
        self._n_remembered = 0  # characters of the IRIs in `_nodes`
        self._n_nodes = 0
        self._relations: dict[str, _Relation] = {}
        self._property_of: dict[str, str] = {}  # predicate → the entity that describes it
        self._no_knowledge: set[str] = set()  # such entities, if their values are no knowledge

    def add_link(self, line: int, subject: str, predicate: str, value: str) -> None:
        """Add a triple whose value is an IRI."""
        if predicate == DIRECT_CLAIM:
            self._property_of[value] = subject
            self._relation(value)  # it is known as a relation, and counted
        elif predicate == PROPERTY_TYPE and value in NO_KNOWLEDGE:
            self._no_knowledge.add(subject)
            self._bound(self._no_knowledge)
        node = self._node(subject, line)
        relation = self._relation(predicate)
        if _tells_of_a_record(predicate, value):
            self._mark_record(node)
        elif not (node.is_wikibase and relation.is_record):
            row = (node.id, line, relation.id, "", self._node(value, line).id)
            self._db.execute("INSERT INTO triples VALUES (?, ?, ?, ?, ?)", row)
            return
        self.n_left_out[_OF_RECORDS] += 1

    def add_text(self, line: int, subject: str, predicate: str, text: str, language: str) -> None:
        """Add a triple whose value is a text. `language` is '' if there is none."""
        relation = self._relation(predicate)
        node = self._node(subject, line)
        rank = _language_rank(language)
        if relation.is_name:
            self._add_name(node.id, relation, text, rank)
        elif node.is_wikibase and relation.is_record:
            self.n_left_out[_OF_RECORDS] += 1
        elif rank is None:
            self.n_left_out[_OTHER_VALUES] += 1
        elif not text.strip():
            self.n_left_out[_EMPTY] += 1
        else:
            row = (node.id, line, relation.id, text, None)
            self._db.execute("INSERT INTO triples VALUES (?, ?, ?, ?, ?)", row)

    def _add_name(self, node: int, relation: _Relation, text: str, rank: int | None) -> None:
        name = text.strip()
        if rank is None:
            self.n_left_out[_OTHER_NAMES] += 1
        elif not name:
            self.n_left_out[_EMPTY] += 1
        else:
            self._db.execute("INSERT INTO names VALUES (?, ?)", (node, name))
            if relation.label_rank >= 0:
                row = (node, relation.label_rank + rank, name)
                self._db.execute("INSERT OR IGNORE INTO labels VALUES (?, ?, ?)", row)

    def _relation(self, iri: str) -> _Relation:
        known = self._relations.get(iri)
        if known is not None:
            return known
        rank = LABELS.index(iri) * len(_LANGUAGES) if iri in LABELS else -1
        is_record = iri.startswith(RECORDS) or ("/prop/" in iri and DIRECT not in iri)
        relation = _Relation(len(self._relations), rank, rank >= 0 or iri == ALIAS, is_record)
        self._relations[iri] = relation
        self._bound(self._relations)
        return relation

    def _bound(self, predicates: Sized) -> None:
        """Stop the import if memory would grow with the file."""
        if len(predicates) > MOST_RELATIONS:
            found = f"more than {MOST_RELATIONS:,} different predicates"
            raise DatasetError(self._file, found, "at most that many in one file")

    def _node(self, iri: str, line: int) -> _Node:
        known = self._nodes.get(iri)
        if known is not None:
            return known
        if len(self._nodes) >= MOST_REMEMBERED or self._n_remembered > MOST_CHARACTERS:
            self._nodes.clear()
            self._n_remembered = 0
        start, qid = _parts(iri)
        found = None
        if self._n_nodes > len(self._nodes):  # some are only on disk
            found = self._db.execute("SELECT id FROM nodes WHERE iri = ?", (iri,)).fetchone()
        if found is None:
            self._n_nodes += 1
            found = (self._n_nodes,)
            query = "INSERT INTO nodes (id, iri, start, qid, line) VALUES (?, ?, ?, ?, ?)"
            self._db.execute(query, (self._n_nodes, iri, start, qid, line))
        self._n_remembered += len(iri)
        node = self._nodes[iri] = _Node(found[0], start.endswith(ENTITY))
        return node

    def _mark_record(self, node: _Node) -> None:
        """Note that a subject is a page or a statement. A Wikibase's entity is neither."""
        if not node.is_wikibase:
            self._db.execute("UPDATE nodes SET role = ? WHERE id = ?", (_RECORD, node.id))

    def _put_in_order(self, on_work: Callable[[], None]) -> None:
        for problem in self._tell_apart(on_work):
            self.note(problem)
        for table, by in (("triples", "subject"), ("names", "node")):
            on_work()
            put_in_order(self._db, table, by)
        on_work()

    def _entities(self, on_work: Callable[[], None]) -> Iterator[EntityRecord | Problem]:
        relations = self._named_relations()
        query = """
            SELECT subject, LENGTH(text) + IFNULL(LENGTH(o.iri) + LENGTH(o.label), 0),
                t.line, relation, text, o.iri, o.label, o.qid, o.is_entity
            FROM triples t LEFT JOIN nodes o ON o.id = object ORDER BY t.rowid
        """
        triples = Groups(self._db, query, LONGEST_ENTITY)
        query = "SELECT node, LENGTH(name), name FROM names ORDER BY rowid"
        names = Groups(self._db, query, LONGEST_ENTITY)
        subjects = "SELECT id, iri, qid, line, label, role FROM nodes WHERE role != '' ORDER BY id"
        for number, (id_, iri, qid, line, label, role) in enumerate(self._db.execute(subjects)):
            if number % _BETWEEN_REPORTS == 0:
                on_work()
            rows, called = triples.of(id_), names.of(id_)
            if rows is None or called is None:
                yield self._too_large(line, iri)
            elif role in (_RECORD, _RELATION):
                left_out = _OF_RECORDS if role == _RECORD else _OF_RELATIONS
                self.n_left_out[left_out] += len(rows)
            elif role == _THING and rows:
                aliases = [name for (name,) in called]
                yield from self._entity(iri, qid, label, rows, aliases, relations)

    def _tell_apart(self, on_work: Callable[[], None]) -> Iterator[Problem]:
        """Set the role of each node, and yield the problems of nodes whose qid is taken."""
        execute = self._db.execute
        on_work()
        execute(
            "UPDATE nodes SET label = (SELECT name FROM labels WHERE node = id ORDER BY rank"
            " LIMIT 1) WHERE id IN (SELECT node FROM labels)"
        )
        described = {*self._relations, *self._property_of.values(), *self._no_knowledge}
        marks = ((_RELATION, iri) for iri in described)
        self._db.executemany("UPDATE nodes SET role = ? WHERE iri = ?", marks)
        execute(
            "UPDATE nodes SET role = ? WHERE role = '' AND id IN (SELECT subject FROM triples)",
            (_THING,),
        )
        on_work()
        execute(
            "UPDATE nodes SET is_entity = 1 WHERE role IN ('', ?) AND qid != '' AND start IN"
            " (SELECT start FROM nodes WHERE role = ?)",
            (_THING, _THING),
        )
        execute(
            "CREATE TABLE taken AS SELECT id, iri, line, first FROM nodes JOIN (SELECT qid,"
            " MIN(id) AS first FROM nodes WHERE is_entity GROUP BY qid HAVING COUNT(*) > 1)"
            " USING (qid) WHERE is_entity AND id != first"
        )
        query = (
            "SELECT taken.iri, taken.line, nodes.iri, nodes.line FROM taken"
            " JOIN nodes ON nodes.id = first ORDER BY taken.line, taken.id"
        )
        for iri, line, first, first_line in execute(query):
            expected = f"another end than that of {first} (line {first_line:,})"
            yield Problem(Where(self._file, line), "", iri, expected)
        execute(
            "UPDATE nodes SET is_entity = 0, role = ? WHERE id IN (SELECT id FROM taken)",
            (_TAKEN,),
        )
        alone = "SELECT COUNT(*) FROM nodes WHERE role = '' AND id IN (SELECT node FROM names)"
        if n_alone := execute(alone).fetchone()[0]:
            self.n_left_out[_NAMES_ALONE] += n_alone

    def _named_relations(self) -> list[_Named]:
        """Return the predicates in the order of their numbers."""
        named = []
        for iri in self._relations:
            described_by = self._property_of.get(iri, iri)
            query = "SELECT label FROM nodes WHERE iri IN (?, ?) AND label != '' ORDER BY iri = ?"
            found = self._db.execute(query, (described_by, iri, iri)).fetchone()
            name = found[0] if found else ""
            if not 0 < len(name) <= LONGEST_RELATION:
                name = _parts(iri)[1] or iri
            is_type = iri == RDF_TYPE or iri.endswith(INSTANCE_OF)
            named.append(_Named(name, is_type, described_by not in self._no_knowledge))
        return named

    def _entity(
        self,
        iri: str,
        qid: str,
        label: str,
        rows: list[tuple[Any, ...]],
        names: list[str],
        relations: list[_Named],
    ) -> Iterator[EntityRecord | Problem]:
        """Yield the entity of these triples or its problems. Yield nothing if none is knowledge."""
        where = Where(self._file, rows[0][0])
        triples: dict[EntityTriple, None] = {}
        types = []
        for _, number, text, object_iri, object_label, object_qid, is_entity in rows:
            relation = relations[number]
            if not relation.is_knowledge:
                self.n_left_out[_IDENTIFIERS] += 1
                continue
            if object_iri is not None:
                is_named = bool(object_qid) and (is_entity or relation.is_type)
                text = object_label or (object_qid if is_named else object_iri)
            triple = EntityTriple(relation.name, text, object_qid if is_entity else "")
            self.n_left_out[_TWICE] += triple in triples
            triples[triple] = None
            if relation.is_type:
                types.append(text)
        if not triples:
            self.n_left_out[_NAMES_ALONE] += 1
            return
        if not qid:
            yield Problem(where, "", iri, "an IRI with a name after its last / or #")
            return
        row = Row(where, {"qid": qid, "label": label or qid, "type": types[0] if types else ""})
        record = EntityRecord(
            where=where,
            qid=row.key("qid", longest=LONGEST_NAME),
            label=row.text("label", longest=LONGEST_LABEL),
            type=row.text("type", longest=LONGEST_TYPE),
            aliases=row.keys(
                "aliases", [n for n in dict.fromkeys(names) if n != label], LONGEST_LABEL
            ),
            text="",
            triples=tuple(triples),
        )
        self.notes[_CALLED_BY_QID] += not label
        if row.problems:
            yield from row.problems
        else:
            yield record


def _parts(iri: str) -> tuple[str, str]:
    """Return the beginning of an IRI, up to its last / or #, and its end."""
    cut = max(iri.rfind("/"), iri.rfind("#")) + 1
    return iri[:cut], iri[cut:]


def _tells_of_a_record(predicate: str, value: str) -> bool:
    """Return whether this triple shows that its subject is no thing.

    It is then a page about a thing, or a statement node.
    """
    if predicate == RDF_TYPE:
        return value.startswith(WIKIBASE)
    return predicate == ABOUT and _parts(value)[0].endswith(ENTITY)


def _language_rank(language: str) -> int | None:
    """Return the place of a language in `_LANGUAGES`. None: it is another language."""
    if language in ("", "mul"):
        return 2
    first = language.partition("-")[0].lower()
    return None if first != "en" else int(language.lower() != "en")

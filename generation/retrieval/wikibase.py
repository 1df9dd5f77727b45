"""Graphs of Wikidata's shape: the queries to them, and the reading of their answers.

The module opens no connections. `wikibase:directClaim` leads from a property to the predicate of
its best statements. So names of relations are joined, instead of asked of a service that only one
endpoint has. If a graph has no name in the wanted language, one in `mul` (any language) is used.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from generation.limits import LONGEST_ENTITY_NAME
from generation.records import EntityRecord, EntityTriple, Where
from generation.retrieval.sparql_results import Row, Term

WIKIDATA = "https://query.wikidata.org/sparql"
ENTITIES = "http://www.wikidata.org/entity/"
ANY_LANGUAGE = "mul"
INSTANCE_OF = ("P31", "instance of")
QID = re.compile(r"Q[1-9][0-9]{0,17}")
LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z0-9]{2,8})*")
# Identifiers in other catalogues and names of files, which are no knowledge but most of the values.
NO_KNOWLEDGE = {"ExternalId", "CommonsMedia"}
LONGEST_QID, LONGEST_TYPE, LONGEST_RELATION = 100, 200, 300

IDENTIFIERS, UNKNOWN, TOO_LONG = "identifiers and files", "unknown values", "names too long"
EMPTY = "empty values"

_PREFIXES = """\
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
PREFIX wikibase: <http://wikiba.se/ontology#>
"""
_LOCAL_NAME = re.compile(r"[\w.-]+", re.ASCII)
_DATE_TIME = "http://www.w3.org/2001/XMLSchema#dateTime"
_GENID = "/.well-known/genid/"
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPES |= {chr(n): f"\\u{n:04X}" for n in range(32) if chr(n) not in _ESCAPES}
_ESCAPED = str.maketrans(_ESCAPES)


class Match(NamedTuple):
    """An entity that has a name."""

    qid: str
    by: str  # 'label' or 'alias'


class Edge(NamedTuple):
    """A statement whose value is another entity."""

    subject: str  # its qid
    property: str  # its number, as in P26
    value: str  # the qid of the other


class Described(NamedTuple):
    """An entity as it will be stored, and the number of values left out of it."""

    record: EntityRecord
    left_out: Mapping[str, int]  # number of values for each reason


class Shape(NamedTuple):
    """The beginning of entities' addresses in a graph, and the language of the names to read."""

    language: str = "en"
    entities: str = ENTITIES

    @property
    def languages(self) -> tuple[str, str]:
        return (self.language, ANY_LANGUAGE)

    def qid(self, term: Term) -> str:
        """Return the qid of an entity; "" if the term is none."""
        name = term.value.removeprefix(self.entities)
        is_entity = term.kind == "uri" and term.value.startswith(self.entities)
        return name if is_entity and _LOCAL_NAME.fullmatch(name) else ""


# --- queries --------------------------------------------------------------------------------


def literal(text: str, language: str) -> str:
    """Return a text as a literal of a query, escaped so that nothing in it ends the literal."""
    return f'"{text.translate(_ESCAPED)}"@{language}'


def names_query(names: Iterable[str], shape: Shape) -> str:
    """Return the query for the entities with these labels or aliases: ?name ?entity ?how."""
    values = " ".join(literal(name, each) for name in names for each in shape.languages)
    return f"""{_PREFIXES}SELECT DISTINCT ?name ?entity ?how WHERE {{
  VALUES ?name {{ {values} }}
  {{ ?entity rdfs:label ?name . BIND("label" AS ?how) }}
  UNION {{ ?entity skos:altLabel ?name . BIND("alias" AS ?how) }}
  FILTER NOT EXISTS {{ ?entity wikibase:directClaim ?claim }}
}}"""


def labels_query(qids: Iterable[str], shape: Shape) -> str:
    """Return the query for labels and aliases of entities: ?entity, and ?label or ?alias."""
    return f"""{_PREFIXES}SELECT ?entity ?label ?alias WHERE {{
  VALUES ?entity {{ {_iris(qids, shape)} }}
  {{ ?entity rdfs:label ?label . FILTER({_spoken("?label", shape)}) }}
  UNION {{ ?entity skos:altLabel ?alias . FILTER({_spoken("?alias", shape)}) }}
}}"""


def statements_query(qids: Iterable[str], shape: Shape) -> str:
    """Return the query for statements about entities, each value with its label if it has one.

    The variables are ?entity ?property ?value, and some rows have ?kind ?relation ?label.
    """
    return f"""{_PREFIXES}SELECT ?entity ?property ?kind ?relation ?value ?label WHERE {{
  VALUES ?entity {{ {_iris(qids, shape)} }}
  ?entity ?direct ?value .
  ?property wikibase:directClaim ?direct .
  OPTIONAL {{ ?property wikibase:propertyType ?kind }}
  OPTIONAL {{ ?property rdfs:label ?relation . FILTER({_spoken("?relation", shape)}) }}
  OPTIONAL {{ ?value rdfs:label ?label . FILTER({_spoken("?label", shape)}) }}
}}"""


def edges_query(pairs: Iterable[tuple[str, str]], shape: Shape) -> str:
    """Return the query for the edges from the first of each pair to its second.

    The variables are ?subject ?property ?value.
    """
    listed = " ".join(f"({_iris(pair, shape)})" for pair in pairs)
    return f"""{_PREFIXES}SELECT DISTINCT ?subject ?property ?value WHERE {{
  VALUES (?subject ?value) {{ {listed} }}
  ?subject ?direct ?value .
  ?property wikibase:directClaim ?direct .
}}"""


def edges_among_query(subjects: Iterable[str], values: Iterable[str], shape: Shape) -> str:
    """Return the query for the edges from any of some entities to any of others.

    The variables are ?subject ?property ?value.
    """
    return f"""{_PREFIXES}SELECT DISTINCT ?subject ?property ?value WHERE {{
  VALUES ?subject {{ {_iris(subjects, shape)} }}
  VALUES ?value {{ {_iris(values, shape)} }}
  ?subject ?direct ?value .
  ?property wikibase:directClaim ?direct .
}}"""


def _iris(qids: Iterable[str], shape: Shape) -> str:
    named = list(qids)
    if wrong := [qid for qid in named if not _LOCAL_NAME.fullmatch(qid)]:
        raise ValueError(f"{wrong[0]!r}: expected the name of an entity, as in Q42")
    return " ".join(f"<{shape.entities}{qid}>" for qid in named)


def _spoken(variable: str, shape: Shape) -> str:
    wanted = ", ".join(f'"{language}"' for language in shape.languages)
    return f"LANG({variable}) IN ({wanted})"


# --- answers --------------------------------------------------------------------------------


def matches_of(rows: Iterable[Row], names: Iterable[str], shape: Shape) -> dict[str, list[Match]]:
    """Return the entities that have each name, those of lower numbers first.

    An entity with the name as both label and alias is listed once, by its label.
    """
    found: dict[str, dict[str, str]] = {name: {} for name in names}
    for row in rows:
        qid = shape.qid(row["entity"])
        of_name = found.get(row["name"].value)
        if of_name is None or not qid or len(qid) > LONGEST_QID:
            continue
        how = row["how"].value
        of_name[qid] = "label" if "label" in (how, of_name.get(qid)) else how
    return {
        name: [Match(qid, of_name[qid]) for qid in sorted(of_name, key=in_number_order)]
        for name, of_name in found.items()
    }


def edges_of(rows: Iterable[Row], shape: Shape) -> list[Edge]:
    """Return the edges of an answer, each once, those of lower numbers first."""
    found = {
        Edge(shape.qid(row["subject"]), _local(row["property"].value), shape.qid(row["value"]))
        for row in rows
    }
    return sorted(found, key=lambda edge: tuple(map(in_number_order, edge)))


def described(
    labels: Iterable[Row], statements: Iterable[Row], shape: Shape, where: str
) -> dict[str, Described]:
    """Return the entities in two answers, by qid.

    Triples are sorted by the numbers of their properties, then by their values, each once. Dates
    are cut before their 'T'. An entity without a label is named by its qid, a property without one
    by its number. Names have no white space around them. An alias is neither the label nor listed
    twice. The type is the class with the lowest number, because the oldest classes are the
    plainest: 'human', 'city'.
    """
    names: dict[str, _Names] = {}
    for row in labels:
        of_entity = names.setdefault(shape.qid(row["entity"]), _Names())
        for variable, put in (("label", of_entity.labels), ("alias", of_entity.aliases)):
            if variable in row:
                put.append(row[variable])
    said: dict[str, dict[tuple[str, Term], _Statement]] = {}
    for row in statements:
        of_subject = said.setdefault(shape.qid(row["entity"]), {})
        key = (_local(row["property"].value), row["value"])
        of_subject[key] = of_subject.get(key, _Statement()).with_names(row, shape)
    qids = [qid for qid in {**names, **said} if qid and len(qid) <= LONGEST_QID]
    return {
        qid: _described(qid, names.get(qid, _Names()), said.get(qid, {}), shape, where)
        for qid in qids
    }


def in_number_order(name: str) -> tuple[int, str]:
    """Return the sort key of a qid or property: by the number in it, then by spelling."""
    number = re.search(r"[0-9]{1,18}", name)
    return (int(number[0]) if number else 10**18, name)


class _Names:
    def __init__(self) -> None:
        self.labels: list[Term] = []
        self.aliases: list[Term] = []


class _Statement(NamedTuple):
    kind: str = ""
    relation: Term | None = None
    label: Term | None = None

    def with_names(self, row: Row, shape: Shape) -> "_Statement":
        return _Statement(
            _local(row["kind"].value) if "kind" in row else self.kind,
            _better(self.relation, row.get("relation"), shape),
            _better(self.label, row.get("label"), shape),
        )


def _better(one: Term | None, other: Term | None, shape: Shape) -> Term | None:
    """Return the name in the wanted language; of several names, always the same one."""
    there = [term for term in (one, other) if term is not None]
    return min(there, key=lambda term: (term.language != shape.language, term.value), default=None)


def _described(
    qid: str,
    names: _Names,
    said: Mapping[tuple[str, Term], _Statement],
    shape: Shape,
    where: str,
) -> Described:
    left_out: Counter[str] = Counter()
    best: Term | None = None
    for term in names.labels:
        best = _better(best, term, shape)
    label = _name(best, qid)[:LONGEST_ENTITY_NAME].strip()
    triples: list[tuple[tuple[int, str], EntityTriple]] = []
    types: list[tuple[tuple[int, str], str]] = []
    for (property_, value), statement in said.items():
        triple = _triple(_name(statement.relation, property_), value, statement, shape)
        if reason := _reason_to_leave(triple, value, statement):
            left_out[reason] += 1
            continue
        triples.append((in_number_order(property_), triple))
        if property_ == INSTANCE_OF[0] or triple.relation == INSTANCE_OF[1]:
            types.append((in_number_order(triple.value_qid), triple.value))
    aliases = sorted({term.value.strip() for term in names.aliases} - {"", label})
    kept = [alias for alias in aliases if len(alias) <= LONGEST_ENTITY_NAME]
    left_out[TOO_LONG] += len(aliases) - len(kept)
    record = EntityRecord(
        where=Where(where, 0),
        qid=qid,
        label=label,
        type=min(types)[1][:LONGEST_TYPE] if types else "",
        aliases=tuple(kept),
        text="",
        triples=tuple(dict.fromkeys(triple for _, triple in sorted(triples))),
    )
    return Described(record, +left_out)


def _reason_to_leave(triple: EntityTriple, value: Term, statement: _Statement) -> str:
    if statement.kind in NO_KNOWLEDGE:
        return IDENTIFIERS
    if value.kind == "bnode" or (value.kind == "uri" and _GENID in value.value):
        return UNKNOWN
    if not triple.relation or not triple.value.strip():
        return EMPTY
    return TOO_LONG if len(triple.relation) > LONGEST_RELATION else ""


def _triple(relation: str, value: Term, statement: _Statement, shape: Shape) -> EntityTriple:
    qid = shape.qid(value)
    if qid and len(qid) <= LONGEST_QID:
        return EntityTriple(relation, _name(statement.label, qid), qid)
    if value.kind == "uri":
        return EntityTriple(relation, _name(statement.label, value.value), "")
    is_date = value.datatype == _DATE_TIME
    return EntityTriple(relation, value.value.partition("T")[0] if is_date else value.value, "")


def _name(term: Term | None, otherwise: str) -> str:
    """Return a name without white space around it; `otherwise` if there is none."""
    return (term.value.strip() if term else "") or otherwise


def _local(iri: str) -> str:
    return re.split(r"[/#]", iri)[-1].strip() or iri.strip()

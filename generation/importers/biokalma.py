"""BioKaLMA: questions, each with the sub-graphs of Wikidata that the authors retrieved for it.

From https://github.com/lixinze777/Knowledge-aware-Language-Model-Attribution (dataset). A file is
one JSON list of `[question, [sub-graph, …]]`. A sub-graph is an object of property → text, with
`name` and `qid`. Our readings:

- An entity has the triples of its sub-graph in the file's order, all but `name` and `qid`. Their
  relations are spelt as in the file (`date_of_birth`). Its type is `instance of`, which stays a
  triple as well.
- The same sub-graph comes again with other questions. The entity is stored once, another name of it
  is an alias, and other triples are a problem.
- An empty value (for example an unknown date) makes no triple. Dates before Christ stay text.
- The sub-graphs are the retrieved ones. Gold entities and minimum knowledge sets are not published,
  so there are no gold entities, and the minimum is not known.
- A literal 'question: ' before a question is removed.
- An entry with anything wrong is left out as a whole. Its problems are reported with the questions.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from generation.importers.errors import DatasetError, excerpt
from generation.importers.fields import NOTHING, Row
from generation.importers.interchange_rows import LONGEST_LABEL, LONGEST_RELATION
from generation.importers.json_items import JsonEntry, json_entries
from generation.importers.material import FileMaterial
from generation.importers.sources import Source
from generation.limits import LONGEST_NAME
from generation.records import EntityRecord, EntityTriple, KGQuestionRecord, Problem, Record, Where
from generation.text.citations import IDENTIFYING

PREFIX = "question: "
TYPE = "instance of"
LONGEST_TYPE = 200
_ENTRY = "[question, [sub-graph, …]], a text and a list"
_FIRST_ENTRY = re.compile(rb'\s*\[\s*\[\s*"(?:[^"\\]|\\.)*"\s*,\s*\[', re.DOTALL)
_HEAD_BYTES = 1 << 20
_BEFORE_CHRIST = re.compile(r"-\d{4,}-\d\d-\d\d")
_AWKWARD = (", ", ": ", "]")  # signs that separate and end citations


class SubGraph(NamedTuple):
    """One sub-graph of an entry that was checked. `n_empty` properties have no value."""

    where: Where
    qid: str
    name: str
    type: str
    triples: tuple[EntityTriple, ...]
    n_empty: int


class Item(NamedTuple):
    """One entry that was checked."""

    where: Where
    question: str
    has_prefix: bool
    graphs: tuple[SubGraph, ...]


class BioKalmaMaterial(FileMaterial):
    """One file of questions. Its entities are held in memory, as the published files have 1 MB."""

    format = "biokalma"
    one_file = "one BioKaLMA JSON file"

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        limit = source.limits.max_whole_json_bytes
        if len(source.head(self._file, limit + 1)) > limit:
            raise DatasetError(
                self._file, f"more than {limit:,} bytes", "a smaller file of this format"
            )
        self.kinds = ("entities", "kg_questions")

    @property
    def bytes_total(self) -> int:
        return self._source.sizes[self._file] * len(self.kinds)

    def records(self, kind: str) -> Iterator[Record | Problem]:
        if kind not in self.kinds:
            return
        met = _Met()
        for entry in json_entries(self._source, self._file):
            found = [entry] if isinstance(entry, Problem) else _item(entry)
            if isinstance(found, Item):
                found = met.problems(found) or found
            if isinstance(found, Item):
                met.add(found)
                self._source.refuse_more_in_memory(self._file, met.n_entities)
            if kind == "kg_questions":
                yield from [_question(found)] if isinstance(found, Item) else found
        if kind == "entities":
            yield from met.entities()
        self.notes, self.n_left_out = met.notes(), met.left_out()


class _Met:
    """The content of the good entries so far: each entity once, and counts for notes."""

    def __init__(self) -> None:
        self._graphs: dict[str, SubGraph] = {}
        self._aliases: dict[str, dict[str, None]] = {}  # the names are in the order of the file
        self._n = Counter[str]()
        self._n_by_size = Counter[int]()

    @property
    def n_entities(self) -> int:
        return len(self._graphs)

    def problems(self, item: Item) -> list[Problem]:
        """Return the problems for which a readable entry cannot be added."""
        problems = []
        here: set[str] = set()
        for number, graph in enumerate(item.graphs, start=1):
            field = f"graphs[{number}]"
            if graph.qid in here:
                found = f"{excerpt(graph.qid)} a second time"
                problems.append(Problem(item.where, field, found, "each entity once in an entry"))
            here.add(graph.qid)
            first = self._graphs.get(graph.qid)
            if first is not None and _stated(first) != _stated(graph):
                problems.append(_other_triples(item.where, field, first, graph))
        return problems

    def add(self, item: Item) -> None:
        self._n["prefixes"] += item.has_prefix
        self._n_by_size[len(item.graphs)] += 1
        for graph in item.graphs:
            first = self._graphs.setdefault(graph.qid, graph)
            if graph.name != first.name:
                self._aliases.setdefault(graph.qid, {})[graph.name] = None
            values = [triple.value for triple in graph.triples]
            self._n["graphs"] += 1
            self._n["empty"] += graph.n_empty
            self._n["before Christ"] += sum(map(bool, map(_BEFORE_CHRIST.fullmatch, values)))
            for sign in _AWKWARD:
                self._n[sign] += sum(sign in value for value in values)

    def entities(self) -> Iterator[EntityRecord]:
        for qid, graph in self._graphs.items():
            aliases = tuple(self._aliases.get(qid, ()))
            yield EntityRecord(graph.where, qid, graph.name, graph.type, aliases, "", graph.triples)

    def notes(self) -> dict[str, int]:
        """Return counts over the sub-graphs in the file, including repeated ones."""
        counts = {
            "sub-graphs": self._n["graphs"],
            **{
                f"questions with {n} sub-graph{'' if n == 1 else 's'}": n_questions
                for n, n_questions in sorted(self._n_by_size.items())
            },
            f"'{PREFIX}' taken off before a question": self._n["prefixes"],
            "dates before Christ in the sub-graphs, kept as text": self._n["before Christ"],
            **{f"values in the sub-graphs with '{sign}'": self._n[sign] for sign in _AWKWARD},
        }
        return {what: n for what, n in counts.items() if n}

    def left_out(self) -> dict[str, int]:
        n_empty = self._n["empty"]
        return {"empty values in the sub-graphs (no triple)": n_empty} if n_empty else {}


def recognises(source: Source) -> bool:
    """Return whether this is a JSON list that begins with a text and a list."""
    name = source.only_data_file()
    if name is None or not source.head(name, 64).lstrip().startswith(b"["):
        return False
    return _FIRST_ENTRY.match(source.head(name, _HEAD_BYTES)) is not None


def _item(entry: JsonEntry) -> Item | list[Problem]:
    where, value = entry
    if not isinstance(value, list) or len(value) != 2:
        return [Problem(where, "", excerpt(value), _ENTRY)]
    row = Row(where, {"question": value[0], "graphs": value[1]})
    asked = row.filled_text("question")
    graphs = tuple(
        _sub_graph(graph) for graph in row.objects("graphs", row.required_list("graphs", "objects"))
    )
    question = asked.removeprefix(PREFIX)
    if asked and not question.strip():
        row.refuse("question", excerpt(asked), "a question after the prefix")
    return row.problems or Item(where, question, question != asked, graphs)


def _sub_graph(row: Row) -> SubGraph:
    stated = {
        relation: row.text(relation) for relation in row.values if relation not in IDENTIFYING
    }
    for relation in stated:
        if not 0 < len(relation.strip()) <= LONGEST_RELATION:
            found = f"a property {excerpt(relation)}"
            row.refuse("", found, f"names of 1 to {LONGEST_RELATION} characters")
    return SubGraph(
        where=row.where,
        qid=row.key("qid", longest=LONGEST_NAME),
        name=row.filled_text("name", LONGEST_LABEL),
        type=row.text(TYPE, "", LONGEST_TYPE).strip(),
        triples=tuple(
            EntityTriple(relation.strip(), value, "")
            for relation, value in stated.items()
            if value.strip()
        ),
        n_empty=sum(not value.strip() for value in stated.values()),
    )


def _other_triples(where: Where, field: str, first: SubGraph, second: SubGraph) -> Problem:
    """Return the problem of a sub-graph that differs from the first one of its entity."""
    before, now = _stated(first), _stated(second)
    relation = next(name for name in before | now if before.get(name) != now.get(name))
    found, expected = _said(now.get(relation)), _said(before.get(relation))
    entry = f"as in entry {first.where.line:,}"
    return Problem(where, f"{field}.{relation}", f"{found} ({second.qid})", f"{expected}, {entry}")


def _stated(graph: SubGraph) -> dict[str, str]:
    return {triple.relation: triple.value for triple in graph.triples}


def _said(value: str | None) -> str:
    return NOTHING if value is None else excerpt(value)


def _question(item: Item) -> KGQuestionRecord:
    return KGQuestionRecord(
        where=item.where,
        key=f"question-{item.where.line}",
        question=item.question,
        entities=(),
        retrieved=tuple(graph.qid for graph in item.graphs),
        minimum=None,
    )

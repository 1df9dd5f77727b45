"""N-Triples (`.nt`, `.nt.gz`): any RDF graph of named things, for example of Wikidata.

pyoxigraph parses the lines. `rdf_store` puts them in order on disk and documents how they are read.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from generation.importers.errors import excerpt
from generation.importers.graph_file import GraphFile
from generation.importers.json_text import unstorable_character
from generation.importers.rdf_store import RdfStore
from generation.importers.sources import Source, TextLine
from generation.records import Problem, Where

if TYPE_CHECKING:
    import pyoxigraph

LINES_AT_ONCE = 5000
CHARACTERS_AT_ONCE = 1 << 22  # characters, unless one line is longer
LONGEST_IRI = 2000  # characters of a subject or predicate
_DATE_TIME = "http://www.w3.org/2001/XMLSchema#dateTime"
_UNKNOWN = "/.well-known/genid/"  # part of an IRI that stands for a blank node
_BLANK = "triples with a blank node"
_EXPECTED = 'one triple in N-Triples: <subject> <predicate> <object> or "text" .'
# A line at the beginning of a file: an IRI or a blank node, then an IRI.
_TRIPLE = re.compile(rb"[ \t]*(?:<[^<>\s]+>|_:\S+)[ \t]*<[^<>\s]+>[ \t]*[<_\"]")
_HEAD_BYTES = 1 << 16


class NTriplesMaterial(GraphFile[RdfStore]):
    """One file of triples in N-Triples."""

    format = "ntriples"
    one_file = "one N-Triples file"

    def _new_store(self) -> RdfStore:
        return RdfStore(self._file)

    def _fill(self, store: RdfStore) -> Iterator[Problem]:
        for lines in _chunks(self._source, self._file):
            self.on_work()
            yield from _add(store, lines, self._file)


def recognises(source: Source) -> bool:
    """Return whether the first line that is no comment is a triple."""
    name = source.only_data_file()
    if name is None:
        return False
    for line in source.head(name, _HEAD_BYTES).splitlines():
        if line.strip() and not line.lstrip().startswith(b"#"):
            return _TRIPLE.match(line) is not None
    return False


def _chunks(source: Source, name: str) -> Iterator[list[TextLine]]:
    """Yield the lines that should hold a triple, in lists of many."""
    lines: list[TextLine] = []
    n_characters = 0
    for line in source.lines(name):
        if line.problem is None and (line.text.isspace() or line.text.lstrip()[0] == "#"):
            continue
        source.count_row(name)
        lines.append(line)
        n_characters += len(line.text)
        if len(lines) == LINES_AT_ONCE or n_characters >= CHARACTERS_AT_ONCE:
            yield lines
            lines, n_characters = [], 0
    if lines:
        yield lines


class _Parsed(NamedTuple):
    line: int
    triple: "pyoxigraph.Quad"


def _add(store: RdfStore, lines: list[TextLine], file: str) -> Iterator[Problem]:
    """Add the triples of some lines, and yield the problems of lines without a triple."""
    from pyoxigraph import Literal, NamedNode

    for parsed in _parsed(lines, file):
        if isinstance(parsed, Problem):
            yield parsed
            continue
        line, triple = parsed
        subject, predicate, value = triple.subject, triple.predicate.value, triple.object
        if not isinstance(subject, NamedNode):
            store.n_left_out[_BLANK] += 1
        elif (n_characters := max(len(subject.value), len(predicate))) > LONGEST_IRI:
            found = f"an IRI of {n_characters:,} characters"
            yield Problem(Where(file, line), "", found, f"at most {LONGEST_IRI:,}")
        elif isinstance(value, Literal):
            if trouble := _add_text(store, line, subject.value, predicate, value):
                yield Problem(Where(file, line), "", trouble, "text without this character")
        elif isinstance(value, NamedNode) and _UNKNOWN not in value.value:
            store.add_link(line, subject.value, predicate, value.value)
        else:
            store.n_left_out[_BLANK] += 1


def _parsed(lines: list[TextLine], file: str) -> Iterator[_Parsed | Problem]:
    from pyoxigraph import RdfFormat, parse

    if all(line.problem is None for line in lines):
        text = "".join(line.text for line in lines)  # all but the file's last end with a break
        try:
            triples = list(islice(parse(text, RdfFormat.N_TRIPLES), len(lines) + 1))
        except (SyntaxError, ValueError):
            triples = []  # each line is then parsed alone, to find the bad one
        if len(triples) == len(lines):
            for line, triple in zip(lines, triples, strict=True):
                yield _Parsed(line.number, triple)
            return
    for line in lines:
        if line.problem is not None:
            yield line.problem
            continue
        where = Where(file, line.number)
        try:
            (triple,) = parse(line.text, RdfFormat.N_TRIPLES)
        except (SyntaxError, ValueError) as error:
            found = f"{excerpt(line.text.strip())} ({_reason(error)})"
            yield Problem(where, "", found, _EXPECTED)
        else:
            yield _Parsed(line.number, triple)


def _reason(error: Exception) -> str:
    """Return the parser's message without a place, as the parser has seen only one line."""
    said = str(error.args[0] if error.args else error)
    return said.partition(": ")[2] if said.startswith("Parser error") else said


def _add_text(
    store: RdfStore, line: int, subject: str, predicate: str, found: "pyoxigraph.Literal"
) -> str:
    """Add a triple whose value is a text. Return what is wrong with the text, or ''."""
    text, language = found.value, found.language
    if "\0" in text:
        return unstorable_character(text)
    if language is None and found.datatype.value == _DATE_TIME:
        text = text.partition("T")[0]
    store.add_text(line, subject, predicate, text, language or "")
    return ""

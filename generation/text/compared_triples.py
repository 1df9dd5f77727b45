"""The comparison of triples: whether two triples say the same (KaLMA, 4.2).

Triples match exactly after three steps: Unicode NFC, one space for any white space as in the flat
text of a graph, and the normalisation of relation names. There is no fuzzy matching.
"""

from collections.abc import Collection, Iterable
from unicodedata import normalize

from generation.text.citations import (
    IDENTIFYING,
    NAME,
    ParsedAnswer,
    ParsedCitation,
    relation_name,
)
from generation.text.flat_graph import Triple


def compared(triple: Triple) -> Triple:
    """Return a triple in the form in which it is compared."""
    qid, relation, value = triple
    return qid.strip(), relation_name(relation), _plain(value)


def knowledge(triples: Iterable[Triple]) -> frozenset[Triple]:
    """Return the different triples in the form in which they are compared.

    `name` and `qid` only say which entity is meant, so they are no knowledge. Nor is a relation
    without a value.
    """
    return frozenset(
        (qid.strip(), name, plain)
        for qid, relation, value in triples
        if (name := relation_name(relation)) not in IDENTIFYING and (plain := _plain(value))
    )


def labels(triples: Iterable[Triple]) -> frozenset[Triple]:
    """Return the names of the entities in the text of a graph, as triples in compared form.

    Citations of a name alone are compared with them. They are no knowledge.
    """
    return frozenset(
        (qid.strip(), NAME, plain)
        for qid, relation, value in triples
        if relation_name(relation) == NAME and (plain := _plain(value))
    )


def citations_of(answer: ParsedAnswer, shown: Iterable[Triple]) -> tuple[ParsedCitation, ...]:
    """Return the citations of an answer: the citations proper, and its `other_names`."""
    return (*answer.citations, *other_names(answer, shown))


def other_names(answer: ParsedAnswer, shown: Iterable[Triple]) -> list[ParsedCitation]:
    """Return the names beside claims that differ from their entity's name in the shown text.

    An entity without a name in that text is left out. Aliases are not in the text: a caller that
    knows them removes them first, with `without_names`.
    """
    if not answer.names:
        return []
    known = labels(shown)
    named = {qid for qid, _, _ in known}
    return [
        each for each in answer.names if each.qid.strip() in named and named_by(each) not in known
    ]


def without_names(answer: ParsedAnswer, known: Collection[Triple]) -> ParsedAnswer:
    """Return an answer without the names that are known to be right, in the form of `named_by`."""
    kept = tuple(each for each in answer.names if named_by(each) not in known)
    return answer._replace(names=kept)


def named_by(name: ParsedCitation) -> Triple:
    """Return a name, with or without its relation, in the form in which it is compared."""
    return compared((name.qid, NAME, name.value))


def _plain(value: str) -> str:
    if value.isascii() and value.isprintable() and "  " not in value:  # nearly all; quicker
        return value.strip()
    return " ".join(normalize("NFC", value).split())

"""Whether two triples say the same (KaLMA, 4.2).

Matching is exact after Unicode NFC, one space for white space as the flat text of a graph has it,
and the normalisation of relation names; nothing fuzzier.
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
    """Return different triples in the form in which they are compared.

    `name` and `qid` say which entity is meant and are no knowledge, nor is a relation without a
    value.
    """
    return frozenset(
        (qid.strip(), name, plain)
        for qid, relation, value in triples
        if (name := relation_name(relation)) not in IDENTIFYING and (plain := _plain(value))
    )


def labels(triples: Iterable[Triple]) -> frozenset[Triple]:
    """Return what the text of a graph calls its entities, as triples that are compared.

    They are what a citation of a name alone is held against, and no knowledge.
    """
    return frozenset(
        (qid.strip(), NAME, plain)
        for qid, relation, value in triples
        if relation_name(relation) == NAME and (plain := _plain(value))
    )


def citations_of(answer: ParsedAnswer, shown: Iterable[Triple]) -> tuple[ParsedCitation, ...]:
    """Return the citations of an answer: those that it has anyway, and its `other_names`."""
    return (*answer.citations, *other_names(answer, shown))


def other_names(answer: ParsedAnswer, shown: Iterable[Triple]) -> list[ParsedCitation]:
    """Return the names beside claims that are not what the shown text calls their entity.

    An entity that has no name there cannot have another one. Aliases are not in the text: whoever
    knows them takes them out first, by `without_names`.
    """
    if not answer.names:
        return []
    known = labels(shown)
    named = {qid for qid, _, _ in known}
    return [
        each for each in answer.names if each.qid.strip() in named and named_by(each) not in known
    ]


def without_names(answer: ParsedAnswer, known: Collection[Triple]) -> ParsedAnswer:
    """Return an answer without names that are known to be right, as `named_by` has them."""
    kept = tuple(each for each in answer.names if named_by(each) not in known)
    return answer._replace(names=kept)


def named_by(name: ParsedCitation) -> Triple:
    """Return a name, bare or not, in the form in which it is compared."""
    return compared((name.qid, NAME, name.value))


def _plain(value: str) -> str:
    if value.isascii() and value.isprintable() and "  " not in value:  # nearly all, and quicker
        return value.strip()
    return " ".join(normalize("NFC", value).split())

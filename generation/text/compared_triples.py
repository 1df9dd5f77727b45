"""Whether two triples say the same (KaLMA, 4.2).

Matching is exact after Unicode NFC, one space for white space as the flat text of a graph has it,
and the normalisation of relation names; nothing fuzzier.
"""

from collections.abc import Iterable
from unicodedata import normalize

from generation.text.citations import IDENTIFYING, relation_name
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


def _plain(value: str) -> str:
    if value.isascii() and value.isprintable() and "  " not in value:  # nearly all, and quicker
        return value.strip()
    return " ".join(normalize("NFC", value).split())

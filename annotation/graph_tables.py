"""A graph as raters see it: a table for each entity, and links from citations to their rows."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from generation.text.citations import ParsedCitation, parse_citations, pieces
from generation.text.cited_vocabulary import Vocabulary
from generation.text.compared_triples import compared
from generation.text.entity_triples import entities_shown
from generation.text.flat_graph import DOCUMENT_TEXT, Triple, document_texts


class CitingPlace(NamedTuple):
    """A citation of a response of the unit; `anchor` is its place on the page."""

    anchor: str
    label: str  # its number; among several responses also the response's number: '2.1'


class Fact(NamedTuple):
    """One row of an entity's table."""

    anchor: str
    relation: str
    value: str
    cited_at: tuple[CitingPlace, ...] = ()


class EntityTable(NamedTuple):
    """The statements of the evidence about one entity."""

    anchor: str
    qid: str
    name: str
    text: str  # the text of a document node; "" for others
    facts: tuple[Fact, ...]
    cited_at: tuple[CitingPlace, ...] = ()  # citations of the entity's name


class CitationLink(NamedTuple):
    """A link from a citation to its row."""

    anchor: str  # the citation's own place on the page
    label: str
    leads_to: str  # the anchor of the row


class ResponsePart(NamedTuple):
    """A part of a response: text, with those of its citations that are in a row."""

    text: str
    links: tuple[CitationLink, ...] = ()


def entity_tables(graph: Sequence[Triple]) -> tuple[EntityTable, ...]:
    """Return a table for each entity, in the graph's order, with the texts of document nodes."""
    texts = document_texts(graph)
    stated = [triple for triple in graph if triple[1] != DOCUMENT_TEXT]
    return tuple(
        EntityTable(
            anchor=f"entity-{place}",
            qid=entity.qid,
            name=entity.name,
            text=texts.get(entity.qid, ""),
            facts=tuple(
                Fact(f"fact-{place}-{row}", relation, value)
                for row, (_, relation, value) in enumerate(entity.triples, start=1)
            ),
        )
        for place, entity in enumerate(entities_shown(stated), start=1)
    )


def linked_parts(
    text: str,
    tables: Iterable[EntityTable],
    known: Vocabulary,
    place: str,
) -> tuple[ResponsePart, ...]:
    """Return a response cut at the citations that are in a row of its evidence; () without any.

    A citation that is in no row stays text: raters see what the evidence has, and no verdict.

    Args:
        tables: the tables of the evidence.
        known: the words of the graph, for `parse_citations`.
        place: among several responses, the position of this one and a point; else ''.
    """
    rows = _anchors(tables)
    links = {
        citation.number: CitationLink(f"cite-{place}{citation.number}", label, leads_to)
        for citation in parse_citations(text, *known).citations
        for label in [f"{place}{citation.number}"]
        if (leads_to := rows.get(_claimed(citation)))
    }
    if not links:
        return ()
    return tuple(
        ResponsePart(piece.text, tuple(links[n] for n in piece.numbers if n in links))
        for piece in pieces(text, *known)
    )


def with_citing_places(
    tables: Iterable[EntityTable], responses: Iterable[Sequence[ResponsePart]]
) -> tuple[EntityTable, ...]:
    """Return the tables with links back from each row to the citations that lead to it."""
    citing: dict[str, list[CitingPlace]] = {}
    for parts in responses:
        for link in (link for part in parts for link in part.links):
            citing.setdefault(link.leads_to, []).append(CitingPlace(link.anchor, link.label))

    def cited_at(anchor: str) -> tuple[CitingPlace, ...]:
        return tuple(citing.get(anchor, ()))

    return tuple(
        table._replace(
            cited_at=cited_at(table.anchor),
            facts=tuple(fact._replace(cited_at=cited_at(fact.anchor)) for fact in table.facts),
        )
        for table in tables
    )


def _anchors(tables: Iterable[EntityTable]) -> dict[Triple, str]:
    """Return the anchor of each triple; its key is the form in which triples are compared."""
    found: dict[Triple, str] = {}
    for table in tables:
        found.setdefault(compared((table.qid, "name", table.name)), table.anchor)
        for fact in table.facts:
            found.setdefault(compared((table.qid, fact.relation, fact.value)), fact.anchor)
    return found


def _claimed(citation: ParsedCitation) -> Triple:
    return compared((citation.qid, citation.relation, citation.value))

"""The tables of a graph, and the way between its rows and the citations of responses."""

from annotation.graph_tables import (
    CitationLink,
    CitingPlace,
    ResponsePart,
    entity_tables,
    linked_parts,
    with_citing_places,
)
from generation.text.cited_vocabulary import Vocabulary

ADA = [("Q1", "name", "Ada"), ("Q1", "date of birth", "1815"), ("Q1", "occupation", "writer")]
BEN = [("Q2", "occupation", "miller")]
TABLES = entity_tables([*ADA, *BEN, ("Q2", "document text", "A man of Ely.")])
KNOWN = Vocabulary(frozenset({"name", "date of birth", "occupation"}), frozenset({"Q1", "Q2"}))


def parts(text: str, place: str = "") -> tuple[ResponsePart, ...]:
    return linked_parts(text, TABLES, KNOWN, place)


def leads_to(text: str) -> list[str]:
    return [link.leads_to for part in parts(text) for link in part.links]


def test_each_entity_has_a_table_of_relation_and_value():
    ada, ben = TABLES

    assert (ada.qid, ada.name, ada.text) == ("Q1", "Ada", "")
    assert [fact[:3] for fact in ada.facts] == [
        ("fact-1-1", "date of birth", "1815"),
        ("fact-1-2", "occupation", "writer"),
    ]
    # Without a name it is called by its id; a document node has its text.
    assert (ben.qid, ben.name, ben.text) == ("Q2", "Q2", "A man of Ely.")
    assert [fact.anchor for fact in ben.facts] == ["fact-2-1"]


def test_a_citation_leads_to_its_row_and_the_rest_is_text():
    said = parts("She wrote [Q1, occupation: writer]. He milled [Q2, occupation: miller] there.")

    assert [part.text for part in said] == [
        "She wrote ",
        "[Q1, occupation: writer]",
        ". He milled ",
        "[Q2, occupation: miller]",
        " there.",
    ]
    assert [part.links for part in said] == [
        (),
        (CitationLink("cite-1", "1", "fact-1-2"),),
        (),
        (CitationLink("cite-2", "2", "fact-2-1"),),
        (),
    ]


def test_two_citations_of_one_bracket_lead_to_two_rows():
    assert leads_to("[Q1, date of birth: 1815, occupation: writer]") == ["fact-1-1", "fact-1-2"]


def test_relations_are_compared_as_citations_are_judged():
    assert leads_to("[Q1, date_of_birth:  1815]") == ["fact-1-1"]
    assert leads_to("[Q1, date of birth: 1816]") == []
    assert leads_to("[Q1, Date of birth: 1815]") == []


def test_what_no_row_has_is_plain_text():
    for text in (
        "A painter [Q1, occupation: painter].",  # wrong
        "A writer [Q1].",  # incomplete
        "A writer [Q2, occupation: writer].",  # another entity's triple
        "Nobody knows [NA].",
        "So it is [1].",
        "",
    ):
        assert parts(text) == (), text


def test_beside_a_row_a_citation_without_one_keeps_its_number_and_has_no_link():
    said = parts("[Q1, occupation: painter] and [Q1, occupation: writer]")

    assert [(part.text, [link.label for link in part.links]) for part in said] == [
        ("[Q1, occupation: painter]", []),
        (" and ", []),
        ("[Q1, occupation: writer]", ["2"]),
    ]


def test_a_row_leads_back_to_every_citation_of_it():
    first = parts("[Q1, occupation: writer] [Q1, occupation: writer]", "1.")
    second = parts("[Q1, occupation: writer]", "2.")

    ada, ben = with_citing_places(TABLES, [first, second])

    born, writer = ada.facts
    assert writer.cited_at == (
        CitingPlace("cite-1.1", "1.1"),
        CitingPlace("cite-1.2", "1.2"),
        CitingPlace("cite-2.1", "2.1"),
    )
    assert (born.cited_at, ben.facts[0].cited_at) == ((), ())


def test_of_two_rows_that_say_the_same_a_citation_leads_to_the_first():
    twice = entity_tables([*BEN, *BEN])

    [part] = linked_parts("[Q2, occupation: miller]", twice, KNOWN, "")

    assert [link.leads_to for link in part.links] == ["fact-1-1"]

"""A small graph in the form of Wikidata's RDF: seeded people and places, and the paper's examples.

The same seed always gives the same lines. Written by hand are two namesakes Anne Hathaway, Chinese
the language and Chinese the people, both Gentileschis (KaLMA, 3.2, 3.3, tables 2 and 10), Paris
the city and a man called Paris, and the difficulties of real graphs: names with apostrophes, quotes
and backslashes, dates before our era, unknown values, values without an English name, external
identifiers. Any number of seeded people, towns and paintings are added to them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tests.wikidata_nodes import (
    ALIAS,
    DESCRIPTION,
    DIRECT,
    ENTITY,
    LABEL,
    NOT_PULLED,
    PROPERTIES,
    RDF_TYPE,
    UNKNOWN,
    WIKIBASE,
    WKT,
    XSD,
    Literal,
    Node,
    date,
)
from tests.wikidata_seeded import seeded

# --- written by hand ------------------------------------------------------------------------

_ITEMS = {
    "Q5": "human", "Q515": "city", "Q3957": "town", "Q3305213": "painting", "Q34770": "language",
    "Q41710": "ethnic group", "Q6256": "country", "Q28640": "profession", "Q202444": "given name",
    "Q101352": "family name", "Q7725634": "literary work", "Q6581097": "male",
    "Q6581072": "female", "Q33999": "actor", "Q1028181": "painter", "Q36180": "writer",
    "Q214917": "playwright", "Q49757": "poet", "Q4964182": "philosopher", "Q593644": "chemist",
    "Q639669": "musician", "Q901": "scientist", "Q145": "United Kingdom", "Q38": "Italy",
    "Q142": "France", "Q30": "United States of America", "Q148": "People's Republic of China",
    "Q41": "Greece", "Q18419": "Brooklyn", "Q1860": "English", "Q652": "Italian",
    "Q37853": "Baroque", "Q1400645": "Caravaggisti", "Q131808": "mannerism",
    "Q134307": "portrait", "Q11629": "painting as an art", "Q50001": "Italians",
    "Q338489": "Accademia delle Arti del Disegno", "Q103618": "Academy Award for Best "
    "Supporting Actress", "Q8201": "Chinese characters", "Q15978631": "Homo sapiens",
    "Q41567": "Hamlet", "Q10938": "Artemisia", "Q1190681": "Orazio", "Q18220": "Anne",
    "Q1590457": "Hathaway", "Q16523498": "Gentileschi", "Q1000002": "Adam Shulman",
    "Q1000003": "Pierantonio Stiattesi", "Q1000004": "Prudenzia di Ottaviano Montoni",
    "Q1000005": "Hamnet Shakespeare", "Q1000006": "Susanna Hall", "Q1000007": "Trojan War",
}  # fmt: skip
_ACTRESS, _WIFE, _SHAKESPEARE = "Q36301", "Q232478", "Q692"
_ARTEMISIA, _ORAZIO, _JUDITH, _DIANA = "Q212657", "Q367360", "Q1147766", "Q1000001"
_LANGUAGE, _PEOPLE = "Q7850", "Q6501380"
_PARIS, _PARIS_THE_MAN = "Q90", "Q167646"


def by_hand() -> list[Node]:
    """Return the paper's examples and the difficult ones."""
    return [
        *(Node(qid, label) for qid, label in _ITEMS.items()),
        Node(
            _ACTRESS,
            "Anne Hathaway",
            (
                ("P31", "Q5"), ("P21", "Q6581072"), ("P106", "Q33999"), ("P19", "Q18419"),
                ("P27", "Q30"), ("P26", "Q1000002"), ("P166", "Q103618"), ("P735", "Q18220"),
                ("P734", "Q1590457"), ("P1412", "Q1860"), ("P569", date("1982-11-12")),
                ("P214", Literal("7566379")), ("P18", Literal("http://commons/AH.jpg")),
            ),
            ("Anne Jacqueline Hathaway", "Annie Hathaway"),
            (("de", "Anne Hathaway"), ("zh", "安妮·海瑟薇")),
        ),
        Node(
            _WIFE,
            "Anne Hathaway",
            (
                ("P31", "Q5"), ("P21", "Q6581072"), ("P26", _SHAKESPEARE), ("P40", "Q1000005"),
                ("P40", "Q1000006"), ("P551", "Q189288"), ("P20", "Q189288"), ("P735", "Q18220"),
                ("P734", "Q1590457"), ("P25", None), ("P570", date("1623-08-06")),
                ("P214", Literal("55000000")),
            ),
            ("Anne Shakespeare", "Shakespeare's wife"),
            (("de", "Anne Hathaway (Shakespeare)"), ("it", "Anne Hathaway")),
        ),
        Node(
            _SHAKESPEARE,
            "William Shakespeare",
            (
                ("P31", "Q5"), ("P21", "Q6581097"), ("P106", "Q214917"), ("P106", "Q49757"),
                ("P19", "Q189288"), ("P20", "Q189288"), ("P26", _WIFE), ("P40", "Q1000005"),
                ("P40", "Q1000006"), ("P800", "Q41567"), ("P1412", "Q1860"),
                ("P570", date("1616-05-03")),
            ),
            ("Shakespeare", "The Bard", "Bard of Avon"),
            (("de", "William Shakespeare"), ("it", "William Shakespeare")),
        ),
        Node(
            "Q189288",
            "Stratford-upon-Avon",
            (
                ("P31", "Q3957"), ("P17", "Q145"), ("P1082", Literal("30495", XSD + "decimal")),
                ("P625", Literal("Point(-1.708333 52.192777)", WKT)),
            ),
            ("Stratford",),
            (("zh", "埃文河畔斯特拉特福"),),
        ),
        Node(
            _ARTEMISIA,
            "Artemisia Gentileschi",
            (
                ("P31", "Q5"), ("P21", "Q6581072"), ("P106", "Q1028181"), ("P19", "Q220"),
                ("P20", "Q2634"), ("P22", _ORAZIO), ("P25", "Q1000004"), ("P26", "Q1000003"),
                ("P800", _JUDITH), ("P135", "Q1400645"), ("P136", "Q134307"), ("P172", "Q50001"),
                ("P463", "Q338489"), ("P101", "Q11629"), ("P937", "Q2044"), ("P1066", _ORAZIO),
                ("P735", "Q10938"), ("P734", "Q16523498"), ("P1412", "Q652"),
                ("P569", date("1596-07-08")), ("P570", date("1654-01-01")),
            ),
            ("Artemisia Lomi", "Artemisia Gentileschi Lomi"),
            (("it", "Artemisia Gentileschi"), ("de", "Artemisia Gentileschi")),
        ),
        Node(
            _ORAZIO,
            "Orazio Gentileschi",
            (
                ("P31", "Q5"), ("P21", "Q6581097"), ("P106", "Q1028181"), ("P19", "Q13375"),
                ("P20", "Q84"), ("P40", _ARTEMISIA), ("P800", _DIANA), ("P135", "Q131808"),
                ("P136", "Q134307"), ("P172", "Q50001"), ("P735", "Q1190681"),
                ("P734", "Q16523498"), ("P1412", "Q652"), ("P937", "Q220"),
                ("P569", date("1563-07-19")), ("P570", date("1639-02-07")),
            ),
            ("Orazio Lomi Gentileschi",),
            (("it", "Orazio Gentileschi"),),
        ),
        Node(
            _JUDITH,
            "Judith Slaying Holofernes",
            (
                ("P31", "Q3305213"), ("P170", _ARTEMISIA), ("P276", "Q2044"),
                ("P571", date("1620-01-01")),
                ("P1476", Literal("Giuditta che decapita Oloferne", language="it")),
            ),
            ("Judith Beheading Holofernes",),
        ),
        Node(_DIANA, "Diana the Huntress", (("P31", "Q3305213"), ("P170", _ORAZIO))),
        *(
            Node(qid, label, (("P31", "Q515"), ("P17", country)))
            for qid, label, country in (
                ("Q220", "Rome", "Q38"), ("Q2634", "Naples", "Q38"), ("Q2044", "Florence", "Q38"),
                ("Q13375", "Pisa", "Q38"), ("Q84", "London", "Q145"),
            )
        ),
        Node(
            _LANGUAGE,
            "Chinese",
            (("P31", "Q34770"), ("P17", "Q148"), ("P282", "Q8201")),
            ("Chinese language", "Zhongwen"),
            (("zh", "汉语"), ("de", "chinesische Sprache")),
        ),
        Node(
            _PEOPLE,
            "Chinese people",
            (("P31", "Q41710"), ("P17", "Q148"), ("P1412", _LANGUAGE)),
            ("Chinese", "the Chinese"),
        ),
        Node(
            _PARIS,
            "Paris",
            (
                ("P31", "Q515"), ("P17", "Q142"), ("P1082", Literal("2145906", XSD + "decimal")),
                ("P625", Literal("Point(2.351388888 48.856944444)", WKT)),
            ),
            ("City of Light", "Paris, France"),
            (("it", "Parigi"),),
        ),
        Node(
            _PARIS_THE_MAN,
            "Paris",
            (("P31", "Q5"), ("P21", "Q6581097"), ("P166", "Q1000007")),
            ("Alexander of Troy",),
        ),
        Node(
            "Q868",
            "Aristotle",
            (
                ("P31", "Q5"), ("P106", "Q4964182"), ("P27", "Q41"), ("P19", "Q1000010"),
                ("P569", date("-0384-01-01")), ("P570", date("-0322-01-01")),
            ),
            ("Aristoteles",),
        ),
        Node("Q1000010", "", (), (), (("de", "Stageira"),)),  # a value without an English name
        Node("Q234579", "Flannery O'Connor", (("P31", "Q5"), ("P106", "Q36180"))),
        Node("Q10738", "Dwayne Johnson", (("P31", "Q5"),), ('Dwayne "The Rock" Johnson',)),
        Node("Q1000011", "AC\\DC", (("P31", "Q28640"),), ("back\\slash",)),
    ]  # fmt: skip


# --- written out ----------------------------------------------------------------------------


def world(seed: int = 0, n_people: int = 700) -> list[Node]:
    """Return all entities; 700 people make more than 10,000 triples in N-Triples."""
    return [*by_hand(), *seeded(seed, n_people)]


def ntriples(nodes: Iterable[Node]) -> Iterator[str]:
    """Yield the lines of N-Triples one by one, properties first; each ends with a newline."""
    for pid, (label, kind) in PROPERTIES.items():
        property_ = f"<{ENTITY}{pid}>"
        yield f"{property_} <{RDF_TYPE}> <{WIKIBASE}Property> .\n"
        yield f"{property_} <{WIKIBASE}directClaim> <{DIRECT}{pid}> .\n"
        yield f"{property_} <{WIKIBASE}propertyType> <{WIKIBASE}{kind}> .\n"
        yield f"{property_} <{LABEL}> {_written(Literal(label, language='en'))} .\n"
        yield f"{property_} <{LABEL}> {_written(Literal(label.upper(), language='de'))} .\n"
    for node in nodes:
        subject = f"<{ENTITY}{node.qid}>"
        yield f"{subject} <{RDF_TYPE}> <{WIKIBASE}Item> .\n"
        labels = [*([("en", node.label)] if node.label else []), *node.other_labels]
        for language, label in labels:
            yield f"{subject} <{LABEL}> {_written(Literal(label, language=language))} .\n"
        for alias in node.aliases:
            yield f"{subject} <{ALIAS}> {_written(Literal(alias, language='en'))} .\n"
        if node.statements:
            said = Literal(f"made up for tests: {node.label}", language="en")
            yield f"{subject} <{DESCRIPTION}> {_written(said)} .\n"
        for number, (pid, value) in enumerate(node.statements):
            there = f"{node.qid}-{number}" if value is None else value
            written = f"<{UNKNOWN}{there}>" if value is None else _written(there)
            yield f"{subject} <{DIRECT}{pid}> {written} .\n"


def interchange_rows(nodes: Sequence[Node]) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of `entities.jsonl` for the same graph.

    Triples are ordered by their properties' numbers, then by their values. Unknown values,
    identifiers of other sites and files are left out, and so are entities without an English label.
    A value without an English label is given by its qid. Dates end before their 'T'.
    """
    label_of = {node.qid: node.label or node.qid for node in nodes}
    for node in nodes:
        if not node.label:
            continue
        triples = []
        for pid, value in node.statements:
            relation, kind = PROPERTIES[pid]
            if value is None or kind in NOT_PULLED:
                continue
            text = label_of[value] if isinstance(value, str) else _plain(value)
            row = {"relation": relation, "value": text}
            if isinstance(value, str):
                row["value_qid"] = value
            triples.append((int(pid[1:]), text, row))
        types = [str(value) for pid, value in node.statements if pid == "P31"]
        yield {
            "qid": node.qid,
            "label": node.label,
            "type": label_of[min(types, key=lambda qid: int(qid[1:]))] if types else "",
            "aliases": sorted(node.aliases),
            "triples": [row for _, _, row in sorted(triples, key=lambda each: each[:2])],
        }


def _plain(value: Literal) -> str:
    return value.text.split("T")[0] if value.datatype == XSD + "dateTime" else value.text


def _written(value: "str | Literal") -> str:
    if isinstance(value, str):
        return f"<{ENTITY}{value}>"
    escaped = value.text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    if value.language:
        return f'"{escaped}"@{value.language}'
    return f'"{escaped}"' + (f"^^<{value.datatype}>" if value.datatype else "")

"""The parts of a graph in Wikidata's form: properties, entities and values. No input or output."""

from typing import NamedTuple

ENTITY = "http://www.wikidata.org/entity/"
DIRECT = "http://www.wikidata.org/prop/direct/"
UNKNOWN = "http://www.wikidata.org/.well-known/genid/"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
ALIAS = "http://www.w3.org/2004/02/skos/core#altLabel"
DESCRIPTION = "http://schema.org/description"
WIKIBASE = "http://wikiba.se/ontology#"
XSD = "http://www.w3.org/2001/XMLSchema#"
WKT = "http://www.opengis.net/ont/geosparql#wktLiteral"

# Number → English label, and the Wikibase type of the property's values.
PROPERTIES = {
    "P17": ("country", "WikibaseItem"),
    "P18": ("image", "CommonsMedia"),
    "P19": ("place of birth", "WikibaseItem"),
    "P20": ("place of death", "WikibaseItem"),
    "P21": ("sex or gender", "WikibaseItem"),
    "P22": ("father", "WikibaseItem"),
    "P25": ("mother", "WikibaseItem"),
    "P26": ("spouse", "WikibaseItem"),
    "P27": ("country of citizenship", "WikibaseItem"),
    "P31": ("instance of", "WikibaseItem"),
    "P36": ("capital", "WikibaseItem"),
    "P40": ("child", "WikibaseItem"),
    "P101": ("field of work", "WikibaseItem"),
    "P106": ("occupation", "WikibaseItem"),
    "P135": ("movement", "WikibaseItem"),
    "P136": ("genre", "WikibaseItem"),
    "P166": ("award received", "WikibaseItem"),
    "P170": ("creator", "WikibaseItem"),
    "P172": ("ethnic group", "WikibaseItem"),
    "P214": ("VIAF ID", "ExternalId"),
    "P276": ("location", "WikibaseItem"),
    "P282": ("writing system", "WikibaseItem"),
    "P463": ("member of", "WikibaseItem"),
    "P551": ("residence", "WikibaseItem"),
    "P569": ("date of birth", "Time"),
    "P570": ("date of death", "Time"),
    "P571": ("inception", "Time"),
    "P625": ("coordinate location", "GlobeCoordinate"),
    "P734": ("family name", "WikibaseItem"),
    "P735": ("given name", "WikibaseItem"),
    "P800": ("notable work", "WikibaseItem"),
    "P937": ("work location", "WikibaseItem"),
    "P1066": ("student of", "WikibaseItem"),
    "P1082": ("population", "Quantity"),
    "P1412": ("languages spoken, written or signed", "WikibaseItem"),
    "P1476": ("title", "Monolingualtext"),
}
# Identifiers of other sites, and files, are no knowledge.
NOT_PULLED = {"ExternalId", "CommonsMedia"}


class Literal(NamedTuple):
    """A value that is not an entity: its text with a datatype or a language."""

    text: str
    datatype: str = ""
    language: str = ""


class Node(NamedTuple):
    """An entity; the value of a statement is a qid, a literal, or None where it is unknown."""

    qid: str
    label: str  # "": no English label
    statements: tuple[tuple[str, "str | Literal | None"], ...] = ()
    aliases: tuple[str, ...] = ()
    other_labels: tuple[tuple[str, str], ...] = ()  # language, label


def date(text: str) -> Literal:
    """Return midnight of a day, as Wikidata writes dates."""
    return Literal(f"{text}T00:00:00Z", XSD + "dateTime")

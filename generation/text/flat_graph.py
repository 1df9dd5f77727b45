"""Sub-graphs as the flat text that models read (KaLMA, 3.3 and table 10)."""

from collections import defaultdict
from collections.abc import Iterable

Triple = tuple[str, str, str]  # qid, relation, value
# The name of a document node's text in prompts. The text comes after the triples of its entity, as
# one of the triples that were shown, so that all code that reads them, metrics included, reads the
# text too.
DOCUMENT_TEXT = "document text"


def flat_graph(triples: Iterable[Triple]) -> str:
    """Return one line per entity: '{name: Ada Lovelace, occupation: writer, qid: Q7259}'.

    Entities and relations keep the order given; the qid comes last. The text of a document node is
    one of the relations: '{name: Mill, document text: It closed in 1971., qid: D1}'. White space
    inside a name or a value becomes one space. A triple without a value (a date that is not known)
    says nothing and is left out. The result is "" if nothing is left.
    """
    stated: dict[str, list[str]] = defaultdict(list)
    for qid, relation, value in triples:
        if value.strip() and relation != "qid":
            stated[qid].append(f"{' '.join(relation.split())}: {' '.join(value.split())}")
    return "\n".join(f"{{{', '.join([*said, f'qid: {qid}'])}}}" for qid, said in stated.items())


def document_texts(triples: Iterable[Triple]) -> dict[str, str]:
    """Return the texts of the document nodes among triples that were shown, by qid."""
    return {qid: value for qid, relation, value in triples if relation == DOCUMENT_TEXT}

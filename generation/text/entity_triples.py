"""Triples by entity, as pages show a sub-graph: the name, then relation and value."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from generation.text.flat_graph import Triple


class ShownEntity(NamedTuple):
    """What is shown of one entity."""

    qid: str
    name: str
    triples: tuple[Triple, ...]  # without the name


def entities_shown(triples: Iterable[Sequence[str]] | None) -> tuple[ShownEntity, ...]:
    """Return triples by entity, in order; the name is no triple of its own."""
    by_qid: dict[str, list[Triple]] = defaultdict(list)
    names: dict[str, str] = {}
    for qid, relation, value in triples or ():
        kept = by_qid[qid]  # an entity of which only the name was shown has a place as well
        if relation == "name":
            names.setdefault(qid, value)
        elif value:
            kept.append((qid, relation, value))
    return tuple(ShownEntity(qid, names.get(qid, qid), tuple(kept)) for qid, kept in by_qid.items())

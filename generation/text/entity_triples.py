"""Triples grouped by entity, as pages show a sub-graph: the name, then relations and values."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from generation.text.flat_graph import Triple


class ShownEntity(NamedTuple):
    """The name and triples that are shown of one entity."""

    qid: str
    name: str
    triples: tuple[Triple, ...]  # the triples except the name


def entities_shown(triples: Iterable[Sequence[str]] | None) -> tuple[ShownEntity, ...]:
    """Return triples grouped by entity, in order. The name is not one of the triples."""
    by_qid: dict[str, list[Triple]] = defaultdict(list)
    names: dict[str, str] = {}
    for qid, relation, value in triples or ():
        kept = by_qid[qid]  # an entity with only a name gets a place too
        if relation == "name":
            names.setdefault(qid, value)
        elif value:
            kept.append((qid, relation, value))
    return tuple(ShownEntity(qid, names.get(qid, qid), tuple(kept)) for qid, kept in by_qid.items())

"""Small graphs, stored by the service that stores imported ones."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from generation.models import Dataset
from generation.records import EntityRecord, EntityTriple, Where
from generation.services.graphs import store_entities

Said = tuple[str, str]  # relation, value


def entity(
    qid: str,
    label: str,
    type_: str = "",
    triples: Sequence[Said] = (),
    aliases: Sequence[str] = (),
    text: str = "",
) -> EntityRecord:
    stated = tuple(EntityTriple(relation, value, "") for relation, value in triples)
    return EntityRecord(Where("by hand", 1), qid, label, type_, tuple(aliases), text, stated)


def from_row(row: Mapping[str, Any]) -> EntityRecord:
    """Return the record of a row of `entities.jsonl`."""
    stated = tuple(
        EntityTriple(each["relation"], each["value"], each.get("value_qid", ""))
        for each in row["triples"]
    )
    return EntityRecord(
        Where("by hand", 1),
        row["qid"],
        row["label"],
        row["type"],
        tuple(row["aliases"]),
        "",
        stated,
    )


def graph_of(records: Iterable[EntityRecord], name: str = "graph") -> Dataset:
    dataset = Dataset.objects.create(name=name, slug=name)
    store_entities(dataset, list(records))
    return dataset

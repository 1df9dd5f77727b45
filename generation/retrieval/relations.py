"""The properties of a graph that express a relation between two people (KaLMA, 2.2).

Two people are connected by an edge in either direction: 'child' is P40 from name 1 to name 2, or
P22 (father) and P25 (mother) from name 2 to name 1. `relation_properties.json` holds those of
Wikidata; a file of the same form may replace it.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from generation.importers.errors import DatasetError, excerpt
from generation.importers.json_text import JSONTrouble, parse_json
from generation.text.citations import relation_name

USUAL = Path(__file__).with_name("relation_properties.json")
LONGEST_FILE = 1024**2  # bytes

_PROPERTY = re.compile(r"P[1-9][0-9]{0,9}")
_MAX_NESTING = 8
_LISTS = ("properties", "inverse", "also")
_FORM = '{"relations": {"child": {"properties": ["P40"], "inverse": ["P22", "P25"]}}}'


class Relation(NamedTuple):
    """A relation of name 1 to name 2, and the properties of the edges that express it."""

    name: str
    properties: tuple[str, ...]  # name 1 -P-> name 2
    inverse: tuple[str, ...]  # name 2 -P-> name 1


@cache
def usual_relations() -> Mapping[str, Relation]:
    """Return the relations of the data file, by each spelling; see `relation_called`."""
    return read_relations(USUAL.read_text("utf-8"), USUAL.name)


def relation_called(name: str, relations: Mapping[str, Relation]) -> Relation | None:
    """Return the relation with a name; None if there is none.

    Capitals, underscores and white space make no difference.
    """
    return relations.get(_plain(name))


def read_relations(text: str, where: str = "relations") -> Mapping[str, Relation]:
    """Return the relations of a file, by each of their spellings.

    The file is a JSON object with `relations`. It has, for each name, `properties` (from name 1 to
    name 2), `inverse` (from name 2 to name 1), or both, and may have other spellings under `also`.

    Args:
        where: the name of the file in messages.

    Raises:
        DatasetError: it is no such file; the message says where, what was found, what was expected.
    """
    if len(text.encode("utf-8", "replace")) > LONGEST_FILE:
        raise DatasetError(where, f"more than {LONGEST_FILE:,} bytes", "a shorter file")
    try:
        content = parse_json(text, _MAX_NESTING)
    except JSONTrouble as trouble:
        raise DatasetError(where, trouble.found, trouble.expected) from trouble
    listed = content.get("relations") if isinstance(content, dict) else None
    if not isinstance(listed, dict) or not listed:
        raise DatasetError(where, excerpt(content), _FORM)
    by_spelling: dict[str, Relation] = {}
    for name, said in listed.items():
        place = f"{where}, relations, {excerpt(name)}"
        relation, spellings = _relation(name, said, place)
        _add(by_spelling, relation, spellings, place)
    return by_spelling


def _relation(name: str, said: object, place: str) -> tuple[Relation, list[str]]:
    """Return a relation and its spellings."""
    if not isinstance(said, dict):
        raise DatasetError(place, excerpt(said), "an object with properties, inverse or both")
    if unknown := [key for key in said if key not in _LISTS]:
        raise DatasetError(place, excerpt(unknown[0]), "one of " + ", ".join(_LISTS))
    properties, inverse, also = (_texts(said, key, place) for key in _LISTS)
    for each in (*properties, *inverse):
        if not _PROPERTY.fullmatch(each):
            raise DatasetError(place, excerpt(each), "the id of a property, as in P40")
    if not properties and not inverse:
        raise DatasetError(place, "no property", "properties, inverse or both")
    return Relation(name, tuple(properties), tuple(inverse)), [name, *also]


def _texts(said: Mapping[str, Any], key: str, place: str) -> list[str]:
    listed = said.get(key, [])
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise DatasetError(f"{place}, {key}", excerpt(listed), "a list of texts")
    return listed


def _add(
    by_spelling: dict[str, Relation], relation: Relation, spellings: Iterable[str], place: str
) -> None:
    for spelling in spellings:
        plain = _plain(spelling)
        if not plain:
            raise DatasetError(place, excerpt(spelling), "a name that is not empty")
        if by_spelling.setdefault(plain, relation) != relation:
            other = by_spelling[plain].name
            found = f"{excerpt(spelling)}, which also means {excerpt(other)}"
            raise DatasetError(place, found, "each spelling for one relation")


def _plain(name: str) -> str:
    return relation_name(name).casefold()

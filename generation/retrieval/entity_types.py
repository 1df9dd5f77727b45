"""The type filter: whether an entity's type fits the kind of a mention (KaLMA, 3.1).

An entity fits if its type is listed for the mention's kind. It is dropped if its type is listed,
but only for other kinds or for none. In every other case it cannot be decided, and the entity stays
unchecked. `entity_types.json` holds the lists.
"""

import hashlib
import json
import unicodedata
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

LISTS = Path(__file__).with_name("entity_types.json")

TypeCheck = Literal["fits", "unchecked", "dropped"]


class EntityTypes(NamedTuple):
    """The types of entities that each kind of mention may mean."""

    by_kind: Mapping[str, frozenset[str]]
    listed: frozenset[str]  # types listed for any kind or for none
    signature: str

    def check(self, kind: str, entity_type: str) -> TypeCheck:
        """Return whether a mention of a kind may mean an entity of a type.

        Capitals do not matter in types, because users' own graphs spell 'Person'.
        """
        said = _plain(entity_type)
        if kind not in self.by_kind or said not in self.listed:
            return "unchecked"
        return "fits" if said in self.by_kind[kind] else "dropped"


@cache
def entity_types() -> EntityTypes:
    """Return the types of the data file."""
    read = LISTS.read_bytes()
    content = json.loads(read)
    groups = {name: frozenset(map(_plain, types)) for name, types in content["groups"].items()}
    return EntityTypes(
        {
            kind: frozenset().union(*(groups[name] for name in names))
            for kind, names in content["kinds"].items()
        },
        frozenset().union(*groups.values()),
        f"types:{hashlib.sha256(read).hexdigest()[:8]}",
    )


def _plain(entity_type: str) -> str:
    return " ".join(unicodedata.normalize("NFC", entity_type).casefold().split())

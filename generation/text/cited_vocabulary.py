"""The words of a graph that readers of citations know: relations, entities, and certain values."""

import re
from collections.abc import Iterable
from typing import NamedTuple, Self

from generation.text.flat_graph import Triple

_DIVISIBLE = re.compile(r"[,;\uff0c\uff1b].*[:\uff1a]", re.DOTALL)


class Vocabulary(NamedTuple):
    """The arguments of `parse_citations` and its kin for answers about one graph."""

    relations: frozenset[str] = frozenset()
    qids: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()  # those that hold a comma and then a colon

    @classmethod
    def of(cls, triples: Iterable[Triple]) -> Self:
        """Return the vocabulary of a graph."""
        known = list(triples)
        return cls(
            frozenset(relation for _, relation, _ in known),
            frozenset(qid for qid, _, _ in known),
            frozenset(value for _, _, value in known if _DIVISIBLE.search(value)),
        )

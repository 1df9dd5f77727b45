"""The disambiguation of two names: the pair of entities that a relation connects (KaLMA, 2.2).

The module uses no database. Many entities may have the same name, but when the relation between two
names is known, usually only one pair is left.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import product
from typing import NamedTuple

from generation.retrieval.relations import Relation
from generation.retrieval.wikibase import Edge, Match, in_number_order

MOST_NAMESAKES = 50  # candidates of one name, those with the lowest numbers
_SAID = 5  # qids or edges in one message


class Why(StrEnum):
    """The reasons why no pair is found."""

    NOT_FOUND = "not_found"
    NOT_CONNECTED = "not_connected"
    WRONG_RELATION = "wrong_relation"
    AMBIGUOUS = "ambiguous"


class Unsettled(NamedTuple):
    """A result without a pair: the reason, what was found and what was expected."""

    why: Why
    detail: str


class EntityPair(NamedTuple):
    """The two entities, and the property of the edge between them."""

    qid_1: str
    qid_2: str
    property: str


class Named(NamedTuple):
    """A name, and all entities that have it."""

    name: str
    matches: Sequence[Match]

    @property
    def candidates(self) -> list[str]:
        """The qids of the entities that are considered."""
        return [match.qid for match in self.matches[:MOST_NAMESAKES]]

    @property
    def n_not_looked_at(self) -> int:
        """The number of further entities with the name, which are not considered.

        A second pair that fits may be among them.
        """
        return max(0, len(self.matches) - MOST_NAMESAKES)


def pairs_between(one: Named, other: Named) -> list[tuple[str, str]]:
    """Return the pairs of different candidates, each in both directions."""
    both = [pair for pair in product(one.candidates, other.candidates) if pair[0] != pair[1]]
    return [each for a, b in both for each in ((a, b), (b, a))]


def settled(
    one: Named, other: Named, edges: Iterable[Edge], relation: Relation
) -> EntityPair | Unsettled:
    """Return the one pair that the relation connects, or why there is none.

    Args:
        edges: the edges among all entities; edges of other entities do no harm.
    """
    if empty := [named.name for named in (one, other) if not named.matches]:
        names = " and ".join(f"“{name}”" for name in empty)
        return Unsettled(Why.NOT_FOUND, f"found no entity named {names}; expected one or more")
    first, second = set(one.candidates), set(other.candidates)
    if len(first | second) == 1:
        found = f"{one.candidates[0]} alone by both names"
        return Unsettled(Why.NOT_CONNECTED, f"found {found}; expected two entities")
    others = sorted({edge for edge in edges if edge.subject != edge.value}, key=_edge_order)
    on = [edge for edge in others if edge.subject in first and edge.value in second]
    back = [edge for edge in others if edge.subject in second and edge.value in first]
    fitting: dict[tuple[str, str], str] = {}
    for edge in on:
        if edge.property in relation.properties:
            fitting.setdefault((edge.subject, edge.value), edge.property)
    for edge in back:
        if edge.property in relation.inverse:
            fitting.setdefault((edge.value, edge.subject), edge.property)
    if len(fitting) == 1:
        [((qid_1, qid_2), property_)] = fitting.items()
        return EntityPair(qid_1, qid_2, property_)
    expected = _expected(relation)
    if fitting:
        pairs = _listed([f"{a} and {b} ({property_})" for (a, b), property_ in fitting.items()])
        return Unsettled(Why.AMBIGUOUS, f"found {len(fitting)} pairs: {pairs}; expected one")
    if between := list(dict.fromkeys([*on, *back])):
        said = _listed([f"{edge.subject} {edge.property} {edge.value}" for edge in between])
        return Unsettled(Why.WRONG_RELATION, f"found {said}; expected {expected}")
    found = f"no edge between {_candidates(one)} and {_candidates(other)}"
    return Unsettled(Why.NOT_CONNECTED, f"found {found}; expected {expected}")


def _expected(relation: Relation) -> str:
    """Return the edges that express a relation, as in 'P40 from name 1 to name 2, or P22 back'."""
    there, back = ", ".join(relation.properties), ", ".join(relation.inverse)
    ways = [f"{there} from name 1 to name 2"] if there else []
    ways += [f"{back} from name 2 to name 1"] if back else []
    return ", or ".join(ways)


def _candidates(named: Named) -> str:
    n_left = named.n_not_looked_at
    more = f" ({n_left} more namesakes were not looked at)" if n_left else ""
    return f"{named.name} ({_listed(named.candidates)}){more}"


def _listed(items: Sequence[str]) -> str:
    more = f" and {len(items) - _SAID} more" if len(items) > _SAID else ""
    return ", ".join(items[:_SAID]) + more


def _edge_order(edge: Edge) -> tuple[tuple[int, str], ...]:
    return tuple(map(in_number_order, (edge.subject, edge.value, edge.property)))

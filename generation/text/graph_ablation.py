"""Gold sub-graphs that lack knowledge: without some triples, or replaced (KaLMA, 5.2, 5.3).

Both are drawn by a seed and are nested: what is missing at a low level of removal is also missing
at every higher level.
"""

from bisect import insort
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from generation.seeded_random import random_key
from generation.text.compared_triples import compared, knowledge
from generation.text.flat_graph import Triple

Place = tuple[str, int]  # the key of an example and the position of an entity among its gold ones


def stated_members(minimum: Iterable[Triple], graph: Iterable[Triple]) -> tuple[Triple, ...]:
    """Return the different members of a minimum set that a graph states; only these can be removed.

    Triples that are no knowledge, such as names, are not among them.
    """
    stated = knowledge(graph)
    members: dict[Triple, Triple] = {}
    for member in minimum:
        members.setdefault(compared(member), member)
    return tuple(member for piece, member in members.items() if piece in stated)


def removed_members(
    minimum: Iterable[Triple], n_removed: int, seed: int, key: str
) -> tuple[Triple, ...]:
    """Return the members of a minimum set to remove, at most `n_removed`.

    They are the first of all members in an order drawn by the seed. A member that says the same as
    an earlier one is not drawn again, and one that is no knowledge is never drawn.

    Args:
        key: the key of the example.
    """
    members: dict[Triple, Triple] = {}
    for member in minimum:
        members.setdefault(compared(member), member)
    pieces = sorted(
        knowledge(members.values()),
        key=lambda piece: (random_key(seed, "removed", key, *piece), piece),
    )
    return tuple(members[piece] for piece in pieces[:n_removed])


def without(graph: Iterable[Triple], removed: Iterable[Triple]) -> tuple[Triple, ...]:
    """Return the triples of a graph that say nothing that is removed."""
    gone = frozenset(map(compared, removed))
    return tuple(triple for triple in graph if compared(triple) not in gone)


def stand_ins(gold: Mapping[Place, str], accuracy: int, seed: int) -> dict[Place, str]:
    """Return, for each place that is replaced, the entity whose sub-graph is shown there instead.

    The seed puts all places in one order. The first places are replaced; the accuracy decides how
    many. Each gets a gold entity of another question that is neither gold for its own question nor
    shown in it already. A place for which there is no such entity keeps its own, and the next place
    is replaced.

    Args:
        gold: the qid of the gold entity at each place of the dataset.
        accuracy: per cent of places that keep their entity, 0 to 100.
    """
    n_replaced = round(len(gold) * (100 - accuracy) / 100)
    entities = sorted(set(gold.values()))
    number = {qid: at for at, qid in enumerate(entities)}
    taken: dict[str, list[int]] = defaultdict(list)  # numbers of entities in order, by example
    for (key, _), qid in gold.items():
        if number[qid] not in taken[key]:
            insort(taken[key], number[qid])
    found: dict[Place, str] = {}
    for place in sorted(gold, key=lambda place: (random_key(seed, "replaced", *place), place)):
        if len(found) == n_replaced:
            break
        of_example = taken[place[0]]
        if n_left := len(entities) - len(of_example):
            drawn = _beside(of_example, random_key(seed, "stand-in", *place) % n_left)
            insort(of_example, drawn)
            found[place] = entities[drawn]
    return found


def _beside(taken: Sequence[int], nth: int) -> int:
    """Return the nth number, counted from 0, that is not in an ascending list."""
    for number in taken:
        if number > nth:
            break
        nth += 1
    return nth


def replaced(key: str, gold: Sequence[str], others: Mapping[Place, str]) -> tuple[str, ...]:
    """Return the entities that an example's prompt shows, in the order of its gold ones.

    Args:
        others: the replaced entities, see `stand_ins`.
    """
    return tuple(others.get((key, position), qid) for position, qid in enumerate(gold))

"""Pools: setups among which responses may be chosen, and the pools that are usual for it.

[A] 7.5 takes the seven experiments of one model and temperature with full history and golden
evidence. This module makes no queries.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from evaluation.measures.tradeoff import f1_from
from evaluation.tradeoffs.dots import dot_of
from evaluation.tradeoffs.material import TradeoffMaterial
from generation.models import RERANKED, Setup
from generation.services.aggregates import what_makes
from generation.services.record_keys import digest
from generation.text.temperatures import temperature_text
from work.amounts import UNDEFINED

# The prompt types of the usual pool, as setups name their prompts.
USUAL_TYPES = (
    "golden",
    "golden-instructions",
    "retrieved-2",
    "retrieved-3",
    "retrieved-2-instructions",
    "retrieved-3-instructions",
    "one-shot",
)
# Settings that say how a type finds its evidence; only some types have them.
_OF_SOME_TYPES = frozenset({"ranking", "query", "idf", "k1", "b", "one_shot"})
_LAST = 10_000  # sort key of a prompt of no known type


class Pool(NamedTuple):
    """Setups of one model at one temperature, among which responses are chosen."""

    model: str
    temperature: float | None
    setups: tuple[str, ...]  # names, in the order of their types
    is_usual: bool = True  # False: an aggregate or the user named its setups
    settings: str = ""  # usual pool: settings that distinguish it, 'seed 3'
    missing: tuple[str, ...] = ()  # usual pool: the types without a setup

    @property
    def key(self) -> str:
        """The key of the pool in addresses."""
        return digest(sorted(self.setups))[:8]

    @property
    def title(self) -> str:
        temperature = UNDEFINED if self.temperature is None else temperature_text(self.temperature)
        n = len(self.setups)
        held = f"{n} of the {len(USUAL_TYPES)} usual types"
        if not self.missing:
            held = f"{n} setup{'s' * (n != 1)}" + (f" (#{self.key})" if not self.is_usual else "")
        of_it = f", {self.settings}" if self.settings else ""
        return f"{self.model}, T {temperature}{of_it}: {held}"

    @property
    def full_title(self) -> str:
        """The title, with the types that are missing."""
        return f"{self.title}; missing: {', '.join(self.missing)}" if self.missing else self.title


def usual_pools(setups: Iterable[Setup]) -> list[Pool]:
    """Return the usual pools of each model and temperature, by model, then temperature.

    Setups that differ in further settings (the seed, the position of evidence, top-p, ...) make
    separate pools, whose titles name those settings. Each combination of settings that has the most
    types, usually all seven, makes a pool. Of several setups of one type that differ only in how
    this type finds its evidence, the pool has the first by name.
    """
    groups: dict[tuple[str, float | None], dict[str, dict[str, Setup]]] = {}
    for setup in sorted(setups, key=lambda setup: setup.name):
        if setup.prompt in USUAL_TYPES and setup.model:
            shared = json.dumps([what_makes(setup), _shared(setup)], sort_keys=True)
            of_model = groups.setdefault((setup.model, setup.temperature), {})
            of_model.setdefault(shared, {}).setdefault(setup.prompt, setup)
    found = [pool for of_model in groups.values() for pool in _largest(list(of_model.values()))]
    return sorted(found, key=_order)


def _largest(groups: Sequence[Mapping[str, Setup]]) -> Iterator[Pool]:
    """Yield the pools of those groups (prompt type → setup) that have the most types."""
    most = max(map(len, groups))
    largest = [group for group in groups if len(group) == most]
    shared = [_shared(next(iter(group.values()))) for group in largest]
    names = sorted({name for settings in shared for name in settings})
    differing = [
        name for name in names if any(each.get(name) != shared[0].get(name) for each in shared)
    ]
    for group, settings in zip(largest, shared, strict=True):
        said = [
            f"{name.replace('_', ' ')} {_value(settings[name])}"
            for name in differing
            if name in settings
        ]
        missing = tuple(kind for kind in USUAL_TYPES if kind not in group)
        pool = pool_of(group.values())
        yield pool._replace(is_usual=True, settings=", ".join(said), missing=missing)


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def all_pools(setups: Iterable[Setup]) -> list[Pool]:
    """Return the usual pools, and behind those of each model and temperature the other pools.

    The other pools are those that aggregates were chosen from.
    """
    there = {setup.name: setup for setup in setups}
    usual = usual_pools(there.values())
    known = {frozenset(pool.setups) for pool in usual}
    others: dict[frozenset[str], Pool] = {}
    for setup in there.values():
        names = pool_names(setup)
        if names and names <= there.keys() and names not in known:
            members = (there[name] for name in names)
            others.setdefault(names, pool_of(members))
    return sorted([*usual, *others.values()], key=_order)


def pool_names(setup: Setup) -> frozenset[str]:
    """Return the names of the setups that an aggregate was chosen from; empty for other setups."""
    return frozenset(setup.settings.get("pool", ())) if setup.prompt == RERANKED else frozenset()


def pool_of(setups: Iterable[Setup]) -> Pool:
    """Return the pool of one or more setups, with the model and temperature of the first."""
    members = in_type_order(setups)
    names = tuple(member.name for member in members)
    return Pool(members[0].model, members[0].temperature, names, is_usual=False)


def best_single(material: TradeoffMaterial, places: Sequence[int]) -> int | None:
    """Return the place of the setup of a pool with the highest F1; of equals, the first.

    F1 is over the examples that both axes know of every setup of the pool. A setup of which they
    know no example is ignored. None is returned if there is no such example, or if no F1 is
    defined.

    Args:
        places: places of the pool's setups among the dots.
    """
    statistics = {place: material.statistics(place) for place in places}
    known = [place for place in places if statistics[place][:, -1].any()]
    if not known:
        return None
    is_common = np.all([statistics[place][:, -1] > 0 for place in known], axis=0)
    f1s = np.array([float(f1_from(statistics[place][is_common].sum(axis=0))) for place in known])
    return None if np.isnan(f1s).all() else known[int(np.nanargmax(f1s))]


def _order(pool: Pool) -> tuple[str, float, bool, tuple[str, ...]]:
    temperature = -1.0 if pool.temperature is None else pool.temperature
    return pool.model, temperature, not pool.is_usual, pool.setups


def in_type_order(setups: Iterable[Setup]) -> list[Setup]:
    """Return setups in the order of prompt types, then by name: the order of a pool.

    Parts of a recipe share a place. They are ordered by how many passages they show, then by part.
    """

    def order(setup: Setup) -> tuple[int, int, int, str]:
        kind = dot_of(setup).kind
        if kind is None:
            return _LAST, 0, 0, setup.name
        k, part = (kind.k, kind.part) if kind.of else (0, 0)
        return kind.place, k, part, setup.name

    return sorted(setups, key=order)


def _shared(setup: Setup) -> Mapping[str, object]:
    """Return the settings that a setup of one type shares with the other types of its pool."""
    # At temperature 0 the seed matters only for passages that are drawn.
    own = _OF_SOME_TYPES if setup.temperature else _OF_SOME_TYPES | {"seed"}
    return {name: value for name, value in setup.settings.items() if name not in own}

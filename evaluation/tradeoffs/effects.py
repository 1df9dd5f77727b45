"""The comparisons in the takeaways of [A]: pairs of setups, over all of them and for parts.

This module makes no queries.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from evaluation.tradeoffs.dots import TOP_RIGHT, Dot
from evaluation.tradeoffs.material import TradeoffMaterial
from evaluation.tradeoffs.pairs import (
    NOT_GOLDEN,
    Difference,
    SetupPair,
    is_plain,
    pairs_differing_in,
    size_pairs,
    sizes_of,
)
from evaluation.tradeoffs.pools import best_single
from evaluation.tradeoffs.selection_bias import flattered
from evaluation.tradeoffs.titles import setup_title, within
from generation.text.temperatures import temperature_text


class Sizes(NamedTuple):
    """Two models of which a reader says which is larger; "": the sizes that are known say it."""

    large: str = ""
    small: str = ""


BY_SIZES = Sizes()


class Effect(NamedTuple):
    """The comparison in one row of the takeaways; `pairs` are first minus second."""

    takeaway: int  # number of the takeaway in [A], 1 to 6
    effect: str
    compared: str
    of: str  # name of a part of the pairs; "": all pairs
    pairs: tuple[SetupPair, ...]
    why: str = ""  # the reason when there are no pairs
    is_flattered: bool = False  # an axis shows what the first setups were chosen by


class _Kind(NamedTuple):
    """An effect whose pairs of setups differ in one thing alone."""

    difference: Difference
    takeaway: int
    compared: str


_KINDS = (
    _Kind("history", 1, "With the dialog’s history − without"),
    _Kind("golden evidence", 1, "With golden evidence − without: none, or non-evidence"),
    _Kind("size", 2, "Each larger model − the next smaller"),
    _Kind("temperature", 2, "Lowest temperature − each higher"),
    _Kind("instructions", 3, "With instructions − without"),
    _Kind("restricted share", 4, "Restricted context: each next step from dialog to evidence"),
)

LARGEST = "largest size"
RERANKED, BEST_OF_POOL, SMALL_RERANKED = (
    "re-ranking",
    "re-ranking, best of pool",
    "small re-ranked",
)


def effects_of(material: TradeoffMaterial, sizes: Sizes = BY_SIZES) -> list[Effect]:
    """Return the rows of the takeaways made of pairs of setups, each effect before its parts."""
    dots = material.dots
    found: list[Effect] = []
    for kind in _KINDS:
        is_said = kind.difference == "size" and all(sizes)
        if is_said:
            kind = kind._replace(compared=f"{sizes.large} − {sizes.small}")
            pairs = size_pairs(dots, *sizes)
        else:
            pairs = pairs_differing_in(dots, kind.difference)
        found += _with_parts(kind, pairs, dots)
        if kind.difference == "size" and not is_said:
            found += _largest_and_smallest(kind, dots)
    return [*found, *_of_aggregates(material, sizes)]


# --- parts ----------------------------------------------------------------------------------


def _with_parts(kind: _Kind, pairs: Sequence[SetupPair], dots: Sequence[Dot]) -> Iterator[Effect]:
    """Yield an effect over all pairs, then over each of their parts, if there are several parts."""
    all_of = Effect(kind.takeaway, kind.difference, kind.compared, "", tuple(pairs))
    if not pairs:
        yield all_of._replace(why=_why_none(kind.difference, dots))
        return
    yield all_of
    for part_of in _PARTS[kind.difference]:
        yield from _parts(all_of, partial(part_of, dots=dots))


def _parts(
    effect: Effect, part_of: Callable[[SetupPair], tuple[Hashable, str]]
) -> Iterator[Effect]:
    by_part: dict[str, tuple[Hashable, list[SetupPair]]] = {}
    for pair in effect.pairs:
        order, name = part_of(pair)
        by_part.setdefault(name, (order, []))[1].append(pair)
    if len(by_part) > 1:
        for name, (_, pairs) in sorted(by_part.items(), key=lambda part: (part[1][0], part[0])):
            yield effect._replace(of=name, pairs=tuple(pairs))


def _by_model(pair: SetupPair, dots: Sequence[Dot]) -> tuple[Hashable, str]:
    dot = dots[pair.first]
    return _size_order(dot, dots), dot.setup.model


def _by_temperature(pair: SetupPair, dots: Sequence[Dot]) -> tuple[Hashable, str]:
    temperature = dots[pair.first].setup.temperature
    return (-1.0 if temperature is None else temperature), _said(temperature)


def _by_models(pair: SetupPair, dots: Sequence[Dot]) -> tuple[Hashable, str]:
    first, second = (dots[place] for place in pair)
    return _size_order(first, dots), f"{first.setup.model} − {second.setup.model}"


def _by_temperatures(pair: SetupPair, dots: Sequence[Dot]) -> tuple[Hashable, str]:
    low, high = (dots[place].setup.temperature or 0.0 for place in pair)
    return (low, high), f"{_said(low)} − {_said(high)}"


def _by_what_stands_instead(pair: SetupPair, dots: Sequence[Dot]) -> tuple[Hashable, str]:
    kind = dots[pair.second].kind
    evidence = kind.evidence if kind else ""
    place = NOT_GOLDEN.index(evidence) if evidence in NOT_GOLDEN else len(NOT_GOLDEN)
    return place, f"against {'no evidence' if evidence == 'none' else f'{evidence} non-evidence'}"


def _by_evidence(pair: SetupPair, dots: Sequence[Dot]) -> tuple[Hashable, str]:
    kind = dots[pair.first].kind
    evidence = kind.evidence if kind else ""
    return evidence != "golden", "golden" if evidence == "golden" else f"{evidence} non-evidence"


_PartOf = Callable[..., tuple[Hashable, str]]  # (pair, all marks) → sort key, name
_PARTS: dict[Difference, tuple[_PartOf, ...]] = {
    "history": (_by_model, _by_temperature),
    "golden evidence": (_by_what_stands_instead, _by_model, _by_temperature),
    "size": (_by_models, _by_temperature),
    "temperature": (_by_temperatures, _by_model),
    "instructions": (_by_model, _by_temperature),
    "restricted share": (_by_evidence, _by_model),
}


def _largest_and_smallest(kind: _Kind, dots: Sequence[Dot]) -> Iterator[Effect]:
    """Yield the effect of the largest model over the smallest, if there are sizes between them."""
    sizes = sizes_of([dot for dot in dots if is_plain(dot)])
    if len(sizes) < 3:
        return
    pairs = [
        pair
        for large in sizes[-1][1]
        for small in sizes[0][1]
        for pair in size_pairs(dots, large, small)
    ]
    if pairs:
        compared = f"{' and '.join(sizes[-1][1])} − {' and '.join(sizes[0][1])}"
        yield Effect(kind.takeaway, LARGEST, compared, "", tuple(sorted(pairs)))


def _why_none(difference: Difference, dots: Sequence[Dot]) -> str:
    if difference == "restricted share":
        return "no setups of restricted context differ in their share alone"
    if difference == "size" and len(sizes_of(dots)) < 2:
        return "two sizes of models are not known: choose the larger model"
    if difference == "temperature":
        return "no pair of setups differs in temperature alone"
    return f"no pair of setups differs in {difference} alone"


# --- re-ranking -----------------------------------------------------------------------------


def _of_aggregates(material: TradeoffMaterial, sizes: Sizes) -> Iterator[Effect]:
    """Yield the comparisons of takeaway 6, for all aggregates and for each."""
    dots = material.dots
    places = {dot.setup.name: place for place, dot in enumerate(dots)}
    pools = {
        place: [places[name] for name in dot.pool if name in places]
        for place, dot in enumerate(dots)
        if dot.is_aggregate
    }
    no_aggregate = "nothing is re-ranked yet"
    against_pool = [SetupPair(each, single) for each, pool in pools.items() for single in pool]
    best = [
        SetupPair(each, single)
        for each, pool in pools.items()
        if (single := best_single(material, pool)) is not None
    ]
    large = [
        SetupPair(each, single)
        for each in pools
        for single, dot in enumerate(dots)
        if is_plain(dot) and dot.cluster == TOP_RIGHT and _is_larger(dot, dots[each], dots, sizes)
    ]
    compared = [
        (RERANKED, "Re-ranked − each single setup of its pool", against_pool, no_aggregate),
        (
            BEST_OF_POOL,
            "Re-ranked − the best of its pool by F1, chosen on the same data",
            best,
            "no example has values for all setups of a pool" if pools else no_aggregate,
        ),
        (
            SMALL_RERANKED,
            "A smaller model re-ranked − the largest with history and golden evidence",
            large,
            no_aggregate
            if not pools
            else "no re-ranked model has a larger model with golden evidence at its temperature",
        ),
    ]
    for effect, words, pairs, why in compared:
        yield from _of_aggregate(
            Effect(6, effect, words, "", tuple(pairs), "" if pairs else why), material
        )


def _of_aggregate(effect: Effect, material: TradeoffMaterial) -> Iterator[Effect]:
    dots = material.dots

    def aggregate(pair: SetupPair) -> tuple[Hashable, str]:
        dot = dots[pair.first]
        of_pair = _size_order(dot, dots), dot.setup.temperature or 0.0
        return of_pair, f"{_title(dot)} #{pair.first}"

    for each in (effect, *_parts(effect, aggregate)):
        is_flattered = any(any(flattered(dots[first], material.axes)) for first, _ in each.pairs)
        of = _title(dots[each.pairs[0].first]) if each.of else ""
        yield each._replace(is_flattered=is_flattered, of=of)


def _is_larger(dot: Dot, other: Dot, dots: Sequence[Dot], sizes: Sizes) -> bool:
    """Return whether a setup is of the largest model, the other of a smaller one at the same T."""
    if dot.setup.temperature != other.setup.temperature:
        return False
    if all(sizes):
        return (dot.setup.model, other.setup.model) == sizes
    known = [models for _, models in sizes_of(dots)]
    smaller = [model for models in known[:-1] for model in models]
    return bool(known) and dot.setup.model in known[-1] and other.setup.model in smaller


def _title(dot: Dot) -> str:
    """Return the title of an aggregate among those of all models."""
    return f"{dot.setup.model}, {_said(dot.setup.temperature)}, {within(setup_title(dot))}"


def _size_order(dot: Dot, dots: Sequence[Dot]) -> int:
    """Return the place of a model in the order of sizes; −1 where its size is not known."""
    models = [models for _, models in sizes_of(dots)]
    return next((n for n, of_size in enumerate(models) if dot.setup.model in of_size), -1)


def _said(temperature: float | None) -> str:
    return "T —" if temperature is None else f"T {temperature_text(temperature)}"

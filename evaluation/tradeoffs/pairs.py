"""Pairs of setups that differ in one thing, and pairs that are comparable ([A] 7.1 to 7.6).

A pair is two places among the marks of a material. This module makes no queries. Pairs of
`pairs_differing_in` agree in everything else that is known: model, temperature, run, prompt and
settings. A setting agrees if it is the same, or if it changes nothing under one of the two (top-p
at temperature 0, the position of evidence where there is none).
"""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from itertools import combinations, permutations
from typing import Any, Literal, NamedTuple

from evaluation.tradeoffs.dots import Dot
from generation.grids.prompt_choices import EVIDENCE_SHARE, PromptChoices, settings_of
from generation.retrieval.bm25 import Bm25
from generation.setup_menus import SetupKind, setup_kind
from generation.text.prompt_types import PromptType

Difference = Literal[
    "history", "golden evidence", "instructions", "temperature", "size", "restricted share"
]
Reason = Literal["instructions", "restricted share", "one pool", "context"]
REASONS: tuple[Reason, ...] = ("instructions", "restricted share", "one pool", "context")
CONTEXT_WITHIN = 0.1  # the smaller mean context is at least (1 - this) times the larger
NOT_GOLDEN = ("none", "random", "next-best")

_OF_SAMPLING = frozenset({"top_p", "top_k"})
_OF_PROMPTS = frozenset({*PromptChoices._fields, *Bm25._fields, EVIDENCE_SHARE} - {"type", "bm25"})


class SetupPair(NamedTuple):
    """Two setups by their places; a difference is always the first minus the second."""

    first: int
    second: int


class ComparablePair(NamedTuple):
    """Two setups under the same constraints, given as reasons; a move goes from second to first."""

    first: int
    second: int
    reasons: tuple[Reason, ...]


def is_plain(dot: Dot) -> bool:
    """Return whether a setup is of a full grid: no aggregate, restricted or part of a recipe."""
    return setup_kind(dot.setup) is SetupKind.SINGLE


def pairs_differing_in(dots: Sequence[Dot], difference: Difference) -> list[SetupPair]:
    """Return the pairs that differ in one thing alone, in the order of the marks.

    For history, golden evidence and instructions, the first setup has it and the second has not;
    without golden evidence means no evidence or non-evidence. For temperature, the first has the
    lowest, and the second each higher one. For size, each model is first, and those of the next
    smaller size are second. For restricted share, the first has the
    smaller share of the dialog, and the second the next larger one.

    The lowest and the next are those among the setups that agree in everything else. Aggregates and
    parts of a recipe are in no pairs. Setups of restricted context are only in pairs for restricted
    share; those of an earlier rule are in none.
    """
    sides = [_side(dot, difference) for dot in dots]
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for place, dot in enumerate(dots):
        is_in_pairs = bool(dot.setup.model) and not math.isnan(sides[place])
        key = _REST[difference](dot) if is_in_pairs else None
        if key is not None:
            groups[key].append(place)
    settings = [_Settings(dot) for dot in dots]
    found = [
        SetupPair(first, second)
        for group in groups.values()
        for first, second in permutations(group, 2)
        if _goes_first(difference, sides[first], sides[second])
        and settings[first].agree(settings[second])
    ]
    if difference == "temperature":
        return sorted(_from_the_lowest(found, sides))
    return sorted(_to_the_next(found, sides))


def size_pairs(dots: Sequence[Dot], larger: str, smaller: str) -> list[SetupPair]:
    """Return the pairs of a larger and a smaller model that agree in everything else."""
    settings = [_Settings(dot) for dot in dots]
    of = {name: _plain_of(dots, name) for name in (larger, smaller)}
    return [
        SetupPair(first, second)
        for first in of[larger]
        for second in of[smaller]
        if _but_size(dots[first]) == _but_size(dots[second])
        and settings[first].agree(settings[second])
    ]


def sizes_of(dots: Sequence[Dot]) -> list[tuple[float, list[str]]]:
    """Return the sizes of models that are known, from small to large, each with its models."""
    by_size: dict[float, set[str]] = defaultdict(set)
    for dot in dots:
        if dot.setup.model:
            by_size[dot.setup.n_parameters].add(dot.setup.model)
    known = sorted(size for size in by_size if not math.isnan(size))
    return [(size, sorted(by_size[size])) for size in known]


def unsized(dots: Sequence[Dot]) -> list[str]:
    """Return the models whose size is not known."""
    models = {dot.setup.model for dot in dots if math.isnan(dot.setup.n_parameters)}
    return sorted(models - {""})


def comparable_pairs(dots: Sequence[Dot]) -> list[ComparablePair]:
    """Return the pairs of one model and temperature under the same constraint, with all reasons.

    The reason `instructions` means that they differ in nothing else. `restricted share` means that
    both have restricted context, with the same share of the dialog asked for, and not of an earlier
    rule. `one pool` means that both are aggregates of the same setups. `context` means that their
    mean tokens of whole prompts are within 10 % (the smaller of the larger); it does not apply to
    aggregates.

    The first of a pair is the one with instructions, with golden evidence, or later in the order of
    types and names.
    """
    with_instructions = set(pairs_differing_in(dots, "instructions"))
    groups: dict[tuple[str, float | None], list[int]] = defaultdict(list)
    for place, dot in enumerate(dots):
        if dot.setup.model:
            groups[dot.setup.model, dot.setup.temperature].append(place)
    found = []
    for group in groups.values():
        for first, second in combinations(sorted(group, key=lambda at: _order(dots[at])), 2):
            pair = SetupPair(second, first)  # the one that is later in the order is first
            if pair[::-1] in with_instructions:
                pair = SetupPair(*pair[::-1])
            if reasons := _reasons(dots[first], dots[second], pair in with_instructions):
                found.append(ComparablePair(*pair, reasons))
    return sorted(found)


def _reasons(one: Dot, other: Dot, differ_in_instructions: bool) -> tuple[Reason, ...]:
    holds: dict[Reason, bool] = {
        "instructions": differ_in_instructions,
        "restricted share": one.is_restricted
        and other.is_restricted
        and _share(one) == _share(other)
        and not (one.is_of_earlier_rule or other.is_of_earlier_rule),
        "one pool": bool(one.pool) and set(one.pool) == set(other.pool),
        "context": not (one.is_aggregate or other.is_aggregate)
        and _is_near(one.context_tokens, other.context_tokens),
    }
    return tuple(reason for reason in REASONS if holds[reason])


def _is_near(one: float, other: float) -> bool:
    """Return whether two means are within 10 %; False where one is unknown."""
    if math.isnan(one) or math.isnan(other):
        return False
    return min(one, other) >= (1 - CONTEXT_WITHIN) * max(one, other) > 0


def _order(dot: Dot) -> tuple[Any, ...]:
    """Return a sort key for a setup among those of its model and temperature."""
    kind = dot.kind
    if kind is None:
        return math.inf, 0.0, False, dot.setup.name
    return kind.place, -(kind.dialog_share or 0.0), kind.evidence == "golden", dot.setup.name


# --- what a pair may differ in --------------------------------------------------------------


def _but(**usual: Any) -> Callable[[Dot], Hashable | None]:
    """Return a function of marks: what must agree where prompts may differ in some fields.

    The function returns None for a prompt that is no known type.
    """

    def rest(dot: Dot) -> Hashable | None:
        if dot.kind is None:
            return None
        kind = dot.kind._replace(key="", title="", place=0, **usual)
        return dot.setup.model, dot.setup.temperature, dot.setup.run, kind

    return rest


def _but_golden(dot: Dot) -> Hashable | None:
    kind = dot.kind
    if kind is None or kind.evidence not in ("golden", *NOT_GOLDEN):
        return None
    return _but(evidence="none", k=1)(dot)


def _but_temperature(dot: Dot) -> Hashable | None:
    if dot.setup.temperature is None:
        return None
    return dot.setup.model, dot.setup.prompt, dot.setup.run


def _but_size(dot: Dot) -> Hashable | None:
    return dot.setup.temperature, dot.setup.prompt, dot.setup.run


_REST: dict[Difference, Callable[[Dot], Hashable | None]] = {
    "history": _but(has_history=True),
    "golden evidence": _but_golden,
    "instructions": _but(has_instructions=True),
    "temperature": _but_temperature,
    "size": _but_size,
    "restricted share": _but(dialog_share=1.0),
}


def _side(dot: Dot, difference: Difference) -> float:
    """Return the value that differs as a number; NaN for setups that are in no such pair."""
    kind = dot.kind
    if difference == "restricted share":
        share = _share(dot)
        return math.nan if share is None or dot.is_of_earlier_rule else share
    if not is_plain(dot):
        return math.nan
    if difference == "size":
        return dot.setup.n_parameters
    if difference == "temperature":
        return math.nan if dot.setup.temperature is None else dot.setup.temperature
    if kind is None:
        return math.nan
    if difference == "history":
        return float(kind.has_history)
    return float(
        kind.has_instructions if difference == "instructions" else kind.evidence == "golden"
    )


def _goes_first(difference: Difference, first: float, second: float) -> bool:
    if difference in ("temperature", "restricted share"):
        return first < second
    return first > second


def _from_the_lowest(pairs: Sequence[SetupPair], sides: Sequence[float]) -> list[SetupPair]:
    """Return, for each second setup, the pairs whose first setup has the lowest value."""
    lowest: dict[int, float] = {}
    for first, second in pairs:
        lowest[second] = min(sides[first], lowest.get(second, math.inf))
    return [pair for pair in pairs if sides[pair.first] == lowest[pair.second]]


def _to_the_next(pairs: Sequence[SetupPair], sides: Sequence[float]) -> list[SetupPair]:
    """Return, for each first setup, the pairs whose second setup has the nearest value."""
    steps = [abs(sides[first] - sides[second]) for first, second in pairs]
    least: dict[int, float] = {}
    for pair, step in zip(pairs, steps, strict=True):
        least[pair.first] = min(step, least.get(pair.first, math.inf))
    return [pair for pair, step in zip(pairs, steps, strict=True) if step == least[pair.first]]


# --- settings -------------------------------------------------------------------------------


class _Settings:
    """The settings of a setup besides model, temperature and prompt, and which of them matter."""

    def __init__(self, dot: Dot) -> None:
        self.said = dot.settings
        self._is_greedy = dot.setup.temperature == 0
        self._is_typed = dot.kind is not None
        self._of_prompt: set[str] = set()
        if dot.kind is not None:
            ranking = self.said.get("ranking", "bm25")
            # Of unusual choices, `settings_of` keeps those that change the prompts of the type.
            self._of_prompt |= settings_of(_unusual(dot.kind, ranking)).keys()
            self._of_prompt |= settings_of(_unusual(dot.kind, "random")).keys() & {"ranking"}

    def agree(self, other: "_Settings") -> bool:
        names = self.said.keys() | other.said.keys()
        return all(
            self.said.get(name) == other.said.get(name)
            for name in names
            if self.matters(name) and other.matters(name)
        )

    def matters(self, name: str) -> bool:
        """Return whether a setting can change anything under the setup."""
        if name in _OF_SAMPLING:
            return not self._is_greedy
        if name == "seed" and not self._is_greedy:
            return True
        return not self._is_typed or name not in _OF_PROMPTS or name in self._of_prompt


def _unusual(kind: PromptType, ranking: Any) -> PromptChoices:
    """Return choices that all differ from the usual ones, except perhaps the ranking."""
    return PromptChoices(
        kind,
        position="before-last-turn",
        budget=1,
        ranking=ranking,
        query="dialog",
        bm25=Bm25("lucene", 0.0, 0.0),
        seed=1,
        one_shot="e",
        form="messages",
    )


def _plain_of(dots: Sequence[Dot], model: str) -> list[int]:
    places = enumerate(dots)
    return [place for place, dot in places if dot.setup.model == model and is_plain(dot)]


def _share(dot: Dot) -> float | None:
    return dot.kind.dialog_share if dot.kind else None

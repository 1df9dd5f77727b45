"""Kinds of setups, and menus of setups by kind. Nothing here reads the database."""

import math
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from generation.importers.setups import setup_name
from generation.models import RERANKED, Setup
from generation.text.prompt_types import PromptType, prompt_type
from generation.text.temperatures import temperature_text


class SetupKind(StrEnum):
    """The kinds of setups, by their titles in menus. All but single setups belong to analyses."""

    SINGLE = "Single setups"
    RESTRICTED = "Restricted context"
    PART = "Parts of a recipe"
    RERANKED = "Re-ranked"


class SetupGroup(NamedTuple):
    """One group of a menu: the single setups of a model, or all setups of another kind."""

    title: str  # "" if all setups are in this group
    is_folded: bool  # whether a menu shows it only when asked
    setups: Sequence[tuple[Setup, str]]  # each with its name in the menu


def setup_kind(setup: Setup) -> SetupKind:
    """Return the kind of a setup."""
    if setup.prompt == RERANKED:
        return SetupKind.RERANKED
    kind = _prompt_type(setup)
    if kind is not None and kind.dialog_share is not None:
        return SetupKind.RESTRICTED
    return SetupKind.PART if kind is not None and kind.part else SetupKind.SINGLE


def setup_menu(setups: Iterable[Setup]) -> list[SetupGroup]:
    """Return the groups of a menu: single setups by model, then the other kinds.

    In a group, setups are in the order of temperatures, prompt types and names. If there is only
    one group, it has no title.
    """
    found: dict[tuple[SetupKind, str], list[Setup]] = {}
    for setup in sorted(setups, key=_place):
        kind = setup_kind(setup)
        of_model = setup.model if kind is SetupKind.SINGLE else ""
        found.setdefault((kind, of_model), []).append(setup)
    kinds = list(SetupKind)
    in_order = sorted(found.items(), key=lambda each: (kinds.index(each[0][0]), each[0][1]))
    return [
        SetupGroup(
            (model or str(kind)) if len(found) > 1 else "",
            kind is not SetupKind.SINGLE and len(found) > 1,
            list(zip(some, _names(some), strict=True)),
        )
        for (kind, model), some in in_order
    ]


def menu_choices(
    setups: Iterable[Setup], first: str, value: str = "name"
) -> list[tuple[str, str | list[tuple[str, str]]]]:
    """Return a menu of setups as the choices of a field.

    Args:
        first: the words for no setup in particular, such as 'any setup'.
        value: the field of a setup that addresses name it by.
    """
    choices: list[tuple[str, str | list[tuple[str, str]]]] = [("", first)]
    for group in setup_menu(setups):
        of_group = [(str(getattr(setup, value)), name) for setup, name in group.setups]
        if group.title:
            choices.append((group.title, of_group))
        else:
            choices += of_group
    return choices


def _place(setup: Setup) -> tuple[float, int, str]:
    """Return the place of a setup among others of its group; what is not known comes last."""
    kind = _prompt_type(setup)
    temperature = math.inf if setup.temperature is None else setup.temperature
    return temperature, kind.place if kind else sys.maxsize, setup.name


def _names(setups: Sequence[Setup]) -> list[str]:
    """Return the short name of each setup, or its whole name if others have the same short one."""
    short = [short_name(setup) for setup in setups]
    n_called = Counter(short)
    return [
        name if n_called[name] == 1 else setup.name
        for setup, name in zip(setups, short, strict=True)
    ]


def short_name(setup: Setup) -> str:
    """Return a name with the title of the prompt type, and without settings: 'm · T 0.0 · Golden'.

    Aggregates have no key of their pool. A setup that was named by people keeps its name.
    """
    if setup.prompt == RERANKED:
        name, _, _ = setup.name.replace(f"{RERANKED} · ", "").partition(" #")
        return name
    kind = _prompt_type(setup)
    if kind is None or setup.name != setup_name(setup):
        return setup.name
    temperature = "" if setup.temperature is None else f"T {temperature_text(setup.temperature)}"
    run = f"run {setup.run}" if setup.run else ""
    return " · ".join(filter(None, [setup.model, temperature, kind.title, run]))


def _prompt_type(setup: Setup) -> PromptType | None:
    try:
        return prompt_type(setup.prompt)
    except ValueError:
        return None

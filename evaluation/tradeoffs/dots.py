"""Setups as marks of the trade-off, apart from their numbers. This module makes no queries."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from evaluation.tradeoffs.rated_examples import RatedExamples
from generation.grids.prompt_choices import is_of_earlier_rule
from generation.models import Setup
from generation.setup_menus import SetupKind, setup_kind
from generation.text.prompt_types import PromptType, prompt_type
from generation.text.temperatures import temperature_text
from work.amounts import UNDEFINED

# [A] table 2: (history, golden evidence) → the place where the paper finds such setups.
Cluster = Literal["top right", "center", "top left", "bottom left"]
CLUSTERS: Mapping[tuple[bool, bool], Cluster] = {
    (True, True): "top right",
    (False, True): "center",
    (True, False): "top left",
    (False, False): "bottom left",
}
TOP_RIGHT: Cluster = "top right"  # the cluster with history and golden evidence
CLUSTER_TITLES: Mapping[Cluster, str] = {
    "top right": "History + golden evidence",
    "center": "No history, golden evidence",
    "top left": "History, no golden evidence",
    "bottom left": "Neither",
}


# Short forms of words in the titles of prompt types, for use where there is little room.
SHORT = {
    ", instructions": " + instr.",
    "non-evidence": "non-evid.",
    "No history, no evidence": "No history, none",
    " · sensibleness": " S",
    " · attribution": " A",
}


class Dot(NamedTuple):
    """One setup of a dataset as a mark."""

    setup: Setup
    kind: PromptType | None  # None: an aggregate, or a prompt of no known type
    context_tokens: float = math.nan  # mean of whole prompts; NaN: no response states it
    dialog_share: float = math.nan  # restricted context: mean of what was really kept
    evidence_share: float = math.nan
    off_budget: float = math.nan  # mean of |dialog share + evidence share - 1|
    n_looked_at: int = 0  # replies that were looked at for debris
    n_debris: int = 0  # those of them that are debris
    n_ties: int = 0  # aggregate: responses that its second score chose among equals
    rated: RatedExamples | None = None  # None: no axis is of raters

    @property
    def is_aggregate(self) -> bool:
        """Whether its responses were chosen among those of other setups."""
        return setup_kind(self.setup) is SetupKind.RERANKED

    @property
    def is_rated_in_part(self) -> bool:
        """Whether raters, who make an axis, have answered only a part of its examples."""
        return self.rated is not None and self.rated.is_part

    @property
    def is_not_rated(self) -> bool:
        """Whether raters, who make an axis, have answered none of its examples."""
        return self.rated is not None and self.rated.is_nothing

    @property
    def is_restricted(self) -> bool:
        return setup_kind(self.setup) is SetupKind.RESTRICTED

    @property
    def is_of_earlier_rule(self) -> bool:
        """Whether its evidence was cut for the dialog share asked for, not for the one kept."""
        return self.kind is not None and is_of_earlier_rule(self.kind, self.settings)

    @property
    def settings(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.setup.settings
        return found

    @property
    def pool(self) -> Sequence[str]:
        """The names of the setups that an aggregate was chosen among."""
        return self.settings.get("pool", ()) if self.is_aggregate else ()

    @property
    def n_calls(self) -> int:
        """The number of calls for one example."""
        return len(self.pool) or 1

    @property
    def cluster(self) -> Cluster | None:
        """The place where the paper finds setups of its kind; None where it does not say."""
        kind = self.kind
        if kind is None or kind.dialog_share is not None or kind.evidence in ("top", "graph"):
            return None
        return CLUSTERS[kind.has_history, kind.needs_golden]

    @property
    def label(self) -> str:
        """Temperature, model and prompt type: '[0.0, small, Retrieved 3]' (a number in [A] 7)."""
        asked = self.setup.temperature
        temperature = UNDEFINED if asked is None else temperature_text(asked)
        prompt = short_title(self.kind.title) if self.kind else self.setup.prompt or UNDEFINED
        return f"[{temperature}, {self.setup.model or self.setup.name}, {prompt}]"


def short_title(title: str) -> str:
    """Return the short title of a prompt type, for use where there is little room."""
    if ", dialog " in title:  # its mark shows that it is restricted
        title = title.removeprefix("Restricted, ").replace(", dialog ", ", ").capitalize()
        title = title.replace(" %", "\u00a0%")
    for long, short in SHORT.items():
        title = title.replace(long, short)
    return title


def step_title(title: str) -> str:
    """Return the title of a prompt type; that of restricted context says what its share is of."""
    step = re.fullmatch(r"Restricted, (.+), dialog (\d+) %(.*)", title)
    if not step:
        return title
    evidence, percent, more = step.groups()
    return f"{evidence.capitalize()}, {percent}\u00a0% of the dialog kept{more}"


def dot_of(setup: Setup) -> Dot:
    """Return the mark of a setup."""
    try:
        kind = prompt_type(setup.prompt)
    except ValueError:
        kind = None
    n_looked_at, n_debris = (getattr(setup, name, 0) for name in ("n_looked_at", "n_debris"))
    return Dot(setup, kind, n_looked_at=n_looked_at, n_debris=n_debris)


def any_in_part(dots: Sequence[Dot], places: Iterable[int]) -> bool:
    """Return whether raters have answered only a part of the examples of one of some setups.

    Args:
        dots: the marks of a material.
        places: places of the setups among them.
    """
    return any(dots[place].is_rated_in_part for place in places)


def are_in_part(dots: Sequence[Dot], places: Iterable[int]) -> bool:
    """Return whether raters have answered only a part of all examples of a choice among setups."""
    parts = [part for place in places if (part := dots[place].rated) is not None]
    return 0 < sum(part.n_not_rated for part in parts) < sum(part.n_examples for part in parts)

"""Setups that differ only in seed and run: the runs of a row of a table (KaLMA, table 3)."""

import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

from evaluation.reports.columns import Column, Format
from evaluation.reports.local_ids import SetupId
from evaluation.reports.report import ReportRow
from evaluation.reports.setups import seed_of, setup_columns
from generation.importers.setups import origin_of, setup_content
from generation.models import Dataset, Setup
from generation.text.prompt_types import PromptType, prompt_type
from generation.text.temperatures import temperature_text

TABLES = frozenset({"retrieved", "imported", "gold"})  # graphs of tables 3 and 4
_SHOWN_APART = frozenset({"seed", "graph", "precision"})  # settings that have a column of their own


class PromptGraphState(NamedTuple):
    """The state of the graph that prompts were made from. None: not known, or not used."""

    graph: str | None
    gold: str | None  # state of all questions' gold entities, used if sub-graphs were replaced

    @property
    def n_known(self) -> int:
        return sum(part is not None for part in self)

    def agrees(self, other: "PromptGraphState") -> bool:
        """Return whether both may be the same state."""
        return all(a is None or b is None or a == b for a, b in zip(self, other, strict=True))


@dataclass(frozen=True, kw_only=True)
class GroupColumns(ReportRow):
    """The columns of a row that describe its runs, beside its figures."""

    label: Annotated[str, Column("Model and temperature")]
    model: str
    model_precision: str
    temperature: float | None
    prompt: str
    prompt_title: Annotated[str, Column("Prompt")]
    graph: str
    graph_mark: str
    other_settings: str
    seeds: str
    group: str  # the group's key
    setup_ids: list[SetupId]
    n_runs: Annotated[int, Column("Runs", Format.COUNT)]


class SeededRuns(NamedTuple):
    """One group of setups, which differ only in seed and run, and the choices that they share."""

    key: str  # eight characters, equal in all databases where the same setups were made or imported
    family: str  # eight characters likewise, which do not depend on the prompt and its graph
    model: str
    precision: str  # "": the usual one
    temperature: float | None
    prompt: str
    graph_mark: str  # the state of the graph that prompts were made from; "": not known
    other_settings: Mapping[str, Any]
    setups: tuple[Setup, ...]

    @property
    def ids(self) -> list[int]:
        return [setup.pk for setup in self.setups]

    @property
    def graph_state(self) -> PromptGraphState:
        """The state of the graph that the setups were made with; if unknown, that of their mark."""
        graph, _, gold = str(origin_of(self.setups[0]).get("retrieval", "")).partition("|gold:")
        if graph:
            return PromptGraphState(graph, gold or None)
        kind = kind_of(self.prompt)
        if kind and kind.accuracy < 100:  # its mark covers the graph and the gold entities
            return PromptGraphState(None, self.graph_mark)
        return PromptGraphState(self.graph_mark, None)

    @property
    def columns(self) -> GroupColumns:
        """The columns of a row that describe these runs."""
        of_setup = setup_columns(self.setups[0])
        seeds = map(seed_of, self.setups)
        return GroupColumns(
            group=self.key,
            label=self._label,
            model=self.model,
            model_precision=self.precision,
            temperature=self.temperature,
            prompt=self.prompt,
            prompt_title=of_setup.prompt_title,
            graph=of_setup.graph,
            graph_mark=self.graph_mark,
            other_settings=", ".join(f"{k}={v}" for k, v in sorted(self.other_settings.items())),
            seeds=", ".join(str(seed) for seed in seeds if seed is not None),
            setup_ids=self.ids,
            n_runs=len(self.setups),
        )

    @property
    def _label(self) -> str:
        """The model as in the paper's tables, 'ChatGPT (0.5)'; the setup's name without a model."""
        if not self.model:
            return self.setups[0].name
        if self.temperature is None:
            return self.model
        return f"{self.model} ({temperature_text(self.temperature)})"


def seeded_runs(dataset: Dataset, graphs: Collection[str] = TABLES) -> list[SeededRuns]:
    """Return the groups of a dataset's setups that show a whole graph, in one query.

    Setups of a group have the same model, precision, temperature, prompt and settings. Prompts that
    remove knowledge or replace sub-graphs are left out. Setups whose prompt is not about a graph
    are included, because only their responses can show whether there was a graph. A setup of which
    only the name is known is a group of its own.

    Args:
        dataset: the dataset.
        graphs: the kinds of graphs, values of `PromptType.graph`. If one of the usual kinds is
            missing, prompts that are not about a graph are left out.
    """

    def is_asked_for(prompt: str) -> bool:
        kind = kind_of(prompt)
        if kind is None or kind.graph is None:
            return set(graphs) >= TABLES
        return kind.graph in graphs and not kind.lacks_knowledge

    return grouped(dataset, is_asked_for)


def grouped(dataset: Dataset, is_asked_for: Callable[[str], bool]) -> list[SeededRuns]:
    """Return the groups of setups whose prompt is asked for, by model, in one query."""
    groups: dict[str, list[Setup]] = defaultdict(list)
    for setup in sorted(dataset.setups.all(), key=_by_seed):
        if is_asked_for(setup.prompt):
            groups[_digest(_shared(setup))].append(setup)
    found = [_runs(key, setups) for key, setups in groups.items()]
    return sorted(found, key=_in_order)


def _by_seed(setup: Setup) -> tuple[float, str]:
    seed = setup.settings.get("seed")
    return seed if isinstance(seed, int | float) else -math.inf, setup.name


def _in_order(group: SeededRuns) -> tuple[str, float, str, str]:
    first = min(setup.name for setup in group.setups)
    return group.model, group.temperature or 0.0, group.prompt, first


def kind_of(prompt: str) -> PromptType | None:
    """Return the type of a prompt, or None when it is not one of the prompt types."""
    try:
        return prompt_type(prompt)
    except ValueError:
        return None


def _runs(key: str, setups: list[Setup]) -> SeededRuns:
    first = setups[0]
    settings = setup_content(first)["settings"]
    return SeededRuns(
        key=key,
        family=_digest(_shared_by_family(first)),
        model=first.model,
        precision=str(settings.get("precision", "")),
        temperature=first.temperature,
        prompt=first.prompt,
        graph_mark=str(settings.get("graph", "")),
        other_settings={k: v for k, v in settings.items() if k not in _SHOWN_APART},
        setups=tuple(setups),
    )


def _shared(setup: Setup) -> dict[str, Any]:
    """Return the choices that all runs of a group share: everything but seed and run."""
    content = setup_content(setup)
    settings = {k: v for k, v in content["settings"].items() if k != "seed"}
    shared = content | {"run": "", "settings": settings, "made_with": origin_of(setup)}
    return shared if setup.model else shared | {"name": setup.name}


def _shared_by_family(setup: Setup) -> dict[str, Any]:
    """Return the choices that a family shares: everything but seed, run, prompt and its graph."""
    shared = _shared(setup)
    settings = {k: v for k, v in shared["settings"].items() if k != "graph"}
    made_with = {k: v for k, v in shared["made_with"].items() if k != "retrieval"}
    return shared | {"prompt": "", "settings": settings, "made_with": made_with}


def _digest(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:8]

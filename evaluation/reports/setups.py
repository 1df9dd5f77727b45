"""Names of setups in reports and on pages: the facts of each, and its difference from others."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Annotated, Any, Protocol

from evaluation.reports.columns import Column
from evaluation.reports.local_ids import SetupId
from evaluation.reports.report import ReportRow
from generation.grids.cells import USUAL_SETTINGS
from generation.grids.prompt_choices import PromptError, choices_of, draws
from generation.models import Setup
from generation.text.prompt_types import prompt_type
from generation.text.temperatures import temperature_text

BETWEEN_PARTS = " · "  # separates the parts of a setup's name


class SetupFacts(Protocol):
    """Any object about a setup that has the setup's name, model and temperature."""

    @property
    def setup(self) -> str: ...  # the setup's name
    @property
    def model(self) -> str: ...
    @property
    def temperature(self) -> float | None: ...


def short_names(rows: Sequence[SetupFacts]) -> dict[str, str]:
    """Return a short name of each setup for tables: the parts in which the names differ.

    For example, setups named 'model · T 0.0 · golden' that differ only in the temperature get the
    name 'T 0.0'.
    """
    by_setup = {row.setup: row for row in rows}
    temperatures = {
        setup: row.temperature for setup, row in by_setup.items() if row.temperature is not None
    }
    is_alike = len({row.model for row in by_setup.values()}) == 1
    if is_alike and len(set(temperatures.values())) == len(by_setup) > 1:
        return {setup: f"T {temperature_text(each)}" for setup, each in temperatures.items()}
    parts = {setup: setup.split(BETWEEN_PARTS) for setup in by_setup}
    if len(parts) < 2 or len({len(of_setup) for of_setup in parts.values()}) > 1:
        return {setup: setup for setup in by_setup}
    differs = [len(set(column)) > 1 for column in zip(*parts.values(), strict=True)]
    return {
        setup: BETWEEN_PARTS.join(compress(of_setup, differs)) for setup, of_setup in parts.items()
    }


def seed_of(setup: Setup) -> Any:
    """Return the seed of responses; None if it is not known or nothing was drawn.

    A setup whose responses were made here does not store settings that have their usual value.
    """
    said = setup.settings.get("seed")
    if said is None and setup.made_with and (setup.temperature or _is_drawn(setup)):
        return USUAL_SETTINGS["seed"]
    return said


def _is_drawn(setup: Setup) -> bool:
    """Return whether the content of a setup's prompts depends on the seed."""
    try:
        return draws(choices_of(setup))
    except PromptError:
        return False


@dataclass(frozen=True, kw_only=True)
class SetupColumns(ReportRow):
    """The facts of a setup: the columns of every row about one."""

    setup: Annotated[str, Column("Setup")]  # the setup's name
    setup_id: SetupId
    model: str
    temperature: float | None
    prompt: str
    prompt_title: str
    graph: str  # the graph that was shown; "" for none
    seed: Any  # a number, or the text that a file gives
    run: str


def setup_columns(setup: Setup) -> SetupColumns:
    """Return the facts of a setup: model, temperature, prompt, graph shown, seed, run."""
    try:
        kind = prompt_type(setup.prompt)
    except ValueError:
        kind = None
    return SetupColumns(
        setup=setup.name,
        setup_id=setup.pk,
        model=setup.model,
        temperature=setup.temperature,
        prompt=setup.prompt,
        prompt_title=kind.title if kind else setup.prompt,
        graph=(kind.graph if kind else None) or "",
        seed=seed_of(setup),
        run=setup.run,
    )

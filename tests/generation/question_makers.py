"""Datasets, grids over them, and a model that keeps the prompts that it was sent."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from generation.backends.base import Completion, Decoding, Prompt
from generation.grids.grid_file import GridChoices, of_data
from generation.models import Dataset, Grid
from generation.services.grid_chunks import GRID_CHUNKS
from generation.services.grids import request_grid, start_grid
from generation.services.planning import PLANNINGS
from tests.makers import example_row, import_rows

LOGGING = "noting"


class Noting:
    """A model that says 'Answer.' and keeps prompts and decodings; `on_call` may do more."""

    revision, device = "", "cpu"

    def __init__(self, on_call: Callable[[int], str] = lambda n: "") -> None:
        """Make a model.

        Args:
            on_call: takes the number of the call, from 1, and returns its problem, or ''.
        """
        self.signature = "noting|v:1"
        self.files: dict[str, str] = {}
        self.asked: list[tuple[str, Decoding]] = []
        self.on_call = on_call

    def complete(self, prompts: Sequence[Prompt], decoding: Decoding) -> Iterator[Completion]:
        for prompt in prompts:
            self.asked.append((prompt.text, decoding))
            problem = self.on_call(len(self.asked))
            text = "" if problem else " Answer. [eot] 5 4 0 More?"
            yield Completion(text, problem, n_prompt_tokens=100, n_tokens=10)


def dataset_of(folder: Path, n: int, **more: Any) -> Dataset:
    """Return a dataset of examples e1, e2, …, each with one golden passage."""
    rows = [example_row(f"e{number}", golden_answer="Yes.") for number in range(1, n + 1)]
    outcome = import_rows(folder, examples=rows, **more)
    assert outcome.dataset
    return outcome.dataset


def grid_of(name: str = "grid", model: str = LOGGING, **more: Any) -> GridChoices:
    """Return a grid of one prompt type at temperature 0, unless said otherwise."""
    usual = {"prompts": ["golden"], "temperatures": [0.0], "models": [{"name": model}]}
    return of_data({"name": name} | usual | more)


def started(dataset: Dataset, choices: GridChoices) -> Grid:
    """Return the grid of these choices, planned and started."""
    grid = request_grid(dataset, choices, None)
    PLANNINGS.claim_and_do(grid.pk)
    start_grid(grid, None)
    grid.refresh_from_db()
    return grid


def ask(grid: Grid) -> Grid:
    """Work off the chunks that a grid has left, as a worker does, and return the grid."""
    while claim := GRID_CHUNKS.claim_next(grid):
        GRID_CHUNKS.do(claim)
    grid.refresh_from_db()
    return grid

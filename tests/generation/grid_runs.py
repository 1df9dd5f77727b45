"""Grids in every state, planned and asked by the workers' code, but in the test's own process."""

from pathlib import Path
from typing import Any

from accounts.models import User
from generation.grids.grid_file import of_data
from generation.models import Dataset, Grid, GridChunk
from generation.services.grid_chunks import GRID_CHUNKS
from generation.services.grids import request_grid, start_grid
from generation.services.planning import PLANNINGS
from tests.makers import import_rows


def valley(folder: Path, n: int = 3, name: str = "valley") -> Dataset:
    """Import a dataset of n examples; all but the first have golden evidence."""

    def example(number: int) -> dict[str, Any]:
        passage = {"id": f"p{number}", "text": f"Mill {number} closed in {1900 + number}."}
        turns = [
            {"speaker": "user", "text": f"Who built mill {number}?"},
            {"speaker": "assistant", "text": "Monks did."},
            {"speaker": "user", "text": f"When did mill {number} close?"},
        ]
        evidence = [passage | ({"golden": True} if number else {})]
        return {"id": f"e{number}", "turns": turns, "evidence": evidence}

    outcome = import_rows(folder / name, name, examples=[example(number) for number in range(n)])
    assert outcome.dataset is not None
    return outcome.dataset


def requested(dataset: Dataset, user: User | None = None, **choices: Any) -> Grid:
    """Request a grid over a dataset: two setups of the extractive model, unless `choices` differ.

    One of the setups leaves out an example that has no golden evidence.
    """
    usual = {
        "name": f"grid of {dataset.name}",
        "models": [{"name": "extractive"}],
        "prompts": ["no-evidence", "golden"],
        "temperatures": [0.0],
    }
    return request_grid(dataset, of_data(usual | choices), user)


def planned(dataset: Dataset, user: User | None = None, **choices: Any) -> Grid:
    """Return a planned grid that waits to be started."""
    grid = requested(dataset, user, **choices)
    PLANNINGS.claim_and_do(grid.pk)
    grid.refresh_from_db()
    return grid


def started(dataset: Dataset, user: User | None = None, **choices: Any) -> Grid:
    """Return a grid that waits for a worker."""
    grid = planned(dataset, user, **choices)
    assert start_grid(grid, user)
    grid.refresh_from_db()
    return grid


def work(grid: Grid, n_chunks: int | None = None) -> Grid:
    """Ask the first chunks of a grid, or all of them, as a worker does."""
    waiting = GridChunk.objects.filter(grid=grid, state="queued")
    for pk in list(waiting.order_by("number").values_list("pk", flat=True))[:n_chunks]:
        if claim := GRID_CHUNKS.claim(pk):
            GRID_CHUNKS.do(claim)
    grid.refresh_from_db()
    return grid


def done(dataset: Dataset, user: User | None = None, **choices: Any) -> Grid:
    """Return a grid that is done."""
    return work(started(dataset, user, **choices))


def failed_in_part(dataset: Dataset, user: User | None = None) -> Grid:
    """Return a grid whose prompts do not fit their budget, so that each call has failed."""
    return done(dataset, user, name="too small", budget=3)

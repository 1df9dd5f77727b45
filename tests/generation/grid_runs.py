"""Grids in every state, planned and asked in the test's own process by the code of the workers."""

from pathlib import Path
from typing import Any

from accounts.models import User
from generation.grids.grid_file import of_data
from generation.models import Dataset, Experiment, ExperimentChunk
from generation.services.experiment_chunks import claim_grid_chunk, generate_chunk
from generation.services.experiments import make_plan, request_experiment, start_experiment
from tests.makers import import_rows


def valley(folder: Path, n: int = 3, name: str = "valley") -> Dataset:
    """Import a dataset of n examples; the first has no golden evidence, the others have."""

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


def requested(dataset: Dataset, user: User | None = None, **grid: Any) -> Experiment:
    """Ask for a grid over a dataset: two setups of the extractive model, unless it says otherwise.

    Without golden evidence one of them leaves an example out.
    """
    usual = {
        "name": f"grid of {dataset.name}",
        "models": [{"name": "extractive"}],
        "prompts": ["no-evidence", "golden"],
        "temperatures": [0.0],
    }
    return request_experiment(dataset, of_data(usual | grid), user)


def planned(dataset: Dataset, user: User | None = None, **grid: Any) -> Experiment:
    """Return a grid that waits to be started."""
    experiment = requested(dataset, user, **grid)
    make_plan(experiment.pk)
    experiment.refresh_from_db()
    return experiment


def started(dataset: Dataset, user: User | None = None, **grid: Any) -> Experiment:
    """Return a grid that waits for a worker."""
    experiment = planned(dataset, user, **grid)
    assert start_experiment(experiment, user)
    experiment.refresh_from_db()
    return experiment


def work(experiment: Experiment, n_chunks: int | None = None) -> Experiment:
    """Ask the first chunks of a grid, or all of them, as a worker does."""
    waiting = ExperimentChunk.objects.filter(experiment=experiment, state="queued")
    for pk in list(waiting.order_by("number").values_list("pk", flat=True))[:n_chunks]:
        if claim := claim_grid_chunk(pk):
            generate_chunk(claim)
    experiment.refresh_from_db()
    return experiment


def done(dataset: Dataset, user: User | None = None, **grid: Any) -> Experiment:
    """Return a grid that has come to its end."""
    return work(started(dataset, user, **grid))


def failed_in_part(dataset: Dataset, user: User | None = None) -> Experiment:
    """Return a grid whose prompts do not fit their budget, so that each call has failed."""
    return done(dataset, user, name="too small", budget=3)

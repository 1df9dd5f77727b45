"""A small real language model in the demo, where `make small-models` has fetched it.

It is listed, and a grid about the demo's dialogs is planned, so that you only need to start it.
"""

from pathlib import Path

from django.conf import settings

from evaluation.exchange.demo_files import DATASET
from evaluation.runs.services.checkpoints import CallLimits, CheckpointError, add_checkpoint
from generation.grids.grid_file import GridChoices, GridError, GridModel
from generation.models import Checkpoint, Dataset, Grid
from generation.services.grid_chunks import GRID_CHUNKS
from generation.services.grids import GridChangeError, OutgrownPlan, request_grid, start_grid
from generation.services.planning import PLANNINGS

NAME = "SmolLM2-135M"
FOLDER = settings.BASE_DIR / "var" / "models" / "smollm2-135m-instruct"
GRID = GridChoices(
    f"{DATASET}: a small language model",
    (GridModel(NAME),),
    prompts=("no-evidence", "golden"),
    temperatures=(0.0,),
    max_tokens=(64,),
)
FETCH_IT = "No small model is there. Run `make small-models` first."


class NoSmallModel(Exception):
    """The small model or its grid cannot be used. The message says why."""


def offer_small_model(folder: Path = FOLDER) -> Grid | None:
    """List the model in a folder and plan its grid. Return the grid; None: there is no model.

    What is there already is left alone, so that a second call changes nothing.

    Raises:
        NoSmallModel: the folder has no whole model, or you have another grid of that name.
    """
    dataset = Dataset.objects.filter(name=DATASET).first()
    if dataset is None or not folder.is_dir():
        return None
    try:
        if not Checkpoint.objects.filter(name=NAME).exists():
            location = str(folder.resolve())
            add_checkpoint(NAME, location, None, limits=CallLimits(), backend="language-model")
        grid = request_grid(dataset, GRID, None)
    except (CheckpointError, GridError, GridChangeError) as error:
        raise NoSmallModel(f"The small model is not offered. {error}") from error
    PLANNINGS.claim_and_do(grid.pk)
    return grid


def start_small_model(grid: Grid | None) -> None:
    """Start the grid of the small model. Workers ask it; a grid that was started is left alone.

    Raises:
        NoSmallModel: there is no model, or the grid cannot be started.
    """
    if grid is None:
        raise NoSmallModel(FETCH_IT)
    try:
        start_grid(grid, None)
    except (GridError, OutgrownPlan) as error:
        raise NoSmallModel(f"The small model was not started. {error}") from error
    GRID_CHUNKS.send_waiting(grid=grid)

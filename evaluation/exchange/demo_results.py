"""The part of the demo that takes longer: answers, scores, re-rankings and graph experiments.

It asks and scores with the services behind the pages, so each step is a grid or a run in its list.
A step that was interrupted goes on, and a step that is done changes nothing. When all are done, the
audit trail says so, and the demo's data are left to the people who use them.
"""

import io
from collections.abc import Iterator

from accounts.models import AuditEntry
from accounts.services import record
from evaluation.exchange.demo_files import DATASET, GRAPH_DATASET
from evaluation.exchange.written_responses import SHOWN_TO, import_written_responses
from evaluation.graphs.experiments.services import (
    ExperimentPlan,
    ScoringPlan,
    answers_of,
    grid_of,
    scoring_plans,
)
from evaluation.measures.reranking import MAX_ATTRIBUTION, SENSIBLE_FIRST, WEIGHTED
from evaluation.models import MetricRun
from evaluation.runs.choices import plan_of
from evaluation.runs.command import requested_here, score_here
from evaluation.runs.plan import RunPlan
from evaluation.tradeoffs.axes import Axes, of_run
from evaluation.tradeoffs.pools import usual_pools
from evaluation.tradeoffs.recipes import recipe_of
from evaluation.tradeoffs.services.reranking import rerank
from generation.grids.grid_file import GridChoices, GridModel
from generation.grids.recipe import recipe_grid
from generation.grids.restricted_context import restricted_grid
from generation.management.asking_command import AskingCommand
from generation.management.grid_commands import ask_grid
from generation.model_specs import ModelSpec
from generation.models import Dataset, Grid

COMPLETED = "demo.completed"  # in the audit trail, with the dataset's id
EXTRACTIVE = GridModel(SHOWN_TO)
K1, K2 = 5, 2  # the recipe: the first five passages, one and two at a time
# With its usual threshold the heuristic says yes to every whole sentence, which alone gives 0.67.
# Above 0.7 a response also has to share words with the last turns.
SENSIBLE_FROM = 0.7
WEIGHTS = 0.5, 0.5
LEXICAL = ModelSpec("lexical")


def is_complete() -> bool:
    """Return whether all of this was done for the demo's dataset, or the dataset was deleted."""
    dataset = Dataset.objects.filter(name=DATASET).values_list("pk", flat=True).first()
    done = AuditEntry.objects.filter(action=COMPLETED, details__dataset=dataset)
    return dataset is None or done.exists()


def complete(command: AskingCommand) -> None:
    """Do what is left of the demo, here and now. Workers may help. No model is asked.

    Args:
        command: the command that does it. Progress and reasons of failures go to its error output.

    Raises:
        CommandError: a grid or a run failed, or was cancelled or deleted by a user.
    """
    if is_complete():
        return
    dataset = Dataset.objects.get(name=DATASET)
    _ask(command, dataset, GridChoices(f"{DATASET}: twelve prompt types", (EXTRACTIVE,)))
    import_written_responses(dataset)
    _ask(command, dataset, restricted_grid(f"{DATASET}: restricted context", SHOWN_TO))
    recipe = _ask(command, dataset, recipe_grid(f"{DATASET}: recipe", SHOWN_TO, K1, K2))
    runs = [_scored(command, dataset, plan) for plan in _plans()]
    _rerank(dataset, Axes(*map(of_run, runs[-2:])), recipe)
    _experiment(command)
    record(None, COMPLETED, DATASET, dataset=dataset.pk)


def _ask(command: AskingCommand, dataset: Dataset, choices: GridChoices) -> Grid:
    return ask_grid(command, dataset, choices, io.StringIO())


def _plans() -> Iterator[RunPlan]:
    """Yield the runs over the dataset. The last two are the axes, and re-rank."""
    # Another model of the same metric judges what the axes have chosen.
    yield plan_of("auto_ais", LEXICAL, evidence="golden")
    # The raters of the studies judge by the evidence that was shown.
    yield plan_of("auto_ais", evidence="shown")
    yield plan_of("auto_ais", evidence="golden")
    yield plan_of("sensible", threshold=SENSIBLE_FROM)


def _scored(command: AskingCommand, dataset: Dataset, plan: RunPlan) -> MetricRun:
    run = requested_here(command, dataset, plan, dataset.responses.filter(chosen_from=None))
    score_here(run, command.stderr)
    run.refresh_from_db()  # its signature now names what has scored
    return run


def _rerank(dataset: Dataset, axes: Axes, recipe_asked: Grid) -> None:
    for pool in usual_pools(dataset.setups.answered()):
        for function in (MAX_ATTRIBUTION, SENSIBLE_FIRST):
            rerank(dataset, axes, pool.setups, function)
        rerank(dataset, axes, pool.setups, WEIGHTED, WEIGHTS)
    if recipe := recipe_of(recipe_asked):
        rerank(dataset, axes, recipe.pool, SENSIBLE_FIRST, recipe=recipe.numbers)


def _experiment(command: AskingCommand) -> None:
    """Ask and score the experiments on the demo's graph: removal, accuracy and citations."""
    dataset = Dataset.objects.filter(name=GRAPH_DATASET).first()
    if dataset is None:
        return
    for key in ("removal", "accuracy", "citations"):
        _ask(command, dataset, grid_of(dataset, ExperimentPlan(key, (EXTRACTIVE,))))
    for key in ("removal", "citations"):
        for plan in scoring_plans(key, ScoringPlan(LEXICAL)):
            run = requested_here(command, dataset, plan, answers_of(dataset, key))
            score_here(run, command.stderr)

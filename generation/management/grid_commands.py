"""Shared parts of commands that ask language models: plan a grid, start it, make its calls.

The same command goes on with a grid that was stopped. A call that has a response is not made again.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from django.core.management.base import CommandError

from generation.grids.grid_file import GridChoices, GridError
from generation.grids.plan import GridPlan, PlanRow, needs_yes, plan_of, planned
from generation.grids.progress import GridProgress, grids_progress
from generation.grids.prompt_choices import PromptError
from generation.limits import LONGEST_NAME
from generation.management.asking_command import AskingCommand
from generation.management.interrupts import first_ctrl_c_waits
from generation.models import Call, Dataset, Grid
from generation.progress import progress_of_work
from generation.services.grid_chunks import GRID_CHUNKS
from generation.services.grids import (
    GridChangeError,
    OutgrownPlan,
    cancel_grid,
    checked_sample,
    request_grid,
    resume_grid,
    retry_failed,
    start_grid,
)
from generation.services.planning import PLANNINGS
from generation.services.record_keys import digest
from work.amounts import UNDEFINED, about

WAITS_SECONDS = 0.5  # between checks, while a worker has the rest
MAX_LISTED = 10  # reasons that are printed at most
COLUMNS = ("calls", "already there", "left out", "prompt tokens", "new tokens ≤", "cost ≤")
_WIDTH = 13  # characters of a column of numbers
_HASH = 8  # characters of the hash in a name


def with_name(grid: GridChoices, name: str, usual: GridChoices) -> GridChoices:
    """Return a grid with a name that no other grid has. The same content gets the same name.

    Args:
        name: the name of the usual grid, by which people find it. For other grids a hash is added.
        usual: the grid when nothing was chosen.
    """
    is_usual = grid._replace(name="") == usual._replace(name="")
    if not is_usual or len(name) > LONGEST_NAME:
        hashed = digest([name, grid._replace(name="").as_data()])[:_HASH]
        name = f"{name[: LONGEST_NAME - _HASH - 2]}, {hashed}"
    return grid._replace(name=name)


def print_plan(dataset: Dataset, choices: GridChoices, stdout: Any) -> None:
    """Print the plan of a grid, and store nothing.

    Raises:
        CommandError: the grid cannot be asked.
    """
    try:
        sample = checked_sample(dataset, choices)
        plan = planned(Grid(dataset=dataset, sample=sample, choices=choices.as_data()))
    except (GridError, PromptError, GridChangeError) as error:
        raise CommandError(f"{error}\nNothing was asked.") from error
    _print(plan, stdout)


def ask_grid(
    command: AskingCommand,
    dataset: Dataset,
    choices: GridChoices,
    stdout: Any,
    *,
    is_retrying: bool = False,
) -> Grid:
    """Make all calls that a grid has left, here and now. Return the grid, which is done.

    The plan and a line about the result are printed. If the plan needs a model, the user is asked
    for a yes first. Progress and reasons of failures go to the command's standard error. Ctrl-C
    cancels the grid after the calls in progress are finished. After a second Ctrl-C, those calls
    have to be made again later.

    Args:
        command: the command that asks.
        is_retrying: whether to repeat calls that have failed before.

    Raises:
        CommandError: the user says no, or the grid cannot be asked, failed, was cancelled, or was
            deleted.
    """
    try:
        grid = request_grid(dataset, choices, None)
        if grid.cells.exists():
            _go_on(command, grid, is_retrying=is_retrying)
        else:
            _start(command, grid, stdout)
    except (GridError, PromptError, GridChangeError) as error:
        raise CommandError(f"{error}\nNothing was asked.") from error
    stdout.write(_asked_here(grid, command.stderr))
    return grid


def _start(command: AskingCommand, grid: Grid, stdout: Any) -> None:
    """Plan a grid, show its plan, and start it if the user wants that.

    If it was planned when there was less to ask, it is planned again.

    Raises:
        CommandError: it cannot be planned, or the user says no. Then it stays planned.
        GridError, GridChangeError: it cannot be asked.
    """
    resume_grid(grid, None)
    while plan := _plan_made(grid):
        _print(plan, stdout)
        if plan.total.n_calls and needs_yes(grid):
            command.confirm_lines()
        try:
            start_grid(grid, None)
            return
        except OutgrownPlan as error:
            command.stderr.write(str(error))


def _go_on(command: AskingCommand, grid: Grid, *, is_retrying: bool) -> None:
    """Have a grid that was started go on, if the user wants that.

    Raises:
        CommandError: the user says no.
    """
    progress = _progress(grid)
    n_calls = progress.n_left + (progress.n_failed if is_retrying else 0)
    is_stopped = grid.state in (Grid.State.CANCELLED, Grid.State.FAILED)
    if n_calls and (is_stopped or is_retrying) and needs_yes(grid):
        command.confirm_lines([f"{grid} has {n_calls:,} of {progress.n_calls:,} calls to make."])
    resume_grid(grid, None)
    if is_retrying:
        retry_failed(grid, None)


def _print(plan: GridPlan, stdout: Any) -> None:
    for line in _lines(plan):
        stdout.write(line)


def _plan_made(grid: Grid) -> GridPlan | None:
    """Plan a grid if it waits for that, and return its plan.

    Raises:
        CommandError: it cannot be planned.
    """
    PLANNINGS.claim_and_do(grid.pk)
    grid.refresh_from_db()
    if grid.state == Grid.State.FAILED:
        raise CommandError(f"{grid.error}\nNothing was asked.")
    return plan_of(grid)


def _lines(plan: GridPlan) -> Iterator[str]:
    """Yield the lines of a plan's table, and notes on it."""
    models = list(dict.fromkeys(row.model for row in plan.rows))
    width = max(len(_title(row)) for row in (*plan.rows, plan.total))
    yield f"{plan.n_examples:,} examples, {plan.total.n_setups:,} setups of {', '.join(models)}"
    yield " ".join([" " * width, *(column.rjust(_WIDTH) for column in COLUMNS)])
    for row in (*plan.rows, plan.total):
        numbers = row.n_calls, row.n_there, row.n_left_out, row.n_prompt_tokens
        cells = [*(f"{number:,}" for number in numbers), f"{row.n_completion_tokens:,}"]
        cells.append(UNDEFINED if row.cost is None else f"{row.cost:,.2f} {plan.currency}")
        yield " ".join([_title(row).ljust(width), *(cell.rjust(_WIDTH) for cell in cells)])
    if plan.seconds is None:
        yield f"Time: {UNDEFINED}. No finished grid of one of these models alone shows its speed."
    else:
        yield f"Time: {about(plan.seconds)}, at the speed of the last grids of each model alone."
    if plan.is_estimated:
        yield f"Tokens are estimated, from at most {plan.n_counted:,} examples for each setup."
    if n := plan.total.n_widened:
        yield (
            f"{n:,} of the calls show more passages than their type says, because that many are "
            "golden."
        )
    if n := plan.total.n_incomplete:
        yield f"{n:,} of the calls are about questions with entities that are not in the graph."
    if n := plan.total.n_removing_less:
        yield (
            f"{n:,} of the calls remove less than their type says, because the graph has no more "
            "of the minimum set."
        )
    if n := plan.total.n_unmade:
        yield (
            f"{n:,} of the calls will fail, because there is no passage for them or no room in "
            "the prompt."
        )


def _title(row: PlanRow) -> str:
    form = f" · {row.form}" if row.form != "native" else ""
    return f"{row.model} · {row.prompt}{form}" if row.model else "total"


def _asked_here(grid: Grid, stderr: Any) -> str:
    """Make the calls that a grid has left, and return a line about the result.

    Ctrl-C cancels the grid after the calls in progress are finished. After a second Ctrl-C, those
    calls have to be made again later.

    Raises:
        CommandError: the grid failed, was cancelled, or was deleted.
    """
    try:
        with first_ctrl_c_waits(stderr.write) as is_stopping:
            _ask(grid, stderr, is_stopping)
    except KeyboardInterrupt:
        cancel_grid(grid, None)
        progress = _progress(grid)
        raise CommandError(
            f"Stopped: {progress.n_done:,} of {progress.n_calls:,} calls are answered. "
            "Run the same command again to go on from there.",
            returncode=130,
        ) from None
    return _outcome(_progress(grid), stderr)


def _ask(grid: Grid, stderr: Any, is_stopping: Callable[[], bool]) -> None:
    """Make the calls of a grid, chunk by chunk, while it is running. Workers may help.

    Raises:
        KeyboardInterrupt: the user has pressed Ctrl-C.
    """
    still_running = Grid.objects.filter(pk=grid.pk, state=Grid.State.RUNNING)

    def done() -> tuple[int, float]:
        progress = _progress(grid)
        return progress.n_calls - progress.n_left, progress.share

    with progress_of_work(f"Asking for {grid}", stderr, "calls", done) as show:
        while still_running.exists():
            if is_stopping():
                raise KeyboardInterrupt
            claim = GRID_CHUNKS.claim_next(grid)
            if claim:
                GRID_CHUNKS.do(claim, lambda: show() and not is_stopping())
            else:
                GRID_CHUNKS.end_finished()
                time.sleep(WAITS_SECONDS)
            show()


def _outcome(progress: GridProgress, stderr: Any) -> str:
    """Print why calls failed, and return the line about a grid that is done.

    Raises:
        CommandError: the grid is not done.
    """
    grid = progress.grid
    failed = Call.objects.filter(grid=grid, response=None)
    reasons = Counter(failed.values_list("problem", flat=True))
    for reason, n in reasons.most_common(MAX_LISTED):
        stderr.write(f"{n:,} failed: {reason}")
    if len(reasons) > MAX_LISTED:
        stderr.write(f"... and {len(reasons) - MAX_LISTED:,} more reasons")
    answered = f"{progress.n_done:,} of {progress.n_calls:,} calls answered"
    if progress.n_empty:
        answered += f" ({progress.n_empty:,} with an empty response)"
    if grid.state != Grid.State.DONE:
        raise CommandError(f"{grid.error or 'Another user cancelled the grid.'}\n{answered}.")
    cost = "" if progress.cost is None else f", {progress.cost:,.2f} {progress.currency}"
    return (
        f"{grid}: {answered}, {progress.n_failed:,} failed, "
        f"{progress.n_tokens_in:,} tokens in, {progress.n_tokens_out:,} out{cost}."
    )


def _progress(grid: Grid) -> GridProgress:
    found = grids_progress(Grid.objects.filter(pk=grid.pk))
    if not found:
        raise CommandError("Another user deleted the grid while the command was working.")
    return found[0]

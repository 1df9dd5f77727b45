"""Changes of grids: requests, plans, starts, cancellations, resumptions, retries and deletions.

Nothing here sends work to a queue; `generation.tasks.send` does.
"""

from collections.abc import Iterable, Mapping, Sequence

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef

from accounts.models import User
from accounts.services import record as record_in_audit_trail
from accounts.services import set_archived
from generation.batches import lots
from generation.call_plan import CallPlan, CallRow
from generation.grids.cells import GridCell, cells, cells_about, check_setups
from generation.grids.grid_file import GridChoices, GridError, of_data
from generation.grids.plan import GridExamples, examples_of, needs_yes, plan_of
from generation.grids.progress import grids_progress
from generation.models import (
    Call,
    Dataset,
    Grid,
    GridChunk,
    GridSetup,
    Planning,
    Response,
    Sample,
    Setup,
)
from generation.services.grid_chunks import GRID_CHUNKS
from generation.services.responses import store_setups
from work.claims import again, with_a_worker

MOST_CHUNKS = 20  # chunks of a small grid; more if it has many setups
SMALLEST_CHUNK, LARGEST_CHUNK = 5, 100  # examples
SAVED_TOGETHER = 1000
State = Grid.State


class GridChangeError(Exception):
    """A change to a grid that is refused; the message says why."""


class OutgrownPlan(GridChangeError):
    """A grid has more to ask than its plan says, which a person has looked at."""


# --- requests -------------------------------------------------------------------------------


@transaction.atomic
def request_grid(dataset: Dataset, choices: GridChoices, user: User | None) -> Grid:
    """Return the grid of these choices; if there is none, create it for a worker to plan.

    It is safe to call this twice, also at the same time: the same choices under the same name are
    the same grid. Choices that name no form also mean a grid of their name in whatever form, since
    grids made before there were forms name the native one.

    Raises:
        GridError: a model, the sample or the one-shot example does not exist.
        GridChangeError: another grid has its name.
    """
    sample = checked_sample(dataset, choices)
    there = Grid.objects.filter(name=choices.name).first()
    if there is None:
        try:
            with transaction.atomic():
                return _new(dataset, choices, sample, user)
        except IntegrityError:  # another process stored it first
            there = Grid.objects.get(name=choices.name)
    named = there.choices if choices.form else {**there.choices, "form": None}
    if there.dataset_id != dataset.pk or named != {"form": None} | choices.as_data():
        raise GridChangeError(
            f"Another grid is named “{choices.name}”, about the dataset {there.dataset.name}. "
            "Choose another name, or delete that grid."
        )
    return there


def checked_sample(dataset: Dataset, choices: GridChoices) -> Sample | None:
    """Return the sample that choices name; None: they ask about all examples.

    Raises:
        GridError: a model, the one-shot example or the sample does not exist, or the sample is not
            ready.
    """
    cells(choices)
    if choices.one_shot and not dataset.examples.filter(key=choices.one_shot).exists():
        raise GridError("one_shot", repr(choices.one_shot), f"an example of {dataset.name}")
    if not choices.sample:
        return None
    sample = dataset.samples.filter(name=choices.sample).first()
    if sample is None:
        raise GridError("sample", repr(choices.sample), f"a sample of {dataset.name}")
    if sample.state != Sample.State.DONE:
        raise GridError(
            "sample", f"{choices.sample!r}, which is {sample.state}", "one that is ready"
        )
    return sample


def _new(dataset: Dataset, choices: GridChoices, sample: Sample | None, user: User | None) -> Grid:
    grid = Grid.objects.create(
        dataset=dataset,
        name=choices.name,
        sample=sample,
        choices=choices.as_data(),
        requested_by=user,
    )
    Planning.objects.create(grid=grid)
    _record(user, "grid.requested", grid)
    return grid


# --- changes --------------------------------------------------------------------------------


def start_grid(grid: Grid, user: User | None) -> bool:
    """Start a planned grid; return whether it was waiting to be started.

    Examples that have a response by now are not asked about. Calls that failed before, in another
    grid, are made; in that grid they stay failed until they are answered.

    Raises:
        OutgrownPlan: examples were added since the plan was made; it is planned again instead.
        GridError: a model is not available any more, or a setup of the same name has other content.
    """
    # This is outside of the transaction, because identifying the graph may take long.
    all_cells = cells_about(grid.dataset, of_data(grid.choices))
    with transaction.atomic():
        grid = _locked(grid)
        if grid.state != State.PLANNED:
            return False
        asked = GridExamples(grid.dataset, examples_of(grid.dataset, grid.sample))
        to_ask = [asked.to_ask(cell) for cell in all_cells]
        plan = plan_of(grid)
        if plan and plan.has_room_for(zip(all_cells, map(len, to_ask), strict=True)):
            _start(grid, all_cells, to_ask, user)
            return True
        _plan_again(grid)
        _record(user, "grid.replanned", grid)
    raise OutgrownPlan(
        f"There is now more to ask than the plan of “{grid.name}” says. Nothing was asked, and the "
        "grid is planned again."
    )


@transaction.atomic
def cancel_grid(grid: Grid, user: User | None) -> bool:
    """Stop a grid that is being planned or asked; return whether it was going on.

    Its responses stay, and the answers of calls in flight are stored.
    """
    if not GRID_CHUNKS.cancel(grid):
        return False
    _record(user, "grid.cancelled", grid)
    return True


@transaction.atomic
def resume_grid(grid: Grid, user: User | None) -> bool:
    """Go on with a grid that was cancelled or failed; return whether it was.

    A grid that was never started is planned (again).
    """
    grid = _locked(grid)
    if grid.state not in (State.CANCELLED, State.FAILED):
        return False
    if grid.cells.exists():
        GRID_CHUNKS.take_up(grid)
    else:
        _plan_again(grid)
    _record(user, "grid.resumed", grid)
    return True


def retry_asking(grid: Grid) -> CallPlan:
    """Return what another try of a grid's failed calls, and the rest of a stopped grid, ask."""
    if not needs_yes(grid):
        return CallPlan()
    [progress] = grids_progress([grid])
    is_stopped = grid.state in (State.CANCELLED, State.FAILED)
    n_calls = progress.n_failed + (progress.n_left if is_stopped else 0)
    return CallPlan((CallRow(f"Calls of {grid}", n_calls),))


@transaction.atomic
def retry_failed(grid: Grid, user: User | None) -> int:
    """Queue the calls without a response once more; return how many there are.

    If the grid was cancelled or failed, its remaining calls are resumed too.
    """
    grid = _locked(grid)
    failed = Call.objects.filter(grid=grid, response=None)
    to_ask: dict[int, list[int]] = {}
    for setup, example in failed.order_by("pk").values_list("setup", "example"):
        to_ask.setdefault(setup, []).append(example)
    for setup, examples in to_ask.items():
        for some in lots(examples, SAVED_TOGETHER):
            failed.filter(setup=setup, example__in=some).delete()
    n_calls = _add_chunks(grid, to_ask)
    if n_calls:
        GRID_CHUNKS.take_up(grid)
        _record(user, "grid.retried", grid, n_calls=n_calls)
    return n_calls


@transaction.atomic
def delete_grid(grid: Grid, user: User | None) -> None:
    """Delete a grid that has asked nothing, with its setups that nothing else uses.

    Raises:
        GridChangeError: the grid has made calls, is running, or a worker's last call is still to
            come.
    """
    grid = _locked(grid)
    if grid.state == State.RUNNING:
        raise GridChangeError("This grid is running. Cancel it first.")
    if grid.chunks.filter(with_a_worker()).exists():
        raise GridChangeError(
            "A worker is still working on this grid. Wait until its last call has ended."
        )
    if grid.calls.exists():
        raise GridChangeError(
            "This grid cannot be deleted, because it has made calls. They show how the responses "
            "were made."
        )
    ids = list(grid.cells.values_list("setup", flat=True))
    _record(user, "grid.deleted", grid)
    grid.delete()
    delete_unused_setups(ids)


@transaction.atomic
def archive_grid(grid: Grid, is_archived: bool, user: User | None) -> None:
    """Put a grid into the archive, or take it out. Its responses stay where they are."""
    if done := set_archived(grid, is_archived):
        _record(user, f"grid.{done}", grid)


def delete_unused_setups(ids: Iterable[int]) -> None:
    """Delete those of some setups that have no responses and no calls, and belong to no grid."""
    Setup.objects.filter(
        ~Exists(Response.objects.filter(setup=OuterRef("pk"))),
        ~Exists(Call.objects.filter(setup=OuterRef("pk"))),
        ~Exists(GridSetup.objects.filter(setup=OuterRef("pk"))),
        pk__in=list(ids),
    ).delete()


# --- inside a transaction that has locked the grid ------------------------------------------


def _locked(grid: Grid) -> Grid:
    """Return the grid as it is now, and lock it, so that other changes wait."""
    return Grid.objects.select_for_update(no_key=True).get(pk=grid.pk)


def _start(
    grid: Grid,
    all_cells: Sequence[GridCell],
    to_ask: Sequence[Sequence[int]],
    user: User | None,
) -> None:
    """Store the setups of a grid, and chunks of the examples to ask about under each.

    Raises:
        GridError: a setup of the same name has other content.
    """
    setups = store_setups(grid.dataset, [cell.setup for cell in all_cells])
    check_setups(grid.dataset, all_cells)
    ids = [setups[cell.setup.name] for cell in all_cells]
    GridSetup.objects.bulk_create(
        GridSetup(grid=grid, setup_id=setup, position=position)
        for position, setup in enumerate(ids)
    )
    n_calls = _add_chunks(grid, dict(zip(ids, to_ask, strict=True)))
    GRID_CHUNKS.take_up(grid)
    _record(user, "grid.started", grid, n_calls=n_calls)


def _plan_again(grid: Grid) -> None:
    """Have a grid that was not started planned, and discard its old plan."""
    planning, _ = Planning.objects.get_or_create(grid=grid)
    again(Planning.objects.filter(pk=planning.pk))
    Grid.objects.filter(pk=grid.pk).update(
        state=State.PLANNING, plan={}, finished_at=None, error=""
    )


def _add_chunks(grid: Grid, to_ask: Mapping[int, Sequence[int]]) -> int:
    """Cut examples, by setup, into further chunks at the end; return how many examples."""
    n_calls = sum(map(len, to_ask.values()))
    size = min(max(n_calls // MOST_CHUNKS, SMALLEST_CHUNK), LARGEST_CHUNK)
    parts = ((setup, part) for setup, each in to_ask.items() for part in lots(each, size))
    GridChunk.objects.bulk_create(
        (
            GridChunk(grid=grid, setup_id=setup, number=number, examples=part)
            for number, (setup, part) in enumerate(parts, start=GRID_CHUNKS.next_number(grid))
        ),
        batch_size=SAVED_TOGETHER,
    )
    return n_calls


def _record(user: User | None, action: str, grid: Grid, **details: object) -> None:
    subject = f"{grid.dataset.name}: {grid.name}"[:200]
    record_in_audit_trail(user, action, subject, grid=grid.pk, **details)

"""Experiments: grids asked for, planned, started, cancelled, taken up again, deleted.

Nothing here sends work to a queue: `generation.tasks.send` does.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence

from django.db import IntegrityError, transaction
from django.db.models import Exists, F, Max, OuterRef
from django.utils import timezone

from accounts.models import User
from accounts.services import record as record_in_audit_trail
from generation.backends.problems import storable
from generation.batches import lots
from generation.grids.cells import GridCell, cells, cells_about, check_setups
from generation.grids.grid_file import Grid, GridError, of_data
from generation.grids.plan import GridExamples, examples_of, plan_of, planned
from generation.grids.prompts import PromptError
from generation.models import (
    Call,
    Dataset,
    Experiment,
    ExperimentChunk,
    ExperimentSetup,
    Response,
    Sample,
    Setup,
)
from generation.services.claims import WorkStopped, lease
from generation.services.responses import store_setups

logger = logging.getLogger(__name__)

MOST_PLAN_ATTEMPTS = 3  # that end without a word
MOST_CHUNKS = 20  # that a small grid is cut into, apart from its setups
SMALLEST_CHUNK, LARGEST_CHUNK = 5, 100  # examples
SAVED_TOGETHER = 1000
State = Experiment.State


class ExperimentError(Exception):
    """A change to an experiment that is refused; the message says why."""


class OutgrownPlan(ExperimentError):
    """There is more to ask than the plan says that somebody has looked at."""


# --- asking for one -------------------------------------------------------------------------


@transaction.atomic
def request_experiment(dataset: Dataset, grid: Grid, user: User | None) -> Experiment:
    """Return the experiment of a grid, made if it is not there; a worker then plans it.

    Safe to ask twice, also at once: the same grid of the same name is the same experiment.

    Raises:
        GridError: a model, the sample or the one-shot example is not there.
        ExperimentError: another experiment has its name.
    """
    sample = checked_sample(dataset, grid)
    there = Experiment.objects.filter(name=grid.name).first()
    if there is None:
        try:
            with transaction.atomic():
                return _new(dataset, grid, sample, user)
        except IntegrityError:  # somebody asked at the same moment
            there = Experiment.objects.get(name=grid.name)
    if there.dataset_id != dataset.pk or there.grid != grid.as_data():
        raise ExperimentError(
            f"There is another grid named “{grid.name}”, about the dataset {there.dataset.name}: "
            "choose another name, or delete that one."
        )
    return there


def checked_sample(dataset: Dataset, grid: Grid) -> Sample | None:
    """Return the sample of a grid whose parts are all there.

    Raises:
        GridError: one is not.
    """
    cells(grid)
    if grid.one_shot and not dataset.examples.filter(key=grid.one_shot).exists():
        raise GridError("one_shot", repr(grid.one_shot), f"an example of {dataset.name}")
    if not grid.sample:
        return None
    sample = dataset.samples.filter(name=grid.sample).first()
    if sample is None:
        raise GridError("sample", repr(grid.sample), f"a sample of {dataset.name}")
    if sample.state != Sample.State.READY:
        raise GridError("sample", f"{grid.sample!r}, which is {sample.state}", "one that is ready")
    return sample


def _new(dataset: Dataset, grid: Grid, sample: Sample | None, user: User | None) -> Experiment:
    experiment = Experiment.objects.create(
        dataset=dataset,
        name=grid.name,
        sample=sample,
        grid=grid.as_data(),
        sent_at=timezone.now(),
        requested_by=user,
    )
    _record(user, "experiment.requested", experiment)
    return experiment


def make_plan(experiment_id: int) -> None:
    """Count what an experiment would ask (the worker's part). A second delivery changes nothing.

    An experiment that cannot be asked as it is written fails, and says why.
    """
    planning = Experiment.objects.filter(pk=experiment_id, state=State.PLANNING)
    planning.update(plan_attempts=F("plan_attempts") + 1)
    experiment = planning.select_related("dataset", "sample").first()
    if experiment is None:
        logger.info("experiment %s is planned, cancelled or deleted", experiment_id)
        return
    if experiment.plan_attempts > MOST_PLAN_ATTEMPTS:
        said = (
            f"planning it ended {MOST_PLAN_ATTEMPTS} times without an error message: "
            "see the worker's log"
        )
        planning.update(state=State.FAILED, error=said)
        return

    def give_a_sign() -> None:
        if not planning.update(sent_at=timezone.now()):
            raise WorkStopped

    try:
        plan = planned(experiment, give_a_sign)
        planning.update(state=State.PLANNED, plan=plan.as_data(), error="", plan_attempts=0)
    except WorkStopped:
        logger.info("experiment %s is not to be planned any more", experiment_id)
    except (GridError, PromptError) as error:
        planning.update(state=State.FAILED, error=storable(str(error)))
    except Exception as error:
        logger.exception("experiment %s cannot be planned", experiment_id)
        said = storable(f"{type(error).__name__}: {error}")
        planning.update(state=State.FAILED, error=said)
        raise


def lost_plans() -> list[int]:
    """Return the experiments whose planning was lost or its worker died; they count as sent now."""
    now = timezone.now()
    silent = Experiment.objects.filter(state=State.PLANNING, sent_at__lt=now - lease())
    lost = list(silent.values_list("pk", flat=True))
    Experiment.objects.filter(pk__in=lost, state=State.PLANNING).update(sent_at=now)
    return lost


# --- what becomes of it ---------------------------------------------------------------------


def start_experiment(experiment: Experiment, user: User | None) -> bool:
    """Have a planned experiment asked; return whether it was waiting for that.

    What has a response by now is not asked; what has failed before, in another grid, is, and
    stays there as failed until it is answered.

    Raises:
        OutgrownPlan: examples have come since; it is planned again instead.
        GridError: a model is not there any more, or a setup's name stands for something else.
    """
    # Outside of the transaction: to know which graph it is may take long.
    all_cells = cells_about(experiment.dataset, of_data(experiment.grid))
    with transaction.atomic():
        experiment = _locked(experiment)
        if experiment.state != State.PLANNED:
            return False
        asked = GridExamples(experiment.dataset, examples_of(experiment.dataset, experiment.sample))
        to_ask = [asked.to_ask(cell) for cell in all_cells]
        plan = plan_of(experiment)
        if plan and plan.has_room_for(zip(all_cells, map(len, to_ask), strict=True)):
            _start(experiment, all_cells, to_ask, user)
            return True
        _plan_again(experiment)
        _record(user, "experiment.replanned", experiment)
    raise OutgrownPlan(
        f"There is more to ask than the plan of {experiment.name} says: it is planned again, and "
        "nothing was asked."
    )


@transaction.atomic
def cancel_experiment(experiment: Experiment, user: User | None) -> bool:
    """Stop an experiment that is planned or asked; responses stay, and what is in flight comes.

    Return whether it was going on.
    """
    going_on = Experiment.objects.filter(
        pk=experiment.pk, state__in=(State.PLANNING, State.RUNNING)
    )
    if not going_on.update(state=State.CANCELLED, finished_at=timezone.now()):
        return False
    _record(user, "experiment.cancelled", experiment)
    return True


@transaction.atomic
def resume_experiment(experiment: Experiment, user: User | None) -> bool:
    """Go on with an experiment that was cancelled or failed; return whether it was.

    One that was never started is planned (again).
    """
    experiment = _locked(experiment)
    if experiment.state not in (State.CANCELLED, State.FAILED):
        return False
    if experiment.cells.exists():
        _take_up(experiment)
    else:
        _plan_again(experiment)
    _record(user, "experiment.resumed", experiment)
    return True


@transaction.atomic
def retry_failed(experiment: Experiment, user: User | None) -> int:
    """Queue the calls that gave no response once more; return how many.

    Of an experiment that was cancelled or failed, what is left is taken up with them.
    """
    experiment = _locked(experiment)
    failed = Call.objects.filter(experiment=experiment, response=None)
    to_ask: dict[int, list[int]] = {}
    for setup, example in failed.order_by("pk").values_list("setup", "example"):
        to_ask.setdefault(setup, []).append(example)
    for setup, examples in to_ask.items():
        for some in lots(examples, SAVED_TOGETHER):
            failed.filter(setup=setup, example__in=some).delete()
    n_calls = _add_chunks(experiment, to_ask)
    if n_calls:
        _take_up(experiment)
        _record(user, "experiment.retried", experiment, n_calls=n_calls)
    return n_calls


@transaction.atomic
def delete_experiment(experiment: Experiment, user: User | None) -> None:
    """Delete an experiment that has asked nothing, with its setups that nobody else has.

    Raises:
        ExperimentError: it has made calls, is running, or a worker's last call is to come.
    """
    experiment = _locked(experiment)
    if experiment.state == State.RUNNING:
        raise ExperimentError("This grid is running: cancel it first.")
    at_work = experiment.chunks.filter(state=ExperimentChunk.State.RUNNING)
    if at_work.filter(lease_until__gte=timezone.now()).exists():
        raise ExperimentError("A worker is still at this grid: wait until its last call has come.")
    if experiment.calls.exists():
        raise ExperimentError("This grid has made calls: they stay, to say how responses came.")
    ids = list(experiment.cells.values_list("setup", flat=True))
    _record(user, "experiment.deleted", experiment)
    experiment.delete()
    delete_unused_setups(ids)


def delete_unused_setups(ids: Iterable[int]) -> None:
    """Delete those of some setups under which nothing was asked, and no grid is to ask."""
    Setup.objects.filter(
        ~Exists(Response.objects.filter(setup=OuterRef("pk"))),
        ~Exists(Call.objects.filter(setup=OuterRef("pk"))),
        ~Exists(ExperimentSetup.objects.filter(setup=OuterRef("pk"))),
        pk__in=list(ids),
    ).delete()


def chunks_to_send(experiment: Experiment) -> list[int]:
    """Return the chunks of an experiment that wait for a worker, and note that they were sent."""
    running = Experiment.objects.filter(pk=experiment.pk, state=State.RUNNING)
    waiting = ExperimentChunk.objects.filter(
        experiment__in=running, state=ExperimentChunk.State.QUEUED
    )
    chunks = list(waiting.order_by("number").values_list("pk", flat=True))
    waiting.update(sent_at=timezone.now())
    return chunks


# --- inside a transaction that has locked the experiment ------------------------------------


def _locked(experiment: Experiment) -> Experiment:
    """Return the experiment as it is now; whoever else wants to change it waits."""
    return Experiment.objects.select_for_update(no_key=True).get(pk=experiment.pk)


def _start(
    experiment: Experiment,
    all_cells: Sequence[GridCell],
    to_ask: Sequence[Sequence[int]],
    user: User | None,
) -> None:
    """Give an experiment its setups, and chunks of the examples to ask under each.

    Raises:
        GridError: a setup's name stands for something else.
    """
    setups = store_setups(experiment.dataset, [cell.setup for cell in all_cells])
    check_setups(experiment.dataset, all_cells)
    ids = [setups[cell.setup.name] for cell in all_cells]
    ExperimentSetup.objects.bulk_create(
        ExperimentSetup(experiment=experiment, setup_id=setup, position=position)
        for position, setup in enumerate(ids)
    )
    n_calls = _add_chunks(experiment, dict(zip(ids, to_ask, strict=True)))
    _take_up(experiment)
    _record(user, "experiment.started", experiment, n_calls=n_calls)


def _plan_again(experiment: Experiment) -> None:
    """Have an experiment planned that was not started; its old plan is worth nothing."""
    Experiment.objects.filter(pk=experiment.pk).update(
        state=State.PLANNING,
        plan={},
        plan_attempts=0,
        sent_at=timezone.now(),
        finished_at=None,
        error="",
    )


def _add_chunks(experiment: Experiment, to_ask: Mapping[int, Sequence[int]]) -> int:
    """Cut examples, by setup, into chunks behind those that are there; return how many examples."""
    n_calls = sum(map(len, to_ask.values()))
    size = min(max(n_calls // MOST_CHUNKS, SMALLEST_CHUNK), LARGEST_CHUNK)
    chunks = ExperimentChunk.objects.filter(experiment=experiment)
    first = (chunks.aggregate(last=Max("number"))["last"] or 0) + 1
    parts = ((setup, part) for setup, each in to_ask.items() for part in lots(each, size))
    ExperimentChunk.objects.bulk_create(
        (
            ExperimentChunk(experiment=experiment, setup_id=setup, number=number, examples=part)
            for number, (setup, part) in enumerate(parts, start=first)
        ),
        batch_size=SAVED_TOGETHER,
    )
    return n_calls


def _take_up(experiment: Experiment) -> None:
    """Set an experiment running if anything is left, else done."""
    this = Experiment.objects.filter(pk=experiment.pk)
    unfinished = experiment.chunks.exclude(state=ExperimentChunk.State.DONE)
    now = timezone.now()
    if not unfinished.exists():
        this.update(state=State.DONE, error="", finished_at=experiment.finished_at or now)
    elif experiment.state != State.RUNNING:
        unfinished.update(attempts=0)
        this.update(state=State.RUNNING, resumed_at=now, finished_at=None, error="")


def _record(user: User | None, action: str, experiment: Experiment, **details: object) -> None:
    subject = f"{experiment.dataset.name}: {experiment.name}"[:200]
    record_in_audit_trail(user, action, subject, experiment=experiment.pk, **details)

"""Chunks of grids: claimed by one worker, asked call by call, found again if the worker died.

The rows of the database decide, whatever messages a broker loses or delivers twice. Each answer is
stored as it comes, in a transaction of its own. If a worker is killed, only the calls in flight are
made again. A model is asked outside of any transaction.
"""

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from django.db import DatabaseError, InterfaceError, OperationalError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from generation.backends.base import LanguageModel, Prompt
from generation.backends.problems import storable
from generation.backends.registry import LANGUAGE_MODELS, is_server
from generation.backends.timeouts import Waited, waited_for
from generation.batches import lots
from generation.grids.cells import decoding_of, spec_of
from generation.grids.grid_file import GridError
from generation.grids.material import materials
from generation.grids.prompts import MadePrompt, PromptError, PromptMaker, choices_of
from generation.model_specs import BackendError, ModelSpec
from generation.models import (
    Call,
    Grid,
    GridChunk,
    Passage,
    Response,
    ResponsePassage,
    Setup,
)
from generation.services.calls import PendingCall, call_of, response_of
from generation.services.model_provenance import open_noted
from generation.services.pace import calls_at_once, is_limited, not_free_within, reserve
from work.claims import (
    MOST_CLAIMS,
    QUEUED,
    SENT_TOGETHER,
    TURN_SECONDS,
    Hold,
    WorkStopped,
    are_enough,
    free,
    silent,
    take,
    unexpected,
    unheard,
)

logger = logging.getLogger(__name__)

PREPARED_TOGETHER = 50  # prompts
LOOKS_EVERY_SECONDS = 1.0  # seconds between checks while a worker waits to call
# The seconds that a worker waits until it may call; then other chunks have their turn. This is
# longer than it takes until a chunk is sent again.
PATIENCE_SECONDS = 8.0


class _Model(NamedTuple):
    """A model that one worker has opened."""

    itself: LanguageModel
    is_limited: bool  # whether calls per minute were limited when the chunk was claimed


# --- claims ---------------------------------------------------------------------------------


@transaction.atomic
def claim_grid_chunk(chunk_id: int) -> GridChunk | None:
    """Take a chunk that waits or whose worker went silent; None if there is nothing to take.

    Two grids may share a setup: while a worker answers a chunk of it for one grid, the other grid
    waits, so that no call is made twice. A chunk also waits if its model has reached its limit of
    calls. A chunk that waits is sent again later, because its message is used up. Only a few chunks
    of a grid wait for a server at a time.
    """
    chunk = GridChunk.objects.filter(pk=chunk_id, grid__in=_running())
    setup_id = chunk.values_list("setup", flat=True).first()
    if setup_id is None:
        return None
    # Claims of chunks with the same setup wait for each other here.
    setup = Setup.objects.select_for_update(no_key=True).filter(pk=setup_id).first()
    if setup is None:
        return None
    now = timezone.now()
    elsewhere = _at_work(now).exclude(grid__in=chunk.values("grid"))
    if elsewhere.filter(setup=setup).exists() or setup.model in not_free_within(PATIENCE_SECONDS):
        free(chunk, now).update(sent_at=None)
        return None
    of_grid = GridChunk.objects.filter(grid__in=chunk.values("grid"))
    if asks_server(setup) and are_enough(of_grid, now):
        return None
    token = take(free(chunk, now), now)
    taken = GridChunk.objects.filter(pk=chunk_id, token=token)
    return taken.select_related("grid__dataset", "setup").first() if token else None


def claim_next_grid_chunk(grid: Grid) -> GridChunk | None:
    """Take the first chunk of a grid that can be taken; None if there is none."""
    now = timezone.now()
    elsewhere = _at_work(now).exclude(grid=grid)
    there = free(GridChunk.objects.filter(grid=grid), now)
    there = there.exclude(setup__in=elsewhere.values("setup"))
    there = there.exclude(setup__model__in=not_free_within(PATIENCE_SECONDS))
    first = there.order_by("number").values_list("pk", flat=True)[:SENT_TOGETHER]
    return next(filter(None, map(claim_grid_chunk, first)), None)


def next_grid_chunk(grid: Grid) -> list[int]:
    """Return the next waiting chunk of a grid, if any, and note that it was sent."""
    waiting = GridChunk.objects.filter(grid=grid, grid__in=_running(), state=QUEUED)
    chunk = list(waiting.order_by("number").values_list("pk", flat=True)[:1])
    waiting.filter(pk__in=chunk).update(sent_at=timezone.now())
    return chunk


def lost_grid_chunks(sent_before: datetime) -> list[int]:
    """Return the chunks to send (again), and note that they were sent.

    These are chunks whose worker went silent, chunks that were given back, and some of those that
    have waited for long. Chunks whose model may not be called soon are left out.

    Args:
        sent_before: messages that were sent before this time must have been lost.
    """
    now = timezone.now()
    of_running = GridChunk.objects.filter(grid__in=_running())
    ordered = silent(of_running, now).order_by("grid", "number")
    lost = list(ordered.values_list("pk", flat=True))
    waiting = unheard(of_running, sent_before).order_by("number")
    waiting = waiting.exclude(setup__model__in=not_free_within(PATIENCE_SECONDS))
    for grid in _running().values_list("pk", flat=True):
        of_it = waiting.filter(grid=grid)
        lost += of_it.values_list("pk", flat=True)[:SENT_TOGETHER]
    if lost:
        GridChunk.objects.filter(pk__in=lost).update(sent_at=now)
    return lost


def finish_grids() -> None:
    """Mark grids without unfinished chunks as done: a worker may die just before it does so."""
    unfinished = GridChunk.objects.exclude(state=GridChunk.State.DONE)
    for grid in _running().exclude(pk__in=unfinished.values("grid")):
        _finish(grid.pk)


def asks_server(setup: Setup) -> bool:
    """Return whether a worker that asks a setup's model mostly waits for a server."""
    try:
        return is_server(spec_of(setup).backend)
    except GridError:  # the worker finds this out and reports it
        return False


def _running() -> QuerySet[Grid]:
    return Grid.objects.filter(state=Grid.State.RUNNING)


def _at_work(now: datetime) -> QuerySet[GridChunk]:
    """Return the chunks on which a worker is working."""
    running = GridChunk.State.RUNNING
    return GridChunk.objects.filter(state=running, lease_until__gte=now)


@transaction.atomic
def _finish(grid_id: int) -> None:
    """Mark a grid as done if no chunk is left; code that adds chunks locks the grid as well."""
    grid = _running().select_for_update(no_key=True).filter(pk=grid_id).first()
    unfinished = GridChunk.objects.exclude(state=GridChunk.State.DONE)
    if grid and not unfinished.filter(grid=grid).exists():
        grid.state, grid.finished_at = Grid.State.DONE, timezone.now()
        grid.save(update_fields=["state", "finished_at"])


class _GridChunkHold(Hold):
    """A claimed chunk that one worker holds."""

    def __init__(self, claim: GridChunk) -> None:
        super().__init__(claim, Q(grid__in=_running()))
        self._claim = claim

    @property
    def examples(self) -> list[int]:
        """The ids of the examples that are left."""
        return list(self._claim.examples)

    @transaction.atomic
    def store(self, call: Call, response: Response | None, passages: Sequence[int]) -> None:
        """Store a call with its response, and remove its example from the chunk's list.

        The call replaces one that failed, in this grid or in another. An answer that comes after a
        cancellation was asked for before it, and is stored as well.

        Raises:
            WorkStopped: another worker has the chunk now; nothing is stored.
        """
        self._take_off({call.example_id})
        failed = Call.objects.filter(setup=call.setup_id, response=None)
        failed.filter(example=call.example_id).delete()
        if response is not None:
            response.save(force_insert=True)
            ResponsePassage.objects.bulk_create(
                ResponsePassage(response=response, passage_id=passage, position=position)
                for position, passage in enumerate(passages)
            )
        call.response = response
        call.save(force_insert=True)

    def skip(self, examples: set[int]) -> None:
        """Remove examples that need not be asked about from the chunk's list.

        Raises:
            WorkStopped: as in `store`.
        """
        if examples:
            self._take_off(examples)

    def finish(self) -> None:
        """Mark the chunk as done, and the grid too if this was its last chunk."""
        if self.end(GridChunk.State.DONE, examples=[], attempts=0):
            _finish(self._claim.grid_id)

    def _take_off(self, examples: set[int]) -> None:
        left = [pk for pk in self._claim.examples if pk not in examples]
        self.write(examples=left, attempts=1)
        self._claim.examples = left


# --- calls ----------------------------------------------------------------------------------


def generate_chunk(claim: GridChunk, goes_on: Callable[[], bool] = lambda: True) -> None:
    """Ask about the examples of a claimed chunk, and finish it.

    The work stops between two calls in three cases: the grid was cancelled or another worker has
    the chunk; the work has taken so long that brokers and time limits might step in; or the model
    may not be called soon, so that other chunks have their turn. What was stored stays. A model
    that cannot be used fails the whole grid.

    Args:
        goes_on: called between two calls; the work stops there if it returns False.
    """
    with _GridChunkHold(claim) as hold:
        try:
            _ask(claim, hold, goes_on)
        except WorkStopped:
            logger.info("chunk %s was stopped, is another's, or goes on later", claim.pk)
            hold.release(attempts=0)
        except (BackendError, GridError, PromptError) as error:
            hold.release(attempts=0)
            _fail(claim, str(error))
        except DatabaseError:
            with suppress(DatabaseError):
                hold.release()
            raise
        except Exception as error:
            logger.exception("chunk %s cannot be asked", claim.pk)
            hold.release(attempts=0)
            _fail(claim, unexpected(error))
        except BaseException:
            hold.release()
            raise
        else:
            hold.finish()


def _ask(claim: GridChunk, hold: _GridChunkHold, goes_on: Callable[[], bool]) -> None:
    """Ask about the examples that are left in a chunk.

    Raises:
        WorkStopped: the work does not go on here.
        BackendError, GridError, PromptError: the chunk cannot be asked about.
    """
    setup = claim.setup
    spec = spec_of(setup)
    maker = PromptMaker(claim.grid.dataset, choices_of(setup))
    model = _Model(open_noted(setup, spec, maker.retrieval), is_limited(setup.model))
    hold.renew()  # loading the model may have taken long
    turn_ends = time.monotonic() + TURN_SECONDS
    if claim.attempts > MOST_CLAIMS:
        _give_up_first(claim, hold)
    # If a worker died, its successor asks the prompt that may have caused it alone.
    together = 1 if claim.attempts > 1 else _together(spec, model.itself)
    prepared = together if model.is_limited else PREPARED_TOGETHER
    while examples := hold.examples[:prepared]:
        there = _there(setup, examples)
        hold.skip(there)
        asked = _made(maker, [pk for pk in examples if pk not in there])
        keys = _passage_keys(asked)
        for some in lots(asked, together):
            hold.keep()
            _ask_together(claim, hold, model, some, keys)
            if hold.examples and (time.monotonic() > turn_ends or not goes_on()):
                raise WorkStopped


def _together(spec: ModelSpec, model: LanguageModel) -> int:
    """Return how many prompts a model is given at once; they are lost if the worker dies."""
    most = 1 if model.device == "cpu" else LANGUAGE_MODELS[spec.backend].least_at_once
    return calls_at_once(spec.name, most)


def _passage_keys(asked: list[PendingCall]) -> dict[int, str]:
    shown = {passage for each in asked for passage in each.made.passages}
    return dict(Passage.objects.filter(pk__in=shown).values_list("pk", "key"))


def _made(maker: PromptMaker, examples: list[int]) -> list[PendingCall]:
    found = materials(examples)
    return [PendingCall(*each) for each in zip(found, maker.made(found), strict=True)]


def _there(setup: Setup, examples: list[int]) -> set[int]:
    """Return the examples that have a response under a setup, because another grid made it."""
    responses = Response.objects.filter(setup=setup, example__in=examples)
    return set(responses.values_list("example", flat=True))


def _ask_together(
    claim: GridChunk,
    hold: _GridChunkHold,
    model: _Model,
    asked: list[PendingCall],
    keys: dict[int, str],
) -> None:
    """Give a model some prompts once its pace allows, and store each answer as it comes.

    If no prompt can be made for an example, this is stored, and nothing is asked about it.

    Raises:
        WorkStopped: the model's pace does not allow the calls soon, or as in
            `_GridChunkHold.store`.
    """
    with_prompt: list[PendingCall] = []
    prompts: list[Prompt] = []
    for each in asked:
        if each.made.prompt is None:
            hold.store(call_of(claim, each, problem=each.made.problem), None, ())
        else:
            with_prompt.append(each)
            prompts.append(Prompt(each.made.prompt.text))
    if not prompts:
        return
    if model.is_limited:
        _wait(hold, reserve(claim.setup.model, len(prompts), PATIENCE_SECONDS))
    answers = waited_for(lambda: model.itself.complete(prompts, decoding_of(claim.setup)))
    for each, answer in zip(with_prompt, answers, strict=True):
        _store(claim, hold, each, answer, keys)


def _store(
    claim: GridChunk,
    hold: _GridChunkHold,
    asked: PendingCall,
    answer: Waited,
    keys: dict[int, str],
) -> None:
    """Store a model's answer; if it cannot be stored, that is a problem of this call alone.

    Raises:
        WorkStopped: as in `_GridChunkHold.store`.
        OperationalError, InterfaceError: the database cannot be reached.
    """
    completion, seconds = answer
    try:
        call = call_of(claim, asked, completion, storable(completion.problem), seconds)
        response = None if call.problem else response_of(claim, asked, completion, keys)
        hold.store(call, response, asked.made.passages)
    except (WorkStopped, OperationalError, InterfaceError):
        raise
    except Exception as error:
        logger.exception("an answer about example %s cannot be stored", asked.material.id)
        problem = storable(f"its answer cannot be stored: {type(error).__name__}: {error}")
        hold.store(call_of(claim, asked, problem=problem, seconds=seconds), None, ())


def _wait(hold: _GridChunkHold, seconds: float) -> None:
    """Wait until the model may be called, and renew the lease meanwhile.

    Raises:
        WorkStopped: the work does not go on, or the wait would be too long.
    """
    if seconds > PATIENCE_SECONDS:
        raise WorkStopped
    ends = time.monotonic() + seconds
    while (left := ends - time.monotonic()) > 0:
        hold.keep()
        time.sleep(min(left, LOOKS_EVERY_SECONDS))
    hold.keep()


def _give_up_first(claim: GridChunk, hold: _GridChunkHold) -> None:
    """Store that the first example's call cannot be made, because it has ended its workers."""
    problem = f"its worker stopped {MOST_CLAIMS} times without an error message"
    first = hold.examples[:1]
    if there := _there(claim.setup, first):
        hold.skip(there)
    for material in materials(first):
        if material.id not in there:
            hold.store(
                call_of(claim, PendingCall(material, MadePrompt(None)), problem=problem), None, ()
            )


def _fail(claim: GridChunk, error: str) -> None:
    """Store why a grid stopped.

    The model's location is replaced by its name, because only admins may see it.
    """
    with suppress(GridError):
        spec = spec_of(claim.setup)
        if spec.location:
            error = error.replace(spec.location, spec.name)
    _running().filter(pk=claim.grid_id).update(
        state=Grid.State.FAILED, error=storable(error), finished_at=timezone.now()
    )

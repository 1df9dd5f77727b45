"""Chunks of grids: claimed by one worker, asked call by call, found again if the worker died.

Each answer is stored as it comes, in a transaction of its own. If a worker is killed, only the
calls in flight are made again. A model is asked outside of any transaction.
"""

import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Exists, F, OuterRef, QuerySet

from generation.backends.base import LanguageModel, Prompt, prompt_of_chat
from generation.backends.problems import storable
from generation.backends.registry import LANGUAGE_MODELS, is_server
from generation.backends.timeouts import Waited, waited_for
from generation.batches import lots
from generation.grids.cells import decoding_of, spec_of
from generation.grids.grid_file import GridError
from generation.grids.material import materials
from generation.grids.prompt_choices import PromptError, choices_of, form_of
from generation.grids.prompts import MadePrompt, PromptMaker
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
from generation.services.server_places import AsksModels
from generation.text.dialog_prompts import BuiltPrompt
from work.chunks import ChunkKind
from work.claims import Hold, WorkStopped, with_a_worker
from work.pieces import register

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


# --- a claimed chunk ------------------------------------------------------------------------


class GridChunkHold(Hold[GridChunk]):
    """A claimed chunk that one worker holds."""

    @property
    def examples(self) -> list[int]:
        """The ids of the examples that are left."""
        return list(self.claim.examples)

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
        if self.end(GridChunk.State.DONE, examples=[]):
            GRID_CHUNKS.finish(self.claim.grid_id)

    def _take_off(self, examples: set[int]) -> None:
        left = [pk for pk in self.claim.examples if pk not in examples]
        self.complete(examples=left)
        self.claim.examples = left

    def fail(self, error: str) -> None:
        """Give the chunk back, and store why its grid stopped.

        The model's location is replaced by its name, because only admins may see it.
        """
        self.give_back()
        with suppress(GridError):
            spec = spec_of(self.claim.setup)
            if spec.location:
                error = error.replace(spec.location, spec.name)
        GRID_CHUNKS.fail(self.claim.grid_id, storable(error))


# --- calls ----------------------------------------------------------------------------------


def _ask(claim: GridChunk, hold: GridChunkHold) -> None:
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
    hold.begin_turn()
    if GRID_CHUNKS.ends_its_workers(claim):
        _give_up_first(claim, hold)
    # If a worker died, its successor asks the prompt that may have caused it alone.
    together = 1 if claim.was_interrupted else _together(spec, model.itself)
    prepared = together if model.is_limited else PREPARED_TOGETHER
    while examples := hold.examples[:prepared]:
        there = _there(setup, examples)
        hold.skip(there)
        asked = _made(maker, [pk for pk in examples if pk not in there])
        keys = _passage_keys(asked)
        for some in lots(asked, together):
            hold.keep()
            _ask_together(claim, hold, model, some, keys)
            if hold.examples:
                hold.end_turn()


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
    hold: GridChunkHold,
    model: _Model,
    asked: list[PendingCall],
    keys: dict[int, str],
) -> None:
    """Give a model some prompts once its pace allows, and store each answer as it comes.

    If no prompt can be made for an example, this is stored, and nothing is asked about it.

    Raises:
        WorkStopped: the model's pace does not allow the calls soon, or as in
            `GridChunkHold.store`.
    """
    with_prompt: list[PendingCall] = []
    prompts: list[Prompt] = []
    for each in asked:
        if each.made.prompt is None:
            hold.store(call_of(claim, each, problem=each.made.problem), None, ())
        else:
            with_prompt.append(each)
            prompts.append(_prompt_of(claim.setup, each.made.prompt))
    if not prompts:
        return
    if model.is_limited:
        _wait(hold, reserve(claim.setup.model, len(prompts), PATIENCE_SECONDS))
    answers = waited_for(lambda: model.itself.complete(prompts, decoding_of(claim.setup)))
    for each, answer in zip(with_prompt, answers, strict=True):
        _store(claim, hold, each, answer, keys)


def _prompt_of(setup: Setup, built: BuiltPrompt) -> Prompt:
    """Return a prompt as models take it. A plain dialog is continued, also by a chat model."""
    if built.messages:
        return prompt_of_chat(built.messages)
    return Prompt(built.text, kind="continued" if form_of(setup) == "plain" else "any")


def _store(
    claim: GridChunk,
    hold: GridChunkHold,
    asked: PendingCall,
    answer: Waited,
    keys: dict[int, str],
) -> None:
    """Store a model's answer; if it cannot be stored, that is a problem of this call alone.

    Raises:
        WorkStopped: as in `GridChunkHold.store`.
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


def _wait(hold: GridChunkHold, seconds: float) -> None:
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


def _give_up_first(claim: GridChunk, hold: GridChunkHold) -> None:
    """Store that the first example's call cannot be made, because it has ended its workers."""
    problem = f"its worker stopped {GRID_CHUNKS.most_claims} times without an error message"
    first = hold.examples[:1]
    if there := _there(claim.setup, first):
        hold.skip(there)
    for material in materials(first):
        if material.id not in there:
            hold.store(
                call_of(claim, PendingCall(material, MadePrompt(None)), problem=problem), None, ()
            )


# --- the kind of piece ----------------------------------------------------------------------


class GridChunkWork(AsksModels[GridChunk, GridChunkHold], ChunkKind[GridChunk, GridChunkHold]):
    """Chunks of grids: examples to ask about. A model that cannot be used fails the whole grid."""

    model = GridChunk
    task_name = "generation.tasks.generate_chunk"
    doing = "asks for a grid"
    part_of = "grid"
    goes_on_in = Grid.GOING_ON
    related = ("grid__dataset", "setup")
    model_asked = F("setup__model")
    troubles = (BackendError, GridError, PromptError)

    def asks_server(self, piece: GridChunk) -> bool:
        try:
            return is_server(spec_of(piece.setup).backend)
        except GridError:  # the worker finds this out and reports it
            return False

    def ready(self) -> QuerySet[GridChunk]:
        """Leave out chunks whose model may not be called soon, or that another grid would answer.

        Two grids may share a setup: while a worker answers a chunk of it for one grid, the other
        grid waits, so that no call is made twice.
        """
        elsewhere = (
            GridChunk.objects.filter(with_a_worker())
            .filter(setup=OuterRef("setup"))
            .exclude(grid=OuterRef("grid"))
        )
        callable_soon = self.wanted().exclude(setup__model__in=not_free_within(PATIENCE_SECONDS))
        return callable_soon.filter(~Exists(elsewhere))

    def lock(self, piece: GridChunk) -> None:
        """Let claims of chunks with the same model or the same setup wait for each other."""
        super().lock(piece)
        Setup.objects.select_for_update(no_key=True).filter(pk=piece.setup_id).first()

    def hold(self, claim: GridChunk) -> GridChunkHold:
        return GridChunkHold(claim, self.wanted())

    def work(self, hold: GridChunkHold) -> None:
        """Ask about the examples of a chunk, and finish it.

        The work also stops if the model may not be called soon, so that other chunks have their
        turn.
        """
        _ask(hold.claim, hold)
        hold.finish()


GRID_CHUNKS = register(GridChunkWork())

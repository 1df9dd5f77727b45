"""Chunks of runs: one worker claims a chunk and scores it in batches.

If the worker dies, another worker takes over. The model is asked outside of any transaction.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models import F, Model, Q, QuerySet

from evaluation.backends.base import Backend
from evaluation.backends.registry import open_backend
from evaluation.metrics.base import ScoringMaterial
from evaluation.metrics.registry import is_of_earlier_rule, metric_of
from evaluation.models import AutoScore, ControlScore, MetricRun, RunChunk
from evaluation.runs.controls import RunControls
from evaluation.runs.materials import unscored
from evaluation.runs.plan import spec_of
from evaluation.runs.scoring import RunScorer, known_scores, known_scores_of_controls
from evaluation.runs.services.spending import MeteredModel
from generation.backends.problems import storable
from generation.backends.registry import LANGUAGE_MODELS, is_server
from generation.model_specs import BackendError
from generation.services.checkpoints import as_listed_now, pin_revision
from generation.services.server_places import AsksModels
from work.chunks import ChunkKind
from work.claims import Hold
from work.pieces import register

logger = logging.getLogger(__name__)

Rows = Sequence[AutoScore]

LONGEST_DEVICE = 100
LONGEST_REVISION = 64


class RunChunkHold(Hold[RunChunk]):
    """A chunk that one worker has claimed."""

    @transaction.atomic
    def store(self, scores: Sequence[AutoScore]) -> None:
        """Store a batch of scores, and remove its targets from the chunk's list.

        Raises:
            WorkStopped: as in `keep`. Nothing is stored.
        """
        scored = {score.target_id for score in scores}
        left = [target for target in self.claim.targets if target not in scored]
        self.advance(targets=left)
        AutoScore.objects.bulk_create(scores)
        self.claim.targets = left

    @transaction.atomic
    def store_controls(self, scores: Sequence[ControlScore]) -> None:
        """Store a batch of scores of controls. The chunk goes on to list all its targets.

        Raises:
            WorkStopped: as in `keep`. Nothing is stored.
        """
        self.advance()
        ControlScore.objects.bulk_create(scores)

    def finish(self) -> None:
        """Set the chunk to done, and the run too if this was its last chunk."""
        if self.end(RunChunk.State.DONE, targets=[]):
            RUN_CHUNKS.finish(self.claim.run_id)

    def fail(self, error: str) -> None:
        """Give the chunk back, and store why its run failed. A chunk of controls only ends.

        The model's location is replaced, because only admins may see it.
        """
        run = self.claim.run
        if self.claim.is_of_controls:  # the run itself does not fail
            self.end(RunChunk.State.DONE, targets=[])
            logger.warning("The controls of run %s ended early: %s", run.pk, error)
            return
        self.give_back()
        if run.model_location:
            error = error.replace(run.model_location, run.model_name)
        RUN_CHUNKS.fail(run.pk, storable(error))


class RunChunkWork(AsksModels[RunChunk, RunChunkHold], ChunkKind[RunChunk, RunChunkHold]):
    """Chunks of runs: targets that are scored together. A run whose backend is unusable fails."""

    model = RunChunk
    task_name = "evaluation.tasks.execute_chunk"
    doing = "scores a run"
    part_of = "run"
    related = ("run",)
    model_asked = F("run__model_name")
    troubles = (BackendError,)

    def asks_server(self, piece: RunChunk) -> bool:
        return is_server(piece.run.backend)

    def wanted(self) -> QuerySet[RunChunk]:
        """Return the chunks of runs that go on, and those of controls of runs that are done."""
        of_done = Q(is_of_controls=True, run__state=MetricRun.State.DONE)
        return self.rows().filter(Q(run__state=MetricRun.State.RUNNING) | of_done)

    def unfinished(self, work: Model | int) -> QuerySet[RunChunk]:
        """Return the chunks of a run's targets that are not done.

        A run is done when its targets are: its controls say something about it, but are no part.
        """
        return super().unfinished(work).filter(is_of_controls=False)

    def hold(self, claim: RunChunk) -> RunChunkHold:
        return RunChunkHold(claim, self.wanted())

    def work(self, hold: RunChunkHold) -> None:
        """Score the targets of a chunk that have no row yet, and finish the chunk."""
        claim = hold.claim
        known = known_scores_of_controls if claim.is_of_controls else known_scores
        scorer = RunScorer(claim.run, _backend_of(claim.run), hold.keep, known)
        hold.begin_turn()
        waiting, store = _waiting(hold)
        if self.ends_its_workers(claim):
            problem = f"its worker stopped {self.most_claims} times without an error message"
            store([scorer.failed(each, problem) for each in islice(waiting, 1)])
        # A further attempt means that a worker died at one of these responses. Each is now
        # scored alone, to find out which.
        for rows in scorer.batches(waiting, is_alone=claim.was_interrupted):
            store(rows)
            if claim.targets:
                hold.end_turn()
        if claim.is_of_controls:
            store([])  # the last ones that could not be made
        hold.finish()


def _waiting(hold: RunChunkHold) -> tuple[Iterator[ScoringMaterial], Callable[[Rows], None]]:
    """Return the material that a chunk has still to score, and what stores rows of its scores."""
    run, targets = hold.claim.run, list(hold.claim.targets)
    if not hold.claim.is_of_controls:
        return unscored(run, targets), hold.store
    controls = RunControls(run, targets)
    return controls.unscored(), lambda rows: hold.store_controls(controls.rows(rows))


def _backend_of(run: MetricRun) -> Backend:
    """Open a run's backend, and store its signature, its revision and its files with the run.

    Raises:
        BackendError: the backend cannot be used, or earlier scores were made with another one, or
            under an earlier rule of the metric.
    """
    if is_of_earlier_rule(run):
        raise BackendError(
            "The rule of this metric has changed since this run was started, and scores by two "
            "rules cannot be mixed. The scores of this run are kept. Start a new run."
        )
    opened: Any = open_backend(as_listed_now(spec_of(run)))
    if run.backend in LANGUAGE_MODELS:
        opened = MeteredModel(opened, run)
    backend = metric_of(run.metric, run.parameters).ready(opened)
    made_with = (backend.signature, backend.revision[:LONGEST_REVISION])
    this_run = MetricRun.objects.filter(pk=run.pk)
    is_first = this_run.filter(backend_signature="").update(
        backend_signature=made_with[0], revision=made_with[1], model_files=backend.files
    )
    if is_first and run.model_name:
        pin_revision(run.model_name, backend.revision)
    _note_device(run, backend.device)
    earlier = this_run.values_list("backend_signature", "revision").first()
    if earlier is not None and earlier != made_with:
        raise BackendError(
            f"{run.model_name or run.backend}: this run was started with {_in_words(*earlier)}, "
            f"but the model here is now {_in_words(*made_with)}. Put the earlier model back and "
            "resume, or delete the run and start a new one."
        )
    return backend


def _note_device(run: MetricRun, device: str) -> None:
    """Store the device in the run's list of all kinds of devices that computed a part of it."""
    devices = run.device.split(", ") if run.device else []
    if device not in devices:
        run.device = ", ".join([*devices, device])
        MetricRun.objects.filter(pk=run.pk).update(device=run.device[:LONGEST_DEVICE])


def _in_words(signature: str, revision: str) -> str:
    return f"{signature}, revision {revision}" if revision else signature


RUN_CHUNKS = register(RunChunkWork())


def send_run(run: MetricRun) -> None:
    """Send the waiting chunks of a run to workers, as soon as the transaction is committed."""
    RUN_CHUNKS.send_waiting(run=run)

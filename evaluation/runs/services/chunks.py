"""Chunks of runs: one worker claims a chunk and scores it in batches.

If the worker dies, another worker takes over. Only the rows of the database count, because a broker
may lose a message or deliver it twice. A worker writes only while the chunk has the worker's token.
It asks its model outside of any transaction.
"""

import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice

from django.db import DatabaseError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from evaluation.backends.base import Backend
from evaluation.backends.registry import open_backend
from evaluation.jobs.services import message_lost_before
from evaluation.metrics.registry import is_of_earlier_rule, metric_of
from evaluation.models import AutoScore, MetricRun, RunChunk
from evaluation.runs.plan import spec_of
from evaluation.runs.scoring import RunScorer, unscored
from evaluation.runs.services.runs import LONGEST_REVISION
from generation.backends.problems import storable
from generation.backends.registry import is_server
from generation.model_specs import BackendError
from generation.services.checkpoints import pin_revision, with_leave
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

LONGEST_DEVICE = 100


# --- claims and messages --------------------------------------------------------------------


def claim_run_chunk(chunk_id: int) -> RunChunk | None:
    """Claim a chunk that waits or whose worker is silent. Return None when it cannot be claimed.

    One statement decides which worker gets it. Only a few chunks of a run that asks a server are
    claimed at a time.
    """
    now = timezone.now()
    there = free(RunChunk.objects.filter(pk=chunk_id, run__in=_running_runs()), now)
    run = there.values_list("run", "run__backend").first()
    if run is None or (is_server(run[1]) and are_enough(RunChunk.objects.filter(run=run[0]), now)):
        return None
    token = take(there, now)
    return RunChunk.objects.filter(pk=chunk_id, token=token).select_related("run").first()


def claim_next_run_chunk(run: MetricRun) -> RunChunk | None:
    """Claim the first chunk of a run that can be claimed; None: there is none."""
    there = free(RunChunk.objects.filter(run=run), timezone.now()).order_by("number")
    claims = map(claim_run_chunk, there.values_list("pk", flat=True)[:SENT_TOGETHER])
    return next(filter(None, claims), None)


def next_run_chunk(run: MetricRun) -> list[int]:
    """Return the id of a run's next waiting chunk, if there is one, and record that it was sent."""
    waiting = RunChunk.objects.filter(run=run, run__in=_running_runs(), state=QUEUED)
    chunk = list(waiting.order_by("number").values_list("pk", flat=True)[:1])
    waiting.filter(pk__in=chunk).update(sent_at=timezone.now())
    return chunk


def lost_run_chunks() -> list[int]:
    """Return the ids of the chunks to send (again), and record that they were sent.

    These are chunks whose worker is silent, chunks that were given back, and chunks that have
    waited so long that their messages must be lost. Of the waiting chunks, only some of each run
    are sent.
    """
    now = timezone.now()
    of_running = RunChunk.objects.filter(run__in=_running_runs())
    lost = list(silent(of_running, now).order_by("run", "number").values_list("pk", flat=True))
    waiting = unheard(of_running, message_lost_before(now)).order_by("number")
    for run in _running_runs().values_list("pk", flat=True):
        lost += waiting.filter(run=run).values_list("pk", flat=True)[:SENT_TOGETHER]
    if lost:
        RunChunk.objects.filter(pk__in=lost).update(sent_at=now)
    return lost


def finish_runs() -> None:
    """Set runs without an unfinished chunk to done. Their worker may have died before doing so."""
    unfinished = RunChunk.objects.exclude(state=RunChunk.State.DONE)
    for run in _running_runs().exclude(pk__in=unfinished.values("run")):
        _finish_run(run.pk)


class _RunChunkHold(Hold):
    """A chunk that one worker has claimed."""

    def __init__(self, claim: RunChunk) -> None:
        super().__init__(claim, Q(run__in=_running_runs()))
        self._claim = claim

    @transaction.atomic
    def store(self, scores: Sequence[AutoScore]) -> None:
        """Store a batch of scores, and remove its targets from the chunk's list.

        Raises:
            WorkStopped: as in `keep`. Nothing is stored.
        """
        scored = {score.target_id for score in scores}
        left = [target for target in self._claim.targets if target not in scored]
        self.renew(targets=left, attempts=1)
        AutoScore.objects.bulk_create(scores)
        self._claim.targets = left

    def finish(self) -> None:
        """Set the chunk to done, and the run too if this was its last chunk."""
        if self.end(RunChunk.State.DONE, targets=[], attempts=0):
            _finish_run(self._claim.run_id)


def _running_runs() -> QuerySet[MetricRun]:
    return MetricRun.objects.filter(state=MetricRun.State.RUNNING)


@transaction.atomic
def _finish_run(run_id: int) -> None:
    """Set a run to done if no chunk is left. A process that adds chunks locks the run as well."""
    run = _running_runs().select_for_update(no_key=True).filter(pk=run_id).first()
    if run and not run.chunks.exclude(state=RunChunk.State.DONE).exists():
        run.state, run.finished_at = MetricRun.State.DONE, timezone.now()
        run.save(update_fields=["state", "finished_at"])


# --- scoring --------------------------------------------------------------------------------


def score_chunk(claim: RunChunk) -> None:
    """Score the targets of a claimed chunk that have no row yet, and finish the chunk.

    Scoring stops between two calls of the backend when the run was cancelled or another worker has
    the chunk. It stops between two batches when it has taken long, so that brokers and time limits
    do not interrupt it. Stored scores are kept. The whole run fails if the backend cannot be used.
    """
    with _RunChunkHold(claim) as hold:
        try:
            scorer = RunScorer(claim.run, _backend_of(claim.run), hold.keep)
            turn_ends = time.monotonic() + TURN_SECONDS  # does not include loading the model
            waiting = unscored(claim.run, list(claim.targets))
            if claim.attempts > MOST_CLAIMS:
                problem = f"its worker stopped {MOST_CLAIMS} times without an error message"
                hold.store([scorer.failed(each, problem) for each in islice(waiting, 1)])
            # A further attempt means that a worker died at one of these responses. Each is now
            # scored alone, to find out which.
            for rows in scorer.batches(waiting, is_alone=claim.attempts > 1):
                hold.store(rows)
                if claim.targets and time.monotonic() > turn_ends:
                    raise WorkStopped
        except WorkStopped:
            logger.info("chunk %s was stopped, is another's, or takes long", claim.pk)
            hold.release(attempts=0)
        except BackendError as error:
            hold.release(attempts=0)
            _fail_run(claim.run, str(error))
        except DatabaseError:
            with suppress(DatabaseError):
                hold.release()
            raise
        except Exception as error:
            logger.exception("chunk %s cannot be scored", claim.pk)
            hold.release(attempts=0)
            _fail_run(claim.run, unexpected(error))
        except BaseException:
            hold.release()
            raise
        else:
            hold.finish()


def _fail_run(run: MetricRun, error: str) -> None:
    """Store why a run failed. The model's location is replaced, because only admins may see it."""
    if run.model_location:
        error = error.replace(run.model_location, run.model_name)
    _running_runs().filter(pk=run.pk).update(
        state=MetricRun.State.FAILED, error=storable(error), finished_at=timezone.now()
    )


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
    backend = metric_of(run.metric, run.parameters).ready(open_backend(with_leave(spec_of(run))))
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

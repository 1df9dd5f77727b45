"""Chunks of runs: claimed by one worker, scored in batches, found again when the worker died.

The rows are the truth, whatever a broker loses or delivers twice. A worker writes only while the
chunk carries its token, and asks its model outside of any transaction.
"""

import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import islice

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from evaluation.auto_metrics.registry import metric_of
from evaluation.backends.base import Backend
from evaluation.backends.registry import BACKENDS, open_backend
from evaluation.models import AutoScore, Job, MetricRun, RunChunk
from evaluation.runs.plan import spec_of
from evaluation.runs.scoring import Scorer, Stopped, storable, unscored
from evaluation.services.checkpoints import pin_revision
from evaluation.services.runs import LONGEST_REVISION
from generation.backends.base import BackendError
from generation.models.datasets import new_token

logger = logging.getLogger(__name__)

TURN_SECONDS = 600.0  # then the rest of a chunk waits until it is sent again
LOOKS_EVERY_SECONDS = 2.0  # whether the run goes on
MOST_CLAIMS = 10  # of a chunk without a row in between: its next response ends whatever scores it
SENT_TOGETHER = 20  # chunks of a run, when their messages may have been lost
SENT_AGAIN_AFTER = 10.0  # seconds
LEASES_OF_A_QUEUE = 10  # that a message may wait behind other work
LONGEST_DEVICE = 100


def lease(backend: str = "") -> timedelta:
    """Return how long a chunk is a worker's without a sign of life, asking this backend."""
    kind = BACKENDS.get(backend)
    silent = kind.longest_call_seconds if kind else 0.0
    return timedelta(seconds=settings.CHUNK_LEASE_SECONDS + silent)


# --- who has it -----------------------------------------------------------------------------


def claim_chunk(chunk_id: int) -> RunChunk | None:
    """Take a chunk that waits or whose worker went silent; None when there is nothing to take.

    One statement decides who gets it.
    """
    now, token = timezone.now(), new_token()
    free = _free(now).filter(pk=chunk_id, run__in=_running_runs())
    backend = free.values_list("run__backend", flat=True).first()
    if backend is None or not free.update(
        state=RunChunk.State.RUNNING,
        token=token,
        lease_until=now + lease(backend),
        attempts=F("attempts") + 1,
    ):
        return None
    return RunChunk.objects.filter(pk=chunk_id, token=token).select_related("run").first()


def claim_next_chunk(run: MetricRun) -> RunChunk | None:
    """Take the first chunk of a run that can be taken."""
    free = _free(timezone.now()).filter(run=run).order_by("number")
    claims = map(claim_chunk, free.values_list("pk", flat=True)[:SENT_TOGETHER])
    return next(filter(None, claims), None)


def lost_chunks() -> list[int]:
    """Return the chunks to send (again), and note that they were sent.

    Those whose worker went silent; those that were given back; and some of those that wait since
    long: their messages were lost.
    """
    now = timezone.now()
    of_running = RunChunk.objects.filter(run__in=_running_runs())
    silent = of_running.filter(state=RunChunk.State.RUNNING, lease_until__lt=now).filter(
        Q(sent_at=None) | Q(sent_at__lt=F("lease_until")) | Q(sent_at__lt=now - lease())
    )
    lost = list(silent.order_by("run", "number").values_list("pk", flat=True))
    waiting = of_running.filter(Q(sent_at=None) | Q(sent_at__lt=lost_if_sent_before(now)))
    waiting = waiting.filter(state=RunChunk.State.QUEUED).order_by("number")
    for run in _running_runs().values_list("pk", flat=True):
        lost += waiting.filter(run=run).values_list("pk", flat=True)[:SENT_TOGETHER]
    if lost:
        RunChunk.objects.filter(pk__in=lost).update(sent_at=now)
    return lost


def lost_if_sent_before(now: datetime) -> datetime:
    """Return since when a message must have waited to count as lost.

    Chunks and jobs share a queue: while a worker is at one of either, a message waits behind that.
    While nobody is, it does not take long.
    """
    at_work = (
        of_kind.objects.filter(state=of_kind.State.RUNNING, lease_until__gte=now).exists()
        for of_kind in (RunChunk, Job)
    )
    a_message_takes = min(lease(), timedelta(seconds=SENT_AGAIN_AFTER))
    return now - (LEASES_OF_A_QUEUE * lease() if any(at_work) else a_message_takes)


def finish_runs() -> None:
    """Call runs done that have no chunk left: a worker may die just before it says so."""
    unfinished = RunChunk.objects.exclude(state=RunChunk.State.DONE)
    for run in _running_runs().exclude(pk__in=unfinished.values("run")):
        _finish_run(run.pk)


class _Hold:
    """A claimed chunk in the hands of one worker."""

    def __init__(self, claim: RunChunk) -> None:
        self._claim = claim
        self._mine = RunChunk.objects.filter(
            pk=claim.pk, token=claim.token, state=RunChunk.State.RUNNING
        )
        self._renew_at = self._next_renewal()

    def keep(self) -> None:
        """Give a sign of life, and see whether the run goes on, when that is due.

        Raises:
            Stopped: it is not this worker's any more, or the run does not go on.
        """
        if time.monotonic() >= self._renew_at:
            self._renew()

    @transaction.atomic
    def store(self, scores: Sequence[AutoScore]) -> None:
        """Store a batch of scores, and take its targets off the chunk's list.

        Raises:
            Stopped: as for `keep`; nothing is stored.
        """
        scored = {score.target_id for score in scores}
        left = [target for target in self._claim.targets if target not in scored]
        self._renew(targets=left, attempts=1)
        AutoScore.objects.bulk_create(scores)
        self._claim.targets = left

    def finish(self) -> None:
        """Call the chunk done, and the run if it was the last one."""
        if self._mine.update(
            state=RunChunk.State.DONE, token="", lease_until=None, targets=[], attempts=0
        ):
            _finish_run(self._claim.run_id)

    def release(self, **columns: int) -> None:
        """Give the chunk back, if it still is this worker's; no message tells of it any more."""
        self._mine.update(
            state=RunChunk.State.QUEUED, token="", lease_until=None, sent_at=None, **columns
        )

    def _renew(self, **columns: object) -> None:
        until = timezone.now() + lease(self._claim.run.backend)
        if not self._mine.filter(run__in=_running_runs()).update(lease_until=until, **columns):
            raise Stopped
        self._renew_at = self._next_renewal()

    def _next_renewal(self) -> float:
        return time.monotonic() + min(LOOKS_EVERY_SECONDS, lease().total_seconds() / 4)


def _free(now: datetime) -> QuerySet[RunChunk]:
    """Return the chunks that nobody has, or somebody who went silent."""
    is_silent = Q(state=RunChunk.State.RUNNING, lease_until__lt=now)
    return RunChunk.objects.filter(Q(state=RunChunk.State.QUEUED) | is_silent)


def _running_runs() -> QuerySet[MetricRun]:
    return MetricRun.objects.filter(state=MetricRun.State.RUNNING)


@transaction.atomic
def _finish_run(run_id: int) -> None:
    """Call a run done when no chunk is left; whoever adds chunks locks the run as well."""
    run = _running_runs().select_for_update(no_key=True).filter(pk=run_id).first()
    if run and not run.chunks.exclude(state=RunChunk.State.DONE).exists():
        run.state, run.finished_at = MetricRun.State.DONE, timezone.now()
        run.save(update_fields=["state", "finished_at"])


# --- what is done with it -------------------------------------------------------------------


def score_chunk(claim: RunChunk) -> None:
    """Score the targets of a claimed chunk that have no row yet, and finish it.

    Stops between two calls of the backend when the run was cancelled or the chunk is another's,
    and between two batches when it has taken long, so that brokers and time limits do not step in;
    what was stored stays. A backend that cannot be used fails the whole run.
    """
    hold = _Hold(claim)
    try:
        scorer = Scorer(claim.run, _backend_of(claim.run), hold.keep)
        turn_ends = time.monotonic() + TURN_SECONDS  # loading a model is no part of it
        waiting = unscored(claim.run, list(claim.targets))
        if claim.attempts > MOST_CLAIMS:
            problem = f"whatever scored it ended {MOST_CLAIMS} times without a word"
            hold.store([scorer.failed(each, problem) for each in islice(waiting, 1)])
        # Where a worker died, the response that did it shall be alone with the next one.
        for rows in scorer.batches(waiting, is_alone=claim.attempts > 1):
            hold.store(rows)
            if claim.targets and time.monotonic() > turn_ends:
                raise Stopped
    except Stopped:
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
        _fail_run(claim.run, f"{type(error).__name__}: {error}")
    except BaseException:
        hold.release()
        raise
    else:
        hold.finish()


def _fail_run(run: MetricRun, error: str) -> None:
    """Say why a run stopped; where its model lies is nobody's business but the admins'."""
    if run.model_location:
        error = error.replace(run.model_location, run.model_name)
    _running_runs().filter(pk=run.pk).update(
        state=MetricRun.State.FAILED, error=storable(error), finished_at=timezone.now()
    )


def _backend_of(run: MetricRun) -> Backend:
    """Open a run's backend, and note what the scores are made with.

    Raises:
        BackendError: it cannot be used, or earlier scores were made with something else.
    """
    backend = metric_of(run.metric, run.parameters).ready(open_backend(spec_of(run)))
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
            f"{run.model_name or run.backend}: this run was begun with {_in_words(*earlier)}, and "
            f"what is there now is {_in_words(*made_with)}. Put the earlier one back and resume, "
            "or delete the run and start it anew."
        )
    return backend


def _note_device(run: MetricRun, device: str) -> None:
    """Note where a run is computed: every kind of device that had a part in it."""
    devices = run.device.split(", ") if run.device else []
    if device not in devices:
        run.device = ", ".join([*devices, device])
        MetricRun.objects.filter(pk=run.pk).update(device=run.device[:LONGEST_DEVICE])


def _in_words(signature: str, revision: str) -> str:
    return f"{signature}, revision {revision}" if revision else signature

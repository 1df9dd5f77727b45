"""Celery tasks of metric runs, and of grids and samples whose messages were lost."""

import logging
from collections.abc import Sequence

from celery import shared_task
from django.utils import timezone

from evaluation.jobs.services import message_lost_before
from evaluation.models import MetricRun, RunChunk
from evaluation.runs.services.chunks import (
    claim_run_chunk,
    finish_runs,
    lost_run_chunks,
    next_run_chunk,
    score_chunk,
)
from evaluation.runs.services.runs import chunks_to_send
from generation.backends.registry import is_server
from generation.services.grid_chunks import finish_grids, lost_grid_chunks
from generation.services.grids import lost_plans
from generation.services.samples import lost_samples
from generation.tasks import filter_sample, plan_grid, queue_of
from generation.tasks import send_chunks as send_grid_chunks
from work.lost_work import resends

logger = logging.getLogger(__name__)


@shared_task(name="evaluation.tasks.execute_chunk", acks_late=True)
def execute_chunk(chunk_id: int) -> None:
    """Score one chunk of a run. A worker that does not get the claim does nothing."""
    claim = claim_run_chunk(chunk_id)
    if claim is None:
        logger.info("chunk %s is done, belongs to another worker, or has to wait", chunk_id)
        return
    score_chunk(claim)
    # Messages of the run's other chunks may have been used up while these chunks had to wait.
    if is_server(claim.run.backend):
        _send_chunks(next_run_chunk(claim.run))


def send_run(run: MetricRun) -> None:
    """Send the waiting chunks of a run to workers, as soon as the transaction is committed."""
    _send_chunks(chunks_to_send(run))


def _send_chunks(ids: Sequence[int]) -> None:
    backends = RunChunk.objects.filter(pk__in=ids).order_by("number")
    for chunk_id, backend in backends.values_list("pk", "run__backend"):
        execute_chunk.apply_async_on_commit((chunk_id,), queue=queue_of(is_server(backend)))


@resends
def resend_lost_chunks() -> None:
    """Send those chunks again whose worker died or whose message was lost."""
    finish_runs()
    _send_chunks(lost_run_chunks())


@resends
def resend_lost_grids() -> None:
    """Send the work of grids and samples again if its worker died or its message was lost.

    Grids and samples belong to the app generation. This is here because only the work of all
    three apps together shows whether a message is lost.
    """
    finish_grids()
    send_grid_chunks(lost_grid_chunks(message_lost_before(timezone.now())))
    for grid_id in lost_plans():
        plan_grid.delay(grid_id)
    for sample_id in lost_samples():
        filter_sample.delay(sample_id)

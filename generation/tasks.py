"""Celery tasks of samples, indexes and grids. Their arguments are ids. A message may come twice.

Messages that are lost are sent again by `evaluation.tasks`, which knows all kinds of queued work.
"""

import logging
from collections.abc import Sequence

from celery import shared_task
from django.conf import settings

from generation.models import Dataset, Grid, GridChunk
from generation.retrieval import dataset_index
from generation.services import grids, samples
from generation.services.grid_chunks import asks_server, claim_grid_chunk, next_grid_chunk
from generation.services.grid_chunks import generate_chunk as generate
from work.worker_health import at_work

logger = logging.getLogger(__name__)


@shared_task(acks_late=True)
def filter_sample(sample_id: int) -> None:
    """Filter and draw a sample, unless that is already done."""
    with at_work():
        samples.filter_sample(sample_id)


@shared_task(acks_late=True)
def build_index(dataset_id: int) -> None:
    """Index the passages of a dataset, unless that is already done."""
    try:
        with at_work():
            dataset_index.build_index(dataset_id)
    except Dataset.DoesNotExist:
        logger.info("dataset %s was deleted before it was indexed", dataset_id)


@shared_task(acks_late=True, name="generation.tasks.plan_experiment")
def plan_grid(grid_id: int) -> None:
    """Count the calls of a grid, unless that is already done."""
    with at_work():
        grids.make_plan(grid_id)


@shared_task(acks_late=True)
def generate_chunk(chunk_id: int) -> None:
    """Make the calls of one chunk of a grid. A worker that does not get the claim does nothing."""
    claim = claim_grid_chunk(chunk_id)
    if claim is None:
        logger.info("chunk %s is done, belongs to another worker, or has to wait", chunk_id)
        return
    generate(claim)
    # Messages of other chunks may have been used up while too many chunks waited for the server.
    if asks_server(claim.setup):
        send_chunks(next_grid_chunk(claim.grid))


def send(grid: Grid) -> None:
    """Send the work that a grid waits for after the commit: its planning, or its chunks."""
    if Grid.objects.filter(pk=grid.pk, state=Grid.State.PLANNING).exists():
        plan_grid.delay_on_commit(grid.pk)
    send_chunks(grids.chunks_to_send(grid))


def send_chunks(ids: Sequence[int]) -> None:
    """Send chunks of grids, after the present transaction is committed."""
    chunks = GridChunk.objects.filter(pk__in=ids).select_related("setup").defer("examples")
    for chunk in chunks.order_by("number"):
        generate_chunk.apply_async_on_commit((chunk.pk,), queue=queue_of(asks_server(chunk.setup)))


def queue_of(asks_server: bool) -> str:
    """Return the queue for work that mostly waits for a server, or the one for computing."""
    return settings.SERVER_QUEUE if asks_server else settings.CHUNK_QUEUE

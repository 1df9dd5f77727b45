"""Celery tasks of samples, indexes and grids. Their arguments are ids; each may come twice.

What is lost is sent again by `evaluation.tasks`, where all kinds of work in the queues are known.
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
    """Filter and draw a sample, if nobody has."""
    with at_work():
        samples.filter_sample(sample_id)


@shared_task(acks_late=True)
def build_index(dataset_id: int) -> None:
    """Index the passages of a dataset, if nobody has."""
    try:
        with at_work():
            dataset_index.build_index(dataset_id)
    except Dataset.DoesNotExist:
        logger.info("dataset %s was deleted before it was indexed", dataset_id)


@shared_task(acks_late=True, name="generation.tasks.plan_experiment")
def plan_grid(grid_id: int) -> None:
    """Count what a grid would ask, if nobody has."""
    with at_work():
        grids.make_plan(grid_id)


@shared_task(acks_late=True)
def generate_chunk(chunk_id: int) -> None:
    """Ask about the examples of one chunk of a grid; who loses the claim does nothing."""
    claim = claim_grid_chunk(chunk_id)
    if claim is None:
        logger.info("chunk %s is done, somebody else's, or has to wait", chunk_id)
        return
    generate(claim)
    if asks_server(claim.setup):  # its other messages may have come while it had to wait
        send_chunks(next_grid_chunk(claim.grid))


def send(grid: Grid) -> None:
    """Send what a grid waits for, once that is committed: its planning, or its chunks."""
    if Grid.objects.filter(pk=grid.pk, state=Grid.State.PLANNING).exists():
        plan_grid.delay_on_commit(grid.pk)
    send_chunks(grids.chunks_to_send(grid))


def send_chunks(ids: Sequence[int]) -> None:
    """Send chunks of grids, once what was asked for is committed."""
    chunks = GridChunk.objects.filter(pk__in=ids).select_related("setup").defer("examples")
    for chunk in chunks.order_by("number"):
        generate_chunk.apply_async_on_commit((chunk.pk,), queue=queue_of(asks_server(chunk.setup)))


def queue_of(asks_server: bool) -> str:
    """Return the queue of work that mostly waits for a server, or of work that computes."""
    return settings.SERVER_QUEUE if asks_server else settings.CHUNK_QUEUE

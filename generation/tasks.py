"""The Celery tasks of this app. Those of samples and grids are made by their kinds of pieces."""

import logging

from celery import shared_task

from generation.models import Dataset
from generation.retrieval import dataset_index
from generation.services.grid_chunks import GRID_CHUNKS
from generation.services.planning import PLANNINGS
from generation.services.samples import SAMPLES
from work.worker_health import at_work

logger = logging.getLogger(__name__)

__all__ = ["GRID_CHUNKS", "PLANNINGS", "SAMPLES", "build_index"]


@shared_task(acks_late=True)
def build_index(dataset_id: int) -> None:
    """Index the passages of a dataset, unless that is already done."""
    try:
        with at_work():
            dataset_index.build_index(dataset_id)
    except Dataset.DoesNotExist:
        logger.info("dataset %s was deleted before it was indexed", dataset_id)

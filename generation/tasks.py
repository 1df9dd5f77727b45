"""Celery tasks of samples, indexes and grids. Their arguments are ids; each may come twice.

What is lost is sent again by `evaluation.tasks`, where all kinds of work in the queues are known.
"""

import logging

from celery import shared_task

from generation.models import Dataset, Experiment
from generation.retrieval import dataset_index
from generation.services import experiments, samples
from generation.services.experiment_chunks import claim_chunk
from generation.services.experiment_chunks import generate_chunk as generate

logger = logging.getLogger(__name__)


@shared_task(acks_late=True)
def filter_sample(sample_id: int) -> None:
    """Filter and draw a sample, if nobody has."""
    samples.filter_sample(sample_id)


@shared_task(acks_late=True)
def build_index(dataset_id: int) -> None:
    """Index the passages of a dataset, if nobody has."""
    try:
        dataset_index.build_index(dataset_id)
    except Dataset.DoesNotExist:
        logger.info("dataset %s was deleted before it was indexed", dataset_id)


@shared_task(acks_late=True)
def plan_experiment(experiment_id: int) -> None:
    """Count what an experiment would ask, if nobody has."""
    experiments.make_plan(experiment_id)


@shared_task(acks_late=True)
def generate_chunk(chunk_id: int) -> None:
    """Ask about the examples of one chunk of a grid; who loses the claim does nothing."""
    claim = claim_chunk(chunk_id)
    if claim is None:
        logger.info("chunk %s is done, somebody else's, or of a grid that does not go on", chunk_id)
        return
    generate(claim)


def send(experiment: Experiment) -> None:
    """Send what an experiment waits for: its planning, or its chunks. Call it after a commit."""
    if Experiment.objects.filter(pk=experiment.pk, state=Experiment.State.PLANNING).exists():
        plan_experiment.delay(experiment.pk)
    for chunk_id in experiments.chunks_to_send(experiment):
        generate_chunk.delay(chunk_id)

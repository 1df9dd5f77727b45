"""The Celery task that makes the figures of a large study."""

from typing import Any

from celery import shared_task

from evaluation.reports.base import Choices
from evaluation.studies.reports.cached_figures import compute_and_store
from work.worker_health import at_work


@shared_task(name="evaluation.tasks.compute_figures", acks_late=True)
def compute_figures(study_id: int, choices: dict[str, Any]) -> None:
    """Compute and store the figures of a study.

    Args:
        choices: the reader's choices, by name.
    """
    with at_work():
        compute_and_store(study_id, Choices(**choices))

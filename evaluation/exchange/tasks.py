"""Celery tasks of imports by page, and of the demo."""

from celery import shared_task
from django.core.management import call_command

from evaluation.exchange.import_process import IMPORTS
from evaluation.exchange.uploads import cancel_forgotten_imports
from work.worker_health import at_work

__all__ = ["IMPORTS", "complete_demo", "forget_old_imports"]


@shared_task(name="evaluation.tasks.forget_old_imports")
def forget_old_imports() -> None:
    """Cancel imports that have long waited for a user's decision, and delete their files."""
    cancel_forgotten_imports()


@shared_task(name="evaluation.tasks.complete_demo", acks_late=True)
def complete_demo() -> None:
    """Ask, score and re-rank what the demo shows, unless that is done (`load_demo --wait`)."""
    with at_work():
        call_command("load_demo", wait=True)

"""Celery tasks of imports by page, and of the demo."""

from celery import shared_task
from django.conf import settings
from django.core.management import call_command

from evaluation.exchange.import_process import carry_on_apart
from evaluation.exchange.uploads import cancel_forgotten_imports, lost_imports
from work.lost_work import resends
from work.worker_health import at_work


# The process has a limit of its own. The task's limits are for a worker that does not enforce it.
@shared_task(
    name="evaluation.tasks.carry_on_import",
    acks_late=True,
    soft_time_limit=settings.IMPORT_SECONDS + 60,
    time_limit=settings.IMPORT_SECONDS + 120,
)
def carry_on_import(import_id: int) -> None:
    """Check or store one uploaded file, as its row requests."""
    with at_work():
        carry_on_apart(import_id)


@resends
def resend_interrupted_imports() -> None:
    """Send imports again whose worker died, so that imports do not depend on the broker."""
    for import_id in lost_imports():
        carry_on_import.delay(import_id)


@shared_task(name="evaluation.tasks.forget_old_imports")
def forget_old_imports() -> None:
    """Cancel imports that have long waited for a user's decision, and delete their files."""
    cancel_forgotten_imports()


@shared_task(name="evaluation.tasks.complete_demo", acks_late=True)
def complete_demo() -> None:
    """Ask, score and re-rank what the demo shows, unless that is done (`load_demo --wait`)."""
    with at_work():
        call_command("load_demo", wait=True)

"""Celery tasks. Their arguments are ids, and each may be delivered twice."""

from celery import shared_task

from evaluation.uploads import cancel_forgotten_imports, carry_on, interrupted_imports


@shared_task(acks_late=True)
def carry_on_import(import_id: int) -> None:
    """Check or store one uploaded file, as its row asks."""
    carry_on(import_id)


@shared_task
def resend_interrupted_imports() -> None:
    """Send imports again whose worker died, so that no broker has to be trusted."""
    for import_id in interrupted_imports():
        carry_on_import.delay(import_id)


@shared_task
def forget_old_imports() -> None:
    """Cancel imports that wait for somebody's decision since long, and delete their files."""
    cancel_forgotten_imports()

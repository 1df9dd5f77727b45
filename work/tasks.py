"""The Celery task that the beat sends for lost work of every kind."""

from celery import shared_task

from work.pieces import resend_all


@shared_task
def resend_lost_work() -> None:
    """Send work again whose worker died or whose message was lost. Two do no harm."""
    resend_all()

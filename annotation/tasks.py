"""Celery tasks of studies."""

from celery import shared_task

from annotation.services import joining, submissions


@shared_task
def follow_visits() -> None:
    """End the visits of people who have left, and read how submissions stand. Two do no harm."""
    submissions.follow_visits()


@shared_task
def forget_networks() -> None:
    """Delete from which networks people joined, after SIGN_IN_RECORD_DAYS."""
    joining.forget_networks()

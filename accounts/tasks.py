"""Celery tasks of accounts."""

from celery import shared_task

from accounts import services


@shared_task
def forget_old_sign_ins() -> None:
    """Delete sessions, links and records of old sign-ins."""
    services.forget_old_sign_ins()

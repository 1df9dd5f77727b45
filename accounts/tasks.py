"""Celery tasks of accounts."""

from celery import shared_task

from accounts import services


@shared_task
def forget_old_sign_ins() -> None:
    """Delete what is left of sign-ins long ago."""
    services.forget_old_sign_ins()

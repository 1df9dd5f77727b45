"""The settings package: glue only, nothing imports it."""

from config.celery import app as celery_app

__all__ = ["celery_app"]

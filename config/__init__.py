"""Settings and the parts that join the apps. No app imports this package."""

from config.celery import app as celery_app

__all__ = ["celery_app"]

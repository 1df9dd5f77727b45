"""The Celery application; its settings are the CELERY_ ones of settings.py."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("attest")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

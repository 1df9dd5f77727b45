"""The Celery application; its settings are the CELERY_ ones of settings.py."""

import os

from celery import Celery
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
TRANSPORT_ALIASES["filesystem"] = "config.queue_folder:Transport"

app = Celery("attest")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

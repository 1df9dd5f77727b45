"""The Celery application. Its settings are those of settings.py that begin with CELERY_."""

import logging
import os
from time import monotonic
from typing import Any

from celery import Celery
from celery.contrib.django.task import DjangoTask
from kombu.exceptions import ChannelError, OperationalError
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
TRANSPORT_ALIASES["filesystem"] = "config.queue_folder:Transport"

logger = logging.getLogger(__name__)

PAUSE_SECONDS = 5.0  # pause after a message that could not be sent; others would fail as well


class Task(DjangoTask):  # type: ignore[misc]
    """A task whose message may be lost: its work is stored in a row, and beat sends it again.

    So pages are still shown while the queue cannot be reached, and no person has to try again.
    """

    _sends_again_at = 0.0

    def apply_async(self, *args: Any, **kwargs: Any) -> Any:
        """Send a message and return its result; return None when it cannot be sent."""
        from work.worker_health import note_unsent

        if monotonic() < Task._sends_again_at:
            return None
        try:
            return super().apply_async(*args, **kwargs)
        except (OperationalError, ChannelError, OSError) as error:
            Task._sends_again_at = monotonic() + PAUSE_SECONDS
            logger.warning("a message for %s was not sent: %s", self.name, error)
            note_unsent(str(error))
            return None


app = Celery("attest", task_cls=Task)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

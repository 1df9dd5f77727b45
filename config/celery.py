"""The Celery application; its settings are the CELERY_ ones of settings.py."""

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

PAUSE_SECONDS = 5.0  # after a message that could not be sent: others would wait in vain


class Task(DjangoTask):  # type: ignore[misc]
    """A task whose message may be lost: what is to be done is a row, and beat sends it again.

    So a queue that is not there keeps no page from being shown, and asks nobody to try again.
    """

    _sends_again_at = 0.0

    def apply_async(self, *args: Any, **kwargs: Any) -> Any:
        """Send a message, if that is possible; return its result, None if it is not."""
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

"""A clock that stands still, for a process that collects answers."""

import time
from datetime import datetime, tzinfo
from typing import Any


def stop_clock(moment: datetime) -> None:
    """Stop the clocks of Django, `time.time` and `time.perf_counter` at one moment.

    Call it before Django is set up. Deadlines use the monotonic clock, which goes on.
    """
    seconds = moment.timestamp()
    time.time = lambda: seconds
    time.perf_counter = lambda: 0.0  # pages show how long a report took

    from django.contrib.humanize.templatetags import humanize
    from django.utils import timezone

    class Stopped(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Any:
            return moment.astimezone(tz) if tz else moment.replace(tzinfo=None)

    vars(humanize)["datetime"] = Stopped
    timezone.now = lambda: moment

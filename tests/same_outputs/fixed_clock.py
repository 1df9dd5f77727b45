"""A clock that stands still, for a process that collects answers."""

import time
from datetime import datetime, tzinfo
from typing import Any


def stop_clock(moment: datetime) -> None:
    """Let Django, the standard library's `time.time` and stop watches say one moment for ever.

    Call it before Django is set up. Deadlines go by the monotonic clock, which runs on.
    """
    seconds = moment.timestamp()
    time.time = lambda: seconds
    time.perf_counter = lambda: 0.0  # pages say how long a report took

    from django.contrib.humanize.templatetags import humanize
    from django.utils import timezone

    class Stopped(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Any:
            return moment.astimezone(tz) if tz else moment.replace(tzinfo=None)

    vars(humanize)["datetime"] = Stopped
    timezone.now = lambda: moment

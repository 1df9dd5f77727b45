"""Whether workers are alive: when one of them gave its last sign.

A sign is a task that a worker took from the queue, of which beat sends some every few seconds, or a
lease that it renewed. So silence means that beat, the queue or all workers are dead or stuck. Signs
lie in the cache, which the site and its workers share: while an import holds SQLite, nobody could
write a row.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from threading import Event, Thread
from typing import Any

from django.conf import settings
from django.core.cache import cache

SIGN, UNSENT, PROBE = "work:sign", "work:unsent", "work:probe"
UNSENT_SECONDS = 60.0  # that a message which could not be sent is spoken of
SIGNS_EVERY_SECONDS = 1.0  # of one process, at the most

_gave_sign_at = 0.0


def give_sign(*arguments: Any, **signal: Any) -> None:
    """Say that this worker is alive; its arguments are those of any signal of Celery."""
    global _gave_sign_at
    now = time.time()
    if now - _gave_sign_at >= SIGNS_EVERY_SECONDS:
        _gave_sign_at = now
        cache.set(SIGN, now, timeout=None)


@contextmanager
def at_work() -> Iterator[None]:
    """Give signs while work without a lease goes on, for as long as a task may take."""
    is_over = Event()
    ends_at = time.monotonic() + settings.CELERY_TASK_TIME_LIMIT

    def give_signs() -> None:
        while not is_over.wait(settings.SILENT_AFTER_SECONDS / 4) and time.monotonic() < ends_at:
            give_sign()

    Thread(target=give_signs, name="signs", daemon=True).start()
    try:
        yield
    finally:
        is_over.set()


def note_unsent(problem: str) -> None:
    """Say why a message to workers could not be sent."""
    cache.set(UNSENT, problem, UNSENT_SECONDS)


def why_unsent() -> str:
    """Return why a message to workers could not be sent a moment ago; "" when none was lost."""
    problem: str = cache.get(UNSENT, "")
    return problem


def is_cache_usable() -> bool:
    """Return whether what is written to the cache can be read."""
    now = time.time()
    cache.set(PROBE, now, UNSENT_SECONDS)
    found: float = cache.get(PROBE, 0.0)
    return found == now


class Watch:
    """Looks for signs, and remembers the latest: a cache may forget it.

    Where none was ever given, silence begins with the watch.
    """

    def __init__(self) -> None:
        self._latest = time.time()

    def is_quiet(self) -> bool:
        """Return whether no sign has come for long."""
        self._latest = max(self._latest, cache.get(SIGN) or 0.0)
        return bool(time.time() - self._latest >= settings.SILENT_AFTER_SECONDS)

    def silent_since(self) -> datetime | None:
        """Return when a worker gave its last sign, in UTC, if that is long ago; else None.

        Where the cache cannot be used no sign can come, whoever lives.
        """
        if not self.is_quiet() or not is_cache_usable():
            return None
        return datetime.fromtimestamp(self._latest, UTC)

    def begin_again(self, in_seconds: float = 0.0) -> None:
        """Count silence from then on: workers that were started need so long."""
        self._latest = time.time() + in_seconds


watch = Watch()  # of this process of the site

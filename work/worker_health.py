"""The health of the workers: when one of them last gave a sign that it is alive.

A sign is a task that a worker took from the queue, or a lease that it renewed. Beat sends some
tasks every few seconds, so silence means that beat, the queue or all workers are dead or stuck.
Signs are in the cache, which the site and its workers share. They are not rows, because no worker
could write one while an import locks SQLite.
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
UNSENT_SECONDS = 60.0  # how long pages mention a message that could not be sent
SIGNS_EVERY_SECONDS = 1.0  # shortest time between two signs of one process

_gave_sign_at = 0.0


def give_sign(*arguments: Any, **signal: Any) -> None:
    """Note that this worker is alive. Any signal of Celery may call this with its arguments."""
    global _gave_sign_at
    now = time.time()
    if now - _gave_sign_at >= SIGNS_EVERY_SECONDS:
        _gave_sign_at = now
        cache.set(SIGN, now, timeout=None)


@contextmanager
def at_work() -> Iterator[None]:
    """Give signs while work without a lease goes on, but not longer than a task may take."""
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
    """Store why a message to workers could not be sent."""
    cache.set(UNSENT, problem, UNSENT_SECONDS)


def why_unsent() -> str:
    """Return why a message to workers could not be sent a moment ago; "" if all were sent."""
    problem: str = cache.get(UNSENT, "")
    return problem


def is_cache_usable() -> bool:
    """Return whether what is written to the cache can be read."""
    now = time.time()
    cache.set(PROBE, now, UNSENT_SECONDS)
    found: float = cache.get(PROBE, 0.0)
    return found == now


class Watch:
    """A watch for signs that remembers the latest one, because a cache may forget it.

    Without any sign, silence is counted from the start of the watch.
    """

    def __init__(self) -> None:
        self._latest = time.time()

    def is_quiet(self) -> bool:
        """Return whether no sign has come for SILENT_AFTER_SECONDS."""
        self._latest = max(self._latest, cache.get(SIGN) or 0.0)
        return bool(time.time() - self._latest >= settings.SILENT_AFTER_SECONDS)

    def silent_since(self) -> datetime | None:
        """Return when a worker gave its last sign, in UTC, if that is long ago; else None.

        Return None also when the cache cannot be used: then no worker can give a sign.
        """
        if not self.is_quiet() or not is_cache_usable():
            return None
        return datetime.fromtimestamp(self._latest, UTC)

    def begin_again(self, in_seconds: float = 0.0) -> None:
        """Count silence from that time on, because workers need some seconds to start."""
        self._latest = time.time() + in_seconds


watch = Watch()  # each process of the site has its own


def are_in_trouble() -> bool:
    """Return whether no worker has answered for a while, or a message to workers was lost."""
    return watch.is_quiet() or bool(why_unsent())

"""Work that one worker at a time does, found again when that worker died.

The rows are the truth, whatever a broker loses or delivers twice: chunks and jobs have a `state`
(queued, running, …), a `token`, a `lease_until`, a moment `sent_at` and `attempts`. One statement
decides who gets a row, and a worker writes only while the row carries its token.
"""

import time
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import F, Model, Q, QuerySet
from django.utils import timezone

from generation.models.datasets import new_token

QUEUED, RUNNING = "queued", "running"
TURN_SECONDS = 600.0  # then what is left of a chunk or a job waits until it is sent again
LOOKS_EVERY_SECONDS = 2.0  # whether the work goes on
MOST_CLAIMS = 10  # of a row without anything stored in between: its next piece ends its workers
SENT_TOGETHER = 20  # chunks of one run, when their messages may have been lost
SENT_AGAIN_AFTER = 10.0  # seconds
LEASES_OF_A_QUEUE = 10  # that a message may wait behind other work


class Stopped(Exception):
    """The work does not go on here: it was cancelled, or is another worker's now."""


def lease(silent_seconds: float = 0.0) -> timedelta:
    """Return how long a row is a worker's without a sign of life.

    Args:
        silent_seconds: that one call of a model may take.
    """
    return timedelta(seconds=settings.CHUNK_LEASE_SECONDS + silent_seconds)


def free(rows: QuerySet[Any], now: datetime) -> QuerySet[Any]:
    """Return the rows that nobody has, or somebody who went silent."""
    return rows.filter(Q(state=QUEUED) | Q(state=RUNNING, lease_until__lt=now))


def take(rows: QuerySet[Any], now: datetime, leased_for: timedelta) -> str | None:
    """Take a row that was free `now`; return the token that it has now, None: nobody got it."""
    token = new_token()
    is_ours = rows.update(
        state=RUNNING, token=token, lease_until=now + leased_for, attempts=F("attempts") + 1
    )
    return token if is_ours else None


def silent(rows: QuerySet[Any], now: datetime) -> QuerySet[Any]:
    """Return the rows whose worker went silent, and that were not sent again since."""
    return rows.filter(state=RUNNING, lease_until__lt=now).filter(
        Q(sent_at=None) | Q(sent_at__lt=F("lease_until")) | Q(sent_at__lt=now - lease())
    )


def unheard(rows: QuerySet[Any], sent_before: datetime) -> QuerySet[Any]:
    """Return the rows that wait and were given back, or whose message must have been lost."""
    return rows.filter(state=QUEUED).filter(Q(sent_at=None) | Q(sent_at__lt=sent_before))


def lost_if_sent_before(now: datetime, kinds: Iterable[type[Model]]) -> datetime:
    """Return since when a message must have waited to count as lost.

    Args:
        kinds: of rows that share a queue. While a worker is at one of any, a message waits behind
            that; while nobody is, it does not take long.
    """
    at_work = (
        kind._default_manager.filter(state=RUNNING, lease_until__gte=now).exists() for kind in kinds
    )
    a_message_takes = min(lease(), timedelta(seconds=SENT_AGAIN_AFTER))
    return now - (LEASES_OF_A_QUEUE * lease() if any(at_work) else a_message_takes)


class Hold:
    """A claimed row in the hands of one worker."""

    def __init__(self, claim: Any, leased_for: timedelta, goes_on: Q | None = None) -> None:
        """Hold a row.

        Args:
            claim: a row with the token that this worker took it with.
            goes_on: what holds of the row as long as its work is wanted.
        """
        rows = type(claim)._default_manager
        self._mine = rows.filter(pk=claim.pk, token=claim.token, state=RUNNING)
        self._wanted = self._mine.filter(goes_on) if goes_on else self._mine
        self._leased_for = leased_for
        self._renew_at = self._next_renewal()

    def keep(self) -> None:
        """Give a sign of life, and see whether the work goes on, when that is due.

        Raises:
            Stopped: it is not this worker's any more, or does not go on.
        """
        if time.monotonic() >= self._renew_at:
            self.renew()

    def renew(self, **columns: object) -> None:
        """Give a sign of life now, and write these columns with it.

        Raises:
            Stopped: as for `keep`; nothing is written.
        """
        if not self._wanted.update(lease_until=timezone.now() + self._leased_for, **columns):
            raise Stopped
        self._renew_at = self._next_renewal()

    def end(self, state: str, **columns: object) -> bool:
        """Give the row up in a state that is not running; return whether it was still ours."""
        return bool(self._mine.update(state=state, token="", lease_until=None, **columns))

    def release(self, **columns: object) -> None:
        """Give the row back, if it still is this worker's; no message tells of it any more."""
        self.end(QUEUED, sent_at=None, **columns)

    def _next_renewal(self) -> float:
        return time.monotonic() + min(LOOKS_EVERY_SECONDS, lease().total_seconds() / 4)

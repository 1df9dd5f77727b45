"""Work that is done by one worker at a time, and found again if that worker dies.

The rows of the database decide, whatever messages a broker loses or delivers twice. Chunks and jobs
have a `state` (queued, running, …), a `token`, a `lease_until`, a time `sent_at` and `attempts`.
One statement decides which worker gets a row, and a worker writes only while the row carries its
token.
"""

import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from threading import Event, Thread
from typing import Any, Generic, Self, TypeVar

from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, connections
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from work.models import CountedPiece, Piece
from work.worker_health import give_sign

P = TypeVar("P", bound=Piece)

QUEUED, RUNNING = "queued", "running"
GOING_ON = (QUEUED, RUNNING)
# A worker gives a chunk or a job back after this long; the rest is sent to a worker again.
TURN_SECONDS = 600.0
LOOKS_EVERY_SECONDS = 2.0  # A worker checks this often whether its work was cancelled.
# Loading a model, or one call of it, may take this long. After that another worker may take over.
LONGEST_CALL_SECONDS = 1800.0
# A row that is claimed this often without a result is given up: its next piece kills its workers.
MOST_CLAIMS = 10
SENT_TOGETHER = 20  # This many chunks of one run are sent again when their messages may be lost.
SENT_AGAIN_AFTER = 10.0  # seconds
LEASES_OF_A_QUEUE = 10  # A message may wait behind other work for this many leases.


class WorkStopped(Exception):
    """The work does not go on here: it was cancelled, or another worker has it now."""


def new_token() -> str:
    """Return a random token. A row may be written only by the worker that holds the row's token."""
    return secrets.token_hex(16)


def unexpected(error: Exception) -> str:
    """Return what people read when work stopped at an error that the code does not expect."""
    return (
        "The work stopped at an error that Attest did not expect. The worker's log has more: "
        f"{type(error).__name__}: {error}"
    )


def lease() -> timedelta:
    """Return how long a worker keeps a row without a sign of life."""
    return timedelta(seconds=settings.CHUNK_LEASE_SECONDS)


def free(rows: QuerySet[Any], now: datetime) -> QuerySet[Any]:
    """Return the rows that no worker has, or whose worker went silent."""
    return rows.filter(Q(state=QUEUED) | Q(state=RUNNING) & _run_out(now))


def take(rows: QuerySet[Any], now: datetime) -> str | None:
    """Take a row if it is free; return its new token; None: another worker was faster."""
    token = new_token()
    columns: dict[str, object] = {"attempts": F("attempts") + 1}
    if issubclass(rows.model, CountedPiece):
        columns["taken_at"] = Coalesce("taken_at", Value(now))
    mine = {"state": RUNNING, "token": token, "lease_until": now + lease()}
    return token if free(_of_one_table(rows), now).update(**mine, **columns) else None


def _of_one_table(rows: QuerySet[P]) -> QuerySet[P]:
    """Return the same rows without joins; what decides who may write a row is filtered after this.

    An update that waited for another one checks again what it says of its own row, but nothing that
    it reads by a subquery, as Django does for joined tables. There, a row that another worker has
    taken meanwhile would still look free.
    """
    return rows.model._default_manager.filter(pk__in=rows.order_by().values("pk"))


def _run_out(now: datetime) -> Q:
    """Return the condition of rows whose lease has run out.

    A lease that ends long after any that is given now was given before the clock was set back.
    """
    return Q(lease_until__lt=now) | Q(lease_until__gt=_clearly_later(now))


def _clearly_later(now: datetime) -> datetime:
    """Return a time after which no lease ends that is given now, and no message is sent."""
    return now + 2 * lease()


def with_a_worker() -> Q:
    """Return the condition of pieces that a worker has now."""
    now = timezone.now()
    return Q(state=RUNNING, lease_until__gte=now, lease_until__lte=_clearly_later(now))


def again(pieces: QuerySet[Any], **columns: object) -> bool:
    """Have pieces done again that no worker has; return whether there are any."""
    waits = {"state": QUEUED, "token": "", "lease_until": None, "attempts": 0, "sent_at": None}
    return bool(pieces.update(**waits, **columns))


def silent(rows: QuerySet[Any], now: datetime) -> QuerySet[Any]:
    """Return the rows whose worker went silent, and that were not sent again since.

    A row that was sent again is returned once more when a whole lease has passed since then, or
    when that was before the clock was set back.
    """
    return rows.filter(_run_out(now), state=RUNNING).filter(
        Q(sent_at=None)
        | Q(sent_at__lt=F("lease_until"))
        | Q(sent_at__lt=now - lease())
        | Q(sent_at__gt=_clearly_later(now))
    )


def unheard(rows: QuerySet[Any], sent_before: datetime) -> QuerySet[Any]:
    """Return the waiting rows that were given back, or whose message must have been lost.

    One that was sent before the clock was set back is returned as well.
    """
    later = _clearly_later(timezone.now())
    lost = Q(sent_at=None) | Q(sent_at__lt=sent_before) | Q(sent_at__gt=later)
    return rows.filter(lost, state=QUEUED)


def lost_if_sent_before(now: datetime, *, is_busy: bool) -> datetime:
    """Return the time before which a waiting message must have been sent to count as lost.

    Args:
        is_busy: whether a worker of its queue has a piece. Messages wait meanwhile; when no worker
            is busy, they are handled within seconds.
    """
    a_message_takes = min(lease(), timedelta(seconds=SENT_AGAIN_AFTER))
    return now - (LEASES_OF_A_QUEUE * lease() if is_busy else a_message_takes)


class Hold(Generic[P]):
    """A claimed piece that one worker holds.

    Used as a context, it renews the lease by itself while one call of a model takes long. The lease
    is short, so that another worker soon gets the piece of a worker that was killed.
    """

    def __init__(self, claim: P, wanted: QuerySet[P] | None = None) -> None:
        """Hold a piece.

        Args:
            claim: a piece, with the token with which this worker took it.
            wanted: the pieces that are to be done; None: each of its kind.
        """
        self.claim = claim
        rows = type(claim)._default_manager.all()
        mine = {"pk": claim.pk, "token": claim.token, "state": RUNNING}
        self._mine: QuerySet[P] = rows.filter(**mine)
        self._wanted = self._mine if wanted is None else _of_one_table(wanted).filter(**mine)
        self._renewed_at = time.monotonic()
        self._is_over = Event()
        self._waiting = Thread(target=self._renew_while_waiting, name="lease", daemon=True)
        self.goes_on: Callable[[], bool] = lambda: True
        self.begin_turn()

    def __enter__(self) -> Self:
        self._waiting.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._is_over.set()
        self._waiting.join()

    def keep(self) -> None:
        """Renew the lease, and check that the work goes on, if that is due.

        Raises:
            WorkStopped: another worker has the row now, or the work is not wanted any more.
        """
        looks_every = min(LOOKS_EVERY_SECONDS, lease().total_seconds() / 4)
        if time.monotonic() >= self._renewed_at + looks_every:
            self.renew()

    def begin_turn(self) -> None:
        """Begin a turn now: the time before, as for loading a model, does not count."""
        self._turn_ends = time.monotonic() + TURN_SECONDS

    def end_turn(self) -> None:
        """Check between two steps that this worker may go on.

        After a long turn it stops, so that others get a turn, and no time limit interrupts it.

        Raises:
            WorkStopped: the turn is over, or the caller of the work does not want it to go on.
        """
        if time.monotonic() > self._turn_ends or not self.goes_on():
            raise WorkStopped

    def renew(self, **columns: object) -> None:
        """Renew the lease now, and write these columns with it.

        Raises:
            WorkStopped: as in `keep`; nothing is written.
        """
        self._renew(self._wanted, columns)

    def advance(self, **columns: object) -> None:
        """Write progress. A worker that ends later without a word is the first one to do so.

        Raises:
            WorkStopped: as in `keep`; nothing is written.
        """
        self._renew(self._wanted, {"attempts": 1, **columns})

    def complete(self, **columns: object) -> None:
        """Write progress that was begun before, even if the work is not wanted any more.

        Raises:
            WorkStopped: another worker has the row now; nothing is written.
        """
        self._renew(self._mine, {"attempts": 1, **columns})

    def end(self, state: str, **columns: object) -> bool:
        """End the hold in a state that is not running; return whether this worker still had it."""
        return self._let_go(state=state, attempts=0, **columns)

    def give_back(self) -> None:
        """Give the piece back to be done later, if this worker still has it."""
        self.end(QUEUED, sent_at=None)

    def break_off(self) -> None:
        """Give the piece back as a worker does that ends without a word: that is counted."""
        self._let_go(state=QUEUED, sent_at=None)

    def _let_go(self, **columns: object) -> bool:
        return bool(self._mine.update(token="", lease_until=None, **columns))

    def fail(self, error: str) -> None:
        """End the hold, and store why the work cannot be done."""
        raise NotImplementedError

    def _extended(self, rows: QuerySet[P], columns: Mapping[str, object]) -> bool:
        """Extend the lease; return whether this worker still has the piece."""
        return bool(rows.update(lease_until=timezone.now() + lease(), **columns))

    def _renew(self, rows: QuerySet[P], columns: Mapping[str, object]) -> None:
        if not self._extended(rows, columns):
            raise WorkStopped
        self._renewed_at = time.monotonic()
        give_sign()

    def _renew_while_waiting(self) -> None:
        """Renew the lease when the work has not done so for half of it; this runs in a thread.

        If another worker has taken the row, the work itself finds out at its next renewal.
        """
        half = lease().total_seconds() / 2
        try:
            while not self._is_over.wait(half / 2):
                if half <= time.monotonic() - self._renewed_at < LONGEST_CALL_SECONDS:
                    give_sign()
                    with suppress(DatabaseError):
                        self._extended(self._mine, {})
        finally:
            connections.close_all()


class SignedHold(Hold[P]):
    """A hold that is renewed by signs in the cache, for work that is one long transaction.

    Meanwhile no other connection could write the row on SQLite, where a transaction locks all rows.
    """

    def __init__(self, claim: P) -> None:
        super().__init__(claim)
        self._sign = _sign_of(claim)
        cache.set(self._sign, claim.token, lease().total_seconds())

    def _let_go(self, **columns: object) -> bool:
        if cache.get(self._sign) == self.claim.token:
            cache.delete(self._sign)
        return super()._let_go(**columns)

    def _extended(self, rows: QuerySet[P], columns: Mapping[str, object]) -> bool:
        token = self.claim.token
        if cache.get(self._sign, token) != token:
            return False
        cache.set(self._sign, token, lease().total_seconds())
        return True


def with_signs(rows: QuerySet[P]) -> list[int]:
    """Return the ids of the running pieces whose workers give signs in the cache."""
    running = rows.filter(state=RUNNING)
    return [piece.pk for piece in running if cache.get(_sign_of(piece)) == piece.token]


def _sign_of(piece: Piece) -> str:
    return f"work:sign:{piece._meta.label_lower}:{piece.pk}"

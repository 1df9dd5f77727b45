"""The kinds of pieces of work. From one object come a kind's task, its claims and its resending.

A piece is a row, alone or a part of larger work: a chunk of a metric run, a job, and so on. Each
kind is registered by the module that does its work, and an app's `tasks` imports that module.
"""

import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from itertools import chain
from typing import Any, Generic, TypeVar

from celery import Task, shared_task
from django.conf import settings
from django.db import DatabaseError, models, transaction
from django.db.models import Count, F, Q
from django.utils import timezone

from work.claims import (
    GOING_ON,
    MOST_CLAIMS,
    QUEUED,
    SENT_TOGETHER,
    Hold,
    WorkStopped,
    again,
    free,
    lost_if_sent_before,
    silent,
    take,
    unexpected,
    unheard,
    with_a_worker,
)
from work.models import CountedPiece, Piece, WholePiece

logger = logging.getLogger(__name__)

P = TypeVar("P", bound=Piece)
H = TypeVar("H", bound=Hold[Any])
K = TypeVar("K", bound="PieceKind[Any, Any]")


class PieceKind(Generic[P, H]):
    """One kind of piece of work: its rows, and how one of them is done."""

    model: type[P]
    # The name of its Celery task. It must not change, because messages in a queue have it.
    task_name: str
    doing: str  # what a worker does with a piece, as in 'scores a run'
    part_of = ""  # the field of the larger work that a piece is a part of
    is_quick = False  # whether it takes seconds, and never waits behind the work of models
    related: tuple[str, ...] = ()  # the other rows that doing a piece reads
    # Errors that say to people why the work cannot be done, in whole sentences.
    troubles: tuple[type[Exception], ...] = ()
    longest_seconds: int | None = None  # how long its task may take; None: as long as others
    # A piece that is claimed this often without a result ends its workers. A single piece fails; of
    # larger work, only the row that comes next fails, which `work` sees to.
    most_claims = MOST_CLAIMS
    gave_up = "The worker stopped {n} times without an error message."
    task: Task

    # --- what each kind says ----------------------------------------------------------------

    def wanted(self) -> models.QuerySet[P]:
        """Return the pieces that are to be done: those of work that was not cancelled."""
        return self.rows()

    def asks_server(self, piece: P) -> bool:
        """Return whether a worker that does this piece mostly waits for a server."""
        return False

    def queue(self, piece: P) -> str:
        """Return the queue of a piece: the quick one, that for servers, or that for computing."""
        if self.is_quick:
            return str(settings.CELERY_TASK_DEFAULT_QUEUE)
        return str(settings.SERVER_QUEUE if self.asks_server(piece) else settings.CHUNK_QUEUE)

    def ready(self) -> models.QuerySet[P]:
        """Return the wanted pieces of which a worker could do one now."""
        return self.wanted()

    def at_work(self) -> list[int]:
        """Return the ids of pieces whose workers live, although their leases may have run out."""
        return []

    def has_a_worker(self) -> bool:
        """Return whether any piece has a worker now."""
        return self.rows().filter(with_a_worker()).exists() or bool(self.at_work())

    def lock(self, piece: P) -> None:
        """Lock what claims of several pieces compete for, until this claim is decided."""

    def has_place(self, piece: P) -> bool:
        """Return whether what a piece needs, such as a server, has a place for one more piece."""
        return True

    def send_next(self, claim: P) -> None:
        """Send the pieces that wait for the place that this one had."""

    def hold(self, claim: P) -> H:
        """Return the hold of a claimed piece."""
        raise NotImplementedError

    def work(self, hold: H) -> None:
        """Do the work of a piece that is held, and end the hold by its `end`.

        Raises:
            WorkStopped: the work does not go on here.
            Exception: one of `troubles`, or an error that is not expected; the work fails.
        """
        raise NotImplementedError

    def end_finished(self) -> None:
        """End larger work that has no unfinished piece. Its worker may have died before that."""

    def counts(self) -> dict[str, int]:
        """Return how many pieces wait for a worker (`n_waiting`) or have one (`n_at_work`)."""
        has_one = with_a_worker() | Q(pk__in=self.at_work())
        counted: dict[str, int] = self.wanted().aggregate(
            n_waiting=Count("pk", filter=Q(state=QUEUED)), n_at_work=Count("pk", filter=has_one)
        )
        return counted

    # --- claims -----------------------------------------------------------------------------

    def rows(self) -> models.QuerySet[P]:
        return self.model._default_manager.select_related(*self.related)

    def claim(self, piece_id: int) -> P | None:
        """Claim a piece that waits, or whose worker went silent; None: it cannot be claimed.

        One statement decides which worker gets it. What a piece needs may have no place for it:
        then it is sent again when a place is free.
        """
        piece = self._free(piece_id, timezone.now()).first()
        # Most messages of work that waits for a place end here, without a lock.
        if piece is None or not self.has_place(piece):
            return None
        return self._claimed(piece)

    @transaction.atomic
    def _claimed(self, piece: P) -> P | None:
        now = timezone.now()
        self.lock(piece)
        if not self.has_place(piece):
            return None
        token = take(self.ready().filter(pk=piece.pk), now)
        if token is None:
            # Its message is used up: if it waits, it is sent again.
            self._free(piece.pk, now).update(sent_at=None)
            return None
        return self.rows().filter(pk=piece.pk, token=token).first()

    def _free(self, piece_id: int, now: datetime) -> models.QuerySet[P]:
        """Return the piece as a set, which is empty if the piece is not wanted or has a worker."""
        return free(self.wanted().filter(pk=piece_id).exclude(pk__in=self.at_work()), now)

    def claim_next(self, work: models.Model) -> P | None:
        """Claim the first piece of a larger work that can be claimed; None: there is none."""
        of_work = self.ready().filter(**{self.part_of: work})
        first = free(of_work, timezone.now()).order_by("pk").values_list("pk", flat=True)
        return next(filter(None, map(self.claim, first[:SENT_TOGETHER])), None)

    # --- doing it ---------------------------------------------------------------------------

    def do(self, claim: P, goes_on: Callable[[], bool] = lambda: True) -> None:
        """Do a claimed piece from where it stopped.

        The work stops when it was cancelled, when another worker has it, and between two steps when
        a turn is over. What was stored is kept. Work that cannot be done fails, with the reason. A
        worker that is told to end gives the piece back. At the end, pieces that wait for the place
        of this one are sent.

        Args:
            goes_on: called between two steps; the work stops there if it returns False.
        """
        with self.hold(claim) as hold:
            hold.goes_on = goes_on
            try:
                if not self.part_of and self.ends_its_workers(claim):
                    hold.fail(self.gave_up.format(n=self.most_claims))
                else:
                    self.work(hold)
            except WorkStopped:
                logger.info("%r was stopped, is another worker's, or goes on later", claim)
                hold.give_back()
            except self.troubles as error:
                hold.fail(str(error))
            except DatabaseError:
                with suppress(DatabaseError):
                    hold.break_off()
                raise
            except Exception as error:
                logger.exception("%r cannot be done", claim)
                hold.fail(unexpected(error))
            except BaseException:
                hold.break_off()
                raise
        self.send_next(claim)

    def ends_its_workers(self, claim: P) -> bool:
        """Return whether so many workers of a piece ended without a word that it is given up."""
        return claim.attempts > self.most_claims

    def claim_and_do(self, piece_id: int) -> None:
        """Do a piece, if this worker gets it."""
        claim = self.claim(piece_id)
        if claim is None:
            name = self.model._meta.verbose_name
            logger.info("%s %s has ended, is another worker's, or has to wait", name, piece_id)
            return
        self.do(claim)

    # --- messages ---------------------------------------------------------------------------

    def send_waiting(self, **of: object) -> list[int]:
        """Send the waiting pieces that meet these conditions; return their ids."""
        return self.send(self.wanted().filter(state=QUEUED, **of).order_by("pk"))

    def send(self, pieces: Iterable[P]) -> list[int]:
        """Send a message for each piece after the present transaction, and note that it was sent.

        Returns:
            The ids of the pieces.
        """
        found = list(pieces)
        ids = [piece.pk for piece in found]
        self.rows().filter(pk__in=ids).update(sent_at=timezone.now())
        for piece in found:
            self.task.apply_async_on_commit((piece.pk,), queue=self.queue(piece))
        return ids

    def resend(self) -> list[int]:
        """Send again what was lost, and return the ids. Two callers at once do no harm.

        These are pieces whose worker went silent, pieces that were given back, and those that have
        waited so long that their messages must be lost. Of larger work, only the pieces that come
        next are sent.
        """
        self.end_finished()
        now = timezone.now()
        left = silent(self.wanted().exclude(pk__in=self.at_work()), now)
        waiting = self.ready().filter(state=QUEUED).order_by("pk")
        unheard_of = unheard(waiting, self._message_lost_before(now))
        if self.part_of:
            come_next = [piece.pk for piece in self.first_of_each_work(waiting, SENT_TOGETHER)]
            unheard_of = unheard_of.filter(pk__in=come_next)
        return self.send(chain(left.order_by("pk"), unheard_of))

    def first_of_each_work(self, waiting: models.QuerySet[P], n: int) -> list[P]:
        """Return n pieces at most of each larger work, so that messages do not pile up.

        Of a kind whose pieces are not parts of larger work, all are returned.
        """
        if not self.part_of:
            return list(waiting)
        works = waiting.order_by(self.part_of).values_list(self.part_of, flat=True).distinct()
        of_each = (waiting.filter(**{self.part_of: work}) for work in list(works))
        return [piece for some in of_each for piece in some.order_by("pk")[:n]]

    def _message_lost_before(self, now: datetime) -> datetime:
        """Return the time before which a message must have been sent to count as lost.

        A message waits while workers are busy with pieces of the kinds that share its queue.
        """
        beside = [kind for kind in piece_kinds() if kind.is_quick == self.is_quick]
        return lost_if_sent_before(now, is_busy=any(kind.has_a_worker() for kind in beside))


# --- work that is one piece -------------------------------------------------------------------


def cancel(piece: WholePiece) -> bool:
    """Stop a piece that waits or is worked on; return whether it did.

    Its worker stops when it next looks. What was stored is kept.
    """
    going_on = type(piece)._default_manager.filter(pk=piece.pk, state__in=GOING_ON)
    stopped = {"state": "cancelled", "token": "", "lease_until": None}
    return bool(going_on.update(**stopped, finished_at=timezone.now()))


def resume(
    piece: WholePiece, states: Iterable[str] = ("cancelled", "failed"), **columns: object
) -> bool:
    """Have a piece that ended in one of these states done again; return whether it did.

    Args:
        columns: other columns to set.
    """
    if isinstance(piece, CountedPiece):
        columns |= {"taken_at": None, "n_done_before": columns.get("n_done", F("n_done"))}
    ended = type(piece)._default_manager.filter(pk=piece.pk, state__in=states)
    return again(ended, error="", finished_at=None, **columns)


# --- the kinds --------------------------------------------------------------------------------

_registered: list[PieceKind[Any, Any]] = []


def register(kind: K) -> K:
    """Register a kind: make its Celery task, and have the beat send what was lost of it."""
    limits: dict[str, int] = {}
    if kind.longest_seconds:
        limits = {"soft_time_limit": kind.longest_seconds - 60, "time_limit": kind.longest_seconds}

    def do_piece(piece_id: int) -> None:
        kind.claim_and_do(piece_id)

    options = {"name": kind.task_name, "acks_late": True, "doing": kind.doing}
    kind.task = shared_task(**options, **limits)(do_piece)
    _registered.append(kind)
    return kind


def piece_kinds() -> tuple[PieceKind[Any, Any], ...]:
    """Return all kinds, in the order in which they were registered."""
    return tuple(_registered)


def resend_all() -> None:
    """Send lost work of all kinds again. A kind that fails is logged, and the others go on."""
    for kind in piece_kinds():
        try:
            kind.resend()
        except Exception:  # each kind has errors of its own
            logger.exception("lost work of %s was not sent again", kind.task_name)

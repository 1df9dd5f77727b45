"""The columns and the promise that all pieces of work share. This app has no tables of its own."""

from django.db import models
from django.db.models import Q


class Piece(models.Model):
    """A piece of work that a task claims, and that one worker does at a time.

    A worker may write while the row has its token. When the lease has run out, another worker may
    claim the row.
    """

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"

    state = models.CharField(max_length=7, choices=State, default=State.QUEUED)
    token = models.CharField(max_length=32, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)  # when it was last sent to the broker
    attempts = models.PositiveIntegerField(default=0)  # claims since its last progress

    class Meta:
        abstract = True

    @property
    def was_interrupted(self) -> bool:
        """Whether a worker that had it ended without a word; the next row may be the cause."""
        return self.attempts > 1


class ChunkedWork(models.Model):
    """Work that is done in chunks, each of which is a piece. Models add a `state`."""

    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    resumed_at = models.DateTimeField(null=True, blank=True)  # rates are measured from this time
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True


class WholePiece(Piece):
    """Work that is one piece, and that people can cancel and resume."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        CANCELLED = "cancelled"
        FAILED = "failed"  # `error` gives the reason
        DONE = "done"

    state = models.CharField(max_length=9, choices=State, default=State.QUEUED)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True


class CountedPiece(WholePiece):
    """A piece that counts what it has done, so that people see its speed and how long it takes."""

    n_done = models.PositiveIntegerField(default=0)  # at most `n_total`
    n_total = models.PositiveIntegerField(default=0)  # 0: not known
    # When a worker first took it since it was asked for or resumed, and `n_done` at that time.
    taken_at = models.DateTimeField(null=True, blank=True)
    n_done_before = models.PositiveIntegerField(default=0)

    class Meta:
        abstract = True


def held_while_running(name: str) -> models.CheckConstraint:
    """Return the promise that a piece has a lease if and only if it is running."""
    condition = Q(state="running", lease_until__isnull=False)
    condition |= ~Q(state="running") & Q(lease_until__isnull=True)
    return models.CheckConstraint(condition=condition, name=name)

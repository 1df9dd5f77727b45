"""The columns and the promise that all pieces of work share. This app has no tables of its own."""

from django.db import models
from django.db.models import Q


class Piece(models.Model):
    """A piece of work that a task claims, and that one worker does at a time.

    A worker may write while the row has its token. When the lease has run out, another worker may
    claim the row. Models add a `state`, which is queued, running or more (see `work.claims`).
    """

    token = models.CharField(max_length=32, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)  # when it was last sent to the broker
    attempts = models.PositiveIntegerField(default=0)

    class Meta:
        abstract = True


def leased_while_running(name: str) -> models.CheckConstraint:
    """Return the promise that a piece has a lease if and only if it is running."""
    condition = Q(state="running", lease_until__isnull=False)
    condition |= ~Q(state="running") & Q(lease_until__isnull=True)
    return models.CheckConstraint(condition=condition, name=name)

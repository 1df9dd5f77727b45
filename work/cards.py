"""The card of one piece of work, whatever its kind."""

from datetime import datetime
from typing import Any, NamedTuple

from django.urls import reverse

from work.amounts import UNDEFINED
from work.claims import QUEUED
from work.kinds import WorkKind
from work.work_row import CANCELLED, DONE, FAILED, FAILED_IN_PART
from work.worker_health import are_in_trouble


class Card(NamedTuple):
    """The part of a card that is the same for all kinds. The template of a kind adds the rest."""

    kind: WorkKind[Any]
    pk: int
    name: str
    state: str  # its outcome in words
    url: str  # the address of its own page
    goes_on: bool
    n_done: int  # at most `n_total`
    n_total: int  # 0: not known
    unit: str  # the word for one of what is counted
    seen: str  # the part of `mark` that a kind decides
    n_failed: int = 0  # not counted by `n_done`
    is_at_most: bool = False  # whether `n_total` is only an upper bound
    may_change: bool = True
    may_delete: bool = False
    ended_at: datetime | None = None
    rate: str = ""  # its speed in words; "": a card without one
    seconds_left: float | None = None

    @property
    def id(self) -> str:
        return f"{self.kind.key}-{self.pk}"

    @property
    def poll_url(self) -> str:
        return reverse("work:card", args=[self.kind.key, self.pk])

    @property
    def mark(self) -> str:
        """The state of the page around the card. The page loads again when this changes."""
        return f"{self.seen}-troubled" if are_in_trouble() else self.seen

    @property
    def is_queued(self) -> bool:
        return self.state == QUEUED

    @property
    def is_done(self) -> bool:
        return self.state in (DONE, FAILED_IN_PART)

    @property
    def has_succeeded(self) -> bool:
        """Whether it is done and nothing failed, so that a list says no more than a line of it."""
        return self.state == DONE

    @property
    def is_stopped(self) -> bool:
        """Whether it was cancelled or failed, so that people can have it go on."""
        return self.state in (CANCELLED, FAILED)

    @property
    def can_resume(self) -> bool:
        return self.is_stopped and self.kind.can_resume

    @property
    def n_left(self) -> int:
        return self.n_total - self.n_done - self.n_failed

    @property
    def percent(self) -> int:
        return 100 * self.n_done // self.n_total if self.n_total else 100


def speed(per_second: float | None, unit: str) -> str:
    """Return a speed in words: '31.4 pairs a second', '3.0 calls a minute'; unknown: a dash."""
    if per_second is None:
        return UNDEFINED
    if per_second < 0.1:
        return f"{60 * per_second:.1f} {unit}s a minute"
    return f"{per_second:,.{0 if per_second >= 100 else 1}f} {unit}s a second"

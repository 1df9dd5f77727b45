"""One piece of long work as it is read for a list."""

from datetime import datetime
from typing import Any, NamedTuple

from django.utils import timezone

from work.claims import QUEUED, RUNNING

DONE, FAILED, CANCELLED, FAILED_IN_PART = "done", "failed", "cancelled", "failed in part"


class WorkRow(NamedTuple):
    """One piece of long work."""

    kind: str
    pk: int
    name: str
    dataset: str  # its name; "" if the work has none
    slug: str  # the dataset's slug
    state: str
    n_missing: int
    began_at: datetime
    ended_at: datetime | None
    n_done: int  # at most `n_total`
    n_total: int  # 0: not known
    error: str
    details: Any  # parameters, as the kind stores them
    requested_by: int | None
    taken_at: datetime | None  # when a worker first took it, since it was asked for or resumed
    n_done_before: int  # `n_done` at that time
    about: str = ""  # what is special about it, in a few words

    @property
    def has_ended(self) -> bool:
        return self.state in (DONE, FAILED, CANCELLED)

    @property
    def outcome(self) -> str:
        """Its state; work that is done, but not in all parts, failed in part."""
        return FAILED_IN_PART if self.state == DONE and self.n_missing else self.state

    @property
    def has_failed(self) -> bool:
        return self.outcome in (FAILED, FAILED_IN_PART)

    @property
    def per_second(self) -> float | None:
        """The number done in a second since a worker took it; None: it is not known."""
        n = self.n_done - self.n_done_before
        if self.taken_at is None or n <= 0:
            return None
        seconds = ((self.ended_at or timezone.now()) - self.taken_at).total_seconds()
        return n / seconds if seconds > 0 else None

    @property
    def seconds_left(self) -> float | None:
        """The time that is left at this speed, if all of `n_total` is done; None: not known."""
        rate = self.per_second
        if self.state != RUNNING or not self.n_total or not rate:
            return None
        return (self.n_total - self.n_done) / rate

    @property
    def percent(self) -> int | None:
        """The share that is done, in percent; None: it is not known, or nothing was begun."""
        return 100 * self.n_done // self.n_total if self.n_total and self.state != QUEUED else None

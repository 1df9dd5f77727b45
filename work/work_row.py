"""One piece of long work as it is read for a list."""

from datetime import datetime
from typing import Any, NamedTuple

from work.claims import QUEUED

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
    about: str = ""  # what is special about it, in a few words

    @property
    def pk_text(self) -> str:
        return str(self.pk)

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
    def can_resume(self) -> bool:
        return self.state in (FAILED, CANCELLED)

    @property
    def percent(self) -> int | None:
        """The share that is done, in percent; None: it is not known, or nothing was begun."""
        return 100 * self.n_done // self.n_total if self.n_total and self.state != QUEUED else None

"""Work that is done in chunks: when it goes on, when it is over, and how it is taken up again."""

from typing import Any

from django.db import models, transaction
from django.db.models import Max
from django.utils import timezone

from work.claims import RUNNING
from work.pieces import H, P, PieceKind

DONE, FAILED, CANCELLED = "done", "failed", "cancelled"


class ChunkKind(PieceKind[P, H]):
    """A kind of piece that is a chunk: a part of larger work (`work.models.ChunkedWork`)."""

    goes_on_in: tuple[str, ...] = (RUNNING,)  # the states of larger work that can be cancelled

    def wanted(self) -> models.QuerySet[P]:
        """Return the chunks of work that goes on."""
        return self.rows().filter(**{f"{self.part_of}__in": self.running()})

    def running(self) -> models.QuerySet[Any]:
        """Return the larger work whose chunks are to be done."""
        return self._works().filter(state=RUNNING)

    def unfinished(self, work: models.Model | int) -> models.QuerySet[P]:
        """Return the chunks of larger work that are not done."""
        return self.rows().filter(**{self.part_of: work}).exclude(state=DONE)

    def next_number(self, work: models.Model) -> int:
        """Return the number of the next chunk of larger work, counted from 1."""
        of_it = self.rows().filter(**{self.part_of: work})
        return (of_it.aggregate(last=Max("number"))["last"] or 0) + 1

    # --- its end ----------------------------------------------------------------------------

    def end_finished(self) -> None:
        left = self.rows().exclude(state=DONE).values(self.part_of)
        for work_id in self.running().exclude(pk__in=left).values_list("pk", flat=True):
            self.finish(work_id)

    @transaction.atomic
    def finish(self, work_id: int) -> None:
        """Set larger work to done if no chunk is left. Code that adds chunks locks it as well."""
        work = self.running().select_for_update(no_key=True).filter(pk=work_id).first()
        if work and not self.unfinished(work_id).exists():
            self._works().filter(pk=work_id).update(state=DONE, finished_at=timezone.now())

    def fail(self, work_id: int, error: str) -> None:
        """Store why larger work cannot go on."""
        ended = {"state": FAILED, "error": error, "finished_at": timezone.now()}
        self.running().filter(pk=work_id).update(**ended)

    def cancel(self, work: models.Model) -> bool:
        """Stop larger work; return whether it went on. Its workers stop when they next look."""
        going_on = self._works().filter(pk=work.pk, state__in=self.goes_on_in)
        return bool(going_on.update(state=CANCELLED, finished_at=timezone.now()))

    def take_up(self, work: Any) -> bool:
        """Set work, which is locked, to running if a chunk is left, else to done.

        Returns:
            Whether it begins to run now.
        """
        this, left = self._works().filter(pk=work.pk), self.unfinished(work)
        now = timezone.now()
        if not left.exists():
            this.update(state=DONE, error="", finished_at=work.finished_at or now)
            return False
        if work.state == RUNNING:
            return False
        left.update(attempts=0)
        this.update(state=RUNNING, resumed_at=now, finished_at=None, error="")
        return True

    def _works(self) -> models.QuerySet[Any]:
        of_work: Any = self.model._meta.get_field(self.part_of).related_model
        found: models.QuerySet[Any] = of_work._default_manager.all()
        return found

"""The planning of grids: a worker counts what a grid would ask, before a person starts it."""

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from generation.backends.problems import storable
from generation.grids.grid_file import GridError
from generation.grids.plan import GridPlan, planned
from generation.grids.prompt_choices import PromptError
from generation.models import Grid, Planning
from generation.services.grid_chunks import GRID_CHUNKS
from work.claims import Hold
from work.pieces import PieceKind, register


class PlanningHold(Hold[Planning]):
    """A claimed planning that one worker holds."""

    @transaction.atomic
    def finish(self, plan: GridPlan) -> None:
        """Store the plan of a grid, which a researcher may start now."""
        if self.end(Planning.State.DONE):
            self._planning().update(state=Grid.State.PLANNED, plan=plan.as_data(), error="")

    @transaction.atomic
    def fail(self, error: str) -> None:
        """Store why a grid cannot be planned."""
        if self.end(Planning.State.DONE):
            self._planning().update(
                state=Grid.State.FAILED, error=storable(error), finished_at=timezone.now()
            )

    def _planning(self) -> QuerySet[Grid]:
        return Grid.objects.filter(pk=self.claim.grid_id, state=Grid.State.PLANNING)


class PlanningWork(PieceKind[Planning, PlanningHold]):
    """Plannings of grids. A grid whose choices cannot be asked fails."""

    model = Planning
    task_name = "generation.tasks.plan_experiment"
    doing = "plans a grid"
    is_quick = True
    related = ("grid__dataset", "grid__sample")
    troubles = (GridError, PromptError)
    most_claims = 3

    def wanted(self) -> QuerySet[Planning]:
        return self.rows().filter(grid__state=Grid.State.PLANNING)

    def hold(self, claim: Planning) -> PlanningHold:
        return PlanningHold(claim, self.wanted())

    def work(self, hold: PlanningHold) -> None:
        """Plan a grid: count what it would ask."""
        hold.finish(planned(hold.claim.grid, hold.keep))


PLANNINGS = register(PlanningWork())


def send_grid(grid: Grid) -> None:
    """Send the work that a grid waits for after the commit: its planning, or its chunks."""
    PLANNINGS.send_waiting(grid=grid)
    GRID_CHUNKS.send_waiting(grid=grid)

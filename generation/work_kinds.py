"""The kinds of long work about material: grids and samples."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar

from django.db import transaction
from django.db.models import Case, F, QuerySet, When
from django.db.models.functions import Left, Length
from django.urls import reverse

from accounts.models import User
from generation.grids.progress import GridProgress, grids_progress
from generation.models import Call, Grid, GridChunk, Sample
from generation.models.grids import ASKS_ONE_QUESTION, LENGTH_OF_MARK
from generation.models.samples import IS_ASKED
from generation.services.grids import GridChangeError, cancel_grid, delete_grid, resume_grid
from generation.services.planning import send_grid
from generation.services.samples import (
    SAMPLES,
    SampleError,
    cancel_sample,
    delete_sample,
    retry_sample,
)
from work.kinds import WorkKind, WorkRefused, register_work
from work.union_rows import n_of
from work.work_row import WorkRow


class GridKind(WorkKind[Grid]):
    """Grids of calls of language models."""

    key = "grid"
    noun = "grid"
    model = Grid
    view = "grids:grid"
    unit = "chunk"
    result = "response"
    goes_on_in = Grid.GOING_ON
    decided_in = (Grid.State.PLANNED,)
    kept = "Its responses stay."
    card_template = "generation/grids/_grid.html"
    columns: ClassVar = {
        # As `Grid.title`.
        "name": Case(
            When(ASKS_ONE_QUESTION, then=Left("name", Length("name") - LENGTH_OF_MARK)),
            default=F("name"),
        ),
        "n_done": n_of(GridChunk.objects.filter(state=GridChunk.State.DONE), "grid"),
        "n_total": n_of(GridChunk.objects.all(), "grid"),
        "n_missing": n_of(Call.objects.filter(response=None), "grid"),
    }

    def news(self) -> QuerySet[Grid]:
        """Return the grids that home lists. The page of a question shows its own."""
        return self.rows().exclude(ASKS_ONE_QUESTION)

    def progress(self, pks: Sequence[int], user: User) -> Mapping[int, GridProgress]:
        grids = Grid.objects.filter(pk__in=pks).select_related("dataset", "sample", "requested_by")
        return {each.grid.pk: each for each in grids_progress(grids)} if pks else {}

    def cancel(self, work: Grid, user: User | None) -> bool:
        return cancel_grid(work, user)

    def resume(self, work: Grid, user: User | None) -> bool:
        is_resumed = resume_grid(work, user)
        if is_resumed:
            transaction.on_commit(partial(send_grid, work))
        return is_resumed

    def delete(self, work: Grid, user: User | None) -> None:
        try:
            delete_grid(work, user)
        except GridChangeError as error:
            raise WorkRefused(str(error)) from error


class SampleKind(WorkKind[Sample]):
    """Samples of a dataset. A question asked on a page has one too, which is no work to follow."""

    key = "sample"
    noun = "sample"
    model = Sample
    view = "generation:sample"
    unit = "example"
    kept = ""
    stays = "Its examples stay in the dataset."

    def rows(self) -> QuerySet[Sample]:
        return Sample.objects.exclude(name__regex=IS_ASKED)

    def url(self, row: WorkRow) -> str:
        return reverse(self.view, args=[row.slug, row.pk])

    def cancel(self, work: Sample, user: User | None) -> bool:
        return cancel_sample(work, user)

    def resume(self, work: Sample, user: User | None) -> bool:
        is_queued = retry_sample(work, user)
        if is_queued:
            SAMPLES.send_waiting(pk=work.pk)
        return is_queued

    def delete(self, work: Sample, user: User | None) -> None:
        try:
            delete_sample(work, user)
        except SampleError as error:
            raise WorkRefused(str(error)) from error


register_work(GridKind(), SampleKind())

"""Work of each kind of piece that takes some seconds, for tests of faults that hit it."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import models
from django.db.models import Q

from accounts.models import User
from annotation.models import Study
from evaluation.exchange.import_process import IMPORTS
from evaluation.exchange.uploads import progress_of, request_import, request_storing
from evaluation.jobs.kinds import JOBS
from evaluation.measures.entailment import AutoAis
from evaluation.metrics.auto_ais import AutoAisMetric
from evaluation.models import AutoScore, Job, MetricRun
from evaluation.runs.plan import RunPlan
from evaluation.runs.services.chunks import RUN_CHUNKS
from evaluation.runs.services.prompt_search import SearchPlan, request_prompt_search
from evaluation.runs.services.runs import request_metric_run
from generation.filters import ALL_ON
from generation.model_specs import ModelSpec
from generation.models import Call, Dataset, Example, Grid, Import, Planning, Response, Sample
from generation.sample_choices import SampleChoices
from generation.services.grid_chunks import GRID_CHUNKS
from generation.services.grids import request_grid, start_grid
from generation.services.planning import PLANNINGS
from generation.services.samples import SAMPLES, request_sample
from generation.text.prompt_types import TWELVE
from tests.evaluation.workers import waited
from tests.generation.question_makers import grid_of
from work.claims import GOING_ON, RUNNING
from work.pieces import PieceKind

BEGINS_WITHIN_SECONDS = 60.0
PROMPTS = [kind.key for kind in TWELVE]
Stored = Mapping[Any, object]


class FaultyWork:
    """Work whose pieces are of one kind. It can be asked for again after it was deleted."""

    kind: ClassVar[PieceKind[Any, Any]]
    sort: ClassVar[str]  # the sort of workers that does it
    work: models.Model

    def ask(self) -> None:
        """Ask for the work, and send no message."""
        raise NotImplementedError

    def pieces(self) -> models.QuerySet[Any]:
        return self.kind.rows().filter(**{self.kind.part_of or "pk": self.work.pk})

    def has_begun(self) -> bool:
        """Return whether a worker is in the middle of it."""
        return self.is_claimed()

    def is_claimed(self) -> bool:
        return self.pieces().filter(state=RUNNING).exists()

    def is_over(self) -> bool:
        """Return whether the work has ended, well or not."""
        self.work.refresh_from_db()
        return getattr(self.work, "state", "") not in GOING_ON

    def stored(self) -> Stored:
        """Return what identifies each thing that was stored, by what it is about."""
        return {}

    def assert_done_once(self) -> None:
        """Check that all was done, each thing once."""
        raise NotImplementedError

    def delete(self) -> None:
        self.work.delete()


class ScoredRun(FaultyWork):
    """A metric run that compares windows of long evidence."""

    kind, sort = RUN_CHUNKS, "computing"
    work: MetricRun

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset

    def ask(self) -> None:
        plan = RunPlan(metric=AutoAisMetric(AutoAis(window=1)))
        self.work = request_metric_run(self._dataset, plan, self._dataset.responses.all(), None)

    def has_begun(self) -> bool:
        return self._scores.exists()

    @property
    def _scores(self) -> models.QuerySet[AutoScore]:
        return AutoScore.objects.filter(run=self.work.pk)

    def stored(self) -> Stored:
        rows = self._scores.values_list("target", "pk", "created_at", "score")
        return {target: tuple(row) for target, *row in rows}

    def assert_done_once(self) -> None:
        assert (self.work.state, self.work.error) == (MetricRun.State.DONE, "")
        n_targets = self._scores.values("target__response").distinct().count()
        assert self._scores.count() == n_targets == self._dataset.responses.count()


class AskedGrid(FaultyWork):
    """A grid of the extractive model: several prompts at two temperatures."""

    kind, sort = GRID_CHUNKS, "computing"
    work: Grid

    def __init__(self, dataset: Dataset, prompts: list[str]) -> None:
        self._dataset = dataset
        self._choices = grid_of("asked", "extractive", prompts=prompts, temperatures=[0.0, 0.7])
        self._n_calls = 2 * len(prompts) * dataset.examples.count()

    def ask(self) -> None:
        grid = request_grid(self._dataset, self._choices, None)
        PLANNINGS.claim_and_do(grid.pk)  # if no worker has done so
        planned = Grid.objects.filter(pk=grid.pk, state=Grid.State.PLANNED)
        assert waited(planned.exists, BEGINS_WITHIN_SECONDS)
        assert start_grid(grid, None)
        self.work = grid

    def has_begun(self) -> bool:
        return self._calls.exists()

    @property
    def _calls(self) -> models.QuerySet[Call]:
        return Call.objects.filter(grid=self.work.pk)

    def stored(self) -> Stored:
        rows = self._calls.values_list("setup", "example", "pk", "response")
        return {(setup, example): tuple(row) for setup, example, *row in rows}

    def assert_done_once(self) -> None:
        assert (self.work.state, self.work.error) == (Grid.State.DONE, "")
        assert len(self.stored()) == self._calls.count() == self._n_calls
        assert Response.objects.filter(setup__dataset=self._dataset).count() == self._n_calls

    def delete(self) -> None:
        self._calls.delete()
        Response.objects.filter(example__dataset=self._dataset).delete()
        self.work.delete()
        self._dataset.setups.all().delete()


class PlannedGrid(FaultyWork):
    """The planning of a grid with all prompts. It stores its plan only at the end."""

    kind, sort = PLANNINGS, "quick"

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._choices = grid_of("planned", "extractive", prompts=PROMPTS, one_shot="e1")
        self._n_examples = dataset.examples.count()
        self._plan: object = None

    def ask(self) -> None:
        grid = request_grid(self._dataset, self._choices, None)
        self.work = Planning.objects.get(grid=grid)

    @property
    def _grid(self) -> Grid:
        return Grid.objects.get(name="planned")

    def is_over(self) -> bool:
        return self._grid.state != Grid.State.PLANNING

    def assert_done_once(self) -> None:
        grid = self._grid
        assert (grid.state, grid.error) == (Grid.State.PLANNED, "")
        assert grid.plan["n_examples"] == self._n_examples
        self._plan = self._plan or grid.plan
        assert grid.plan == self._plan, "another plan than the first one"
        assert not self.pieces().exclude(state=Planning.State.DONE).exists()

    def delete(self) -> None:
        self._grid.delete()


class DrawnSample(FaultyWork):
    """A sample of a dataset with many examples. It stores its members only at the end."""

    kind, sort = SAMPLES, "quick"
    work: Sample

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._keys: list[str] = []

    def ask(self) -> None:
        filters = ALL_ON._replace(on=("short-evidence", "no-article"))
        self.work = request_sample(self._dataset, SampleChoices("drawn", filters, size=500), None)

    def stored(self) -> Stored:
        return dict(self.work.members.values_list("example__key", "position"))

    def assert_done_once(self) -> None:
        assert (self.work.state, self.work.error) == (Sample.State.DONE, "")
        assert self.work.n_done == self.work.n_total == self._dataset.examples.count()
        keys = list(self.work.members.order_by("position").values_list("example__key", flat=True))
        self._keys = self._keys or keys
        assert len(set(keys)) == len(keys) == 500
        assert keys == self._keys, "another draw than the first one"


class StoredImport(FaultyWork):
    """An upload that was checked, and is to be stored."""

    kind, sort = IMPORTS, "quick"
    work: Import

    def __init__(self, content: bytes, n_examples: int, user: User) -> None:
        self._content, self._n_examples, self._user = content, n_examples, user

    def ask(self) -> None:
        file = SimpleUploadedFile("uploaded.jsonl", self._content)
        self.work = request_import(file, "Uploaded", "", self._user)
        checked = Import.objects.filter(pk=self.work.pk, state=Import.State.CHECKED)
        assert waited(checked.exists, BEGINS_WITHIN_SECONDS, every=0.1), "it was not checked"
        self.work.refresh_from_db()
        cache.delete(f"import:{self.work.pk}:progress")
        assert request_storing(self.work, skip_bad=False)

    def has_begun(self) -> bool:
        return self.is_claimed() and progress_of(self.work) is not None

    def stored(self) -> Stored:
        examples = Example.objects.filter(dataset__name="Uploaded")
        return dict(examples.values_list("key", "pk"))

    def assert_done_once(self) -> None:
        assert (self.work.state, self.work.error) == (Import.State.DONE, "")
        assert Dataset.objects.filter(name="Uploaded").count() == 1
        assert Example.objects.filter(dataset__name="Uploaded").count() == self._n_examples

    def delete(self) -> None:
        self.work.delete()
        Dataset.objects.filter(name="Uploaded").delete()


class SearchedPrompt(FaultyWork):
    """A search for a prompt, which asks a server that takes its time."""

    kind, sort = JOBS, "for_servers"
    work: Job

    def __init__(self, study: Study, url: str) -> None:
        self._study, self._url = study, url

    def ask(self) -> None:
        spec = ModelSpec("openai", "rater", self._url, served_name="rater")
        plan = SearchPlan(self._study, "cool", "sensible", spec, "searched")
        self.work = request_prompt_search(plan, None)

    def has_begun(self) -> bool:
        return self.is_claimed() and self.work.steps.exists()

    def stored(self) -> Stored:
        rows = self.work.steps.values_list("number", "pk", "content__text")
        return {number: tuple(row) for number, *row in rows}

    def assert_done_once(self) -> None:
        assert (self.work.state, self.work.error) == (Job.State.DONE, "")
        numbers = list(self.work.steps.order_by("number").values_list("number", flat=True))
        assert numbers == list(range(1, self.work.n_total + 1))


def unfinished(pieces: models.QuerySet[Any]) -> models.QuerySet[Any]:
    """Return the pieces that wait for a worker or have one."""
    return pieces.filter(Q(state__in=GOING_ON))

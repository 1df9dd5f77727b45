"""Long work of every kind: what goes on now, and what has ended since a moment.

This module only reads, with one statement for all kinds.
"""

import json
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Model, Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.urls import reverse

from evaluation.home.union_rows import comes_first, first, n_of, number, part, text, union
from evaluation.jobs.private_endpoints import error_for
from evaluation.models import AutoScore, Job, MetricRun, RunChunk
from evaluation.runs.progress import title_of
from generation.models import Call, Grid, GridChunk, Import, Sample
from generation.models.samples import IS_ASKED
from work.claims import GOING_ON

SHOWN = 8  # rows of each list, at most
FAILED, FAILED_IN_PART = "failed", "failed in part"

HAS_FAILED = Q(state=FAILED) | Q(state="done", n_without__gt=0)


class WorkKind(NamedTuple):
    """One kind of long work, and how its rows are read."""

    noun: str
    view: str  # the address of one piece of work; its argument is the number of the row
    rows: QuerySet[Any]
    going_on: Collection[str]
    ended: Collection[str]
    columns: Mapping[str, Any]
    n_missing: Any = number()  # results that work did not get, though it was done
    result: str = ""  # the word for one such result
    has_dataset_in_address: bool = False


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

    @property
    def of_kind(self) -> WorkKind:
        return KINDS[self.kind]

    @property
    def url(self) -> str:
        kind = self.of_kind
        named = [self.slug] if kind.has_dataset_in_address else []
        return reverse(kind.view, args=[*named, self.pk])

    @property
    def is_going_on(self) -> bool:
        return self.state in self.of_kind.going_on

    @property
    def outcome(self) -> str:
        """Its state; work that is done, but not in all parts, failed in part."""
        return FAILED_IN_PART if self.state == "done" and self.n_missing else self.state

    @property
    def has_failed(self) -> bool:
        return self.outcome in (FAILED, FAILED_IN_PART)

    @property
    def percent(self) -> int | None:
        return 100 * self.n_done // self.n_total if self.n_total else None


class LongWork(NamedTuple):
    """The work that goes on, newest first, and the ended work, failures first. Both are cut."""

    going_on: list[WorkRow]
    ended: list[WorkRow]
    is_going_on_cut: bool
    is_ended_cut: bool


def _chunks(chunks: QuerySet[Any], field: str) -> dict[str, Any]:
    done = chunks.filter(state="done")
    return {"n_done": n_of(done, field), "n_total": n_of(chunks, field)}


def _asked_columns(**more: Any) -> dict[str, Any]:
    """Return the columns of work over a dataset that keeps when it ended and why it failed."""
    columns = {
        "name": "name",
        "dataset": "dataset__name",
        "slug": "dataset__slug",
        "ended_at": "finished_at",
        "n_done": "n_done",
        "n_total": "n_total",
        "details": text(),
    }
    return columns | more


KINDS = {
    "run": WorkKind(
        "metric run",
        "evaluation:run",
        MetricRun.objects.filter(is_imported=False),
        going_on=[MetricRun.State.RUNNING],
        ended=[MetricRun.State.DONE, MetricRun.State.FAILED, MetricRun.State.CANCELLED],
        columns=_asked_columns(
            name="metric",
            details=Cast("parameters", TextField()),
            **_chunks(RunChunk.objects.all(), "run"),
        ),
        n_missing=n_of(AutoScore.objects.filter(score=None), "run"),
        result="score",
    ),
    "grid": WorkKind(
        "grid",
        "grids:grid",
        Grid.objects.all(),
        going_on=[Grid.State.PLANNING, Grid.State.RUNNING],
        ended=[Grid.State.DONE, Grid.State.FAILED, Grid.State.CANCELLED],
        columns=_asked_columns(**_chunks(GridChunk.objects.all(), "grid")),
        n_missing=n_of(Call.objects.filter(response=None), "grid"),
        result="response",
    ),
    "job": WorkKind(
        "job",
        "evaluation:job",
        Job.objects.all(),
        going_on=GOING_ON,
        ended=[Job.State.DONE, Job.State.FAILED, Job.State.CANCELLED],
        columns=_asked_columns(details=Cast("parameters", TextField())),
    ),
    "sample": WorkKind(
        "sample",
        "generation:sample",
        # A question that was asked on a page has a sample of its own, which is no work to follow.
        Sample.objects.exclude(name__regex=IS_ASKED),
        going_on=GOING_ON,
        ended=[Sample.State.DONE, Sample.State.FAILED, Sample.State.CANCELLED],
        columns=_asked_columns(),
        has_dataset_in_address=True,
    ),
    "import": WorkKind(
        "import",
        "evaluation:import-progress",
        Import.objects.all(),
        going_on=GOING_ON,
        ended=[Import.State.DONE, Import.State.FAILED, Import.State.CANCELLED],
        columns=_asked_columns(
            name="file_name",
            dataset="name",
            slug=text(),
            n_done=number(),
            n_total=number(),
        ),
    ),
}


def long_work(since: datetime, *, is_admin: bool, with_imports: bool) -> LongWork:
    """Return the work that goes on, and the work that has ended since a moment.

    Args:
        since: the moment.
        is_admin: whether the reader may see addresses of endpoints in our own network.
        with_imports: whether the reader may see imports.
    """
    kinds = {key: kind for key, kind in KINDS.items() if with_imports or key != "import"}
    parts = [each for key, kind in kinds.items() for each in _parts(key, kind, since)]
    found = [_with_words(WorkRow(*row), is_admin) for row in union(parts)]
    going_on = [each for each in found if each.is_going_on]
    ended = [each for each in found if not each.is_going_on]
    going_on.sort(key=lambda each: each.began_at, reverse=True)
    ended.sort(key=lambda each: each.ended_at or each.began_at, reverse=True)
    ended.sort(key=lambda each: not each.has_failed)
    return LongWork(going_on[:SHOWN], ended[:SHOWN], len(going_on) > SHOWN, len(ended) > SHOWN)


def _parts(key: str, kind: WorkKind, since: datetime) -> list[QuerySet[Model, Any]]:
    """Return one kind's newest rows that go on, and those that ended, failures first."""
    ended_at = kind.columns["ended_at"]
    going_on = kind.rows.filter(state__in=kind.going_on).order_by("-pk")
    ended = (
        kind.rows.filter(Q(**{f"{ended_at}__gt": since}), state__in=kind.ended)
        .annotate(n_without=kind.n_missing)
        .order_by(comes_first(HAS_FAILED), f"-{ended_at}", "-pk")
    )
    return [
        part(
            first(rows, SHOWN + 1),
            kind=text(key),
            pk="pk",
            name=kind.columns["name"],
            dataset=kind.columns["dataset"],
            slug=kind.columns["slug"],
            state="state",
            n_missing=kind.n_missing,
            began_at="created_at",
            ended_at=ended_at,
            n_done=kind.columns["n_done"],
            n_total=kind.columns["n_total"],
            error="error",
            details=kind.columns["details"],
        )
        for rows in (going_on, ended)
    ]


def _with_words(work: WorkRow, is_admin: bool) -> WorkRow:
    """Return work with its title, and with its error as the reader may see it."""
    dataset = work.dataset or ""
    if work.kind == "run":
        run = MetricRun(metric=work.name, parameters=json.loads(work.details))
        return work._replace(name=title_of(run), dataset=dataset)
    if work.kind == "job":
        job = Job(parameters=json.loads(work.details), error=work.error)
        return work._replace(error=error_for(job, is_admin), dataset=dataset)
    return work._replace(dataset=dataset)

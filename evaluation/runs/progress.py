"""The progress of runs, and their titles. This module only reads."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, F, Q, QuerySet, Sum
from django.urls import reverse
from django.utils import timezone

from evaluation.metrics.auto_ais import ADDS_NOTHING
from evaluation.metrics.registry import METRICS, metric_of
from evaluation.models import AutoScore, MetricRun, RunChunk
from evaluation.runs.names import distinct_names, run_key, run_parts
from generation.json_length import JsonLength
from work.cards import Card, speed
from work.claims import with_a_worker
from work.kinds import work_kinds


class RunProgress(NamedTuple):
    """The progress of one run. Rates and the time left are None while they are not known."""

    run: MetricRun
    state: str  # queued, running, cancelled, failed, failed in part, done
    n_targets: int
    n_scored: int
    n_failed: int
    n_assumed: int  # scored targets whose score is 0 by definition, so that no model was asked
    n_adding_nothing: (
        int  # scored targets whose score is 0 because they add no word to the question
    )
    n_reused: int  # scored targets whose content was scored before, so that no model was asked
    n_truncated: int  # pairs whose premise was cut
    n_pairs: int  # pairs that the scores are made of
    n_pairs_asked: int  # pairs among these that this run asked about
    pairs_per_second: float | None
    responses_per_second: float | None
    seconds_left: float | None
    share: float
    distinction: str = ""  # what tells it from others of one list that have its title

    @property
    def n_left(self) -> int:
        return self.n_targets - self.n_scored - self.n_failed

    @property
    def title(self) -> str:
        return ", ".join(filter(None, [title_of(self.run), self.distinction]))

    @property
    def card(self) -> Card:
        run = self.run
        goes_on = run.state == MetricRun.State.RUNNING
        is_of_pairs = asks_pairs(run)
        rate = self.pairs_per_second if is_of_pairs else self.responses_per_second
        return Card(
            kind=work_kinds()["metric-run"],
            pk=run.pk,
            name=self.title,
            state="imported" if run.is_imported else self.state,
            url=reverse("evaluation:run", args=[run.pk]),
            goes_on=goes_on,
            n_done=self.n_scored,
            n_total=self.n_targets,
            n_failed=self.n_failed,
            unit=judged(run),
            seen="",
            may_delete=not goes_on and not run.is_imported,
            ended_at=run.finished_at,
            rate=speed(rate, "pair" if is_of_pairs else "response"),
            seconds_left=self.seconds_left,
        )


class ScoringProgress(NamedTuple):
    """The progress of unfinished runs, counted by chunks alone: quick enough for frequent calls."""

    runs: tuple[int, ...] = ()
    n_chunks: int = 0
    n_chunks_done: int = 0
    n_left: int = 0  # responses in unfinished chunks


class _Rows(NamedTuple):
    """Counts of one run's rows. Those with `since` count from its last start or resumption."""

    run: int
    n: int = 0
    n_failed: int = 0
    n_assumed: int = 0
    n_adding_nothing: int = 0
    n_reused: int = 0
    n_truncated: int = 0
    n_pairs: int = 0
    n_pairs_asked: int = 0
    n_since: int = 0
    n_asked_since: int = 0
    n_pairs_asked_since: int = 0


class _RunRemainder(NamedTuple):
    """The rest of a run: targets in unfinished chunks, and chunks that a worker is scoring."""

    run: int
    n_targets: int = 0
    n_at_work: int = 0


def title_of(run: MetricRun) -> str:
    """Return the title of a run on pages, such as 'Auto-AIS, v3, localized K = 2'.

    An imported run has the name of its metric.
    """
    if run.is_imported:
        return run.metric
    metric = metric_of(run.metric, run.parameters)
    precision = run.parameters.get("precision", "fp32")
    lower = [] if precision == "fp32" else [precision]
    return ", ".join([metric.title, *metric.in_title, *lower])


def asks_pairs(run: MetricRun) -> bool:
    """Return whether a run asks about pairs of premise and hypothesis."""
    return run.metric in METRICS and METRICS[run.metric].asks_pairs


def judged(run: MetricRun) -> str:
    """Return the kind of target that a run scores: 'response' or 'citation'."""
    kind = None if run.is_imported else METRICS.get(run.metric)
    return kind.judges.removesuffix("s") if kind else "response"


def titles_by_key(runs: Sequence[MetricRun]) -> dict[str, str]:
    """Return the title of each run by its key, with a distinction if titles are equal."""
    titles = distinct_names([(title_of(run), run.full_signature) for run in runs])
    return dict(zip(map(run_key, runs), titles, strict=True))


def run_progress(runs: QuerySet[MetricRun]) -> list[RunProgress]:
    """Return the progress of some runs, in their order. It takes three statements in all."""
    found = list(runs)
    ids = [run.pk for run in found]
    now = timezone.now()
    rows, left = _rows(ids), _left(ids)
    distinctions = _distinctions(found)
    return [
        _progress(
            run, rows.get(run.pk, _Rows(run.pk)), left.get(run.pk, _RunRemainder(run.pk)), now
        )._replace(distinction=distinctions[run.pk])
        for run in found
    ]


def _distinctions(runs: Sequence[MetricRun]) -> dict[int, str]:
    """Return by run the parts of its name that other runs of the same title do not all have."""
    alike: dict[str, list[list[str]]] = {}
    for run in runs:
        alike.setdefault(title_of(run), []).append(run_parts(run))
    return {
        run.pk: ", ".join(
            part
            for part in run_parts(run)
            if not all(part in others for others in alike[title_of(run)])
        )
        for run in runs
    }


def progress_of_runs(pks: Collection[int]) -> dict[int, RunProgress]:
    """Return the progress of runs by their ids, newest first; no statement for no run."""
    if not pks:
        return {}
    runs = MetricRun.objects.filter(pk__in=pks).select_related("dataset").order_by("-pk")
    return {each.run.pk: each for each in run_progress(runs)}


def scoring_of(runs: QuerySet[MetricRun]) -> ScoringProgress:
    """Return the progress of those runs that go on. One statement is enough; it reads no scores."""
    is_done = Q(state=RunChunk.State.DONE)
    counted = list(
        RunChunk.objects.filter(run__in=runs.filter(state=MetricRun.State.RUNNING).order_by())
        .order_by()
        .values_list("run")
        .annotate(
            n=Count("pk"),
            done=Count("pk", filter=is_done),
            left=Sum(JsonLength("targets"), filter=~is_done & Q(is_of_controls=False), default=0),
        )
        .order_by("run")
    )
    ids, *counts = zip(*counted, strict=True) if counted else ((), (), (), ())
    return ScoringProgress(ids, *map(sum, counts))


def _rows(runs: list[int]) -> dict[int, _Rows]:
    since = Q(created_at__gte=F("run__resumed_at"))
    asked = Q(is_reused=False)
    counted = (
        AutoScore.objects.filter(run__in=runs)
        .order_by()
        .values_list("run")
        .annotate(
            n=Count("pk"),
            failed=Count("pk", filter=Q(score=None)),
            assumed=Count("pk", filter=Q(is_assumed=True)),
            adding_nothing=Count("pk", filter=Q(**{f"details__{ADDS_NOTHING}": True})),
            reused=Count("pk", filter=~asked),
            truncated=Sum("n_truncated"),
            pairs=Sum("n_pairs"),
            pairs_asked=Sum("n_pairs", filter=asked, default=0),
            since=Count("pk", filter=since),
            asked_since=Count("pk", filter=since & asked),
            pairs_asked_since=Sum("n_pairs", filter=since & asked, default=0),
        )
    )
    return {row[0]: _Rows(*row) for row in counted}


def _left(runs: list[int]) -> dict[int, _RunRemainder]:
    """Count the targets in unfinished chunks. These chunks list only targets without a row.

    Controls are no targets, so they are not counted.
    """
    counted = (
        RunChunk.objects.filter(run__in=runs)
        .exclude(state=RunChunk.State.DONE)
        .order_by()
        .values_list("run")
        .annotate(
            n_targets=Sum(JsonLength("targets"), filter=Q(is_of_controls=False), default=0),
            n_at_work=Count("pk", filter=with_a_worker()),
        )
    )
    return {row[0]: _RunRemainder(*row) for row in counted}


def _progress(run: MetricRun, rows: _Rows, left: _RunRemainder, now: datetime) -> RunProgress:
    n_targets = rows.n + left.n_targets
    seconds = ((run.finished_at or now) - run.resumed_at).total_seconds() if run.resumed_at else 0.0
    # Reused scores are stored at once, so that they do not show how long the rest will take.
    is_known = rows.n_asked_since > 0 and seconds > 0
    per_second = rows.n_asked_since / seconds if is_known else None
    state = _state(run, rows, left)
    return RunProgress(
        run=run,
        state=state,
        n_targets=n_targets,
        n_scored=rows.n - rows.n_failed,
        n_failed=rows.n_failed,
        n_assumed=rows.n_assumed,
        n_adding_nothing=rows.n_adding_nothing,
        n_reused=rows.n_reused,
        n_truncated=rows.n_truncated,
        n_pairs=rows.n_pairs,
        n_pairs_asked=rows.n_pairs_asked,
        pairs_per_second=rows.n_pairs_asked_since / seconds if is_known else None,
        responses_per_second=per_second,
        seconds_left=left.n_targets / per_second if per_second and state == "running" else None,
        share=rows.n / n_targets if n_targets else 1.0,
    )


def _state(run: MetricRun, rows: _Rows, left: _RunRemainder) -> str:
    if run.state == MetricRun.State.RUNNING:
        return "running" if rows.n_since or left.n_at_work else "queued"
    if run.state == MetricRun.State.DONE and rows.n_failed:
        return "failed in part"
    return str(run.state)

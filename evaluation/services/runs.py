"""Runs of auto-metrics: asked for, cancelled, taken up again, deleted.

Nothing here sends work to a queue: whoever asks for a run sends its `chunks_to_send`.
"""

from collections.abc import Collection
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils import timezone

from accounts.models import User
from accounts.services import record as record_in_audit_trail
from annotation.models import Study, Target
from annotation.planning import responses_of, sampled
from evaluation.auto_metrics.auto_ais import AutoAisMetric
from evaluation.auto_metrics.base import AutoMetric
from evaluation.models import AutoScore, Checkpoint, MetricRun, RunChunk
from generation.backends.base import ModelSpec
from generation.evidence import EvidenceChoice
from generation.models import Dataset, Response

MOST_CHUNKS = 20  # that a small run is cut into
SMALLEST_CHUNK, LARGEST_CHUNK = 5, 50  # responses
SAVED_TOGETHER = 2000


class RunError(Exception):
    """A change to a run that is refused; the message says why."""


class RunPlan(NamedTuple):
    """Every choice of a run that changes its scores or labels, and where its model lies."""

    spec: ModelSpec = ModelSpec("lexical")
    metric: AutoMetric = AutoAisMetric()
    evidence: str = EvidenceChoice.SHOWN  # of a metric that needs none it is not looked at
    threshold: float | None = None  # None: the metric's own
    n_sampled: int | None = None  # responses of each model, drawn by `seed`; None: all of them
    seed: int = 0
    calibrated_on: str = ""  # slug of the study by whose votes the choices were made

    @property
    def cut(self) -> float:
        """The threshold, the metric's own where none was chosen."""
        return self.metric.threshold if self.threshold is None else self.threshold

    @property
    def signature(self) -> str:
        """What the run is known by: asking for the same again is asking for the same run."""
        metric, spec = self.metric, self.spec
        parts = [metric.key, spec.name or spec.backend, metric.said]
        if metric.needs_evidence:
            parts.append(str(self.evidence))
        if spec.entailment_index is not None:
            parts.append(f"entailment:{spec.entailment_index}")
        if spec.precision != "fp32":
            parts.append(spec.precision)
        if self.n_sampled is not None:
            parts.append(f"sample:{self.n_sampled}@{self.seed}")
        return "|".join([*parts, f"t:{float(self.cut)!r}", f"v:{metric.version}"])

    @property
    def parameters(self) -> dict[str, Any]:
        """What is stored with a run, beside its model's name, location and revision."""
        parameters = {**self.metric.parameters, "entailment_index": self.spec.entailment_index}
        if self.metric.needs_evidence:
            parameters["evidence"] = str(self.evidence)
        if self.spec.precision != "fp32":
            parameters["precision"] = self.spec.precision
        if self.n_sampled is not None:
            parameters |= {"n_sampled": self.n_sampled, "seed": self.seed}
        if self.spec.served_name:
            parameters["served_name"] = self.spec.served_name
        if self.spec.key_variable:
            parameters["key_variable"] = self.spec.key_variable
        return parameters


def spec_of(run: MetricRun) -> ModelSpec:
    """Return the model that a run was asked for with, at the revision that it was begun with."""
    return ModelSpec(
        backend=run.backend,
        name=run.model_name,
        location=run.model_location,
        revision=run.revision,
        precision=run.parameters.get("precision", "fp32"),
        entailment_index=run.parameters.get("entailment_index"),
        served_name=run.parameters.get("served_name", ""),
        key_variable=run.parameters.get("key_variable", ""),
    )


def spec_of_checkpoint(checkpoint: Checkpoint, precision: str = "fp32") -> ModelSpec:
    """Return how a listed model is opened."""
    return ModelSpec(
        backend=checkpoint.backend,
        name=checkpoint.name,
        location=checkpoint.location,
        revision=checkpoint.revision,
        precision=precision,
        entailment_index=checkpoint.entailment_index,
        served_name=checkpoint.served_name,
        key_variable=checkpoint.key_variable,
    )


def responses_of_study(study: Study) -> QuerySet[Response]:
    """Return the responses that a run over a study covers: of its setups, to its examples."""
    responses = responses_of(study)
    if study.n_sampled is None:
        return responses
    return responses.filter(example__in=sampled(study))


@transaction.atomic
def request_metric_run(
    dataset: Dataset, plan: RunPlan, responses: QuerySet[Response], user: User | None
) -> MetricRun:
    """Return the run of these choices, with chunks for every response that has no score yet.

    Safe to ask twice, also at once: the second finds the first's run and adds what is missing.
    """
    found, is_new = MetricRun.objects.get_or_create(
        dataset=dataset,
        metric=plan.metric.key,
        signature=plan.signature,
        is_imported=False,
        defaults={
            "backend": plan.spec.backend,
            "model_name": plan.spec.name,
            "model_location": plan.spec.location,
            "parameters": plan.parameters,
            "threshold": plan.cut,
            "is_yes_at_threshold": plan.metric.is_yes_at_threshold,
            "requested_by": user,
        },
    )
    run = _locked(found)
    n_added = _add_chunks(run, _without_score(run, _targets_of(dataset, responses)))
    is_resumed = _take_up(run)
    if n_added or is_resumed:  # else its scores are those of the model that lay elsewhere
        MetricRun.objects.filter(pk=run.pk).update(model_location=plan.spec.location)
    if is_new or n_added or is_resumed:
        _record(user, "run.requested", run, n_responses=n_added)
    run.refresh_from_db()
    return run


def chunks_to_send(run: MetricRun) -> list[int]:
    """Return the chunks of a run that wait for a worker, and note that they were sent."""
    running = MetricRun.objects.filter(pk=run.pk, state=MetricRun.State.RUNNING)
    waiting = RunChunk.objects.filter(run__in=running, state=RunChunk.State.QUEUED)
    chunks = list(waiting.order_by("number").values_list("pk", flat=True))
    waiting.update(sent_at=timezone.now())
    return chunks


@transaction.atomic
def cancel_run(run: MetricRun, user: User | None) -> bool:
    """Stop a run that is going on; its workers do so at their next batch. Scores stay."""
    running = MetricRun.objects.filter(pk=run.pk, state=MetricRun.State.RUNNING)
    if not running.update(state=MetricRun.State.CANCELLED, finished_at=timezone.now()):
        return False
    _record(user, "run.cancelled", run)
    return True


@transaction.atomic
def resume_run(run: MetricRun, user: User | None) -> bool:
    """Go on with a run that was cancelled or failed; return whether that changed anything."""
    run = _locked(run)
    if run.state not in (MetricRun.State.CANCELLED, MetricRun.State.FAILED):
        return False
    _take_up(run)
    _record(user, "run.resumed", run)
    return True


@transaction.atomic
def retry_failed(run: MetricRun, user: User | None) -> int:
    """Queue what has no score for some problem once more; return how many responses."""
    run = _locked(run)
    if run.is_imported:
        return 0
    failed = AutoScore.objects.filter(run=run, score=None)
    targets = list(failed.order_by("target").values_list("target", flat=True))
    # Only what is queued again: a worker may store another failure meanwhile.
    for start in range(0, len(targets), SAVED_TOGETHER):
        failed.filter(target__in=targets[start : start + SAVED_TOGETHER]).delete()
    n_added = _add_chunks(run, targets)
    if n_added:
        _take_up(run)
        _record(user, "run.retried", run, n_responses=n_added)
    return n_added


@transaction.atomic
def delete_run(run: MetricRun, user: User | None) -> None:
    """Delete a run that does not go on, with its scores.

    Raises:
        RunError: it is running, or somebody has just taken it up again.
    """
    run = _locked(run)
    if run.state == MetricRun.State.RUNNING:
        raise RunError("This run is going on: cancel it first.")
    # A worker that has not seen the end yet waits here, and then finds its chunk gone.
    RunChunk.objects.filter(run=run).delete()
    n_scores, _ = AutoScore.objects.filter(run=run).delete()
    _record(user, "run.deleted", run, n_scores=n_scores)
    run.delete()


# --- inside a transaction that has locked the run -------------------------------------------


def _locked(run: MetricRun) -> MetricRun:
    """Return the run as it is now; whoever else wants to change it waits."""
    return MetricRun.objects.select_for_update(no_key=True).get(pk=run.pk)


def _targets_of(dataset: Dataset, responses: QuerySet[Response]) -> list[int]:
    """Make sure that the targets of these responses exist; return their ids in order."""
    responses = responses.filter(dataset=dataset).order_by()
    missing = responses.exclude(pk__in=Target.objects.filter(citation=None).values("response"))
    Target.objects.bulk_create(
        (Target(response_id=pk) for pk in missing.values_list("pk", flat=True)),
        batch_size=SAVED_TOGETHER,
        ignore_conflicts=True,  # a study may be opened at the same moment
    )
    targets = Target.objects.filter(citation=None, response__in=responses.values("pk"))
    return list(targets.order_by("response").values_list("pk", flat=True))


def _without_score(run: MetricRun, targets: list[int]) -> list[int]:
    """Return the targets that have no score, failed ones aside, and are in no unfinished chunk."""
    there = set(AutoScore.objects.filter(run=run).values_list("target", flat=True))
    unfinished = RunChunk.objects.filter(run=run).exclude(state=RunChunk.State.DONE)
    for in_chunk in unfinished.values_list("targets", flat=True):
        there.update(in_chunk)
    return [target for target in targets if target not in there]


def _add_chunks(run: MetricRun, targets: Collection[int]) -> int:
    """Cut targets into chunks behind those that are there; return how many targets."""
    size = min(max(len(targets) // MOST_CHUNKS, SMALLEST_CHUNK), LARGEST_CHUNK)
    ordered = list(targets)
    first = (RunChunk.objects.filter(run=run).aggregate(last=Max("number"))["last"] or 0) + 1
    starts = range(0, len(ordered), size)
    RunChunk.objects.bulk_create(
        (
            RunChunk(run=run, number=number, targets=ordered[start : start + size])
            for number, start in enumerate(starts, start=first)
        ),
        batch_size=SAVED_TOGETHER,
    )
    return len(ordered)


def _take_up(run: MetricRun) -> bool:
    """Set a run running if anything is left, else done; return whether it was taken up."""
    unfinished = RunChunk.objects.filter(run=run).exclude(state=RunChunk.State.DONE)
    now = timezone.now()
    if not unfinished.exists():
        done = MetricRun.objects.filter(pk=run.pk)
        done.update(state=MetricRun.State.DONE, error="", finished_at=run.finished_at or now)
        return False
    if run.state == MetricRun.State.RUNNING:
        return False
    unfinished.update(attempts=0)
    MetricRun.objects.filter(pk=run.pk).update(
        state=MetricRun.State.RUNNING, resumed_at=now, finished_at=None, error=""
    )
    return True


def _record(user: User | None, action: str, run: MetricRun, **details: object) -> None:
    subject = f"{run.dataset.name}: {run}"[:200]
    record_in_audit_trail(user, action, subject, run=run.pk, **details)

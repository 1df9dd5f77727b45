"""Runs of auto-metrics: asked for, cancelled, taken up again, deleted.

Nothing here sends work to a queue: whoever asks for a run sends its `chunks_to_send`.
"""

from collections.abc import Collection

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils import timezone

from accounts.models import User
from accounts.services import record as record_in_audit_trail
from evaluation.backends.registry import BACKENDS
from evaluation.metrics.registry import metric_of
from evaluation.models import AutoScore, MetricRun, RunChunk
from evaluation.runs.model_checks import why_unusable
from evaluation.runs.plan import STUDIES_OF_CHOICE, RunPlan, spec_of, with_sample_of
from evaluation.runs.services.targets import (
    SAVED_TOGETHER,
    Wanted,
    sample_of,
    sample_responses,
    scorable,
    targets_for,
)
from generation.evidence import EvidenceChoice
from generation.models import Dataset, Response

MOST_CHUNKS = 20  # that a small run is cut into
SMALLEST_CHUNK, LARGEST_CHUNK = 5, 200  # targets
LOWER_PRECISION = "bf16"
LONGEST_REVISION = 64


class RunError(Exception):
    """A change to a run that is refused; the message says why."""


@transaction.atomic
def request_metric_run(
    dataset: Dataset, plan: RunPlan, responses: QuerySet[Response], user: User | None
) -> MetricRun:
    """Return the run of these choices, with chunks for every target that has no score yet.

    Safe to ask twice, also at once: the second finds the first's run and adds what is missing. A
    sample is drawn from the responses that are there now; what was scored before stays.

    Raises:
        RunError: the metric can say nothing about any of the responses.
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
            "revision": plan.spec.revision[:LONGEST_REVISION],
            "parameters": plan.parameters,
            "threshold": plan.cut,
            "is_yes_at_threshold": plan.metric.is_yes_at_threshold,
            "requested_by": user,
        },
    )
    run = _locked(found)
    _note_study_of_choice(run, plan.chosen_by_votes_of)
    wanted = targets_for(dataset, plan, responses)
    _check_any(plan, wanted)
    _note_citations(run, plan, wanted)
    n_added = _add_chunks(run, _without_score(run, wanted.targets))
    is_resumed = _take_up(run)
    if n_added or is_resumed:  # else its scores are those of the model that lay elsewhere
        leave = {"key_over_http": True} if plan.spec.key_over_http else {}
        MetricRun.objects.filter(pk=run.pk).update(
            model_location=plan.spec.location, parameters=run.parameters | leave
        )
    if is_new or n_added or is_resumed:
        _record(user, "run.requested", run, **{f"n_{plan.metric.judges}": n_added})
    run.refresh_from_db()
    return run


def request_precision_check(
    run: MetricRun, user: User | None, n: int = 100, seed: int = 0
) -> MetricRun:
    """Return a run in bf16 over so many responses that a run in fp32 has scored, drawn by a seed.

    `evaluation.runs.precision` compares the two.

    Raises:
        RunError: there is nothing to compare.
    """
    spec = spec_of(run)
    kind = BACKENDS.get(run.backend)
    if run.is_imported:
        raise RunError("This run was imported: it cannot be made again in another precision.")
    if spec.precision != "fp32":
        raise RunError(f"This run is in {spec.precision} itself: ask at one in fp32.")
    if kind is None or LOWER_PRECISION not in kind.precisions:
        title = kind.title if kind else run.backend
        raise RunError(f"{title} computes in one precision only.")
    scored = AutoScore.objects.filter(run=run, score__isnull=False, is_assumed=False)
    keys = dict(scored.values_list("target__response", "target__response__key"))
    if not keys:
        raise RunError("This run has scored nothing yet.")
    if problem := why_unusable(spec, run.metric):
        raise RunError(problem)
    plan = RunPlan(
        spec=spec._replace(precision=LOWER_PRECISION),
        metric=metric_of(run.metric, run.parameters),
        evidence=run.parameters.get("evidence", EvidenceChoice.SHOWN),
        threshold=run.threshold,
    )
    plan = with_sample_of(plan, run)
    some = Response.objects.filter(pk__in=sample_responses(keys, n, seed))
    return request_metric_run(run.dataset, plan, some, user)


def n_without_score(dataset: Dataset, plan: RunPlan, responses: QuerySet[Response]) -> int:
    """Return how many responses a run of these choices has not come to. Writes nothing.

    Where citations are judged: how many of those with a bracket, as the others cite nothing. Which
    brackets are complete citations is known once the run is asked for.
    """
    responses = scorable(responses.filter(dataset=dataset).order_by(), plan)
    come_to = AutoScore.objects.filter(
        run__dataset=dataset,
        run__metric=plan.metric.key,
        run__signature=plan.signature,
        run__is_imported=False,
        target__citation__isnull=plan.metric.judges == "responses",
    )
    sample = sample_of(dataset, responses, plan)
    if plan.metric.judges == "citations":
        responses = responses.filter(text__contains="[")
    left = responses.exclude(pk__in=come_to.values("target__response"))
    if sample is None:
        return left.count()
    return len(sample.intersection(left.values_list("pk", flat=True)))


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
    """Queue what has no score for some problem once more; return how many targets."""
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
        judged = metric_of(run.metric, run.parameters).judges
        _record(user, "run.retried", run, **{f"n_{judged}": n_added})
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


def _note_study_of_choice(run: MetricRun, study: str) -> None:
    """Note by whose votes the choices of a run were made, beside those who made them before.

    It is no part of the signature: the scores are the same. But figures over each of these studies
    flatter, also those of a run that was there before: now its choices are those that votes made.
    """
    noted = run.parameters.get(STUDIES_OF_CHOICE, [])
    if study and study not in noted:
        run.parameters[STUDIES_OF_CHOICE] = [*noted, study]
        run.save(update_fields=["parameters"])


def _check_any(plan: RunPlan, wanted: Wanted) -> None:
    """Refuse a run that could score nothing.

    Raises:
        RunError: none of the responses has a complete citation, or nothing was removed, where
            the metric asks about that.
    """
    if wanted.targets:
        return
    if plan.metric.judges == "citations":
        raise RunError("None of these responses has a complete citation: nothing can be scored.")
    if plan.metric.needs_removed:
        raise RunError(
            "Nothing was removed from the graph of any of these responses: nothing can be scored."
        )


def _note_citations(run: MetricRun, plan: RunPlan, wanted: Wanted) -> None:
    """Note how many responses a run over citations was last asked for, and how many have none."""
    if plan.metric.judges != "citations":
        return
    run.parameters["n_responses"] = wanted.n_responses
    run.parameters["n_without_citation"] = wanted.n_without_citation
    run.save(update_fields=["parameters"])


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

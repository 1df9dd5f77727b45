"""The services of runs of auto-metrics: request, cancel, resume, retry, delete.

Nothing here sends work to a queue; `evaluation.runs.services.chunks.send_run` does.
"""

from collections.abc import Collection

from django.db import transaction
from django.db.models import QuerySet

from accounts.models import User
from accounts.services import record as record_in_audit_trail
from accounts.services import set_archived
from evaluation.backends.registry import BACKENDS
from evaluation.metrics.registry import metric_of
from evaluation.models import AutoScore, MetricRun, RunChunk
from evaluation.runs.controls import n_to_draw
from evaluation.runs.model_checks import why_unusable
from evaluation.runs.plan import (
    MADE_FOR,
    PRECISION_CHECK,
    STUDIES_OF_CHOICE,
    RunPlan,
    in_language_of,
    plan_again,
    spec_of,
    with_study_of_choice,
)
from evaluation.runs.services.chunks import LONGEST_REVISION, RUN_CHUNKS
from evaluation.runs.services.controls import add_controls, retry_controls
from evaluation.runs.services.targets import (
    SAVED_TOGETHER,
    Wanted,
    sample_of,
    sample_responses,
    scorable,
    targets_for,
)
from generation.models import Dataset, Response

MOST_CHUNKS = 20  # chunks of a run, roughly, as far as the sizes below allow
SMALLEST_CHUNK, LARGEST_CHUNK = 5, 200  # targets
LOWER_PRECISION = "bf16"


class RunError(Exception):
    """A request or a change of a run that is refused. The message gives the reason."""


@transaction.atomic
def request_metric_run(
    dataset: Dataset, plan: RunPlan, responses: QuerySet[Response], user: User | None
) -> MetricRun:
    """Return the run of these choices, with chunks for every target that has no score yet.

    It is safe to request a run twice, even at the same time: the second request finds the run of
    the first and adds what is missing. A sample is drawn from the responses that exist now. Earlier
    scores are kept.

    Raises:
        RunError: the metric can score none of the responses.
    """
    plan = in_language_of(dataset, plan)
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
    run = locked_run(found)
    MetricRun.objects.filter(pk=run.pk).update(budget=plan.budget.stored(plan.spec.name))
    _note_purpose(run, plan)
    wanted = targets_for(dataset, plan, responses)
    _check_any(plan, wanted)
    _note_citations(run, plan, wanted)
    n_added = _add_chunks(run, _without_score(run, wanted.targets))
    n_controls = add_controls(run, wanted.targets, plan.n_controls)
    is_resumed = RUN_CHUNKS.take_up(run)
    # Without anything to score, keep the location of the model that made the run's scores.
    if n_added or n_controls or is_resumed:
        leave = {"key_over_http": True} if plan.spec.key_over_http else {}
        MetricRun.objects.filter(pk=run.pk).update(
            model_location=plan.spec.location, parameters=run.parameters | leave
        )
    if is_new or n_added or n_controls or is_resumed:
        counts = {f"n_{plan.metric.judges}": n_added, "n_controls": n_controls}
        record_run(user, "run.requested", run, **counts)
    run.refresh_from_db()
    return run


def request_precision_check(
    run: MetricRun, user: User | None, n: int = 100, seed: int = 0
) -> MetricRun:
    """Return a run in bf16 over some of the responses that a run in fp32 has scored.

    `evaluation.runs.precision` compares the two runs.

    Args:
        run: the run in fp32.
        user: the user who requests it, if any.
        n: the number of responses to draw.
        seed: the seed of the draw.

    Raises:
        RunError: the run has nothing to compare, or it cannot be scored in bf16.
    """
    return request_metric_run(run.dataset, *precision_check(run, n, seed), user)


def precision_check(run: MetricRun, n: int, seed: int = 0) -> tuple[RunPlan, QuerySet[Response]]:
    """Return the plan and the responses of a check of a run's precision, which is not requested.

    Raises:
        RunError: as in `request_precision_check`.
    """
    spec = spec_of(run)
    kind = BACKENDS.get(run.backend)
    if run.is_imported:
        raise RunError("This run was imported, so it cannot be repeated in another precision.")
    if spec.precision != "fp32":
        raise RunError(f"This run is already in {spec.precision}. Choose a run in fp32.")
    if kind is None or LOWER_PRECISION not in kind.precisions:
        title = kind.title if kind else run.backend
        raise RunError(f"“{title}” computes in one precision only.")
    scored = AutoScore.objects.filter(run=run, score__isnull=False, is_assumed=False)
    keys = dict(scored.values_list("target__response", "target__response__key"))
    if not keys:
        raise RunError("This run has scored nothing yet.")
    if problem := why_unusable(spec, run.metric):
        raise RunError(problem)
    again = plan_again(run, spec._replace(precision=LOWER_PRECISION))
    some = Response.objects.filter(pk__in=sample_responses(keys, n, seed))
    return again._replace(made_for=PRECISION_CHECK), some


def n_without_score(dataset: Dataset, plan: RunPlan, responses: QuerySet[Response]) -> int:
    """Return how many responses a run of these choices has not reached yet. Write nothing.

    If the metric judges citations, only responses with a bracket count, because the others cite
    nothing. Only the request of the run finds out which brackets are complete citations.
    """
    left, sample = _left(dataset, plan, responses)
    return left.count() if sample is None else len(_ids(left, sample))


def ids_without_score(
    dataset: Dataset, plan: RunPlan, responses: QuerySet[Response]
) -> dict[int, str]:
    """Return the responses that `n_without_score` counts, id → key. Write nothing."""
    return _ids(*_left(dataset, plan, responses))


def n_controls_left(dataset: Dataset, plan: RunPlan, responses: QuerySet[Response]) -> int:
    """Return of how many targets a run of these choices would make controls. Write nothing.

    Where a metric judges citations, it is not known before how many there are, so these are at most
    so many.
    """
    there = scorable(responses.filter(dataset=dataset).order_by(), plan).exclude(text="")
    n_wanted = plan.n_controls
    if plan.metric.judges == "responses":
        n_wanted = min(n_wanted, len(_ids(there, sample_of(dataset, there, plan))))
    found = _same_run(dataset, plan).first()
    return n_to_draw(found, n_wanted) if found else n_wanted


def _same_run(dataset: Dataset, plan: RunPlan) -> QuerySet[MetricRun]:
    """Return the run of these choices, if there is one."""
    signature = in_language_of(dataset, plan).signature
    return MetricRun.objects.filter(
        dataset=dataset, metric=plan.metric.key, signature=signature, is_imported=False
    )


def _ids(left: QuerySet[Response], sample: set[int] | None) -> dict[int, str]:
    rows = left.values_list("pk", "key")
    return {pk: key for pk, key in rows if sample is None or pk in sample}


def _left(
    dataset: Dataset, plan: RunPlan, responses: QuerySet[Response]
) -> tuple[QuerySet[Response], set[int] | None]:
    """Return the responses that have no row of a run, and the sample that it draws, if it does."""
    responses = scorable(responses.filter(dataset=dataset).order_by(), plan)
    come_to = AutoScore.objects.filter(
        run__in=_same_run(dataset, plan),
        target__citation__isnull=plan.metric.judges == "responses",
    )
    sample = sample_of(dataset, responses, plan)
    if plan.metric.judges == "citations":
        responses = responses.filter(text__contains="[")
    return responses.exclude(pk__in=come_to.values("target__response")), sample


@transaction.atomic
def cancel_run(run: MetricRun, user: User | None) -> bool:
    """Cancel a run that is going on. Return whether it was going on.

    Its workers stop when they next look. Scores are kept.
    """
    if not RUN_CHUNKS.cancel(run):
        return False
    record_run(user, "run.cancelled", run)
    return True


@transaction.atomic
def resume_run(run: MetricRun, user: User | None) -> bool:
    """Resume a run that was cancelled or failed. Return whether it was."""
    run = locked_run(run)
    if run.state not in (MetricRun.State.CANCELLED, MetricRun.State.FAILED):
        return False
    RUN_CHUNKS.take_up(run)
    record_run(user, "run.resumed", run)
    return True


@transaction.atomic
def retry_failed(run: MetricRun, user: User | None) -> int:
    """Queue the failed targets of a run once more, and its failed controls.

    Return how many targets there are, of both together.
    """
    run = locked_run(run)
    if run.is_imported:
        return 0
    n_controls = retry_controls(run)  # before the failed targets have no row
    failed = AutoScore.objects.filter(run=run, score=None)
    targets = list(failed.order_by("target").values_list("target", flat=True))
    # Delete only the targets that are queued again. A worker may store another failure meanwhile.
    for start in range(0, len(targets), SAVED_TOGETHER):
        failed.filter(target__in=targets[start : start + SAVED_TOGETHER]).delete()
    n_added = _add_chunks(run, targets) + n_controls
    if n_added:
        RUN_CHUNKS.take_up(run)
        judged = metric_of(run.metric, run.parameters).judges
        record_run(user, "run.retried", run, **{f"n_{judged}": n_added})
    return n_added


@transaction.atomic
def delete_run(run: MetricRun, user: User | None) -> None:
    """Delete a run that does not go on, with its scores.

    Raises:
        RunError: the run is running, perhaps because it has just been resumed.
    """
    run = locked_run(run)
    if run.state == MetricRun.State.RUNNING:
        raise RunError("This run is going on. Cancel it first.")
    # A worker that has not noticed the end yet waits for this transaction, and its chunk is gone.
    RunChunk.objects.filter(run=run).delete()
    n_scores, _ = AutoScore.objects.filter(run=run).delete()
    record_run(user, "run.deleted", run, n_scores=n_scores)
    run.delete()


@transaction.atomic
def archive_run(run: MetricRun, is_archived: bool, user: User) -> None:
    """Put a run into the archive, or take it out. Reports use its scores in either case."""
    if done := set_archived(run, is_archived):
        record_run(user, f"run.{done}", run)


# --- inside a transaction that has locked the run -------------------------------------------


def locked_run(run: MetricRun) -> MetricRun:
    """Lock a run and return its present state. Another process that changes it has to wait."""
    return MetricRun.objects.select_for_update(no_key=True).get(pk=run.pk)


def _note_purpose(run: MetricRun, plan: RunPlan) -> None:
    """Store the study whose votes made a run's choices, or that a person asked for the run.

    The study is not part of the signature, because it changes no score. But figures of the run over
    each of these studies flatter, even if the run existed before the choice: now its choices are
    the ones that the votes made.
    """
    if plan.chosen_by_votes_of:
        noted = with_study_of_choice(run.parameters, plan.chosen_by_votes_of)
    elif not plan.purpose and {MADE_FOR, STUDIES_OF_CHOICE} & {*run.parameters}:
        noted = run.parameters | {MADE_FOR: ""}
    else:
        return
    if noted != run.parameters:
        run.parameters = noted
        run.save(update_fields=["parameters"])


def _check_any(plan: RunPlan, wanted: Wanted) -> None:
    """Refuse a run that could score nothing.

    Raises:
        RunError: the metric judges citations, and no response has a complete one; or it asks about
            removed knowledge, and nothing was removed.
    """
    if wanted.targets:
        return
    if plan.metric.judges == "citations":
        raise RunError(
            "None of these responses has a complete citation, so there is nothing to score."
        )
    if plan.metric.needs_removed:
        raise RunError(
            "No triple was removed from the graph of any of these responses, so nothing can be "
            "scored."
        )


def _note_citations(run: MetricRun, plan: RunPlan, wanted: Wanted) -> None:
    """Store the numbers of responses, in all and without a citation, of the last request of a run.

    Only a run over citations has them.
    """
    if plan.metric.judges != "citations":
        return
    run.parameters["n_responses"] = wanted.n_responses
    run.parameters["n_without_citation"] = wanted.n_without_citation
    run.save(update_fields=["parameters"])


def _without_score(run: MetricRun, targets: list[int]) -> list[int]:
    """Return the targets that have neither score nor failure and are in no unfinished chunk."""
    there = set(AutoScore.objects.filter(run=run).values_list("target", flat=True))
    waiting = RUN_CHUNKS.unfinished(run).filter(is_of_controls=False)
    for in_chunk in waiting.values_list("targets", flat=True):
        there.update(in_chunk)
    return [target for target in targets if target not in there]


def _add_chunks(run: MetricRun, targets: Collection[int]) -> int:
    """Divide targets into new chunks after the existing ones. Return the number of targets."""
    size = min(max(len(targets) // MOST_CHUNKS, SMALLEST_CHUNK), LARGEST_CHUNK)
    ordered = list(targets)
    starts = range(0, len(ordered), size)
    RunChunk.objects.bulk_create(
        (
            RunChunk(run=run, number=number, targets=ordered[start : start + size])
            for number, start in enumerate(starts, start=RUN_CHUNKS.next_number(run))
        ),
        batch_size=SAVED_TOGETHER,
    )
    return len(ordered)


def record_run(user: User | None, action: str, run: MetricRun, **details: object) -> None:
    subject = f"{run.dataset.name}: {run}"[:200]
    record_in_audit_trail(user, action, subject, run=run.pk, **details)

"""Scoring of runs by a command itself. It needs no worker, but workers may help."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from django.core.management.base import CommandError
from django.db.models import QuerySet

from evaluation.backends.base import Backend
from evaluation.backends.registry import open_backend
from evaluation.measures.fitness import FEWEST, ShareOfYes
from evaluation.metrics.registry import METRICS
from evaluation.models import AutoScore, MetricRun, RunChunk
from evaluation.runs.budget import spent_in_words
from evaluation.runs.control_figures import fitness_of_runs
from evaluation.runs.plan import RunPlan
from evaluation.runs.progress import RunProgress, run_progress
from evaluation.runs.services.chunks import RUN_CHUNKS
from evaluation.runs.services.run_calls import retry_asking, runs_asking
from evaluation.runs.services.runs import RunError, cancel_run, request_metric_run, retry_failed
from generation.management.asking_command import AskingCommand
from generation.model_specs import BackendError
from generation.models import Dataset, Response
from generation.progress import progress_of_work

WAITS_SECONDS = 0.5  # pause while workers have the rest of the chunks
MAX_LISTED = 10  # reasons of failures that are printed, at most


def confirm_runs(
    command: AskingCommand,
    dataset: Dataset,
    plans: Iterable[RunPlan],
    responses: QuerySet[Response],
) -> None:
    """Show what runs would ask together, and return if the user wants to go on.

    `requested_here` does the same for each run. It does not show again what was confirmed here.

    Raises:
        CommandError: the user says no.
    """
    command.confirm(runs_asking(dataset, plans, responses))


def requested_here(
    command: AskingCommand, dataset: Dataset, plan: RunPlan, responses: QuerySet[Response]
) -> MetricRun:
    """Show what a run would ask, open its model if the user wants to go on, and return the run.

    Raises:
        CommandError: the user says no, or the model cannot be opened, or it is not the model that
            made the run's earlier scores, or there is nothing that the run could score.
    """
    confirm_runs(command, dataset, [plan], responses)
    try:
        backend: Backend = plan.metric.ready(open_backend(plan.spec))
    except BackendError as error:
        raise CommandError(f"{error}\nNothing was scored.") from error
    try:
        run = request_metric_run(dataset, plan, responses, None)
    except RunError as error:
        raise CommandError(str(error)) from error
    if run.backend_signature and run.revision != backend.revision:
        raise CommandError(
            f"{plan.spec.name}: the scores of this run are by revision {run.revision} of the "
            f"model, but the model here is revision {backend.revision}. Rename its folder to start "
            "a new run, or delete the earlier run.\nNothing was scored."
        )
    return run


def retry_here(command: AskingCommand, run: MetricRun) -> None:
    """Show what another try of a run's failed targets asks, and queue it if the user wants that.

    Raises:
        CommandError: the user says no.
    """
    command.confirm(retry_asking(run))
    retry_failed(run, None)


def score_here(run: MetricRun, stderr: Any) -> str:
    """Score the rest of a run, and return its result as one line. Ctrl-C cancels the run.

    Raises:
        CommandError: the run failed, was cancelled, or was deleted.
    """
    try:
        _score(run, stderr)
    except KeyboardInterrupt:
        cancel_run(run, None)
        progress = _progress(run)
        raise CommandError(
            f"Stopped: {progress.n_scored:,} of {progress.n_targets:,} {_judged(run)} are scored. "
            "Give the same command again to go on from there.",
            returncode=130,
        ) from None
    return _outcome(_progress(run), stderr)


def _score(run: MetricRun, stderr: Any) -> None:
    """Score chunk by chunk until the run ends. Workers may help."""
    still_running = MetricRun.objects.filter(pk=run.pk, state=MetricRun.State.RUNNING)
    of_controls = RUN_CHUNKS.wanted().filter(run=run).exclude(state=RunChunk.State.DONE)

    def done() -> tuple[int, float]:
        progress = _progress(run)
        return progress.n_targets - progress.n_left, progress.share

    with progress_of_work(f"Scoring with {run}", stderr, _judged(run), done) as show:
        while still_running.exists() or of_controls.exists():
            claim = RUN_CHUNKS.claim_next(run)
            if claim:
                RUN_CHUNKS.do(claim, show)
            else:
                RUN_CHUNKS.end_finished()
                time.sleep(WAITS_SECONDS)
            show()


def _outcome(progress: RunProgress, stderr: Any) -> str:
    """Print the reasons of failures, and return the line about a run that is done.

    Raises:
        CommandError: the run is not done.
    """
    run = progress.run
    failed = AutoScore.objects.filter(run=run, score=None)
    reasons = Counter(failed.values_list("problem", flat=True))
    for reason, n in reasons.most_common(MAX_LISTED):
        stderr.write(f"{n:,} failed: {reason}")
    if len(reasons) > MAX_LISTED:
        stderr.write(f"... and {len(reasons) - MAX_LISTED:,} more reasons")
    kind = METRICS[run.metric]
    cut = "pairs with a premise" if kind.asks_pairs else "prompts"
    said = [
        f"{progress.n_scored:,} of {progress.n_targets:,} {kind.judges} scored",
        f"{progress.n_reused:,} reused (the same was scored before)",
        f"{progress.n_failed:,} failed",
        f"{progress.n_assumed:,} assumed ({kind.assumed_when})",
        f"{progress.n_truncated:,} of {progress.n_pairs:,} {cut} cut short",
    ]
    if progress.n_adding_nothing:
        said.append(f"{progress.n_adding_nothing:,} add no word to the question (0)")
    said += _said_of_controls(run)
    if run.n_calls:
        said.append(spent_in_words(run))
    if n_without := run.parameters.get("n_without_citation"):
        said.append(f"{n_without:,} responses without a complete citation")
    if run.state != MetricRun.State.DONE:
        raise CommandError(f"{run.error or 'Another user cancelled the run.'}\n{said[0]}.")
    return f"{run.full_signature}: {', '.join(said)}."


def _said_of_controls(run: MetricRun) -> Iterator[str]:
    """Yield the shares of controls that the metric calls yes, and whether it is fit."""
    fitness = fitness_of_runs([run])[run.pk]
    titles = {each.kind: each.title.lower() for each in METRICS[run.metric].controls}
    for kind, title in titles.items():
        share: ShareOfYes = getattr(fitness, kind)
        if share.n >= FEWEST:
            yield f"yes to {100 * share.share:.0f} % of {share.n:,} controls ({title})"
    n = sum(each.n for each in fitness)
    if n and not fitness.is_known:
        yield f"{n:,} controls, too few to say whether it is fit"
    if fitness.is_unfit:
        yield f"unfit for these data, because it {', and '.join(fitness.faults)}"


def _judged(run: MetricRun) -> str:
    return METRICS[run.metric].judges


def _progress(run: MetricRun) -> RunProgress:
    found = run_progress(MetricRun.objects.filter(pk=run.pk))
    if not found:
        raise CommandError(
            "Another user deleted the run while the command was working. Its scores are gone."
        )
    return found[0]

"""Score the responses of a study or a dataset with an auto-metric, here and now.

The same command goes on where a run was stopped, and adds what came since; it needs no worker.
"""

import time
from argparse import RawDescriptionHelpFormatter
from collections import Counter
from pathlib import Path
from typing import Any, get_args

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Q

from annotation.models import Study
from evaluation.auto_metrics.auto_ais import AutoAisMetric
from evaluation.auto_metrics.registry import METRICS
from evaluation.backends.registry import BACKENDS, open_backend
from evaluation.metrics.entailment import AutoAis, Flavor, Split
from evaluation.models import AutoScore, Checkpoint, MetricRun
from evaluation.progress import progress_bar
from evaluation.runs.progress import RunProgress, run_progress
from evaluation.services.chunks import claim_next_chunk, finish_runs, score_chunk
from evaluation.services.runs import (
    RunPlan,
    cancel_run,
    request_metric_run,
    responses_of_study,
    retry_failed,
)
from generation.backends.base import BackendError, ModelSpec
from generation.evidence import EvidenceChoice
from generation.models import Dataset

EXAMPLE = """example:
  manage.py run_metric auto_ais --study pilot --backend lexical
  manage.py run_metric auto_ais --dataset pilot --backend transformers \\
      --model models/nli-deberta --flavor v3 --window 2 --hypothesis whole --evidence golden
"""
WAITS_SECONDS = 0.5  # for a worker that has the rest
LONGEST_NAME = 100
MAX_LISTED = 10  # reasons printed


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        parser.add_argument("metric", choices=METRICS)
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--study", help="name of a study: the responses that it is about")
        what.add_argument("--dataset", help="name of a dataset: all its responses")
        parser.add_argument("--backend", choices=BACKENDS, default="lexical")
        parser.add_argument(
            "--model", help="of the transformers backend: a folder, a listed model, or a hub name"
        )
        parser.add_argument(
            "--entailment-index", type=int, help="the output that means entailment, if unnamed"
        )
        default = AutoAis()
        parser.add_argument("--flavor", choices=get_args(Flavor), default=default.flavor)
        parser.add_argument(
            "--window", type=int, default=default.window, help="sentences; 0: the whole evidence"
        )
        parser.add_argument("--hypothesis", choices=get_args(Split), default=default.hypothesis)
        parser.add_argument(
            "--evidence", choices=EvidenceChoice.values, help="default: the study's, else shown"
        )
        parser.add_argument("--threshold", type=float, default=0.5, help="a higher score is a yes")
        parser.add_argument(
            "--retry-failed", action="store_true", help="score again what has failed before"
        )

    def handle(self, **options: Any) -> None:
        study = _study(options["study"]) if options["study"] else None
        dataset = study.dataset if study else _dataset(options["dataset"])
        plan = _plan(study, options)
        responses = responses_of_study(study) if study else dataset.responses.all()
        if not responses.exists():
            raise CommandError("There are no responses to score.")
        try:
            backend = plan.metric.ready(open_backend(plan.spec))
        except BackendError as error:
            raise CommandError(f"{error}\nNothing was scored.") from error
        run = request_metric_run(dataset, plan, responses, None)
        if run.revision not in ("", backend.revision):
            raise CommandError(
                f"{plan.spec.name}: its scores there are of revision {run.revision}, and this "
                f"model is {backend.revision}. Rename its folder, or delete the run.\n"
                "Nothing was scored."
            )
        if options["retry_failed"]:
            retry_failed(run, None)
        try:
            self._score(run)
        except KeyboardInterrupt:
            cancel_run(run, None)
            progress = _progress(run)
            raise CommandError(
                f"Stopped: {progress.n_scored:,} of {progress.n_targets:,} responses are scored. "
                "The same command goes on from there.",
                returncode=130,
            ) from None
        self._report(run)

    def _score(self, run: MetricRun) -> None:
        """Score chunk by chunk until the run does not go on; workers may help."""
        still_running = MetricRun.objects.filter(pk=run.pk, state=MetricRun.State.RUNNING)
        with progress_bar(f"Scoring with {run}", self.stderr, "responses") as on_progress:
            while still_running.exists():
                claim = claim_next_chunk(run)
                if claim:
                    score_chunk(claim)
                else:
                    finish_runs()
                    time.sleep(WAITS_SECONDS)
                progress = _progress(run)
                on_progress(progress.n_targets - progress.n_left, progress.share)

    def _report(self, run: MetricRun) -> None:
        progress = _progress(run)
        failed = AutoScore.objects.filter(run=run, score=None)
        reasons = Counter(failed.values_list("problem", flat=True))
        for reason, n in reasons.most_common(MAX_LISTED):
            self.stderr.write(f"{n:,} failed: {reason}")
        if len(reasons) > MAX_LISTED:
            self.stderr.write(f"... and {len(reasons) - MAX_LISTED:,} more reasons")
        said = [
            f"{progress.n_scored:,} of {progress.n_targets:,} responses scored",
            f"{progress.n_failed:,} failed",
            f"{progress.n_assumed:,} assumed (nothing was shown)",
            f"{progress.n_truncated:,} of {progress.n_pairs:,} pairs with a premise cut short",
        ]
        run = progress.run
        if run.state != MetricRun.State.DONE:
            raise CommandError(f"{run.error or 'Somebody cancelled the run.'}\n{said[0]}.")
        self.stdout.write(f"{run.full_signature}: {', '.join(said)}.")


def _progress(run: MetricRun) -> RunProgress:
    found = run_progress(MetricRun.objects.filter(pk=run.pk))
    if not found:
        raise CommandError("Somebody deleted the run.")
    return found[0]


def _study(name: str) -> Study:
    found = Study.objects.filter(name=name).select_related("dataset").first()
    if not found:
        names = ", ".join(Study.objects.values_list("name", flat=True)[:10]) or "none yet"
        raise CommandError(f"No study {name!r}; there are: {names}")
    return found


def _dataset(name: str) -> Dataset:
    found = Dataset.objects.filter(Q(name=name) | Q(slug=name)).first()
    if not found:
        names = ", ".join(Dataset.objects.values_list("name", flat=True)[:10]) or "none yet"
        raise CommandError(f"No dataset {name!r}; there are: {names}")
    return found


def _plan(study: Study | None, options: dict[str, Any]) -> RunPlan:
    """Return what the options ask for; a mistake in them is a CommandError."""
    if options["window"] < 0:
        raise CommandError(f"--window {options['window']}: expected 0 (the whole evidence) or more")
    if not 0 <= options["threshold"] <= 1:
        raise CommandError(f"--threshold {options['threshold']}: expected 0 to 1")
    plan = RunPlan(
        spec=ModelSpec(options["backend"]),
        metric=AutoAisMetric(AutoAis(**{name: options[name] for name in AutoAis._fields})),
        evidence=options["evidence"] or (study.evidence_choice if study else EvidenceChoice.SHOWN),
        threshold=options["threshold"],
    )
    if plan.spec.backend == "lexical":
        if options["model"] or options["entailment_index"] is not None:
            raise CommandError("The lexical backend has no model; expected --backend transformers")
        return plan
    if not options["model"]:
        raise CommandError(f"--backend {plan.spec.backend} needs --model")
    return _with_model(plan, options["model"], options["entailment_index"])


def _with_model(plan: RunPlan, model: str, entailment_index: int | None) -> RunPlan:
    """Return the plan with its model: one that an admin listed, a folder, or a name on the hub."""
    listed = Checkpoint.objects.filter(name=model).first()
    if listed:
        name, location = listed.name, listed.location
        if entailment_index is None:
            entailment_index = listed.entailment_index
    else:
        try:
            folder = Path(model).expanduser()
            is_folder = folder.is_dir()
        except (OSError, RuntimeError) as error:
            raise CommandError(f"--model {model}: {error}") from error
        name = folder.resolve().name if is_folder else model
        location = str(folder.resolve()) if is_folder else model
    if name in BACKENDS:
        raise CommandError(f"A model called {name} would be taken for that backend: rename it.")
    return plan._replace(
        spec=plan.spec._replace(
            name=name[:LONGEST_NAME], location=location, entailment_index=entailment_index
        )
    )

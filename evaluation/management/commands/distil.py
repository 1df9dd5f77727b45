"""Teach a small model the scores that a language model gave to unlabelled responses.

The command learns from a run of sensible or specific by a language model, over dialogs that no
rater has rated. It holds out a tenth of the dialogs. It saves the model, lists it for runs and, if
a study of the same dataset has votes, prints its table 1. Give the same command again to go on
after the last finished epoch.
"""

from argparse import RawDescriptionHelpFormatter
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db.models import Q

from annotation.models import Study, Vote
from evaluation.jobs.command import do_here
from evaluation.jobs.services import JobError
from evaluation.models import Job, MetricRun
from evaluation.reports.formats import write_report
from evaluation.runs.choices import plan_of
from evaluation.runs.command import requested_here, score_here
from evaluation.runs.services.distillation import DistillationPlan, request_distillation
from evaluation.runs.services.job_calls import distillation_asking
from evaluation.studies.reports.sensibleness import sensibleness_report
from evaluation.votes.dialog_weights import UNEQUAL
from generation.choices.arguments import add_arguments, given_from
from generation.management.asking_command import AskingCommand
from generation.model_specs import ModelSpec
from generation.models import Checkpoint, Response

EXAMPLE = """examples:
  manage.py distil --run 12 --base models/MiniLM-L6 --name small-sensible
  manage.py distil --signature "sensible|qwen|prompt:paper@1a2b3c4d|t>=:0.5|v:1" \\
      --base minilm --name small-sensible --epochs 5 --learning-rate 3e-5 --batch-size 32
"""


class Command(AskingCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        teacher = parser.add_mutually_exclusive_group(required=True)
        teacher.add_argument(
            "--run", type=int, help="number of the run whose scores the model learns"
        )
        teacher.add_argument(
            "--signature", help="signature of that run, whole or as the list shows it"
        )
        parser.add_argument(
            "--dataset", help="dataset of the run, if several runs have its signature"
        )
        parser.add_argument("--base", required=True, help="an encoder: a folder, or a listed model")
        parser.add_argument("--name", required=True, help="name of the new model")
        add_arguments(parser, DistillationPlan)

    def handle(self, **options: Any) -> None:
        run = _run(options)
        plan = DistillationPlan(
            run,
            _base(options["base"]),
            options["name"],
            **given_from(DistillationPlan, options),
        )
        try:
            request = partial(request_distillation, plan, None)
            job = do_here(self, request, partial(distillation_asking, plan), "Training", "epochs")
        except JobError as error:
            option = f"--{error.field.replace('_', '-')}: " if error.field else ""
            raise CommandError(f"{option}{error}\nNothing was trained.") from error
        data = job.parameters["data"]
        self.stderr.write(
            f"{data['n_lessons']:,} scores to learn from, {data['n_held_out']:,} held out, "
            f"{data['n_labelled']:,} of rated dialogs left out."
        )
        self._report(job)
        self._table_1(run, Checkpoint.objects.get(name=job.result["checkpoint"]))

    def _report(self, job: Job) -> None:
        for step in job.steps.all():
            epoch = step.content
            self.stdout.write(
                f"epoch {epoch['number']}: loss {epoch['loss']:.4f}, held out "
                f"{epoch['held_out_loss']:.4f}, MSE {epoch['held_out_mse']:.4f}"
            )
        self.stdout.write(
            f"{job.name}: MSE to the language model on held-out dialogs "
            f"{job.result['held_out_mse']:.4f}, of its mean {job.result['mse_of_mean']:.4f}. "
            "Runs can use it now."
        )

    def _table_1(self, teacher: MetricRun, small: Checkpoint) -> None:
        """Score what people have rated, and print how far model and people are apart."""
        plan = plan_of(teacher.metric, small.spec())
        for study in Study.objects.filter(dataset=teacher.dataset).order_by("name"):
            votes = Vote.objects.filter(arm__study=study, question=teacher.metric).order_by()
            rated = Response.objects.filter(pk__in=votes.values("target__response"))
            if not rated.exists():
                continue
            if not study.has_uniform_draw:
                self.stderr.write(f"{study.name} is left out. {UNEQUAL}")
                continue
            run = requested_here(self, study.dataset, plan, rated)
            self.stderr.write(score_here(run, self.stderr))
            report = sensibleness_report(study)
            rows = [row for row in report.rows if row.of_run.run in (run.pk, teacher.pk)]
            self.stdout.write(write_report(report._replace(rows=rows), "table"), ending="")


def _run(options: dict[str, Any]) -> MetricRun:
    """Return the run that is named; one mistake is a CommandError."""
    runs = MetricRun.objects.select_related("dataset")
    if options["run"] is not None:
        found = list(runs.filter(pk=options["run"]))
    else:
        if options["dataset"]:
            runs = runs.filter(
                Q(dataset__name=options["dataset"]) | Q(dataset__slug=options["dataset"])
            )
        said = options["signature"]
        found = [
            run
            for run in runs.filter(is_imported=False)
            if said in (run.signature, run.full_signature)
        ]
    if len(found) == 1:
        return found[0]
    if found:
        datasets = ", ".join(sorted({run.dataset.name for run in found}))
        raise CommandError(
            f"{len(found)} runs have that signature ({datasets}). Choose one with --dataset."
        )
    raise CommandError("There is no such run. The page 'Metrics' lists runs with their signatures.")


def _base(named: str) -> ModelSpec:
    """Return the encoder that is named: a listed one, or a folder."""
    listed = Checkpoint.objects.filter(name=named).first()
    if listed is not None:
        return listed.spec()
    folder = Path(named).expanduser()
    try:
        is_folder = folder.is_dir()
    except (OSError, RuntimeError, ValueError) as error:
        raise CommandError(f"--base {named!r}: {error}") from error
    if not is_folder:
        names = ", ".join(Checkpoint.objects.values_list("name", flat=True)) or "none"
        raise CommandError(
            f"--base {named}: found neither a folder nor a listed model. Listed are: {names}."
        )
    return ModelSpec("transformers", folder.resolve().name[:100], str(folder.resolve()))

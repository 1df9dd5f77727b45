"""Score the responses of a study or a dataset with an auto-metric.

The command scores the responses itself and needs no worker. If a run was stopped, give the same
command again: it goes on, and it also scores responses that were added since.
"""

from argparse import RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.models import Study
from evaluation.metrics.registry import METRICS
from evaluation.runs.choices import RunChoices, knows_questions_of, plan_of, sample_of
from evaluation.runs.command import requested_here, retry_here, score_here
from evaluation.runs.metric_options import add_metric_options, metric_options_from
from evaluation.runs.model_options import add_model_arguments, spec_from
from evaluation.runs.plan import RunPlan, responses_of_study
from generation.choices.arguments import add_arguments, given_from
from generation.choices.declaration import ChoiceError, made
from generation.evidence import EvidenceChoice
from generation.management.asking_command import AskingCommand
from generation.management.named import named
from generation.models import Dataset

EXAMPLE = """examples:
  manage.py run_metric auto_ais --study pilot --backend lexical
  manage.py run_metric auto_ais --dataset pilot --backend transformers \\
      --model models/nli-deberta --flavor v3 --window 2 --hypothesis whole --evidence golden
  manage.py run_metric sensible --study pilot --server http://localhost:8000/v1 --model qwen
"""


class Command(AskingCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        parser.add_argument("metric", choices=METRICS, help="The metric to score with.")
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--study", help="Name or slug of a study. Its responses are scored.")
        what.add_argument(
            "--dataset", help="Name or slug of a dataset. All its responses are scored."
        )
        add_model_arguments(parser)
        add_metric_options(parser)
        add_arguments(parser, RunChoices)
        parser.add_argument(
            "--retry-failed", action="store_true", help="Repeat the scores that failed."
        )

    def handle(self, **options: Any) -> None:
        study = (
            named(Study.objects.select_related("dataset"), options["study"])
            if options["study"]
            else None
        )
        dataset = study.dataset if study else named(Dataset.objects.all(), options["dataset"])
        try:
            plan = _plan(dataset, study, options)
        except ChoiceError as error:
            raise CommandError(f"--{error.field.replace('_', '-')}: {error}") from error
        responses = responses_of_study(study) if study else dataset.responses.of_benchmark()
        if not responses.exists():
            raise CommandError("There are no responses to score.")
        run = requested_here(self, dataset, plan, responses)
        if options["retry_failed"]:
            retry_here(self, run)
        self.stdout.write(score_here(run, self.stderr))


def _plan(dataset: Dataset, study: Study | None, options: dict[str, Any]) -> RunPlan:
    """Return the plan that the options describe.

    Raises:
        ChoiceError: there is a mistake in the options.
    """
    metric = options["metric"]
    chosen = made(RunChoices, given_from(RunChoices, options))
    return plan_of(
        metric,
        spec_from(options),
        options=metric_options_from(options),
        precision=options["precision"] or "",
        evidence=chosen.evidence,
        usual_evidence=study.evidence_choice if study else EvidenceChoice.SHOWN,
        threshold=chosen.threshold,
        n_sampled=sample_of(metric, chosen.sample),
        seed=chosen.seed,
        n_controls=chosen.controls,
        budget=chosen.budget,
        knows_questions=knows_questions_of(dataset),
    )

"""Choose threshold, flavor and window of Auto-AIS on some dialogs, and report them on others.

The command first scores what is missing of the grid, as run_metric does. It then prints the report:
each combination, the figure on dialogs that had no part in the choice, and the one on the dialogs
that the choice was made on, which is too optimistic.
"""

from argparse import RawDescriptionHelpFormatter
from itertools import product
from typing import Any, get_args

from django.core.management.base import CommandError, CommandParser

from annotation.models import Arm, Study
from annotation.schemes import load_scheme
from evaluation.measures.entailment import AutoAis, Flavor, Split
from evaluation.models import MetricRun
from evaluation.reports.base import Choices
from evaluation.reports.formats import FORMATS, write_report
from evaluation.runs.choices import plan_of
from evaluation.runs.command import confirm_runs, requested_here, score_here
from evaluation.runs.families import GRID, WINDOWS, Family, families_of, flavors_for
from evaluation.runs.model_options import add_model_arguments, spec_from
from evaluation.runs.plan import THRESHOLD_CHOICE, RunPlan, responses_of_study
from evaluation.studies.reports.threshold_choice import threshold_choice_report
from evaluation.votes.dialog_weights import UNEQUAL
from generation.choices.declaration import ChoiceError
from generation.evidence import EvidenceChoice
from generation.management.asking_command import AskingCommand
from generation.management.named import named

EXAMPLE = """examples:
  manage.py choose_threshold --study pilot --question attributable
  manage.py choose_threshold --study pilot --model nli-deberta
  manage.py choose_threshold --study pilot --backend transformers --model models/nli-deberta \\
      --flavors v1 v3 --windows 0 1 2 --question attributable --format json > choice.json
"""


class Command(AskingCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        parser.add_argument("--study", required=True, help="name or slug of the study")
        add_model_arguments(parser)
        parser.add_argument("--flavors", nargs="+", choices=get_args(Flavor))
        parser.add_argument(
            "--windows", nargs="+", type=int, default=WINDOWS, help="0: the whole evidence"
        )
        parser.add_argument(
            "--hypotheses", nargs="+", choices=get_args(Split), default=[AutoAis().hypothesis]
        )
        parser.add_argument(
            "--evidence", choices=EvidenceChoice.values, help="default: the study's"
        )
        parser.add_argument("--question", default="", help="the only one; default: all")
        parser.add_argument("--truth", choices=Arm.Kind.values, help="default: the first arm")
        parser.add_argument(
            "--adjudicated",
            action="store_true",
            help="adjudicated decisions replace the label of the raters",
        )
        parser.add_argument("--format", choices=["table", *FORMATS], default="table")

    def handle(self, **options: Any) -> None:
        study = named(Study.objects.select_related("dataset"), options["study"])
        if not study.has_uniform_draw:
            raise CommandError(UNEQUAL)
        truth = _checked(study, options["question"], options["truth"])
        try:
            plans = _plans(study, options)
        except ChoiceError as error:
            raise CommandError(f"--{error.field.replace('_', '-')}: {error}") from error
        responses = responses_of_study(study)
        if not responses.exists():
            raise CommandError("There are no responses to score.")
        confirm_runs(self, study.dataset, plans, responses)
        for number, plan in enumerate(plans, start=1):
            run = requested_here(self, study.dataset, plan, responses)
            self.stderr.write(f"{number} of {len(plans)}: {score_here(run, self.stderr)}")
        report = threshold_choice_report(
            study,
            Choices(truth=truth, adjudicated=options["adjudicated"]),
            question=options["question"],
            family=_family_with(run, study),
        )
        self.stdout.write(write_report(report, options["format"]), ending="")


def _checked(study: Study, question: str, truth: str | None) -> str:
    """Return the arm that is the truth, if the report can be made: before anything is scored."""
    scheme = load_scheme(study.scheme)
    if scheme.target == "citation":
        raise CommandError(
            f"The raters of {study.name!r} judge citations, but Auto-AIS scores responses."
        )
    questions = [each.key for each in scheme.questions]
    if question and question not in questions:
        raise CommandError(
            f"There is no question {question!r}. The questions are: {', '.join(questions)}."
        )
    arms = [arm.kind for arm in study.arms.all()]
    if truth and arms and truth not in arms:
        raise CommandError(f"{study.name!r} has no {truth} arm. It has: {', '.join(arms)}.")
    return truth or next(iter(arms), Arm.Kind.SEPARATE)


def _plans(study: Study, options: dict[str, Any]) -> list[RunPlan]:
    """Return the runs of the grid.

    Raises:
        ChoiceError: a mistake in the options.
    """
    spec = spec_from(options)
    for window in options["windows"]:
        if window < 0:
            raise ChoiceError(
                "windows", f"Found {window}; expected 0 (the whole evidence) or more."
            )
    flavors = options["flavors"] or flavors_for(study.dataset)
    return [
        plan_of(
            GRID,
            spec,
            options={"flavor": flavor, "window": window, "hypothesis": hypothesis},
            precision=options["precision"] or "",
            evidence=options["evidence"] or "",
            usual_evidence=study.evidence_choice,
        )._replace(made_for=THRESHOLD_CHOICE)
        for flavor, window, hypothesis in product(
            flavors, options["windows"], options["hypotheses"]
        )
    ]


def _family_with(run: MetricRun, study: Study) -> Family:
    """Return the family that a run is of, with what else was scored of it."""
    return next(each for each in families_of(study) if run.pk in each.runs)

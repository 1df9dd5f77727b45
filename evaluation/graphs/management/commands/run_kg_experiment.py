"""Run one of KaLMA's experiments: ask the models, score their answers, print the table.

The command does all the work itself, but workers may help. If it was stopped, give it again: it
goes on where it was. Answers and scores that exist are not made again. Without --models no model is
asked, and the table is about the existing answers. Only the table goes to the standard output.

The experiment 'alignment' is about a study that people rate. --new-study plans such a study, and
--study prints its table. No model is asked. Answers are scored only if you name a model that scores
(--model or --backend).
"""

from argparse import RawDescriptionHelpFormatter
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.management.raters import raters_called
from annotation.models import Study
from annotation.services.alignment_studies import PairDraw, request_alignment_study
from annotation.services.studies import StudyError
from evaluation.graphs.experiments.registry import EXPERIMENTS, KGExperiment
from evaluation.graphs.experiments.services import (
    ExperimentPlan,
    ScoringPlan,
    answers_of,
    grid_of,
    scoring_plans,
    why_not,
)
from evaluation.reports.formats import FORMATS, write_report
from evaluation.reports.registry import CannotReport, all_reports
from evaluation.reports.report import Report
from evaluation.runs.command import confirm_runs, requested_here, retry_here, score_here
from evaluation.runs.model_checks import why_unusable
from evaluation.runs.model_options import add_model_arguments, spec_from
from evaluation.runs.plan import RunPlan
from evaluation.runs.services.runs import RunError
from generation.choices.arguments import add_arguments, given_from
from generation.choices.declaration import ChoiceError, made
from generation.grids.grid_file import (
    PRECISIONS,
    GridChoices,
    GridError,
    GridModel,
)
from generation.limits import LONGEST_NAME
from generation.management.asked_server import models_to_ask
from generation.management.asking_command import AskingCommand
from generation.management.grid_commands import ask_grid, print_plan
from generation.management.named import named
from generation.management.server_options import add_server_arguments
from generation.model_specs import MOST_PRICE, Price
from generation.models import Dataset

EXAMPLE = """examples:
  manage.py run_kg_experiment citations --dataset biokalma --models extractive --backend lexical
  manage.py run_kg_experiment citations --dataset biokalma --models gpt-4 llama-7b \\
      --sample dev-100 --temperatures 0.5 --price gpt-4 30 60 \\
      --model nli-deberta --format latex > table_3.tex
  manage.py run_kg_experiment quality --dataset biokalma --models llama-7b --model judge
  manage.py run_kg_experiment removal --dataset made-up --models extractive --format json
  manage.py run_kg_experiment alignment --dataset biokalma --new-study "rated pairs" --raters all
  manage.py run_kg_experiment alignment --dataset biokalma --study "rated pairs"
"""

# The command's names for the choices of two draws.
JUDGED = {"n_judged": "judged", "seed": "draw_seed"}
PAIRS = {"n_pairs": "pairs", "seed": "pair_seed"}


ASKED = "ask-"  # the beginning of options about the models that are asked


class Command(AskingCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        parser.add_argument("experiment", choices=EXPERIMENTS, help="The experiment to run.")
        parser.add_argument("--dataset", required=True, help="Name or slug of the dataset.")
        _add_asking(parser.add_argument_group("asking"))
        add_model_arguments(parser)  # the model that scores: entailment, or a judge of text quality
        quality = parser.add_argument_group("text quality")
        add_arguments(quality, ScoringPlan, called=JUDGED)
        _add_rating(parser.add_argument_group("human alignment"))
        parser.add_argument(
            "--retry-failed",
            action="store_true",
            help="Repeat the calls and the scores that failed.",
        )
        parser.add_argument(
            "--format",
            choices=["table", *FORMATS],
            default="table",
            help="Format of the table. Default: table.",
        )

    def handle(self, **options: Any) -> None:
        dataset = named(Dataset.objects.all(), options["dataset"])
        experiment = EXPERIMENTS[options["experiment"]]
        if options["new_study"]:
            self.stdout.write(_planned_study(dataset, experiment, options))
            return
        study = _study(dataset, experiment, options)
        plans = _scoring(experiment, options)
        with models_to_ask(options, options["models"], ASKED) as models:
            wanted = _grid(dataset, experiment, options | {"models": models})
            if options["dry_run"]:
                _print_plan(dataset, wanted, self.stdout)
                return
            if wanted:
                ask_grid(self, dataset, wanted, self.stderr, is_retrying=options["retry_failed"])
        if plans or experiment.has_grid:
            self._score(dataset, experiment, plans, is_retrying=options["retry_failed"])
        self.stdout.write(
            write_report(_report(dataset, experiment, study), options["format"]), ending=""
        )

    def _score(
        self,
        dataset: Dataset,
        experiment: KGExperiment,
        plans: list[RunPlan],
        *,
        is_retrying: bool,
    ) -> None:
        """Score the answers that have no score yet.

        A metric that cannot score any of the answers, because they cite nothing for example, is
        reported and is no error.

        Raises:
            CommandError: there are no answers, or a model cannot be used.
        """
        answers = answers_of(dataset, experiment.key)
        if not answers.exists():
            hint = " Name the models to ask with --models." if experiment.has_grid else ""
            raise CommandError(f"{dataset.name} has no answers for this experiment.{hint}")
        confirm_runs(self, dataset, plans, answers)
        for plan in plans:
            try:
                run = requested_here(self, dataset, plan, answers)
            except CommandError as error:
                if not isinstance(error.__cause__, RunError):
                    raise
                self.stderr.write(f"{plan.metric.title}: {error}")
                continue
            if is_retrying:
                retry_here(self, run)
            self.stderr.write(score_here(run, self.stderr))


def _add_asking(group: Any) -> None:
    group.add_argument(
        "--models",
        nargs="+",
        default=[],
        metavar="MODEL",
        help="Names of the models to ask. Without them, no model is asked.",
    )
    add_server_arguments(group, ASKED)
    group.add_argument(
        "--ask-precision",
        choices=PRECISIONS,
        default=PRECISIONS[0],
        help=f"Precision of the models that are asked. Default: {PRECISIONS[0]}.",
    )
    group.add_argument(
        "--temperatures",
        nargs="+",
        type=float,
        default=[],
        metavar="T",
        help="Temperatures of the models. Default: those of the paper.",
    )
    group.add_argument(
        "--seeds",
        nargs="+",
        type=int,
        default=[],
        metavar="N",
        help="Seeds of the runs, one run for each seed. Default: 0 1 2.",
    )
    add_arguments(group, ExperimentPlan)
    group.add_argument(
        "--price",
        nargs=3,
        action="append",
        default=[],
        metavar=("MODEL", "INPUT", "OUTPUT"),
        help="Prices of a million tokens of input and of output. Give it once for each model.",
    )
    group.add_argument(
        "--dry-run", action="store_true", help="Print the plan. Ask and store nothing."
    )


def _add_rating(group: Any) -> None:
    group.add_argument("--study", metavar="NAME", help="Name or slug of the study of the table.")
    group.add_argument(
        "--new-study",
        metavar="NAME",
        help="Name of a new study to plan. --models says whose pairs it has. Default: those of all "
        "models.",
    )
    group.add_argument(
        "--raters",
        nargs="+",
        default=[],
        help="Codes or user names of the new study's raters, or 'all'.",
    )
    add_arguments(group, PairDraw, called=PAIRS)


# --- what the options say -------------------------------------------------------------------


def _grid(
    dataset: Dataset, experiment: KGExperiment, options: Mapping[str, Any]
) -> GridChoices | None:
    """Return the grid that is asked, or None if no models are named.

    Raises:
        CommandError: an option is wrong, or the dataset lacks what the experiment needs.
    """
    if not options["models"]:
        return None
    if not experiment.has_grid:
        raise CommandError(
            f"--models: {experiment.title} asks no models, it uses existing answers. Leave it out."
        )
    prices = _prices(options)
    plan = ExperimentPlan(
        experiment.key,
        tuple(
            GridModel(name, options["ask_precision"], prices.get(name))
            for name in options["models"]
        ),
        tuple(options["temperatures"]),
        tuple(options["seeds"]),
        **given_from(ExperimentPlan, options),
    )
    if plan.graph != "retrieved" and not experiment.has_choice_of_graph:
        raise CommandError(
            f"--graph: {experiment.title} always uses the gold sub-graphs. Leave it out."
        )
    if lacking := why_not(dataset, experiment, plan.graph):
        raise CommandError(lacking[0])
    try:
        return grid_of(dataset, plan)
    except GridError as error:
        raise CommandError(f"{error}\nNothing was asked.") from error


def _prices(options: Mapping[str, Any]) -> dict[str, Price]:
    """Return the prices of tokens, by model.

    Raises:
        CommandError: a price is no number or out of range, or a model is not asked or named twice.
    """
    prices: dict[str, Price] = {}
    for model, *given in options["price"]:
        if model not in options["models"] or model in prices:
            raise CommandError(
                f"--price {model}: expected one of the --models, and each model once."
            )
        try:
            prices[model] = Price(*map(float, given))
        except ValueError as error:
            said = " ".join(given)
            raise CommandError(f"--price {model}: found {said}; expected two numbers.") from error
        if not all(0 <= price <= MOST_PRICE for price in prices[model]):
            expected = f"two numbers from 0 to {MOST_PRICE:,}"
            raise CommandError(f"--price {model}: found {' '.join(given)}; expected {expected}.")
    return prices


def _scoring(experiment: KGExperiment, options: Mapping[str, Any]) -> list[RunPlan]:
    """Return the plans of the runs that score the answers, one for each metric.

    Raises:
        CommandError: an option is wrong, or a model's files cannot be used.
    """
    try:
        spec = spec_from(options)
        if spec is None and not (experiment.metrics and experiment.has_grid):
            return []
        choices = ScoringPlan(
            spec, options["precision"] or "", **given_from(ScoringPlan, options, called=JUDGED)
        )
        plans = scoring_plans(experiment.key, choices)
    except ChoiceError as error:
        raise CommandError(f"--{error.field.replace('_', '-')}: {error}") from error
    problems = [why_unusable(plan.spec, plan.metric.key) for plan in plans]
    if found := next(filter(None, problems), ""):
        raise CommandError(f"--model: {found}")
    return plans


def _study(dataset: Dataset, experiment: KGExperiment, options: Mapping[str, Any]) -> Study | None:
    """Return the study that an experiment is about, or None if it is about a dataset.

    Raises:
        CommandError: the study does not exist, is missing, or is named where none is expected.
    """
    name = options["study"]
    if experiment.has_grid:
        if name:
            raise CommandError(
                f"--study: {experiment.title} is about a dataset, not a study. Leave it out."
            )
        return None
    if not name:
        raise CommandError(
            f"{experiment.title} is about a study. Name one with --study, or plan one with "
            "--new-study."
        )
    return named(Study.objects.filter(dataset=dataset), name, f" of {dataset.name}")


def _planned_study(dataset: Dataset, experiment: KGExperiment, options: Mapping[str, Any]) -> str:
    """Plan a study that people rate, and return a sentence about it.

    Raises:
        CommandError: a choice cannot be used. Nothing is stored.
    """
    name = options["new_study"].strip()
    if experiment.has_grid:
        raise CommandError(
            f"--new-study: {experiment.title} is about a dataset, not a study. Leave it out."
        )
    if options["study"]:
        raise CommandError("--new-study: a new study has no table yet. Leave --study out.")
    if not 1 <= len(name) <= LONGEST_NAME:
        raise CommandError(
            f"--new-study: found a name of {len(name)} characters; expected 1 to 100."
        )
    try:
        study = request_alignment_study(
            dataset,
            name,
            options["models"],
            raters_called(options["raters"]),
            draw=made(PairDraw, given_from(PairDraw, options, called=PAIRS)),
        )
    except StudyError as error:
        raise CommandError(f"{error}\nNothing was made.") from error
    n_raters = study.raters.count()
    return f"{study.name} is {study.state}, with {n_raters} rater{'s' * (n_raters != 1)}."


def _print_plan(dataset: Dataset, grid: GridChoices | None, stdout: Any) -> None:
    if grid is None:
        raise CommandError("--dry-run: no models are named. Name the models to ask with --models.")
    print_plan(dataset, grid, stdout)


def _report(dataset: Dataset, experiment: KGExperiment, study: Study | None) -> Report[Any]:
    kind = all_reports()[experiment.report]
    try:
        return kind.make(study or dataset, kind.choices())
    except CannotReport as error:
        raise CommandError(str(error)) from error

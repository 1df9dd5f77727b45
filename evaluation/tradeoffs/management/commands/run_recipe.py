"""Ask a small model with every prompt of the recipe, score, re-rank and compare, here and now.

The same command goes on where it was stopped; it needs no worker, and workers may help.
"""

from argparse import RawDescriptionHelpFormatter
from collections.abc import Iterable, Iterator
from typing import Any

from django.core.management.base import CommandError, CommandParser

from evaluation.measures.reranking import SENSIBLE_FIRST
from evaluation.metrics.registry import METRICS
from evaluation.reports.formats import FORMATS, write_report
from evaluation.runs.choices import options_of
from evaluation.runs.command import confirm_runs, requested_here, retry_here, score_here
from evaluation.runs.metric_options import add_metric_options, metric_options_from
from evaluation.tradeoffs.axes import Axes, Axis, of_run
from evaluation.tradeoffs.recipe_plan import (
    RecipeChoices,
    RecipePlan,
    plan_recipe,
    recalls_of,
)
from evaluation.tradeoffs.recipes import Recipe, large_golden, recipe_of, responses_to_score
from evaluation.tradeoffs.reports.recipe import recipe_report
from evaluation.tradeoffs.scorers import (
    SIDES,
    Scorer,
    Scorers,
    Side,
    judge_beside,
    metric_named,
    scorer_called,
)
from evaluation.tradeoffs.selection_bias import FLATTERED, SAME_METRIC, marked_in_any
from evaluation.tradeoffs.services.reranking import RerankingError, rerank
from generation.choices.arguments import add_arguments, given_from
from generation.choices.declaration import ChoiceError
from generation.evidence import EvidenceChoice
from generation.grids.grid_file import GridChoices, GridError, Retrieval
from generation.grids.recipe import recipe_grid
from generation.management.asked_server import models_to_ask
from generation.management.asking_command import AskingCommand
from generation.management.grid_commands import ask_grid, print_plan, with_name
from generation.management.named import named
from generation.management.server_options import add_server_arguments
from generation.models import Dataset, Sample

EXAMPLE = """examples:
  manage.py run_recipe pilot --model extractive --recall 0.9 --budget 1024 --dry-run
  manage.py run_recipe pilot --model qwen-0.5b --k1 5 --k2 2
  manage.py run_recipe pilot --model qwen-0.5b --k1 5 --k2 2 --attribution auto_ais/deberta-nli \\
      --flavor v1 --window 0 --judge-attribution run-12
"""
CALLED = {"has_instructions": "instructions"}
LOOKS_BETTER = "{0} is chosen and judged by the same metric, so its numbers are too optimistic."
NOTHING_ELSE = (
    "No other metric and no raters judge {0} in this dataset: name another metric or raters, "
    "--judge-{0} METRIC/MODEL or KEY."
)
ANOTHER_MODEL = (
    "{0} is judged by the metric that chose, with another model. Errors that both models make "
    "still make the numbers too high."
)


class Command(AskingCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        parser.add_argument("dataset", help="name of a dataset")
        parser.add_argument(
            "--model",
            required=True,
            help="a listed model, or extractive; with --server the name that the server knows",
        )
        add_server_arguments(parser)
        parser.add_argument("--sample", default="", help="name of a sample; default: all examples")
        add_arguments(parser, RecipeChoices, called=CALLED)
        parser.add_argument(
            "--name", default="", help="name of the grid; default: made of its choices"
        )
        for side in SIDES:
            parser.add_argument(
                f"--{side}",
                default="",
                metavar="METRIC/MODEL",
                help="re-ranks: a metric, with its model, or the key of an axis (run-12); default: "
                "the pinned run, else the oldest that is there, else a new one",
            )
            parser.add_argument(
                f"--judge-{side}",
                default="",
                metavar="METRIC/MODEL",
                help="judges for the numbers; default: raters or a run that did not choose, if "
                f"the dataset has one, else that of --{side}, on the same responses (too "
                "optimistic)",
            )
        add_metric_options(parser)
        parser.add_argument(
            "--evidence",
            choices=EvidenceChoice.values,
            help="evidence of the metrics that re-rank; default: golden",
        )
        parser.add_argument("--format", choices=["table", *FORMATS], default="table")
        parser.add_argument(
            "--retry-failed", action="store_true", help="ask and score again what has failed"
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="print what would be asked, and write nothing"
        )

    def handle(self, **options: Any) -> None:
        with models_to_ask(options, [options["model"]]) as [model]:
            self._run(options | {"model": model})

    def _run(self, options: dict[str, Any]) -> None:
        """Do what the options say.

        Raises:
            CommandError: an option is wrong, or a grid or a run cannot be finished.
        """
        said = self.stdout if options["format"] == "table" else self.stderr
        dataset = named(Dataset.objects.all(), options["dataset"])
        choices = _choices(dataset, options)
        plan = plan_recipe(dataset, choices)
        for line in _lines(plan):
            said.write(line)
        for field, problem in plan.problems.items():
            raise CommandError(f"--{field}: {problem}\nNothing was asked.")
        choosing = _choosing(dataset, options)
        given_judges = _named_judges(dataset, options)
        for side, scorer in zip(SIDES, choosing, strict=True):
            said.write(
                f"{side.capitalize()} by {scorer.title}{'' if scorer.axis else ', a new run'}."
            )
        wanted = _grid(dataset, plan, choices, options)
        if options["dry_run"]:
            print_plan(dataset, wanted, said)
            return
        is_retrying = options["retry_failed"]
        grid = ask_grid(self, dataset, wanted, said, is_retrying=is_retrying)
        recipe = recipe_of(grid)
        if recipe is None:
            raise CommandError(f"{grid} is a grid, but not a recipe. Choose another --name.")
        responses = responses_to_score(recipe)
        judges = {
            side: given_judges[side] or judge_beside(dataset, side, choosing, responses)
            for side in SIDES
        }
        by_both = [*choosing, *filter(None, judges.values())]
        scored = self._scored(recipe, by_both, said, is_retrying=is_retrying)
        axes = Axes(*(scored[each.signature_part] for each in choosing))
        judging_axes = Axes(
            *(
                scored[(judges[side] or first).signature_part]
                for side, first in zip(SIDES, choosing, strict=True)
            )
        )
        try:
            rerank(dataset, axes, recipe.pool, SENSIBLE_FIRST, recipe=recipe.numbers)
        except RerankingError as error:
            raise CommandError(f"{error}\nNothing was re-ranked.") from error
        if not large_golden(dataset, recipe.temperature):
            said.write(
                "No model was asked with golden evidence, so there is nothing to compare with."
            )
        report = recipe_report(recipe, axes, judging_axes)
        for name in marked_in_any([row.marks for row in report.rows], FLATTERED):
            said.write(LOOKS_BETTER.format(name.capitalize()))
        for name in marked_in_any([row.marks for row in report.rows], SAME_METRIC):
            said.write(ANOTHER_MODEL.format(name.capitalize()))
        for side, judge in judges.items():
            if judge is None:
                said.write(NOTHING_ELSE.format(side))
        self.stdout.write(write_report(report, options["format"]), ending="")

    def _scored(
        self, recipe: Recipe, scorers: Iterable[Scorer], said: Any, *, is_retrying: bool
    ) -> dict[str, Axis]:
        """Score the responses that scorers have not scored; return the axes by `signature_part`."""
        axes: dict[str, Axis] = {}
        different = {each.signature_part: each for each in scorers}.values()
        plans = [scorer.plan for scorer in different if scorer.plan]
        confirm_runs(self, recipe.dataset, plans, responses_to_score(recipe))
        for scorer in different:
            if scorer.plan:
                run = requested_here(self, recipe.dataset, scorer.plan, responses_to_score(recipe))
                if is_retrying:
                    retry_here(self, run)
                said.write(score_here(run, self.stderr))
                run.refresh_from_db()
                axes[scorer.signature_part] = of_run(run)
            elif scorer.axis:
                said.write(f"{scorer.title}: used as it is. This command cannot score it.")
                axes[scorer.signature_part] = scorer.axis
        return axes


def _choices(dataset: Dataset, options: dict[str, Any]) -> RecipeChoices:
    given = given_from(RecipeChoices, options, called=CALLED)
    if {"recall", "k1"} <= given.keys():
        raise CommandError("--k1: found --k1 and --recall; expected one of them. Leave one out.")
    sample = _sample(dataset, options["sample"]) if options["sample"] else None
    return RecipeChoices(**given, sample=sample)


def _sample(dataset: Dataset, name: str) -> Sample:
    found = dataset.samples.filter(name=name, state=Sample.State.DONE).first()
    if not found:
        ready = dataset.samples.filter(state=Sample.State.DONE).order_by("name")
        there = ", ".join(ready.values_list("name", flat=True)[:10]) or "none yet"
        raise CommandError(
            f"{dataset.name} has no sample {name!r} that is ready. Ready are: {there}."
        )
    return found


def _lines(plan: RecipePlan) -> Iterator[str]:
    """Yield the lines of a plan: the recall curve, K1 and K2 with their reasons, and the calls."""
    if plan.recall:
        recalls = [f"{k}: {recall:.3f}" for k, recall in enumerate(recalls_of(plan.recall), 1)]
        yield f"Recall@k, over {plan.recall.rows[0].n:,} examples: {', '.join(recalls)}"
    if plan.k1 is not None:
        yield f"K1 = {plan.k1}: {plan.why_k1}."
    if plan.k2 is not None:
        yield f"K2 = {plan.k2}: {plan.why_k2}."
    if plan.parts:
        sums = " + ".join(str(n) for _, n in plan.parts)
        yield (
            f"Calls per example: {sums} = {plan.n_calls_each}; over {plan.n_examples:,} examples "
            f"{plan.n_calls:,}."
        )


def _choosing(dataset: Dataset, options: dict[str, Any]) -> Scorers:
    """Return the scorers that re-rank; each given option belongs to one or both metrics."""
    given, evidence = metric_options_from(options), options["evidence"] or ""
    metrics = {side: metric_named(side, options[side]) for side in SIDES}
    known = {
        side: {option.name for option in options_of(metric)} if metric else set()
        for side, metric in metrics.items()
    }
    for name in given:
        if not any(name in names for names in known.values()):
            raise CommandError(
                f"--{name.replace('_', '-')}: {_named(options)} have no such option. Only new "
                "runs of metrics have options. Existing runs and raters have none.\nNothing was "
                "asked."
            )
    takes_evidence = {
        side for side, metric in metrics.items() if metric and METRICS[metric].needs_evidence
    }
    if evidence and not takes_evidence:
        raise CommandError(
            f"--evidence: {_named(options)} use no evidence. Leave it out.\nNothing was asked."
        )
    return Scorers(
        *(
            _called(
                dataset,
                side,
                side,
                options[side],
                {name: value for name, value in given.items() if name in known[side]},
                evidence if side in takes_evidence else "",
            )
            for side in SIDES
        )
    )


def _named(options: dict[str, Any]) -> str:
    """Return the scorers that re-rank, in the words of the options."""
    return " and ".join(options[side] or metric_named(side, "") for side in SIDES)


def _named_judges(dataset: Dataset, options: dict[str, Any]) -> dict[Side, Scorer | None]:
    """Return the scorer that was named as the judge of each side; None where none was named."""
    named = {side: options[f"judge_{side}"] for side in SIDES}
    return {
        side: _called(dataset, side, f"judge-{side}", text) if text else None
        for side, text in named.items()
    }


def _called(
    dataset: Dataset,
    side: Side,
    option: str,
    text: str,
    of_metric: dict[str, Any] | None = None,
    evidence: str = "",
) -> Scorer:
    """Return the scorer that an option of the command names."""
    try:
        return scorer_called(dataset, side, text, of_metric, evidence)
    except ChoiceError as error:
        is_of_metric = error.field in (of_metric or {})
        name = error.field.replace("_", "-") if is_of_metric else option
        raise CommandError(f"--{name}: {error}\nNothing was asked.") from error
    except LookupError as error:
        raise CommandError(f"--{option}: {error}\nNothing was asked.") from error


def _grid(
    dataset: Dataset, plan: RecipePlan, choices: RecipeChoices, options: dict[str, Any]
) -> GridChoices:
    if plan.k1 is None or plan.k2 is None:
        raise ValueError("a plan without K1 or K2 has problems, and no grid")
    try:
        grid = recipe_grid(
            options["name"] or "?",
            options["model"],
            plan.k1,
            plan.k2,
            sample=options["sample"],
            budget=choices.budget,
            temperature=choices.temperature,
            has_instructions=choices.has_instructions,
            retrieval=Retrieval(query=choices.query),
        )
        if options["name"]:
            return grid
        usual = recipe_grid("?", options["model"], plan.k1, plan.k2)
    except GridError as error:
        raise CommandError(f"{error}\nNothing was asked.") from error
    name = f"{dataset.slug}, recipe, {options['model']}, K1 {plan.k1}, K2 {plan.k2}"
    return with_name(grid, name, usual)

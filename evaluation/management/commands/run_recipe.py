"""Ask a small model with every prompt of the recipe, score, re-rank and compare, here and now.

The same command goes on where it was stopped; it needs no worker, and workers may help.
"""

from argparse import RawDescriptionHelpFormatter
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evaluation.forms.retrieval import QUERIES
from evaluation.management.runs_here import requested_here, score_here
from evaluation.metrics.reranking import SENSIBLE_FIRST
from evaluation.reports.formats import FORMATS, write_report
from evaluation.reports.recipe import recipe_report
from evaluation.runs.choices import ChoiceError
from evaluation.services.reranking import RerankingError, rerank
from evaluation.services.runs import retry_failed
from evaluation.tradeoffs.axes import Axes
from evaluation.tradeoffs.recipe_plan import (
    USUAL_RECALL,
    RecipeChoices,
    RecipePlan,
    plan_recipe,
    recalls_of,
)
from evaluation.tradeoffs.recipes import Recipe, large_golden, recipe_of, responses_to_score
from evaluation.tradeoffs.scorers import SIDES, Scorer, Scorers, Side, scorer_called
from generation.grids.grid_file import Grid, GridError, Retrieval
from generation.grids.recipe import recipe_grid
from generation.management.asking import ask_grid, dataset_named, print_plan, with_name
from generation.models import Dataset, Sample

EXAMPLE = """examples:
  manage.py run_recipe pilot --model extractive --recall 0.9 --budget 1024 --dry-run
  manage.py run_recipe pilot --model qwen-0.5b --k1 5 --k2 2
  manage.py run_recipe pilot --model qwen-0.5b --k1 5 --k2 2 --attribution auto_ais/deberta-nli \\
      --judge-attribution run-12
"""
FLATTERED = (
    "Chosen and judged by the same metric: it looks better than it is; judge by another: "
    "--judge-attribution and --judge-sensibleness METRIC/MODEL."
)


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        parser.add_argument("dataset", help="name of a dataset")
        parser.add_argument("--model", required=True, help="a listed model, or extractive")
        k1 = parser.add_mutually_exclusive_group()
        k1.add_argument(
            "--recall", type=float, metavar="R", help=f"K1 reaches it (default: {USUAL_RECALL})"
        )
        k1.add_argument("--k1", type=int, metavar="N", help="items that are looked at")
        parser.add_argument("--budget", type=int, metavar="N", help="tokens of a prompt at most")
        parser.add_argument(
            "--k2", type=int, metavar="N", help="items in a prompt at most; default: what fits"
        )
        parser.add_argument("--sample", default="", help="name of a sample; default: all examples")
        parser.add_argument("--temperature", type=float, default=0.0)
        parser.add_argument("--instructions", action="store_true", help="in every prompt")
        parser.add_argument("--query", choices=QUERIES, default="question", help="searched by")
        parser.add_argument("--name", default="", help="of the grid; default: its choices")
        for side in SIDES:
            parser.add_argument(
                f"--{side}",
                default="",
                metavar="METRIC/MODEL",
                help="re-ranks: a metric with its model, or the key of an axis (run-12)",
            )
            parser.add_argument(
                f"--judge-{side}",
                default="",
                metavar="METRIC/MODEL",
                help=f"the figures are of it; default: that of --{side}, which flatters",
            )
        parser.add_argument("--format", choices=["table", *FORMATS], default="table")
        parser.add_argument(
            "--retry-failed", action="store_true", help="ask and score again what has failed"
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would be asked, and write nothing"
        )

    def handle(self, **options: Any) -> None:
        said = self.stdout if options["format"] == "table" else self.stderr
        dataset = dataset_named(options["dataset"])
        choices = _choices(dataset, options)
        plan = plan_recipe(dataset, choices)
        for line in _lines(plan):
            said.write(line)
        for field, problem in plan.problems.items():
            raise CommandError(f"--{field}: {problem}\nNothing was asked.")
        scorers = _scorers(dataset, options, "")
        judges = _scorers(dataset, options, "judge_")
        grid = _grid(dataset, plan, options)
        if options["dry_run"]:
            print_plan(dataset, grid, said)
            return
        is_retrying = options["retry_failed"]
        experiment = ask_grid(dataset, grid, said, self.stderr, is_retrying=is_retrying)
        recipe = recipe_of(experiment)
        if recipe is None:
            raise CommandError(f"The grid {experiment} is no recipe: choose another --name.")
        for scorer in {each.key: each for each in (*scorers, *judges)}.values():
            self._score(recipe, scorer, said, is_retrying=is_retrying)
        axes, judging = (_axes(dataset, options, prefix) for prefix in ("", "judge_"))
        try:
            rerank(dataset, axes, recipe.pool, SENSIBLE_FIRST, recipe=recipe.numbers)
        except RerankingError as error:
            raise CommandError(f"{error}\nNothing was re-ranked.") from error
        if not large_golden(dataset, recipe.temperature):
            said.write("No model was asked with golden evidence: there is none to compare with.")
        report = recipe_report(recipe, axes, judging)
        if any(row["is_flattered"] for row in report.rows):
            said.write(FLATTERED)
        self.stdout.write(write_report(report, options["format"]), ending="")

    def _score(self, recipe: Recipe, scorer: Scorer, said: Any, *, is_retrying: bool) -> None:
        """Score what a scorer has not come to."""
        if scorer.plan is None:
            said.write(f"{scorer.title}: as it is; nothing can be scored from here.")
            return
        run = requested_here(recipe.dataset, scorer.plan, responses_to_score(recipe))
        if is_retrying:
            retry_failed(run, None)
        said.write(score_here(run, self.stderr))


def _choices(dataset: Dataset, options: dict[str, Any]) -> RecipeChoices:
    for name in ("k1", "k2", "budget"):
        if options[name] is not None and options[name] < 1:
            raise CommandError(f"--{name} {options[name]}: expected a whole number from 1 on.")
    recall = USUAL_RECALL if options["recall"] is None else options["recall"]
    if not 0 < recall <= 1:
        raise CommandError(f"--recall {recall:g}: expected a share above 0, 1 at most.")
    return RecipeChoices(
        recall=recall,
        k1=options["k1"],
        budget=options["budget"],
        k2=options["k2"],
        sample=_sample(dataset, options["sample"]) if options["sample"] else None,
        query=options["query"],
        has_instructions=options["instructions"],
    )


def _sample(dataset: Dataset, name: str) -> Sample:
    found = dataset.samples.filter(name=name, state=Sample.State.READY).first()
    if not found:
        ready = dataset.samples.filter(state=Sample.State.READY).order_by("name")
        there = ", ".join(ready.values_list("name", flat=True)[:10]) or "none yet"
        raise CommandError(f"No sample {name!r} of {dataset.name} is ready; there are: {there}")
    return found


def _lines(plan: RecipePlan) -> Iterator[str]:
    """Yield a plan: the recall curve, K1 and K2 with their reasons, and the calls."""
    if plan.recall:
        recalls = [f"{k}: {recall:.3f}" for k, recall in enumerate(recalls_of(plan.recall), 1)]
        yield f"Recall@k, over {plan.recall.rows[0]['n']:,} examples: {', '.join(recalls)}"
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


def _scorers(dataset: Dataset, options: dict[str, Any], prefix: str) -> Scorers:
    """Return what re-ranks or judges; without a word about a judge, it is what re-ranks."""

    def called(side: Side) -> Scorer:
        text = options[f"{prefix}{side}"] or options[side]
        try:
            return scorer_called(dataset, side, text)
        except (LookupError, ChoiceError) as error:
            option = f"{prefix}{side}" if options[f"{prefix}{side}"] else side
            raise CommandError(f"--{option.replace('_', '-')}: {error}") from error

    return Scorers(called("attribution"), called("sensibleness"))


def _axes(dataset: Dataset, options: dict[str, Any], prefix: str) -> Axes:
    """Return the axes of scorers whose runs are there."""
    axes = _scorers(dataset, options, prefix).axes
    if axes is None:
        raise CommandError("Somebody deleted a run of scores: start the command again.")
    return axes


def _grid(dataset: Dataset, plan: RecipePlan, options: dict[str, Any]) -> Grid:
    if plan.k1 is None or plan.k2 is None:
        raise ValueError("a plan without K1 or K2 has problems, and no grid")
    try:
        grid = recipe_grid(
            options["name"] or "?",
            options["model"],
            plan.k1,
            plan.k2,
            sample=options["sample"],
            budget=options["budget"],
            temperature=options["temperature"],
            has_instructions=options["instructions"],
            retrieval=Retrieval(query=options["query"]),
        )
        if options["name"]:
            return grid
        usual = recipe_grid("?", options["model"], plan.k1, plan.k2)
    except GridError as error:
        raise CommandError(f"{error}\nNothing was asked.") from error
    name = f"{dataset.slug}, recipe, {options['model']}, K1 {plan.k1}, K2 {plan.k2}"
    return with_name(grid, name, usual)

"""Choose for each example one response of a pool of setups, and store the choice as a setup.

The usual pool is the seven prompt types with full history and golden evidence, of one model at one
temperature; setups that differ in a further setting (seed, position, top-p) make pools of their
own. The metric that chooses makes the choice look better than it is. Therefore --judge names a
second metric, or a question to raters, that judges the choice as well.
"""

from argparse import RawDescriptionHelpFormatter
from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evaluation.measures.reranking import FUNCTIONS
from evaluation.reports.formats import write_report
from evaluation.tradeoffs.axes import Axes, Axis, axes_of, find, usual
from evaluation.tradeoffs.pools import Pool, all_pools, pool_of
from evaluation.tradeoffs.reports.reranking import reranking_report
from evaluation.tradeoffs.services.reranking import RerankingError, rerank
from generation.management.named import named
from generation.models import Dataset, Setup

EXAMPLE = """examples:
  manage.py rerank pilot --function sensible-first
  manage.py rerank pilot --model qwen --temperature 0 --function max-attribution \\
      --judge pilot-study/separate/attributable
  manage.py rerank pilot --pool "qwen · T 0.0 · golden" --pool "qwen · T 0.0 · one-shot" \\
      --function weighted --weights 0.3 0.7
"""


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        parser.add_argument("dataset", help="name of a dataset")
        parser.add_argument("--function", required=True, choices=FUNCTIONS)
        parser.add_argument(
            "--weights",
            nargs=2,
            type=float,
            metavar=("A", "B"),
            help="weights of the weighted sum: sensibleness first, then attribution",
        )
        parser.add_argument("--model", help="of the usual pools; default: of all")
        parser.add_argument("--temperature", type=float, help="of the usual pools")
        parser.add_argument(
            "--pool", action="append", metavar="NAME", help="a setup of another pool; repeat it"
        )
        axis = "a metric, a question, or the key of an axis"
        parser.add_argument("--attribution", metavar="KEY", help=f"what chooses: {axis}")
        parser.add_argument("--sensibleness", metavar="KEY", help=f"what chooses: {axis}")
        parser.add_argument("--judge", metavar="KEY", help="what judges attribution besides")
        parser.add_argument(
            "--judge-sensibleness", metavar="KEY", help="what judges sensibleness besides"
        )

    def handle(self, **options: Any) -> None:
        dataset = named(Dataset.objects.all(), options["dataset"])
        choosing, judging = _axes(dataset, options)
        pools = _pools(dataset, options)
        stored: list[Setup] = []
        try:
            for pool in pools:
                function, weights = options["function"], options["weights"]
                stored.append(rerank(dataset, choosing, pool.setups, function, weights))
        except RerankingError as error:
            there = f"Stored before: {', '.join(map(str, stored))}" if stored else "Nothing stored"
            raise CommandError(f"{error}\n{there}.") from error
        report = reranking_report(dataset, choosing, pools, judging)
        self.stdout.write(write_report(report, "table"))
        for setup in stored:
            self.stdout.write(f"Stored: {setup.name}, {setup.responses.count():,} responses.")


def _axes(dataset: Dataset, options: dict[str, Any]) -> tuple[Axes, Axes]:
    """Return the axes that choose and those that judge.

    Raises:
        CommandError: an axis does not exist, or there is no usual one.
    """
    there = axes_of(dataset)
    usually = usual(there)
    judges = {"attribution": "judge", "sensibleness": "judge_sensibleness"}  # options, by axis
    choosing: dict[str, Axis] = usually._asdict() if usually else {}
    judging: dict[str, Axis] = {}
    try:
        for name, judge in judges.items():
            if options[name]:
                choosing[name] = find(there, options[name])
            if options[judge]:
                judging[name] = find(there, options[judge])
    except LookupError as error:
        raise CommandError(str(error)) from error
    if missing := [f"--{name}" for name in Axes._fields if name not in choosing]:
        titles = "".join(f"\n  {axis.key}: {axis.title}" for axis in there) or " none yet"
        raise CommandError(f"{', '.join(missing)}: there is no usual axis. Name one of:{titles}")
    return Axes(**choosing), Axes(**choosing | judging)


def _pools(dataset: Dataset, options: dict[str, Any]) -> Sequence[Pool]:
    """Return the pools that the options ask for.

    Raises:
        CommandError: there is none, a named setup has no responses, or the options exclude each
            other.
    """
    model, temperature, names = options["model"], options["temperature"], options["pool"]
    setups = list(dataset.setups.answered())
    if names:
        if model or temperature is not None:
            raise CommandError(
                "--pool: the setups that you named have a model and a temperature already. Leave "
                "out --model and --temperature."
            )
        named = [setup for setup in setups if setup.name in names]
        if missing := set(names) - {setup.name for setup in named}:
            raise CommandError(f"--pool: there is no setup {min(missing)!r} with responses.")
        return [pool_of(named)]
    usual_ones = [pool for pool in all_pools(setups) if pool.is_usual]
    found = [
        pool
        for pool in usual_ones
        if model in (None, pool.model) and temperature in (None, pool.temperature)
    ]
    if not found:
        titles = "; ".join(pool.full_title for pool in usual_ones) or "none"
        raise CommandError(
            f"There is no pool of that model and temperature. The usual pools are: {titles}."
        )
    return found

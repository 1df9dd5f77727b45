"""Ask a model with restricted context: part of the dialog beside part of the evidence, in tenths.

For each share s, the newest turns of the dialog stay whose share of its tokens is nearest to s, and
the first sentences of the evidence whose share is nearest to 1 − s. All calls are at temperature 0.
They are made with golden evidence and with non-evidence, and once with the whole dialog, which
leaves no room for either. Examples without golden evidence are left out. The same command goes on
where it was stopped.
"""

from argparse import RawDescriptionHelpFormatter
from collections.abc import Sequence
from typing import Any, get_args

from django.core.management.base import BaseCommand, CommandError, CommandParser

from generation.grids.cells import models_there
from generation.grids.grid_file import (
    PRECISIONS,
    QUERIES,
    USUAL_MAX_TOKENS,
    GridError,
    Retrieval,
)
from generation.grids.restricted_context import USUAL_EVIDENCE, restricted_grid
from generation.management.grid_commands import ask_grid, dataset_named, print_plan, with_name
from generation.model_sizes import largest_named
from generation.text.prompt_types import SHARES, RestrictedEvidence

EXAMPLE = """examples:
  manage.py restrict_context pilot --model extractive --dry-run
  manage.py restrict_context pilot --precision bf16 --sample dev-100
  manage.py restrict_context pilot --model qwen-32b --evidence golden --shares 1 0.5 0
"""


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        parser.add_argument("dataset", help="name of a dataset")
        parser.add_argument(
            "--model",
            default="",
            help="name of a model; default: the largest one, by the sizes in the names",
        )
        parser.add_argument("--precision", choices=PRECISIONS, default=PRECISIONS[0])
        parser.add_argument("--sample", default="", help="name of a sample; default: all examples")
        parser.add_argument(
            "--evidence",
            nargs="+",
            choices=get_args(RestrictedEvidence),
            default=list(USUAL_EVIDENCE),
            help="default: golden and next-best",
        )
        parser.add_argument(
            "--shares",
            nargs="+",
            type=float,
            metavar="S",
            default=list(SHARES),
            help="shares of the dialog to keep; default: 1 0.9 0.8 … 0",
        )
        parser.add_argument(
            "--query",
            choices=QUERIES,
            default=Retrieval().query,
            help=(
                "the text that next-best passages are searched by: the last question, or the "
                "whole dialog"
            ),
        )
        parser.add_argument("--budget", type=int, metavar="N", help="most tokens of a prompt")
        parser.add_argument(
            "--max-tokens",
            type=int,
            metavar="N",
            default=USUAL_MAX_TOKENS,
            help=f"most tokens of a completion; default: {USUAL_MAX_TOKENS}",
        )
        parser.add_argument(
            "--name", default="", help="name of the grid; default: made from the other choices"
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would be asked, and write nothing"
        )
        parser.add_argument(
            "--retry-failed", action="store_true", help="ask again what failed before"
        )

    def handle(self, **options: Any) -> None:
        dataset = dataset_named(options["dataset"])
        model = options["model"] or _largest(models_there())
        try:
            grid = restricted_grid(
                options["name"] or "?",
                model,
                sample=options["sample"],
                evidence=options["evidence"],
                shares=options["shares"],
                budget=options["budget"],
                retrieval=Retrieval(query=options["query"]),
                max_tokens=options["max_tokens"],
                precision=options["precision"],
            )
            if not options["name"]:
                usual = restricted_grid("?", model)
                grid = with_name(grid, f"{dataset.slug}, restricted context, {model}", usual)
        except GridError as error:
            raise CommandError(f"{error}\nNothing was asked.") from error
        if options["dry_run"]:
            print_plan(dataset, grid, self.stdout)
            return
        ask_grid(dataset, grid, self.stdout, self.stderr, is_retrying=options["retry_failed"])


def _largest(models: Sequence[str]) -> str:
    """Return the largest of the models by the sizes in their names.

    Raises:
        CommandError: no name contains a size.
    """
    found = largest_named(models)
    if found is None:
        raise CommandError(
            "--model: the names of the models do not say how large they are; choose one of "
            f"{', '.join(models[:20])}."
            "\nNothing was asked."
        )
    return found

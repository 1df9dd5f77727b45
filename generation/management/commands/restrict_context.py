"""Ask a model with restricted context: a part of the dialog and a part of the evidence.

For each share s from 0 to 1, a prompt has the newest turns of the dialog and the first sentences of
the evidence. The turns have about the share s of the dialog's tokens. The sentences have about the
share 1 − s of the evidence's tokens. With the share 1, a prompt has the whole dialog and no
evidence. The calls are made with golden evidence and with passages that are no evidence. All calls
have temperature 0. Examples without golden evidence are left out. If the command was stopped, give
it again: it goes on where it was.
"""

from argparse import RawDescriptionHelpFormatter
from typing import Any, get_args

from django.core.management.base import CommandError, CommandParser

from generation.grids.cells import largest_answering, models_there
from generation.grids.grid_file import (
    PRECISIONS,
    QUERIES,
    USUAL_MAX_TOKENS,
    GridError,
    Retrieval,
)
from generation.grids.restricted_context import USUAL_EVIDENCE, restricted_grid
from generation.management.asked_server import models_to_ask
from generation.management.asking_command import AskingCommand
from generation.management.grid_commands import ask_grid, print_plan, with_name
from generation.management.named import named
from generation.management.server_options import add_server_arguments
from generation.models import Dataset
from generation.text.prompt_types import SHARES, RestrictedEvidence

EXAMPLE = """examples:
  manage.py restrict_context pilot --model extractive --dry-run
  manage.py restrict_context pilot --precision bf16 --sample dev-100
  manage.py restrict_context pilot --model qwen-32b --evidence golden --shares 1 0.5 0
"""


class Command(AskingCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        parser.add_argument("dataset", help="Name or slug of the dataset.")
        parser.add_argument(
            "--model",
            default="",
            help="Name of the model. Default: the largest model with responses in the dataset.",
        )
        add_server_arguments(parser)
        parser.add_argument(
            "--precision",
            choices=PRECISIONS,
            default=PRECISIONS[0],
            help=f"Precision of the model. Default: {PRECISIONS[0]}.",
        )
        parser.add_argument("--sample", default="", help="Name of a sample. Default: all examples.")
        parser.add_argument(
            "--evidence",
            nargs="+",
            choices=get_args(RestrictedEvidence),
            default=list(USUAL_EVIDENCE),
            help="Evidence of the prompts. Default: golden next-best.",
        )
        parser.add_argument(
            "--shares",
            nargs="+",
            type=float,
            metavar="S",
            default=list(SHARES),
            help="Shares of the dialog to keep, in tenths. Default: 1 0.9 0.8 … 0.",
        )
        parser.add_argument(
            "--query",
            choices=QUERIES,
            default=Retrieval().query,
            help="What next-best passages are searched with: the user question, or the whole "
            f"dialog. Default: {Retrieval().query}.",
        )
        parser.add_argument(
            "--budget", type=int, metavar="N", help="How many tokens a prompt may have."
        )
        parser.add_argument(
            "--max-tokens",
            type=int,
            metavar="N",
            default=USUAL_MAX_TOKENS,
            help=f"How many tokens a completion may have. Default: {USUAL_MAX_TOKENS}.",
        )
        parser.add_argument(
            "--name",
            default="",
            help="Name of the grid. Default: a name made of the other options.",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="Print the plan. Ask and store nothing."
        )
        parser.add_argument(
            "--retry-failed", action="store_true", help="Repeat the calls that failed."
        )

    def handle(self, **options: Any) -> None:
        dataset = named(Dataset.objects.all(), options["dataset"])
        named_models = [options["model"]] if options["model"] else []
        if options["server"] and not named_models:
            raise CommandError("--model: name the model that the server knows.\nNothing was asked.")
        with models_to_ask(options, named_models) as names:
            self._ask(dataset, names[0] if names else _usual(dataset), options)

    def _ask(self, dataset: Dataset, model: str, options: dict[str, Any]) -> None:
        """Ask a model, or print the plan.

        Raises:
            CommandError: a choice is wrong, or the grid cannot be asked.
        """
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
        ask_grid(self, dataset, grid, self.stdout, is_retrying=options["retry_failed"])


def _usual(dataset: Dataset) -> str:
    """Return the largest model with responses in a dataset.

    Raises:
        CommandError: there is none that can be asked.
    """
    models = models_there()
    found = largest_answering(dataset, models)
    if found is None:
        raise CommandError(
            f"--model: the largest model with responses in {dataset.name} is not one that can be "
            f"asked here. Choose one of: {', '.join(list(models)[:20])}.\nNothing was asked."
        )
    return found

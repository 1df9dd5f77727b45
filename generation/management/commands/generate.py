"""Ask the models of a grid file, and store their responses.

The command makes the calls itself. It needs no worker, but workers may help. If it was stopped,
give it again: it goes on where it was. A call that has a response is not made again.
"""

from argparse import RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from generation.grids.grid_file import GridChoices, GridError, read_grid
from generation.management.asked_server import models_to_ask
from generation.management.asking_command import AskingCommand
from generation.management.grid_commands import ask_grid, print_plan
from generation.management.named import named
from generation.management.server_options import add_server_arguments
from generation.models import Dataset

EXAMPLE = """examples:
  manage.py generate pilot --grid grid.toml --dry-run
  manage.py generate pilot --grid grid.toml
  manage.py generate pilot --grid grid.toml --retry-failed
  manage.py generate pilot --grid grid.toml --server http://localhost:8000/v1 --model qwen

a grid file:
  name = "pilot, two temperatures"
  prompts = ["no-evidence", "golden", "retrieved-3"]
  temperatures = [0.0, 0.7]

  [[models]]
  name = "extractive"
"""


class Command(AskingCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        parser.add_argument("dataset", help="Name or slug of the dataset.")
        parser.add_argument(
            "--grid",
            required=True,
            type=Path,
            metavar="FILE",
            help="Grid file: a TOML file as shown below.",
        )
        parser.add_argument(
            "--model",
            nargs="+",
            default=[],
            help="With --server: the models of the grid file that are behind it, by the names that "
            "the server knows.",
        )
        add_server_arguments(parser)
        parser.add_argument(
            "--dry-run", action="store_true", help="Print the plan. Ask and store nothing."
        )
        parser.add_argument(
            "--retry-failed", action="store_true", help="Repeat the calls that failed."
        )

    def handle(self, **options: Any) -> None:
        dataset, grid = named(Dataset.objects.all(), options["dataset"]), _grid(options["grid"])
        with models_to_ask(options, _behind_server(options)) as names:
            if missing := sorted({*names} - {model.name for model in grid.models}):
                raise CommandError(
                    f"--model: {options['grid']} names no model {missing[0]}.\nNothing was asked."
                )
            if options["dry_run"]:
                print_plan(dataset, grid, self.stdout)
                return
            ask_grid(self, dataset, grid, self.stdout, is_retrying=options["retry_failed"])


def _behind_server(options: dict[str, Any]) -> list[str]:
    """Return the models of the grid file that are behind a server.

    Raises:
        CommandError: a server is named without a model, or a model without a server.
    """
    models: list[str] = options["model"]
    if bool(models) != bool(options["server"]):
        raise CommandError("--model, --server: expected both or neither.\nNothing was asked.")
    return models


def _grid(path: Path) -> GridChoices:
    try:
        return read_grid(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CommandError(
            f"{path}: {error.strerror}. Expected a grid file, as manage.py generate --help shows."
        ) from error
    except UnicodeDecodeError as error:
        raise CommandError(
            f"{path}: the text is not UTF-8. Save the grid file as UTF-8."
        ) from error
    except GridError as error:
        raise CommandError(f"{error}\nNothing was asked.") from error

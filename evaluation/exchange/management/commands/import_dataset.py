"""Import a dataset, with votes and scores that were made elsewhere if the files have some."""

from argparse import RawDescriptionHelpFormatter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evaluation.exchange.import_plan import plan_import
from evaluation.exchange.interchange import (
    BadRows,
    ImportOutcome,
    LossesNotAccepted,
    import_dataset,
)
from evaluation.exchange.place_choices import PlaceChoices
from evaluation.exchange.storing_choices import StoringChoices
from generation.choices.arguments import add_arguments, given_from
from generation.choices.declaration import made
from generation.importers import (
    ENCODINGS,
    READERS,
    UTF_8,
    Material,
    mapping_in,
    open_material,
)
from generation.importers.errors import DatasetError
from generation.progress import progress_bar

MAX_LISTED = 20  # problems that are printed; the first ones are the most helpful
EXAMPLE = """example:
  manage.py import_dataset ratings/ --name pilot --dry-run
  manage.py import_dataset ratings.zip --name pilot --skip-bad
  manage.py import_dataset answers.xlsx --mapping answers.toml --name pilot
  manage.py import_dataset answers.xlsx --sheet Ratings --header-line 3 --name pilot
"""


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        add_file_arguments(parser)
        parser.add_argument(
            "--name", help="Name of the dataset to make or add to. Default: the name of the file."
        )
        parser.add_argument(
            "--study", help="Name of the study for its votes. Default: the name of the dataset."
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="Check everything. Store nothing."
        )
        add_arguments(parser, StoringChoices)

    def handle(self, *, path: Path, **options: Any) -> None:
        name = options["name"] or path.resolve().name.split(".")[0]
        try:
            with (
                opened(path, options) as material,
                progress_bar(f"Importing {path.name}", self.stderr) as on_progress,
            ):
                outcome = import_dataset(
                    material,
                    plan_import(material, name, options["study"], on_progress),
                    dry_run=options["dry_run"],
                    **given_from(StoringChoices, options),
                    on_progress=on_progress,
                )
        except BadRows as error:
            list_problems(self, error.outcome)
            raise CommandError(
                "Nothing was imported. Fix the file, or import only the good rows with --skip-bad."
            ) from error
        except LossesNotAccepted as error:
            list_losses(self, error.outcome)
            raise CommandError(
                "Nothing was imported. Say what the columns are with --mapping, or accept this "
                "with --accept."
            ) from error
        except DatasetError as error:
            raise CommandError(f"{error}\nNothing was imported.") from error
        say_what_was_found(self, outcome)
        if options["dry_run"]:
            self.stdout.write("Dry run: nothing was imported.")
        elif outcome.dataset:
            study = f", study {outcome.study.name!r}" if outcome.study else ""
            self.stdout.write(self.style.SUCCESS(f"Imported into {name!r}{study}."))


def add_file_arguments(parser: CommandParser) -> None:
    """Add the arguments that say which file to read, and how."""
    parser.add_argument(
        "path", type=Path, help="A folder, a zip or one file. Files may end in .gz."
    )
    parser.add_argument(
        "--format", choices=READERS, help="Format of the file. Default: recognised by its content."
    )
    parser.add_argument(
        "--encoding",
        choices=ENCODINGS,
        default=UTF_8,
        help="Encoding of its text. Default: utf-8.",
    )
    parser.add_argument(
        "--mapping", type=Path, help="For a table: a TOML file that says what each column holds."
    )
    add_arguments(parser, PlaceChoices)


def opened(path: Path, options: Mapping[str, Any]) -> Material:
    """Open the file at a path as the arguments of `add_file_arguments` say.

    Raises:
        DatasetError: the file cannot be read in this way.
    """
    mapping = mapping_in(options["mapping"]) if options["mapping"] else None
    mapping = made(PlaceChoices, given_from(PlaceChoices, options)).in_mapping(mapping)
    return open_material(path, options["format"], encoding=options["encoding"], mapping=mapping)


def say_what_was_found(command: BaseCommand, outcome: ImportOutcome) -> None:
    """Print what a file holds; the problems of its bad rows go to standard error."""
    list_problems(command, outcome)
    list_losses(command, outcome)
    say = command.stdout.write
    for kind, count in outcome.counts.items():
        parts = ", ".join(f"{n:,} {what}" for what, n in count.items() if n or what == "new")
        say(f"{kind}: {parts}")
    for what, n in outcome.notes.items():
        say(f"{what}: {n:,}")
    for what, n in outcome.left_out.items():
        say(f"left out: {n:,} {what}")
    if outcome.ignored:
        say(f"not read: {', '.join(outcome.ignored)}")
    if outcome.scheme_origin:
        say(f"scheme: {outcome.scheme_origin}")
        for question, expected in outcome.answers.items():
            say(f"  {question}: {expected}")


def list_losses(command: BaseCommand, outcome: ImportOutcome) -> None:
    """Print what would be lost to standard error."""
    for what, n in outcome.losses.items():
        command.stderr.write(f"{what}: {n:,}")


def list_problems(command: BaseCommand, outcome: ImportOutcome) -> None:
    """Print the problems of the bad rows to standard error."""
    for problem in outcome.problems[:MAX_LISTED]:
        command.stderr.write(str(problem))
    if outcome.n_problems > MAX_LISTED:
        more = outcome.n_problems - MAX_LISTED
        command.stderr.write(f"... and {more:,} more problems")

"""Import a dataset, with votes and scores made elsewhere."""

from argparse import RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evaluation.exchange.import_plan import plan_import
from evaluation.exchange.interchange import BadRows, Outcome, import_dataset
from generation.importers import ENCODINGS, READERS, UTF_8, mapping_in, open_material
from generation.importers.errors import DatasetError
from generation.progress import progress_bar

MAX_LISTED = 20  # problems printed; the first tell most
EXAMPLE = """example:
  manage.py import_dataset ratings/ --name pilot --dry-run
  manage.py import_dataset ratings.zip --name pilot --skip-bad
  manage.py import_dataset answers.xlsx --mapping answers.toml --name pilot
"""


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        parser.add_argument("path", type=Path, help="a folder, a zip or one file, .gz or not")
        parser.add_argument("--format", choices=READERS, help="recognised by content when left out")
        parser.add_argument(
            "--encoding", choices=ENCODINGS, default=UTF_8, help="of its text (default: utf-8)"
        )
        parser.add_argument(
            "--mapping", type=Path, help="of a table: a TOML file that says what its columns are"
        )
        parser.add_argument("--name", help="of the dataset to make or add to (default: the file's)")
        parser.add_argument("--study", help="of the study for its votes (default: the dataset's)")
        parser.add_argument(
            "--dry-run", action="store_true", help="check everything, store nothing"
        )
        parser.add_argument("--skip-bad", action="store_true", help="store the good rows")

    def handle(self, *, path: Path, **options: Any) -> None:
        name = options["name"] or path.resolve().name.split(".")[0]
        try:
            mapping = mapping_in(options["mapping"]) if options["mapping"] else None
            with (
                open_material(
                    path, options["format"], encoding=options["encoding"], mapping=mapping
                ) as material,
                progress_bar(f"Importing {path.name}", self.stderr) as on_progress,
            ):
                outcome = import_dataset(
                    material,
                    plan_import(material, name, options["study"], on_progress),
                    dry_run=options["dry_run"],
                    skip_bad=options["skip_bad"],
                    on_progress=on_progress,
                )
        except BadRows as error:
            self._list_problems(error.outcome)
            raise CommandError("Nothing was imported. --skip-bad imports the good rows.") from error
        except DatasetError as error:
            raise CommandError(f"{error}\nNothing was imported.") from error
        self._list_problems(outcome)
        for kind, count in outcome.counts.items():
            parts = ", ".join(f"{n:,} {what}" for what, n in count.items() if n or what == "new")
            self.stdout.write(f"{kind}: {parts}")
        for what, n in outcome.notes.items():
            self.stdout.write(f"{what}: {n:,}")
        for what, n in outcome.left_out.items():
            self.stdout.write(f"left out: {n:,} {what}")
        if outcome.ignored:
            self.stdout.write(f"not read: {', '.join(outcome.ignored)}")
        if outcome.scheme_origin:
            self.stdout.write(f"scheme: {outcome.scheme_origin}")
            for question, expected in outcome.answers.items():
                self.stdout.write(f"  {question}: {expected}")
        if options["dry_run"]:
            self.stdout.write("Dry run: nothing was imported.")
        elif outcome.dataset:
            study = f", study {outcome.study.name!r}" if outcome.study else ""
            self.stdout.write(self.style.SUCCESS(f"Imported into {name!r}{study}."))

    def _list_problems(self, outcome: Outcome) -> None:
        """Say what is wrong with the bad rows, on standard error."""
        for problem in outcome.problems[:MAX_LISTED]:
            self.stderr.write(str(problem))
        if outcome.n_problems > MAX_LISTED:
            more = outcome.n_problems - MAX_LISTED
            self.stderr.write(f"... and {more:,} more problems")

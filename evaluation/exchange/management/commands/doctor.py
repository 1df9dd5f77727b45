"""Check a file before you import it: what it is, what its columns are, what it can be used for.

Nothing is stored. The exit status is 0 if the file can be imported, and 1 if not.
"""

import resource
import time
from argparse import RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evaluation.exchange.import_plan import plan_import
from evaluation.exchange.interchange import ImportOutcome, import_dataset
from evaluation.exchange.management.commands.import_dataset import (
    add_file_arguments,
    opened,
    say_what_was_found,
)
from generation.importers import UnmappedError
from generation.importers.errors import DatasetError
from generation.importers.mapped.proposal import Look
from generation.importers.mapped.roles import ROLES
from generation.progress import progress_bar

STORING = 3  # storing takes about this many times as long as a check
EXAMPLE = """example:
  manage.py doctor answers.xlsx
  manage.py doctor answers.csv --mapping answers.toml
"""


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        add_file_arguments(parser)

    def handle(self, *, path: Path, **options: Any) -> None:
        began = time.monotonic()
        try:
            with (
                opened(path, options) as material,
                progress_bar(f"Reading {path.name}", self.stderr) as on_progress,
            ):
                self.stdout.write(f"{path.name} is read as {material.format}.")
                if material.look:
                    self._say_columns(material.look)
                plan = plan_import(material, path.resolve().name.split(".")[0][:100])
                outcome = import_dataset(material, plan, dry_run=True, on_progress=on_progress)
        except UnmappedError as error:
            self._say_columns(error.look)
            raise CommandError(
                f"Attest does not know {error.look.asks}. Write that in a mapping file, and give "
                "the file with --mapping. Or upload the table on the site, and choose there."
            ) from error
        except DatasetError as error:
            raise CommandError(str(error)) from error
        say_what_was_found(self, outcome)
        self._say_uses(outcome)
        seconds = time.monotonic() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        self.stdout.write(
            f"The check took {seconds:.1f} s and {peak:,} MB of memory. Storing takes about "
            f"{STORING} times as long."
        )
        if outcome.n_problems:
            many = "s" if outcome.n_problems > 1 else ""
            raise CommandError(
                f"Found {outcome.n_problems:,} problem{many}. Fix the file, or import only the "
                "good rows with --skip-bad."
            )
        if outcome.losses:
            raise CommandError(
                "Something would be lost. Say what the columns are with --mapping, or import it "
                "with --accept."
            )
        self.stdout.write(self.style.SUCCESS("It can be imported."))

    def _say_columns(self, look: Look) -> None:
        self.stdout.write(f"{look.kind[:1].upper()}{look.kind[1:]}. Its columns:")
        for column in look.columns:
            role = ROLES[column.role].title if column.role else "stays in meta"
            self.stdout.write(f"  {column.name}: {role} ({'; '.join(column.samples) or '—'})")
        for lack in look.mapping.what_is_missing if look.mapping.is_complete else ():
            self.stdout.write(lack)

    def _say_uses(self, outcome: ImportOutcome) -> None:
        for title, lacks in outcome.uses:
            self.stdout.write(f"{title}: {f'needs {lacks}' if lacks else 'yes'}")

"""Make reports again from an export, in a scratch database, and say whether they are equal.

A manifest names a report, its choices and its data: give it with the export of its study or
dataset. The bundle of a study holds both, so it is enough alone. If something differs, the command
says what: the rows and columns of each report, and the votes and other data. Other versions of the
code and of packages are only noted.
"""

import os
from argparse import RawDescriptionHelpFormatter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evaluation.exchange.export_content import LIMITS, ExportContent
from evaluation.exchange.manifest_check import CannotReproduce, Manifest, check_manifest
from evaluation.exchange.reproduction import DATABASE_VARIABLE, reproduce
from generation.importers.archives import looks_like_zip
from generation.importers.errors import DatasetError
from generation.importers.sources import Source

MOST_LISTED = 20  # differences of one report that are printed
EXAMPLE = f"""example:
  manage.py reproduce pilot-raters.manifest.json pilot.zip
  manage.py reproduce pilot-bundle.zip

The database is a temporary SQLite file. With {DATABASE_VARIABLE} in the environment
it is a new database on the PostgreSQL server of this URL, which names any database there. It is
deleted afterwards.
"""


class Command(BaseCommand):
    help = __doc__
    requires_system_checks = []  # they load every page of the site

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        parser.add_argument("manifest", type=Path, help="A manifest, or the bundle of a study.")
        parser.add_argument(
            "export",
            type=Path,
            nargs="?",
            help="The folder or zip that `manage.py export` wrote. Default: the one in the bundle.",
        )

    def handle(self, *, manifest: Path, export: Path | None, **options: Any) -> None:
        database = os.environ.get(DATABASE_VARIABLE, "")
        try:
            with _opened(manifest, export) as (read, content, original):
                found = reproduce(read, content, original, database)
        except (CannotReproduce, DatasetError, OSError) as error:
            raise CommandError(str(error)) from error
        for note in found.notes:
            self.stdout.write(f"Note: {note}")
        for difference in found.data:
            self.stdout.write(f"Data: {difference}")
        for report, differences in found.reports.items():
            self._say(report, differences)
        subject, n = read["subject"], len(found.reports)
        name = f"{n} report{'s' * (n != 1)} on the {subject['kind']} {subject['name']!r}"
        if not found.is_equal:
            raise CommandError(f"Not equal: {name}.")
        self.stdout.write(self.style.SUCCESS(f"Equal: {name}, to the last digit."))

    def _say(self, report: str, differences: list[str]) -> None:
        if not differences:
            self.stdout.write(f"{report}: equal")
        for difference in differences[:MOST_LISTED]:
            self.stdout.write(f"{report}: {difference}")
        if (more := len(differences) - MOST_LISTED) > 0:
            self.stdout.write(f"{report}: {more:,} more differences")


@contextmanager
def _opened(
    manifest: Path, export: Path | None
) -> Iterator[tuple[Manifest, ExportContent, ExportContent | None]]:
    """Yield the manifest, the export, and the other export that a bundle with the manifest has.

    Raises:
        CannotReproduce: the manifest cannot be used, or there is no export.
        DatasetError: a file cannot be read.
    """
    with ExitStack() as stack:
        bundle = None
        if manifest.is_file() and looks_like_zip(manifest):
            bundle = stack.enter_context(closing(ExportContent(manifest)))
        read = check_manifest(bundle.manifest if bundle else _alone(manifest), str(manifest))
        if export:
            yield read, stack.enter_context(closing(ExportContent(export))), bundle
        elif bundle:
            yield read, bundle, None
        else:
            raise CannotReproduce(
                f"{manifest} is a manifest alone. Give the export of its data as well."
            )


def _alone(path: Path) -> Any:
    """Return the JSON value of a manifest that is a file of its own."""
    with closing(Source(path, LIMITS)) as source:
        if path.is_dir():
            raise DatasetError(str(path), "a folder", "a manifest, or the bundle of a study")
        [name] = source.sizes
        return source.whole_json(name)

"""Make reports again from an export, in a scratch database, and say whether they are equal.

A manifest names a report, its choices and its data: give it with the export of its study or
dataset. The bundle of a study holds both, so it is enough alone. If something differs, the command
says what: the rows and columns of each report, and the votes and other data. Other versions of the
code and of packages are only noted.
"""

import json
import zipfile
from argparse import RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evaluation.exchange.export_content import ExportContent
from evaluation.exchange.reproduction import CannotReproduce, check_manifest, reproduce

MOST_LISTED = 20  # differences of one report that are printed
EXAMPLE = """example:
  manage.py reproduce pilot-raters.manifest.json pilot.zip
  manage.py reproduce pilot-bundle.zip
  manage.py reproduce pilot-bundle.zip --database postgres://postgres@127.0.0.1:5432/postgres
"""


class Command(BaseCommand):
    help = __doc__

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
        parser.add_argument(
            "--database",
            default="",
            metavar="URL",
            help="Use a new PostgreSQL database on the server of this URL, which names any "
            "database there. It is deleted afterwards. Default: a temporary SQLite file.",
        )

    def handle(self, *, manifest: Path, export: Path | None, database: str, **options: Any) -> None:
        try:
            bundle = ExportContent(manifest) if zipfile.is_zipfile(manifest) else None
            read = bundle.manifest() if bundle and bundle.is_bundle else _read(manifest)
            content = ExportContent(export) if export else bundle
            if content is None:
                raise CannotReproduce(
                    f"{manifest} is a manifest alone. Give the export of its data as well."
                )
            original = bundle if export else None
            found = reproduce(check_manifest(read, str(manifest)), content, original, database)
        except (CannotReproduce, OSError, ValueError) as error:
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


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise CannotReproduce(f"{path}: found no JSON; expected a manifest") from error

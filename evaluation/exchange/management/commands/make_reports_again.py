"""Make the reports of a manifest from an export, in an empty database. `reproduce` starts this."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evaluation.exchange.manifest_check import CannotReproduce
from evaluation.exchange.reproduction import make_again


class Command(BaseCommand):
    help = __doc__
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("manifest", type=Path, help="The manifest.")
        parser.add_argument("export", type=Path, help="The folder or zip of the export.")
        parser.add_argument("out", type=Path, help="The file for what was made, as JSON.")

    def handle(self, *, manifest: Path, export: Path, out: Path, **options: Any) -> None:
        try:
            made = make_again(json.loads(manifest.read_text("utf-8")), export)
        except CannotReproduce as error:
            raise CommandError(str(error)) from error
        out.write_text(json.dumps(made), encoding="utf-8")

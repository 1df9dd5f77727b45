"""Print a report: figures with intervals, what was left out, and the signature."""

from argparse import RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.models import Study
from evaluation.report_formats import FORMATS, write_report
from evaluation.reports import Choices, raters_report

EXAMPLE = """example:
  manage.py report raters --study pilot
  manage.py report raters --study pilot --by-setup --format json > pilot.json
"""


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        parser.add_argument("report", choices=["raters"])
        parser.add_argument("--study", required=True, help="the study's name")
        parser.add_argument("--format", choices=["table", *FORMATS], default="table")
        parser.add_argument("--by-setup", action="store_true", help="a row for each setup")
        parser.add_argument(
            "--with-implied", action="store_true", help="agreement over implied answers too"
        )
        parser.add_argument("--with-excluded", action="store_true", help="count excluded raters")

    def handle(self, *, study: str, format: str, **options: Any) -> None:
        found = Study.objects.filter(name=study).first()
        if not found:
            names = ", ".join(Study.objects.values_list("name", flat=True)[:10]) or "none yet"
            raise CommandError(f"No study {study!r}; there are: {names}")
        choices = Choices(**{name: options[name] for name in Choices._fields})
        self.stdout.write(write_report(raters_report(found, choices), format), ending="")

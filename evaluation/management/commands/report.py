"""Print a report: figures with intervals, what was left out, and the signature."""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evaluation.management.report_arguments import add_reports, chosen_report
from evaluation.reports.formats import FORMATS, MANIFEST, write_report
from evaluation.reports.manifest import Made, as_text, manifest_of
from evaluation.reports.registry import CannotReport, all_reports
from generation.choices.declaration import ChoiceError

EXAMPLE = """example:
  manage.py report raters --study pilot
  manage.py report raters --study pilot --by-setup --format json > pilot.json
  manage.py report agreement --study pilot --truth merged --format latex > agreement.tex
  manage.py report tradeoff --dataset qrecc --attribution auto_ais --sensibleness sensible
  manage.py report raters --study pilot --format manifest > pilot-raters.manifest.json
  manage.py report citations --help
"""


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        add_reports(parser, all_reports().values(), _add_more)

    def handle(self, *, report: str, format: str, **options: Any) -> None:
        try:
            kind, subject, choices = chosen_report(report, options, self.stderr)
            made = kind.make(subject, choices)
            if format == MANIFEST:
                text = as_text(manifest_of(subject, [Made(kind, choices, made)]))
            else:
                text = write_report(made, format)
        except (ChoiceError, CannotReport) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(text, ending="")


def _add_more(parser: ArgumentParser, of: str) -> None:
    parser.add_argument(f"--{of}", required=True, metavar="NAME", help="name or slug")
    parser.add_argument("--format", choices=["table", *FORMATS, MANIFEST], default="table")

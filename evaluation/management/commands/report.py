"""Print a report: figures with intervals, what was left out, and the signature."""

from argparse import RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.models import Study
from evaluation.reports.formats import FORMATS, MANIFEST, write_report
from evaluation.reports.manifest import Made, as_text, manifest_of
from evaluation.reports.registry import CannotReport, ReportKind, all_reports
from generation.choices.arguments import add_arguments, given_from
from generation.choices.declaration import ChoiceError
from generation.management.named import named

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
        each = parser.add_subparsers(dest="report", metavar="REPORT", required=True)
        for kind in all_reports().values():
            aliases = [kind.former_key] if kind.former_key else []
            of_report = each.add_parser(
                kind.key, aliases=aliases, help=kind.lede, description=kind.lede
            )
            of = _about(kind)
            of_report.add_argument(f"--{of}", required=True, metavar="NAME", help="name or slug")
            of_report.add_argument(
                "--format", choices=["table", *FORMATS, MANIFEST], default="table"
            )
            add_arguments(of_report, kind.choices)

    def handle(self, *, report: str, format: str, **options: Any) -> None:
        [kind] = [each for each in all_reports().values() if report in each.keys]
        if report == kind.former_key:
            self.stderr.write(f"The report {report} is called {kind.key} now.")
        subject = named(kind.about.objects.all(), options[_about(kind)])
        try:
            choices = kind.chosen(subject, given_from(kind.choices, options))
            if kind.prepare:
                kind.prepare(subject, choices)
            made = kind.make(subject, choices)
        except (ChoiceError, CannotReport) as error:
            raise CommandError(str(error)) from error
        if format == MANIFEST:
            text = as_text(manifest_of(subject, [Made(kind, choices, made)]))
        else:
            text = write_report(made, format)
        self.stdout.write(text, ending="")


def _about(kind: ReportKind[Any, Any]) -> str:
    return "study" if kind.about is Study else "dataset"

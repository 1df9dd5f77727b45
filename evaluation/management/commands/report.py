"""Print a report: figures with intervals, what was left out, and the signature."""

from argparse import RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import QuerySet

from annotation.models import Arm, Study
from evaluation.reports.base import Choices
from evaluation.reports.formats import FORMATS, write_report
from evaluation.reports.study import REPORTS

EXAMPLE = """example:
  manage.py report raters --study pilot
  manage.py report raters --study pilot --by-setup --format json > pilot.json
  manage.py report agreement --study pilot --truth merged --format latex > agreement.tex
"""


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        parser.add_argument("report", choices=REPORTS)
        parser.add_argument("--study", required=True, help="the study's name")
        parser.add_argument("--format", choices=["table", *FORMATS], default="table")
        parser.add_argument("--setup", default="", help="the only setup that counts, by name")
        parser.add_argument(
            "--truth",
            choices=Arm.Kind.values,
            help="agreement: the arm whose majorities are the human labels (default: the first)",
        )
        parser.add_argument("--by-setup", action="store_true", help="raters: a row for each setup")
        parser.add_argument(
            "--with-implied", action="store_true", help="agreement over implied answers too"
        )
        parser.add_argument("--with-excluded", action="store_true", help="count excluded raters")

    def handle(self, *, study: str, report: str, format: str, **options: Any) -> None:
        found = Study.objects.filter(name=study).first()
        if not found:
            raise CommandError(f"No study {study!r}; there are: {_some(Study.objects.all())}")
        if options["setup"] and not found.setups.filter(name=options["setup"]).exists():
            there = _some(found.setups.all())
            raise CommandError(f"No setup {options['setup']!r} in {study!r}; there are: {there}")
        arms = [arm.kind for arm in found.arms.all()]
        options["truth"] = options["truth"] or next(iter(arms), Arm.Kind.SEPARATE)
        if arms and options["truth"] not in arms:
            raise CommandError(
                f"No {options['truth']} arm in {study!r}; there is: {', '.join(arms)}"
            )
        choices = Choices(**{name: options[name] for name in Choices._fields})
        self.stdout.write(write_report(REPORTS[report](found, choices), format), ending="")


def _some(rows: QuerySet[Any]) -> str:
    """Return the first names, for a message."""
    return ", ".join(rows.values_list("name", flat=True)[:10]) or "none yet"

"""Write the figure of a report to a file: SVG, PDF or PNG, by the end of the file's name.

Figures 1 to 7 of the trade-off paper are those of the report tradeoff, by their number. Figures 4
and 5 of KaLMA are those of the reports removal and accuracy.
"""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evaluation.management.report_arguments import add_reports, chosen_report
from evaluation.reports.figures.builders import CONTENT_TYPES
from evaluation.reports.figures.pictures import picture
from evaluation.reports.registry import CannotReport, all_reports
from generation.choices.declaration import ChoiceError

EXAMPLE = """examples:
  manage.py figure tradeoff qrecc figure-1.svg --figure 1
  manage.py figure tradeoff qrecc figure-5.pdf --figure 5 --k 3 --attribution auto_ais
  manage.py figure removal biokalma figure-4.png
  manage.py figure accuracy biokalma figure-5.pdf
"""
NOTHING_WRITTEN = "Nothing was written."


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        add_reports(parser, (kind for kind in all_reports().values() if kind.has_figure), _add_more)

    def handle(self, *, report: str, file: Path, **options: Any) -> None:
        format_key = file.suffix.removeprefix(".").lower()
        if format_key not in CONTENT_TYPES:
            endings = ", ".join(f".{key}" for key in CONTENT_TYPES)
            raise CommandError(
                f"{file}: found the ending {file.suffix!r}; expected one of {endings}.\n"
                f"{NOTHING_WRITTEN}"
            )
        try:
            content = picture(*chosen_report(report, options, self.stderr), format_key)
            file.write_bytes(content)
        except (ChoiceError, CannotReport) as error:
            raise CommandError(f"{error}\n{NOTHING_WRITTEN}") from error
        except OSError as error:
            raise CommandError(f"{file}: {error.strerror}. {NOTHING_WRITTEN}") from error
        self.stdout.write(f"{file} is written.")


def _add_more(parser: ArgumentParser, of: str) -> None:
    parser.add_argument(of, metavar=of.upper(), help=f"Name or slug of the {of}.")
    parser.add_argument("file", type=Path, metavar="FILE", help="SVG, PDF or PNG file to write.")

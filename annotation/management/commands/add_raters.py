"""Let more people rate in a study, as its page does.

Those who are in it already stay as they are.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.management.raters import raters_called
from annotation.models import Study
from annotation.services.studies import StudyError, add_raters
from generation.management.named import named


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="Name or slug of the study.")
        parser.add_argument(
            "raters", nargs="+", help="Codes or user names of raters, or 'all' for all raters."
        )

    def handle(self, *, study: str, raters: list[str], **options: Any) -> None:
        found = named(Study.objects.filter(is_imported=False), study)
        try:
            n_new = add_raters(found, raters_called(raters), None)
        except StudyError as error:
            raise CommandError(f"{error}\nNo rater was added.") from error
        self.stdout.write(f"{n_new} rater{'s are' if n_new != 1 else ' is'} added to {found.name}.")

"""Draw the dialogs of a planned study: uniformly, or by the scores of a metric run."""

from argparse import RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.models import Study
from annotation.services.studies import StudyError
from evaluation.runs.item_scores import runs_with_scores
from evaluation.runs.names import run_key
from evaluation.studies.services.dialog_draws import draw_dialogs
from generation.choices.declaration import ChoiceError, check_known
from generation.management.named import named

EXAMPLE = """examples:
  manage.py draw_dialogs "Pilot, sample" --draw active --metric auto_ais-1f0c93ab
  manage.py draw_dialogs "Pilot, sample" --draw uniform
"""


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        parser.add_argument("study", help="Name or slug of a planned study that has a sample.")
        parser.add_argument("--draw", required=True, choices=Study.Draw.values)
        parser.add_argument("--metric", default="", help="A metric run, such as auto_ais-1f0c93ab.")

    def handle(self, *, study: str, draw: str, metric: str, **options: Any) -> None:
        found = named(Study.objects.select_related("dataset"), study)
        runs = {run_key(run): run for run in runs_with_scores(found)}
        is_by_scores = draw != Study.Draw.UNIFORM
        try:
            if is_by_scores:
                check_known("metric", metric, runs)
            done = draw_dialogs(found, draw, runs[metric] if is_by_scores else None, None)
        except (ChoiceError, StudyError) as error:
            raise CommandError(f"{error}\nNothing was drawn.") from error
        without = f" {done.n_without_score:,} have no score." if done.n_without_score else ""
        self.stdout.write(
            self.style.SUCCESS(f"Drew {done.n_drawn:,} of {done.n_dialogs:,} dialogs.{without}")
        )

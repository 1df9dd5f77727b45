"""Make a dataset with made-up minimum knowledge sets, to try experiments where none is published.

manage.py make_up_minimum biokalma
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from generation.management.grid_commands import dataset_named
from generation.models import KGQuestion
from generation.services.made_up_minimum import (
    USUAL_SEED,
    USUAL_TRIPLES,
    MadeUpError,
    make_up_minimum,
)


class Command(BaseCommand):
    help = "Make a dataset of a graph's questions whose minimum sets are drawn at random."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dataset", help="name or slug of a dataset; it is not changed")
        parser.add_argument(
            "--name", default="", help="name of the new dataset; it must contain “made-up”"
        )
        parser.add_argument("--triples", type=int, default=USUAL_TRIPLES, help="of a question")
        parser.add_argument("--seed", type=int, default=USUAL_SEED)

    def handle(self, *args: Any, **options: Any) -> None:
        source = dataset_named(options["dataset"])
        try:
            made = make_up_minimum(source, options["name"], options["triples"], options["seed"])
        except MadeUpError as error:
            raise CommandError(f"{error}\nNothing was made.") from error
        asked = KGQuestion.objects.filter(example__dataset=made).count()
        there = KGQuestion.objects.of_benchmark().filter(example__dataset=source).count()
        self.stdout.write(
            f"{made}: {asked:,} questions, each with a minimum set that is made up; "
            f"{there - asked:,} of {source} without a sub-graph to draw from are left out."
        )

"""Make a dataset with made-up minimum knowledge sets, to try experiments where none is published.

manage.py make_up_minimum biokalma
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from generation.management.named import named
from generation.models import Dataset, KGQuestion
from generation.services.made_up_minimum import (
    USUAL_SEED,
    USUAL_TRIPLES,
    MadeUpError,
    make_up_minimum,
)


class Command(BaseCommand):
    help = (
        "Copy a dataset of questions about a graph, and draw each minimum knowledge set at random. "
        "Use it to try experiments when the dataset has no published minimum sets."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dataset", help="Name or slug of the dataset. It is not changed.")
        parser.add_argument(
            "--name", default="", help="Name of the new dataset. It must contain “made-up”."
        )
        parser.add_argument(
            "--triples",
            type=int,
            default=USUAL_TRIPLES,
            help=f"How many triples each minimum set has, at most. Default: {USUAL_TRIPLES}.",
        )
        parser.add_argument(
            "--seed", type=int, default=USUAL_SEED, help=f"Seed of the draw. Default: {USUAL_SEED}."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        source = named(Dataset.objects.all(), options["dataset"])
        try:
            made = make_up_minimum(source, options["name"], options["triples"], options["seed"])
        except MadeUpError as error:
            raise CommandError(f"{error}\nNothing was made.") from error
        asked = KGQuestion.objects.filter(example__dataset=made).count()
        there = KGQuestion.objects.of_benchmark().filter(example__dataset=source).count()
        self.stdout.write(
            f"{made} has {asked:,} questions, each with a made-up minimum set. "
            f"{there - asked:,} questions of {source} are left out: they have no sub-graph to draw "
            "from."
        )

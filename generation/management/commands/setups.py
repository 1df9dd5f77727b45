"""List the setups of a dataset, one a line, as you type them in a shell."""

import shlex
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from generation.management.named import named
from generation.models import Dataset


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dataset", help="Name or slug of the dataset.")

    def handle(self, *, dataset: str, **options: Any) -> None:
        setups = named(Dataset.objects.all(), dataset).setups.of_benchmark().order_by("name")
        for name in setups.values_list("name", flat=True):
            self.stdout.write(shlex.quote(name))

"""Remove a model from the list. Its files stay. A model that runs or grids have used is kept."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evaluation.runs.services.checkpoints import CheckpointError, delete_checkpoint
from generation.management.named import named_model


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="Name of a listed model.")

    def handle(self, *, name: str, **options: Any) -> None:
        model = named_model(name)
        try:
            delete_checkpoint(model, None)
        except CheckpointError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{model} is no longer offered.")

"""Open a listed model as a worker does, and say what was found.

A model that runs on this machine is loaded and tested, and a name on the hub is downloaded first. A
server is asked for one short reply. The size of the model, if it was not known, and the commit of a
name on the hub are kept from then on.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evaluation.runs.services.model_trial import try_model
from generation.management.named import named_model
from generation.model_specs import BackendError


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="Name of a listed model.")

    def handle(self, *, name: str, **options: Any) -> None:
        model = named_model(name)
        try:
            self.stdout.write(f"{model} can be used: {try_model(model)}.")
        except BackendError as error:
            raise CommandError(f"{model} cannot be used. {error}.") from error

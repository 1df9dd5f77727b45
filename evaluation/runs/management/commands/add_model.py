"""List a model, so that runs and grids can use it: a folder, a name on the hub, or a server.

The command makes the same checks as the page Models. The model is only listed. check_model opens
it.
"""

from argparse import RawDescriptionHelpFormatter
from typing import Any

from django import forms
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.html import strip_tags

from evaluation.runs.forms.checkpoints import CheckpointForm
from evaluation.runs.services.checkpoints import CheckpointError, add_checkpoint

EXAMPLE = """examples:
  manage.py add_model nli /srv/models/nli-deberta
  manage.py add_model small /srv/models/SmolLM2-135M-Instruct --backend language-model
  manage.py add_model qwen Qwen/Qwen2.5-7B-Instruct --backend language-model
  manage.py add_model gpt https://api.openai.com/v1 --backend openai --served-name gpt-4o-mini \\
      --key-variable OPENAI_API_KEY --input-price 0.15 --output-price 0.6
"""
POSITIONAL = ("name", "location")


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        for name, field in CheckpointForm().fields.items():
            help = strip_tags(f"{field.help_text or field.label}").replace("%", "%%")
            if name in POSITIONAL:
                parser.add_argument(name, help=help)
            elif isinstance(field, forms.BooleanField):
                parser.add_argument(_flag(name), action="store_true", help=help)
            elif name == "backend":
                keys = [kind.key for kind in CheckpointForm().kinds()]
                help = f"Kind of the model. Default: {field.initial}."
                parser.add_argument(_flag(name), choices=keys, default=field.initial, help=help)
            else:
                parser.add_argument(_flag(name), metavar="VALUE", help=help)

    def handle(self, **options: Any) -> None:
        form = CheckpointForm({name: options[name] for name in CheckpointForm().fields})
        if not form.is_valid():
            raise _refused(
                [f"{_called(name)}{error}" for name, told in form.errors.items() for error in told]
            )
        try:
            added = add_checkpoint(**form.cleaned_data, actor=None)
        except CheckpointError as error:
            raise _refused([f"{_called(error.field)}{error}"]) from error
        self.stdout.write(f"Runs and grids can use {added.name} now.")


def _refused(errors: list[str]) -> CommandError:
    return CommandError("\n".join([*errors, "No model was listed."]))


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _called(name: str | None) -> str:
    """Return the beginning of an error about a field of the form."""
    if not name:
        return ""
    return f"{name.upper() if name in POSITIONAL else _flag(name)}: "

"""List the models that runs and grids can use, with their kinds, sizes and places."""

import os
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand

from evaluation.backends.registry import BACKENDS
from generation.backends.registry import LANGUAGE_MODELS
from generation.model_sizes import size_text
from generation.models import Checkpoint


class Command(BaseCommand):
    help = __doc__

    def handle(self, **options: Any) -> None:
        for kinds in (LANGUAGE_MODELS, BACKENDS):
            for key, kind in kinds.items():
                if not kind.needs_model:
                    self.stdout.write(f"{key}: {kind.title}. It is always there.")
        for model in Checkpoint.objects.order_by("name"):
            self.stdout.write(f"{model.name}: {', '.join(_said_of(model))}.")


def _said_of(model: Checkpoint) -> Iterator[str]:
    yield BACKENDS[model.backend].title
    if model.is_chat is not None:
        yield "takes messages" if model.is_chat else "continues texts"
    yield f"{size_text(model.n_parameters)} parameters" if model.n_parameters else "size not known"
    yield model.location
    if model.revision:
        yield f"revision {model.revision}"
    if model.served_name:
        yield f"served as {model.served_name}"
    if model.key_variable:
        is_set = bool(os.environ.get(model.key_variable))
        yield f"key in {model.key_variable}, which is {'set' if is_set else 'not set'}"

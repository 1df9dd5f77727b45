"""The models that a form offers for grids."""

from typing import NamedTuple

from generation.backends.registry import LANGUAGE_MODELS
from generation.models import Checkpoint

PRICES = ("input", "output")


class OfferedModel(NamedTuple):
    """A model that a grid may ask: a listed one, or one that is always there."""

    name: str
    title: str  # the title of its kind
    precisions: tuple[str, ...]
    key: int  # used in names of fields; 0: always there, and free

    @property
    def price_fields(self) -> tuple[str, ...]:
        return tuple(f"{price}_{self.key}" for price in PRICES) if self.key else ()


def offered_models() -> list[OfferedModel]:
    """Return the models that a grid may ask: those always there, then the listed ones by name."""
    always = [
        OfferedModel(key, kind.title, kind.precisions, 0)
        for key, kind in LANGUAGE_MODELS.items()
        if not kind.needs_model
    ]
    listed = Checkpoint.objects.filter(backend__in=LANGUAGE_MODELS).order_by("name")
    return always + [
        OfferedModel(
            checkpoint.name,
            LANGUAGE_MODELS[checkpoint.backend].title,
            LANGUAGE_MODELS[checkpoint.backend].precisions,
            checkpoint.pk,
        )
        for checkpoint in listed
    ]

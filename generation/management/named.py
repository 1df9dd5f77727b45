"""The dataset, study or listed model that an argument of a command names."""

from typing import TypeVar

from django.core.management.base import CommandError
from django.db.models import Model, QuerySet

from generation.models import Checkpoint

M = TypeVar("M", bound=Model)
MOST_NAMES = 10  # names that an error lists


def find_named(rows: QuerySet[M], name: str) -> M | None:
    """Return the row with this name, or else the one with this slug, or None."""
    return rows.filter(name=name).first() or rows.filter(slug=name).first()


def named(rows: QuerySet[M], name: str, of: str = "") -> M:
    """Return the row with this name, or else the one with this slug.

    Args:
        rows: the datasets or the studies that may be named.
        name: the argument.
        of: what all rows belong to, such as ' of pilot', for the error.

    Raises:
        CommandError: there is none. The message says which names there are.
    """
    found = find_named(rows, name)
    if found is None:
        what = rows.model._meta.verbose_name
        names = ", ".join(rows.order_by("pk").values_list("name", flat=True)[:MOST_NAMES])
        there = f"There are: {names}." if names else "There are none yet."
        raise CommandError(f"There is no {what} {name!r}{of}. {there}")
    return found


def named_model(name: str) -> Checkpoint:
    """Return the listed model with this name.

    Raises:
        CommandError: there is none. The message says which models are listed.
    """
    found = Checkpoint.objects.filter(name=name).first()
    if found is None:
        names = ", ".join(Checkpoint.objects.values_list("name", flat=True)[:MOST_NAMES])
        raise CommandError(f"No model {name!r} is listed. Listed are: {names or 'none yet'}.")
    return found

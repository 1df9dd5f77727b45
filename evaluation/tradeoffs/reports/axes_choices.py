"""What every report on a trade-off lets its reader choose: the two axes."""

from collections.abc import Mapping
from typing import Annotated, NamedTuple

from django.urls import reverse

from accounts.http import query_string
from evaluation.tradeoffs.axes import Axes, axes_of, find, named_axes
from evaluation.tradeoffs.material import TradeoffMaterial
from evaluation.tradeoffs.material_cache import cached_material
from generation.choices.declaration import Choice, ChoiceError
from generation.models import Dataset

ByScore = Annotated[bool, Choice("Mean score", help="Mean scores instead of shares labelled yes.")]


class AxesChoices(NamedTuple):
    """What says whether a response is attributable, or sensible."""

    attribution: Annotated[
        str,
        Choice(
            "Attribution",
            help="An axis as the page's address has it, or a metric or a question that only one "
            "run or arm has; empty: as on the page.",
        ),
    ] = ""
    sensibleness: Annotated[str, Choice("Sensibleness", help="The same for sensibleness.")] = ""


class JudgeChoices(NamedTuple):
    """What judges beside the axes that choose."""

    judge: Annotated[str, Choice("Judged by attribution", help="An axis; empty: what chooses.")] = (
        ""
    )
    judge_sensibleness: Annotated[
        str, Choice("Judged by sensibleness", help="The same for sensibleness.")
    ] = ""


def chosen_axes(dataset: Dataset, choices: AxesChoices) -> Axes:
    """Return the axes that are named, the usual ones where none are.

    Raises:
        ChoiceError: one is not there, or nothing is usual.
    """
    try:
        return named_axes(dataset, *choices)
    except LookupError as error:
        raise ChoiceError("axes", str(error)) from error


def judging_axes(dataset: Dataset, choosing: Axes, judges: JudgeChoices) -> Axes:
    """Return what judges: the axes that choose, but for those that are named.

    Raises:
        ChoiceError: one is not there.
    """
    axes = axes_of(dataset)
    fields = zip(Axes._fields, judges._asdict().items(), strict=True)
    named = {side: (field, key) for side, (field, key) in fields if key}
    found = {}
    for side, (field, key) in named.items():
        try:
            found[side] = find(axes, key)
        except LookupError as error:
            raise ChoiceError(field, str(error)) from error
    return choosing._replace(**found)


def responses_address(dataset: Dataset, setup: int, axes: Mapping[str, str]) -> str:
    """Return the address of the responses of a setup, with what both axes say of each.

    Args:
        axes: keys by name; an empty one is as usual.
    """
    said = {name: key for name, key in axes.items() if key}
    return reverse("tradeoffs:responses", args=[dataset.slug, setup]) + query_string(said)


def material_on(dataset: Dataset, choices: AxesChoices) -> TradeoffMaterial:
    """Return the material of the chosen axes, from the cache if nothing has changed since."""
    return cached_material(dataset, chosen_axes(dataset, choices))

"""The choice that every report on a trade-off gives its reader: the two axes."""

from collections.abc import Mapping
from typing import Annotated, NamedTuple

from django.urls import reverse

from accounts.http import query_string
from evaluation.tradeoffs.axes import Axes, axes_of, find, named_axes
from evaluation.tradeoffs.material import TradeoffMaterial
from evaluation.tradeoffs.material_cache import cached_material
from generation.choices.declaration import C, Choice, ChoiceError, made, values_of
from generation.models import Dataset

ByScore = Annotated[bool, Choice("Mean score", help="Mean scores instead of shares labelled yes.")]


class AxesChoices(NamedTuple):
    """The axes that say whether a response is attributable, or sensible."""

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
    """The axes that judge, where they are not the axes that choose."""

    judge: Annotated[
        str, Choice("Judged by attribution", help="An axis; empty: the axis that chooses.")
    ] = ""
    judge_sensibleness: Annotated[
        str, Choice("Judged by sensibleness", help="The same for sensibleness.")
    ] = ""


_OF_AXES = {*AxesChoices._fields, *JudgeChoices._fields}  # the choices that name an axis


def chosen_axes(dataset: Dataset, choices: AxesChoices) -> Axes:
    """Return the axes that are named, or the usual ones where none is named.

    Raises:
        ChoiceError: an axis does not exist, or there is no usual one.
    """
    try:
        return named_axes(dataset, *choices)
    except LookupError as error:
        raise ChoiceError("axes", str(error)) from error


def judging_axes(dataset: Dataset, choosing: Axes, judges: JudgeChoices) -> Axes:
    """Return the axes that judge: those that are named, and else those that choose.

    Raises:
        ChoiceError: an axis does not exist.
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


def portable_axes(dataset: Dataset, choices: C) -> C:
    """Return choices in which axes are named by what is said about them, not by ids of runs."""
    axes = axes_of(dataset)
    said = {
        name: find(axes, key).said
        for name, key in values_of(choices).items()
        if name in _OF_AXES and key
    }
    return made(type(choices), values_of(choices) | said)


def responses_address(dataset: Dataset, setup: int, axes: Mapping[str, str]) -> str:
    """Return the address of the responses of a setup, with what both axes say about each.

    Args:
        axes: keys of axes by name; an empty key stands for the usual axis.
    """
    said = {name: key for name, key in axes.items() if key}
    return reverse("tradeoffs:responses", args=[dataset.slug, setup]) + query_string(said)


def material_on(dataset: Dataset, choices: AxesChoices) -> TradeoffMaterial:
    """Return the material of the chosen axes, from the cache if nothing has changed since."""
    return cached_material(dataset, chosen_axes(dataset, choices))

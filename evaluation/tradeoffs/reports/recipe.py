"""The report on a recipe ([A] 7.7): the gain of each call, and a large model in comparison."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, NamedTuple

import numpy as np

from evaluation.measures.recipe import calls_made, chosen_by_calls, taken
from evaluation.measures.reranking import NOTHING, SENSIBLE_FIRST, Ints
from evaluation.measures.tradeoff import figures_of_setup, statistics_of
from evaluation.measures.tradeoff_effects import f1_difference, pair_statistics
from evaluation.reports.columns import UNKNOWN, Column, Estimate, Format
from evaluation.reports.estimates import Planned, with_estimates
from evaluation.reports.registry import CannotReport, ReportGroup, ReportKind
from evaluation.reports.report import LeftOut, Report, ReportRow, number
from evaluation.statistics.intervals import Floats, Statistic
from evaluation.tradeoffs.axes import Axes, axes_of
from evaluation.tradeoffs.dots import are_in_part
from evaluation.tradeoffs.material import NO_RESPONSE, TradeoffMaterial, material_of
from evaluation.tradeoffs.recipes import (
    Recipe,
    aggregates_of,
    examples_asked,
    large_golden,
    nearest,
    newest_aggregate,
    recipes_of,
)
from evaluation.tradeoffs.reports import methods
from evaluation.tradeoffs.reports.axes_choices import JudgeChoices, judging_axes, portable_axes
from evaluation.tradeoffs.selection_bias import NO_MARKS, Marks, marks_of, short_of
from generation.choices.declaration import Choice, check_known
from generation.models import Dataset, Setup

CALLS, SINGLE, AGGREGATE, LARGE = "calls", "single", "aggregate", "large"  # kinds of rows
NO_CHOICE, NOT_STORED = "examples_without_a_choice", "examples_not_in_the_aggregate"
CHANGED = "examples_chosen_otherwise_now"  # now chosen otherwise than in the stored aggregate


@dataclass(frozen=True, kw_only=True)
class RecipeRow(ReportRow):
    """The figures of the first calls of a recipe, or of something that they are compared with."""

    named_by = ("kind", "n_calls", "label", "model")

    kind: Annotated[str, Column("Kind")]
    n_calls: Annotated[int | None, Column("Calls", Format.COUNT)]
    calls_made: float | None  # calls really made per example, on average
    call: int | None = None  # number of a single call in the recipe, from 1
    label: Annotated[str, Column("Setup")]
    setup: str | None = None
    model: Annotated[str, Column("Model")]
    n_parameters: float | None = None
    temperature: float | None
    prompt: str | None = None
    n: Annotated[int, Column("n", Format.COUNT)]
    is_rated_in_part: bool  # raters, who make an axis, lack responses that take part
    n_beside_large: int | None
    f1: Annotated[Estimate, Column("F1", Format.PERCENT)]
    attribution: Annotated[Estimate, Column("Attribution", Format.PERCENT)]
    sensibleness: Annotated[Estimate, Column("Sensibleness", Format.PERCENT)]
    minus_large: Annotated[Estimate, Column("− largest model", Format.POINTS)] = UNKNOWN
    minus_first: Annotated[Estimate, Column("− first call", Format.POINTS)] = UNKNOWN
    chosen_by: str | None
    judged_by: str
    chosen_by_title: Annotated[str | None, Column("Chosen by")]
    judged_by_title: Annotated[str, Column("Judged by")]
    marks: Marks
    is_flattered: Annotated[bool, Column("Too optimistic")]


class _RecipeEntry(NamedTuple):
    """A row whose figures are not computed yet."""

    kind: str
    n_calls: int | None
    make: Callable[..., RecipeRow]
    statistics: Floats  # (n_examples, 3), see `evaluation.measures.tradeoff`


def recipe_report(recipe: Recipe, choosing: Axes, judging: Axes | None = None) -> Report[RecipeRow]:
    """Return Gives F1, attribution and sensibleness of a recipe by the number of its calls.

    The rows differ by `kind`: `calls` is the re-ranked first m calls in the order of the pool,
    `single` is each call alone, `aggregate` is what is stored, and `large` is the largest model
    with golden evidence. All rows are over the examples that the recipe asks about. `calls_made` is
    how many of `n_calls` have an answer for an example, on average: a part without a passage of its
    own is not asked. `minus_large` and `minus_first` are differences in F1 to the large model and
    to the first call alone, over the examples that both have.

    `is_rated_in_part` says that raters, who make an axis, have not answered all responses of a row,
    so that its figures are over a selection.

    Of several aggregates, the row is the one that is nearest to what the scores choose. If it has
    another response for an example, scores have changed since.

    Args:
        choosing: the axes that re-rank.
        judging: the axes that the figures are of; None: those that re-rank, which is too
            optimistic.
    """
    judging = judging or choosing
    large = large_golden(recipe.dataset, recipe.temperature)
    aggregates = aggregates_of(recipe, choosing)
    compared = [*recipe.setups, *(each.setup for each in aggregates), *([large] if large else [])]
    setups, examples = [setup.pk for setup in compared], examples_asked(recipe)
    chosen_by = material_of(recipe.dataset, choosing, setups, examples)
    judged = chosen_by
    if judging != choosing:
        judged = material_of(recipe.dataset, judging, setups, examples)

    places = [place for setup in recipe.setups if (place := _place(judged, setup)) is not None]
    is_made = judged.responses[places] != NO_RESPONSE
    is_asked = is_made.any(axis=0)
    entries: list[_RecipeEntry] = []
    left_out: LeftOut = {NO_CHOICE: 0, NOT_STORED: 0, CHANGED: 0, **judged.left_out}
    stored = None
    if places:
        chosen = chosen_by_calls(*chosen_by.scores[:, places])
        left_out[NO_CHOICE] = int((is_asked & (chosen[-1] == NOTHING)).sum())
        choice = _choice(judged, places, chosen[-1])
        if stored := nearest(aggregates, choice):
            left_out[CHANGED], left_out[NOT_STORED] = stored.differences(choice)
        made = calls_made(is_made[:, is_asked])
        entries += _by_calls(recipe, judged, places, chosen, made)
        alone = np.diff(made, prepend=0.0)
        for call, (place, mean) in enumerate(zip(places, alone, strict=True), start=1):
            entries.append(_of_setup(SINGLE, judged, place, call, mean))
        if stored:
            there = judged.place(stored.setup.name)
            entries.append(_of_setup(AGGREGATE, judged, there, made=made[-1]))
    if large and (place_of_large := _place(judged, large)) is not None:
        entries.append(_of_setup(LARGE, judged, place_of_large))
    entries = [_judged(_over(is_asked, entry), choosing, judging) for entry in entries]
    planned = list(_planned(entries, judged))
    signature = judged.signature(
        "recipe",
        f"{recipe.model} T {recipe.temperature:g}",
        f"K1 {recipe.k1}, K2 {recipe.k2}, {recipe.n_calls} calls",
        f"chosen {SENSIBLE_FIRST} by {_said(choosing)}",
        f"against {large.name if large else 'no large model'}",
    )
    rows = list(with_estimates(planned, judged.n_dialogs))
    return Report(recipe.dataset.name, "recipe", rows, left_out, signature)


def _choice(material: TradeoffMaterial, pool: Sequence[int], chosen: Ints) -> dict[int, int]:
    """Return the responses that are chosen: example → response.

    Args:
        pool: places of the setups among the dots.
        chosen: (n_examples,) places in the pool.
    """
    responses = material.responses[pool][chosen, range(material.n_examples)]
    there = zip(material.example_ids.tolist(), responses.tolist(), chosen, strict=True)
    return {example: response for example, response, place in there if place != NOTHING}


def _by_calls(
    recipe: Recipe,
    judged: TradeoffMaterial,
    pool: Sequence[int],
    chosen: np.ndarray,
    made: Floats,
) -> Iterator[_RecipeEntry]:
    """Yield the entries of the choices after 1, 2, … calls among the setups of a pool."""
    labels = judged.labels[:, pool]
    for n_calls, (places, mean) in enumerate(zip(chosen, made, strict=True), start=1):
        make = partial(
            RecipeRow,
            kind=CALLS,
            n_calls=n_calls,
            calls_made=number(mean),
            label=f"first {n_calls} of {len(chosen)} calls",
            is_rated_in_part=are_in_part(judged.dots, pool[:n_calls]),
            model=recipe.model,
            temperature=recipe.temperature,
        )
        of_chosen = [taken(of_axis, places) for of_axis in labels]
        yield _RecipeEntry(CALLS, n_calls, make, statistics_of(*of_chosen))


def _of_setup(
    kind: str,
    judged: TradeoffMaterial,
    place: int,
    call: int | None = None,
    made: float = math.nan,
) -> _RecipeEntry:
    """Return the entry of a setup, without re-ranking.

    Args:
        call: number of this call in the recipe, from 1.
        made: how many of its calls have an answer for an example, on average.
    """
    dot = judged.dots[place]
    titles = {AGGREGATE: "the stored aggregate", LARGE: "largest model, golden evidence"}
    make = partial(
        RecipeRow,
        kind=kind,
        n_calls=dot.n_calls,
        calls_made=number(made),
        call=call,
        label=titles.get(kind) or (dot.kind.title if dot.kind else dot.setup.prompt),
        setup=dot.setup.name,
        is_rated_in_part=dot.is_rated_in_part,
        model=dot.setup.model,
        temperature=dot.setup.temperature,
        prompt=dot.setup.prompt,
        n_parameters=number(dot.setup.n_parameters),
    )
    return _RecipeEntry(kind, dot.n_calls, make, judged.statistics(place))


def _over(is_asked: np.ndarray, entry: _RecipeEntry) -> _RecipeEntry:
    """Return an entry over only those examples that the recipe has asked about."""
    return entry._replace(statistics=entry.statistics * is_asked[:, np.newaxis])


def _judged(entry: _RecipeEntry, choosing: Axes, judging: Axes) -> _RecipeEntry:
    """Return an entry with the names of the axes that chose its responses and that judge them."""
    is_chosen = entry.kind in (CALLS, AGGREGATE) and (entry.n_calls or 0) > 1
    marks = marks_of([axis.said for axis in choosing], judging) if is_chosen else NO_MARKS
    make = partial(
        entry.make,
        chosen_by=_said(choosing) if is_chosen else None,
        judged_by=_said(judging),
        chosen_by_title=_short(choosing) if is_chosen else None,
        judged_by_title=_short(judging),
        marks=marks,
        is_flattered=marks.is_flattered_x or marks.is_flattered_y,
    )
    return entry._replace(make=make)


def _planned(
    entries: Sequence[_RecipeEntry], judged: TradeoffMaterial
) -> Iterator[Planned[RecipeRow]]:
    """Yield the rows with the statistics of their figures."""
    first = next((each for each in entries if each.kind == CALLS), None)
    large = next((each for each in entries if each.kind == LARGE), None)
    for entry in entries:
        own = entry.statistics
        compared: dict[str, Floats] = {}
        n_beside_large = None
        if large and entry is not large:
            both = pair_statistics(own, large.statistics)
            n_beside_large = int(both[:, 2].sum())
            compared["minus_large"] = both
        if first and entry is not first and entry.kind != LARGE:
            compared["minus_first"] = pair_statistics(own, first.statistics)
        yield Planned(
            partial(entry.make, n=int(own[:, 2].sum()), n_beside_large=n_beside_large),
            figures_of_setup(own, judged.dialogs)
            | {
                name: Statistic(statistics, judged.dialogs, f1_difference)
                for name, statistics in compared.items()
            },
        )


def _place(material: TradeoffMaterial, setup: Setup) -> int | None:
    """Return the place of a setup among the dots; None if it has no response yet."""
    try:
        return material.place(setup.name)
    except LookupError:
        return None


def _short(axes: Axes) -> str:
    return ", ".join(dict.fromkeys(short_of(axis.said) for axis in axes))


def _said(axes: Axes) -> str:
    return f"{axes.attribution.title} and {axes.sensibleness.title}"


class RecipeReportChoices(NamedTuple):
    """The recipe to report on, and axes that judge it, where they are not those that re-ranked."""

    grid: Annotated[
        str, Choice("Recipe", help="The id or the name of its grid; empty: the newest.")
    ] = ""
    judges: JudgeChoices = JudgeChoices()


def _chosen_report(dataset: Dataset, choices: RecipeReportChoices) -> Report[RecipeRow]:
    """Return the report on a recipe by the axes that its newest aggregate was chosen by."""
    recipes = recipes_of(dataset)
    by_grid = {str(recipe.grid.pk): recipe for recipe in recipes}
    by_name = {recipe.grid.name: recipe for recipe in recipes}
    if choices.grid and choices.grid not in by_name:
        check_known("grid", choices.grid, by_grid)
    recipe = (by_grid | by_name).get(choices.grid) or next(iter(recipes), None)
    stored = recipe and newest_aggregate(recipe)
    by_said = {axis.said: axis for axis in axes_of(dataset)}
    choosing = stored and [by_said.get(stored.settings[name]) for name in Axes._fields]
    if not recipe or not choosing or None in choosing:
        raise CannotReport(f"{dataset.name} has no recipe whose responses are re-ranked.")
    axes = Axes(*filter(None, choosing))
    return recipe_report(recipe, axes, judging_axes(dataset, axes, choices.judges))


def _portable(dataset: Dataset, choices: RecipeReportChoices) -> RecipeReportChoices:
    """Return the choices with the name of the grid, and with axes as in `portable_axes`."""
    names = {str(recipe.grid.pk): recipe.grid.name for recipe in recipes_of(dataset)}
    named = choices._replace(grid=names.get(choices.grid, choices.grid))
    return portable_axes(dataset, named)


RECIPE = ReportKind(
    key="recipe",
    title="Recipe",
    lede="Gives F1, attribution and sensibleness of a recipe by the number of its calls.",
    group=ReportGroup.SETUPS,
    about=Dataset,
    methods=methods.RECIPE,
    portable=_portable,
    choices=RecipeReportChoices,
    make=_chosen_report,
    rows=(RecipeRow,),
)

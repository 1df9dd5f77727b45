"""Recipes that were requested: grids whose prompts are the recipe's ([A] 7.7).

This module only reads.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import QuerySet

from evaluation.measures.reranking import SENSIBLE_FIRST
from evaluation.tradeoffs.axes import Axes
from generation.grids.plan import examples_of
from generation.grids.recipe import recipe_numbers
from generation.model_sizes import by_size
from generation.models import RERANKED, Dataset, Grid, Response, SampledExample, Setup

GOLDEN = "golden"  # the prompt that a recipe is compared with


class Recipe(NamedTuple):
    """A grid that asks one model with every prompt of the recipe."""

    grid: Grid
    k1: int
    k2: int
    model: str
    temperature: float
    prompts: tuple[str, ...]  # in the order of the pool: by K, then by part
    setups: tuple[Setup, ...]  # in the same order; empty before the grid is started

    @property
    def dataset(self) -> Dataset:
        return self.grid.dataset

    @property
    def pool(self) -> list[str]:
        """The names of its setups, in the order of the pool."""
        return [setup.name for setup in self.setups]

    @property
    def n_calls(self) -> int:
        """The number of calls for one example, at most."""
        return len(self.prompts)

    @property
    def numbers(self) -> dict[str, int]:
        """The numbers of the recipe that its aggregate keeps."""
        return {"k1": self.k1, "k2": self.k2}


class Aggregate(NamedTuple):
    """The re-ranked responses of a recipe, for the examples that it asks about."""

    setup: Setup
    chosen: Mapping[int, int | None]  # example → response of the pool; None: it was deleted

    def differences(self, choice: Mapping[int, int]) -> tuple[int, int]:
        """Return for how many examples a choice differs, and how many examples it adds.

        An example without a choice counts as neither: it keeps the response that it has.
        """
        n_others = sum(self.chosen.get(each, said) != said for each, said in choice.items())
        return n_others, sum(each not in self.chosen for each in choice)


def nearest(aggregates: Sequence[Aggregate], choice: Mapping[int, int]) -> Aggregate | None:
    """Return the aggregate that agrees most with a choice; of equals, the one stored first."""
    by_age = sorted(aggregates, key=lambda each: each.setup.pk)
    return min(by_age, key=lambda each: each.differences(choice), default=None)


def recipe_of(grid: Grid) -> Recipe | None:
    """Return the recipe of a grid; None if it is another kind of grid."""
    choices = grid.choices
    if (found := recipe_numbers(choices)) is None:
        return None
    k1, k2, prompts = found
    by_prompt = {setup.prompt: setup for setup in grid.setups.all()}
    return Recipe(
        grid=grid,
        k1=k1,
        k2=k2,
        model=choices["models"][0]["name"],
        temperature=choices["temperatures"][0],
        prompts=prompts,
        setups=tuple(by_prompt[key] for key in prompts if key in by_prompt),
    )


def recipes_of(dataset: Dataset) -> list[Recipe]:
    """Return the recipes of a dataset, newest first, with two queries."""
    found = dataset.grids.select_related("dataset", "sample").prefetch_related("setups")
    return list(filter(None, map(recipe_of, found.order_by("-pk"))))


def examples_asked(recipe: Recipe) -> frozenset[int] | None:
    """Return the ids of the examples that a recipe asks about; None: all of the dataset."""
    sample = recipe.grid.sample
    return None if sample is None else frozenset(examples_of(recipe.dataset, sample))


def responses_to_score(recipe: Recipe) -> QuerySet[Response]:
    """Return the responses of the pool, and those that it is compared with.

    Only responses to the recipe's examples are returned, because its setups may have answered
    another sample as well.
    """
    setups = [setup.pk for setup in recipe.setups]
    large = large_golden(recipe.dataset, recipe.temperature) if setups else None
    found = Response.objects.filter(setup__in=[*setups, large.pk] if large else setups)
    return _to_its_examples(recipe, found)


def _to_its_examples(recipe: Recipe, responses: QuerySet[Response]) -> QuerySet[Response]:
    """Return those of some responses that answer examples that the recipe asks about."""
    sample = recipe.grid.sample
    if sample is None:
        return responses.filter(example__is_ad_hoc=False)
    kept = sample.members.exclude(verdict=SampledExample.Verdict.DROP)
    return responses.filter(example__in=kept.order_by().values("example"))


def large_golden(dataset: Dataset, temperature: float) -> Setup | None:
    """Return the setup of the largest model with golden evidence; None if no model was asked so.

    Of several setups of the largest model, the one at this temperature is taken, else those at the
    lowest, and of these the one with the fewest unusual settings.
    """
    golden = dataset.setups.filter(prompt=GOLDEN).with_listed_size()
    found = [each for each in golden if each.model]
    if not found:
        return None
    largest = by_size((setup.model, setup.n_parameters) for setup in found)[-1]

    def order(setup: Setup) -> tuple[bool, float, int, str]:
        asked = setup.temperature
        at = float("inf") if asked is None else asked
        return asked != temperature, at, len(setup.settings), setup.name

    return min((setup for setup in found if setup.model == largest), key=order)


def aggregates_of(recipe: Recipe, axes: Axes) -> list[Aggregate]:
    """Return the aggregates of a recipe that two axes chose, newest first.

    There are several if scores have changed between two re-rankings. This makes two queries.
    """
    wanted = {"attribution": axes.attribution.said, "sensibleness": axes.sensibleness.said}
    setups = [
        setup
        for setup in _aggregates(recipe)
        if all(setup.settings.get(name) == value for name, value in wanted.items())
    ]
    chosen: dict[int, dict[int, int | None]] = {setup.pk: {} for setup in setups}
    rows = _to_its_examples(recipe, Response.objects.filter(setup__in=list(chosen))).order_by()
    for setup, example, source in rows.values_list("setup", "example", "chosen_from"):
        chosen[setup][example] = source
    return [Aggregate(setup, chosen[setup.pk]) for setup in setups if chosen[setup.pk]]


def newest_aggregate(recipe: Recipe) -> Setup | None:
    """Return the newest aggregate of a recipe; None if there is none yet."""
    return next(_aggregates(recipe), None)


def _aggregates(recipe: Recipe) -> Iterator[Setup]:
    """Yield the aggregates of a recipe, newest first."""
    pool = sorted(recipe.pool)
    for setup in recipe.dataset.setups.filter(prompt=RERANKED).order_by("-pk"):
        settings: Mapping[str, Any] = setup.settings
        if (
            settings.get("function") == SENSIBLE_FIRST
            and settings.get("recipe") == recipe.numbers
            and sorted(settings.get("pool", ())) == pool
        ):
            yield setup

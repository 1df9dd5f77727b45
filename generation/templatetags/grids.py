"""Template filters for pages of grids: states, tokens, prices, durations."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma

from generation.grids.plan import PlanRow
from generation.grids.question_graphs import NO_GOLD, NO_IMPORTED, NO_MINIMUM, NO_QUESTION
from generation.grids.recipe import recipe_numbers
from generation.models import Grid
from generation.text.prompt_types import is_about_graph, prompt_type
from work.amounts import UNDEFINED, money

register = template.Library()
register.filter(money)

NO_GRAPH = {"retrieved": NO_QUESTION, "imported": NO_IMPORTED, "gold": NO_GOLD}


@register.filter
def prompt_title(key: str) -> str:
    """Return the title of a prompt type. If the type is unknown, return its key."""
    try:
        return prompt_type(key).title
    except ValueError:
        return key


@register.filter
def mean(figure: float | None) -> str:
    """Return a mean number of tokens with one decimal."""
    return UNDEFINED if figure is None else f"{figure:,.1f}"


@register.filter
def in_percent(share: float | None) -> str:
    """Return a share of tokens in whole percent with its sign: 0.706 → '71 %'."""
    return UNDEFINED if share is None else f"{100 * share:.0f} %"


@register.filter
def pairs(mapping: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the names and values of a mapping. A template cannot do so if a name is 'items'."""
    return list(mapping.items())


@register.filter
def plain(value: Any) -> str:
    """Return a setting as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return UNDEFINED if value in (None, "") else str(value)


@register.filter
def asks_about_graph(grid: Grid) -> bool:
    """Return whether a grid has prompts about a knowledge graph, so that its responses cite."""
    return any(map(is_about_graph, grid.choices.get("prompts", ())))


@register.filter
def is_recipe(grid: Grid) -> bool:
    """Return whether a grid asks with every prompt of a recipe, so that the recipe has a page."""
    return recipe_numbers(grid.choices) is not None


@register.filter
def can_be_scored(grid: Grid) -> bool:
    """Return whether the next step of a grid is to score its responses, for a trade-off."""
    is_done = grid.state == Grid.State.DONE
    return is_done and not is_recipe(grid) and not asks_about_graph(grid)


@register.filter
def longest_reply(grid: Grid) -> str:
    """Return how many tokens a completion may have: '128', or '64 or 128'."""
    return " or ".join(intcomma(n) for n in sorted(grid.choices["max_tokens"]))


@register.filter
def not_in_graph(n: int) -> str:
    """Return how many entities are not in the graph: '1 entity is not in the graph'."""
    return f"{intcomma(n)} {'entity is' if n == 1 else 'entities are'} not in the graph"


@register.filter
def why_left_out(row: PlanRow, grid: Mapping[str, Any]) -> str:
    """Return why a row of a grid's plan leaves examples out."""
    kind = prompt_type(row.prompt)
    demonstrates = kind.is_one_shot and bool(grid.get("one_shot"))
    reasons = ["no golden evidence"] * kind.needs_golden + ["demonstrates"] * demonstrates
    reasons += ["no passage of its own"] * bool(kind.n_before)
    if kind.graph:
        reasons.append(NO_GRAPH[kind.graph])
    reasons += [NO_MINIMUM] * bool(kind.n_removed)
    return " or ".join(reasons)

"""The grid of the recipe ([A] 7.7): prompts that show all of the first K1 passages, K at a time.

For each K from 1 to K2 there are ⌈K1 / K⌉ prompts of exactly K passages of the real ranking; golden
passages are not forced into it. An example takes Σ ⌈K1 / K⌉ calls.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from generation.grids.grid_file import (
    MULTIPLIED,
    USUAL_MAX_TOKENS,
    USUAL_RETRIEVAL,
    GridChoices,
    GridError,
    GridModel,
    Precision,
    Retrieval,
    of_data,
)
from generation.model_specs import Price
from generation.text.prompt_types import MOST_FACTS, n_parts, part_key, prompt_type


class RecipeNumbers(NamedTuple):
    """K1 and K2 of a recipe, and its prompts."""

    k1: int
    k2: int
    prompts: tuple[str, ...]  # in the order of the pool: by K, then by part


def n_calls(k1: int, k2: int) -> int:
    """Return how many calls an example takes: the sum of ⌈k1 / k⌉ over k from 1 to `k2`.

    Raises:
        ValueError: `k2` is not from 1 to `k1`.
    """
    if not 1 <= k2 <= k1:
        raise ValueError(f"K2 = {k2}; expected from 1 to K1, which is {k1}")
    return sum(n_parts(k1, k) for k in range(1, k2 + 1))


def recipe_prompts(k1: int, k2: int, *, has_instructions: bool = False) -> tuple[str, ...]:
    """Return the keys of the recipe's prompt types, by K and then by part.

    Raises:
        ValueError: `k2` is above `k1`.
    """
    return tuple(
        part_key(k, k1, part, has_instructions=has_instructions)
        for k in range(1, k2 + 1)
        for part in range(1, n_parts(k1, k) + 1)
    )


def recipe_grid(
    name: str,
    model: str,
    k1: int,
    k2: int,
    *,
    sample: str = "",
    budget: int | None = None,
    temperature: float = 0.0,
    has_instructions: bool = False,
    retrieval: Retrieval = USUAL_RETRIEVAL,
    max_tokens: int = USUAL_MAX_TOKENS,
    precision: Precision = "fp32",
    price: Price | None = None,
) -> GridChoices:
    """Return the grid that asks one model with every prompt of the recipe.

    Args:
        k1: passages to cover, from 1 to `MOST_FACTS`.
        k2: passages in a prompt, at most; from 1 to `k1`.
        sample: the name of a sample; "" for every example of the dataset.
        budget: tokens of a prompt, at most.
        retrieval: how passages are ranked.

    Raises:
        GridError: `k1` or `k2` is out of its range, or any other choice cannot be used.
    """
    if not 1 <= k1 <= MOST_FACTS:
        raise GridError("k1", str(k1), f"a whole number from 1 to {MOST_FACTS}")
    if not 1 <= k2 <= k1:
        raise GridError("k2", str(k2), f"a whole number from 1 to K1, which is {k1}")
    grid = GridChoices(
        name,
        (GridModel(model, precision, price),),
        sample=sample,
        prompts=recipe_prompts(k1, k2, has_instructions=has_instructions),
        temperatures=(temperature,),
        max_tokens=(max_tokens,),
        budget=budget,
        retrieval=retrieval,
    )
    return of_data(grid.as_data())


def recipe_numbers(choices: Mapping[str, Any]) -> RecipeNumbers | None:
    """Return the numbers of a recipe's grid; None if it is another kind of grid.

    Args:
        choices: the choices of a grid as they are stored (`GridChoices.as_data`).
    """
    others = (name for name in MULTIPLIED if name != "prompts")
    if any(len(choices.get(name, ())) > 1 for name in others):
        return None
    keys = choices.get("prompts", [])
    try:
        kinds = [prompt_type(key) for key in keys]
    except ValueError:
        return None
    if not kinds or not all(kind.of for kind in kinds):
        return None
    k1, k2 = kinds[0].of, max(kind.k for kind in kinds)
    prompts = recipe_prompts(k1, k2, has_instructions=kinds[0].has_instructions)
    return RecipeNumbers(k1, k2, prompts) if sorted(prompts) == sorted(keys) else None

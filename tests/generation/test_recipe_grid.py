"""Grids of the recipe and of restricted context: the prompts they ask for, counted by hand."""

import pytest

from generation.grids.grid_file import GridChoices, GridError, GridModel, Retrieval
from generation.grids.recipe import n_calls, recipe_grid, recipe_prompts
from generation.grids.restricted_context import restricted_grid
from generation.text.prompt_types import (
    SHARES,
    PromptType,
    n_parts,
    part_key,
    prompt_type,
    restricted_key,
)


@pytest.mark.parametrize(
    ("k1", "k", "n"),
    [
        (5, 1, 5),
        (5, 2, 3),  # 1 2 | 3 4 | 5 +1
        (5, 3, 2),  # 1 2 3 | 4 5 +1
        (5, 4, 2),
        (5, 5, 1),
        (6, 2, 3),  # nothing to fill up
        (20, 19, 2),
    ],
)
def test_the_parts_are_k1_over_k_rounded_up(k1, k, n):
    assert n_parts(k1, k) == n


@pytest.mark.parametrize(
    ("k1", "k2", "n"),
    [
        (5, 1, 5),
        (5, 2, 8),  # 5 + 3
        (5, 3, 10),  # 5 + 3 + 2
        (5, 5, 13),  # 5 + 3 + 2 + 2 + 1
        (10, 4, 22),  # 10 + 5 + 4 + 3
        # 20 + 10 + 7 + 5 + 4 + 4 + 3 · 3 (7 to 9) + 10 · 2 (10 to 19) + 1
        (20, 20, 80),
    ],
)
def test_an_example_takes_as_many_calls_as_there_are_parts_of_every_k(k1, k2, n):
    assert n_calls(k1, k2) == len(recipe_prompts(k1, k2)) == n


@pytest.mark.parametrize(("k1", "k2"), [(5, 6), (5, 0)])
def test_k2_is_from_1_to_k1(k1, k2):
    with pytest.raises(ValueError, match=f"K2 = {k2}; expected from 1 to K1, which is 5"):
        n_calls(k1, k2)
    with pytest.raises(GridError, match=f"k2: found {k2}; expected a whole number from 1 to K1"):
        recipe_grid("r", "small", k1, k2)


def test_no_k_covers_less_than_itself():
    with pytest.raises(ValueError, match="6 passages of the first 5; expected from 1 to 5"):
        n_parts(5, 6)


@pytest.mark.parametrize("k1", [0, 21])
def test_k1_is_from_1_to_20(k1):
    with pytest.raises(GridError, match=f"k1: found {k1}; expected a whole number from 1 to 20"):
        recipe_grid("r", "small", k1, 1)


def test_the_recipe_asks_one_model_with_every_part_at_temperature_0():
    grid = recipe_grid(
        "r", "small", 5, 3, sample="dev", budget=900, retrieval=Retrieval(idf="lucene")
    )

    assert grid == GridChoices(
        "r",
        (GridModel("small"),),
        sample="dev",
        prompts=(
            *("top-1-of-5-part-1", "top-1-of-5-part-2", "top-1-of-5-part-3"),
            *("top-1-of-5-part-4", "top-1-of-5-part-5"),
            *("top-2-of-5-part-1", "top-2-of-5-part-2", "top-2-of-5-part-3"),
            *("top-3-of-5-part-1", "top-3-of-5-part-2"),
        ),
        temperatures=(0.0,),
        budget=900,
        retrieval=Retrieval(idf="lucene"),
    )


def test_the_largest_recipe_is_a_grid():
    grid = recipe_grid("r", "small", 20, 20, temperature=0.7, has_instructions=True)

    assert len(grid.prompts) == 80
    assert grid.temperatures == (0.7,)
    assert grid.prompts[-1] == "top-20-of-20-part-1-instructions"


def test_restricted_context_asks_golden_and_next_best_at_every_share_below_1():
    grid = restricted_grid("r", "large", sample="dev")

    # Ten shares below 1 of each. With the whole dialog there is no evidence: one prompt for both.
    assert len(grid.prompts) == 2 * 10 + 1
    assert grid.prompts[:3] == (
        "restricted-golden-1.0",
        "restricted-golden-0.9",
        "restricted-golden-0.8",
    )
    assert grid.prompts[10:12] == ("restricted-golden-0.0", "restricted-next-best-0.9")
    assert (grid.models, grid.temperatures) == ((GridModel("large"),), (0.0,))


def test_restricted_context_of_some_shares():
    grid = restricted_grid("r", "large", evidence=["random"], shares=[1, 0.5, 0])

    assert grid.prompts == (
        "restricted-golden-1.0",  # the whole dialog has one name, whatever the evidence
        "restricted-random-0.5",
        "restricted-random-0.0",
    )


def test_a_share_between_the_tenths_is_refused():
    with pytest.raises(GridError, match=r"shares: found 0.25; expected some of 1, 0.9, 0.8"):
        restricted_grid("r", "large", shares=[1.0, 0.25])


# --- their types ----------------------------------------------------------------------------


def test_restricted_types_are_read_from_their_keys():
    for share in SHARES:
        kind = prompt_type(restricted_key("next-best", share))
        assert (kind.evidence, kind.dialog_share, kind.place) == ("next-best", share, 14)
        assert kind.needs_golden  # also with non-evidence: golden is what it is compared with
    assert SHARES == (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)
    assert prompt_type("restricted-golden-0.7").title == "Restricted, golden, dialog 70 %"


def test_parts_are_read_from_their_keys():
    assert prompt_type("top-2-of-5-part-3") == PromptType(
        "top-2-of-5-part-3", "Top 2 of 5, part 3", 13, "top", 2, of=5, part=3
    )
    with_instructions = prompt_type(part_key(2, 5, 3, has_instructions=True))
    assert with_instructions.has_instructions
    assert with_instructions.title == "Top 2 of 5, part 3, instructions"
    assert not with_instructions.needs_golden


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("top-2-of-5-part-4", "expected a part from 1 to ⌈5 / 2⌉ = 3"),
        ("top-6-of-5-part-1", "expected K from 1 to K1, which is 5, here 6"),
        ("top-2-of-21-part-1", "expected K1 from 1 to 20, here 21"),
        ("top-2-of-5-part-0", "top-K-of-K1-part-J .K1 up to 20"),
        (
            "restricted-golden-1.1",
            r"restricted-golden-S, restricted-next-best-S, restricted-random-S .S from 1.0",
        ),
        ("restricted-golden-0.75", "S from 1.0 to 0.0"),
        ("restricted-golden-1", "S from 1.0 to 0.0"),
        ("restricted-top-0.5", "S from 1.0 to 0.0"),
    ],
)
def test_a_type_that_there_is_not_is_refused_with_what_was_expected(key, message):
    with pytest.raises(ValueError, match=message):
        prompt_type(key)

"""Sizes of models as their names say them."""

import math

import pytest

from generation.model_sizes import by_size, largest_named, n_parameters


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("PaLM 62B", 62e9),
        ("qwen-0.5b", 0.5e9),
        ("small 500M", 500e6),
        ("mixture 1.2T", 1.2e12),
        ("v2-7b-chat-13b", 13e9),  # the last one that is said
    ],
)
def test_a_name_may_say_how_large_its_model_is(name, size):
    assert n_parameters(name) == size


@pytest.mark.parametrize("name", ["extractive", "gpt-4", "llama3beta", "x7b", "8bit", ""])
def test_other_names_say_nothing(name):
    assert math.isnan(n_parameters(name))


def test_models_go_from_small_to_large_and_first_those_that_say_nothing():
    models = ["b 8B", "a 62B", "extractive", "c 500M", "another"]

    assert by_size(models) == ["another", "extractive", "c 500M", "b 8B", "a 62B"]
    assert largest_named(models) == "a 62B"


def test_the_largest_is_one_whose_name_says_a_size():
    assert largest_named(["zephyr", "a 1b", "extractive"]) == "a 1b"
    assert largest_named(["extractive", "zephyr"]) is None
    assert largest_named([]) is None

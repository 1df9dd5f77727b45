"""Sizes of models: as they are typed, as names say them, and as they are stored."""

import io
import math

import pytest
from django.core.management import call_command

from generation.model_sizes import by_size, largest_sized, size_in_name, size_text, size_typed
from generation.models import Checkpoint, Dataset, Setup
from tests.generation.question_makers import dataset_of
from tests.tiny_language_models import tiny_causal

NONE = math.nan
GRID = """
name = "g"
prompts = ["golden"]
temperatures = [0.0]
[[models]]
name = "tiny-7b"
"""


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("PaLM 62B", 62e9),
        ("qwen-0.5b", 0.5e9),
        ("small 500M", 500e6),
        ("mixture 1.2T", 1.2e12),
        ("v2-7b-chat-13b", 13e9),  # the last one that is said
        *((name, NONE) for name in ["extractive", "gpt-4", "llama3beta", "x7b", "8bit", ""]),
    ],
)
def test_a_name_may_say_how_large_its_model_is(name, size):
    assert size_in_name(name) == pytest.approx(size, nan_ok=True)


@pytest.mark.parametrize(
    ("typed", "size"),
    [
        ("7B", 7_000_000_000),
        (" 0.5 b ", 500_000_000),
        ("134515008", 134_515_008),
        ("134,515,008", 134_515_008),
        ("7", 7),
        *((typed, None) for typed in ["0", "-7B", "7 billion", "large", "", "1e9", "1001T"]),
    ],
)
def test_a_size_is_typed_with_its_unit_or_in_full(typed, size):
    assert size_typed(typed) == size


def test_sizes_are_shown_as_people_write_them():
    sizes = [134_515_008, 7e9, 62_500_000_000, 1.2e12, 200_000]

    assert list(map(size_text, sizes)) == ["134.5M", "7B", "62.5B", "1.2T", "200,000"]


def test_models_go_from_small_to_large_and_first_those_without_a_size():
    models = [("b", 8e9), ("a", 62e9), ("extractive", NONE), ("c", NONE), ("c", 5e8), ("c", 4e8)]

    assert by_size(models) == ["extractive", "c", "b", "a"]
    assert largest_sized(models) == "a"
    assert largest_sized([("zephyr", NONE)]) is None
    assert largest_sized([]) is None


@pytest.mark.once
def test_the_listed_size_counts_then_the_noted_one_then_the_one_in_the_name():
    dataset = Dataset.objects.create(name="pilot", slug="pilot")
    Checkpoint.objects.create(name="judge-7b", location="owner/a", n_parameters=3_000_000)
    Checkpoint.objects.create(name="writer-7b", location="owner/b")
    made_with = {"n_parameters": 2_000_000}
    for model, noted in [
        ("judge-7b", made_with),
        ("writer-7b", made_with),
        ("imported-7b", {}),
        ("typed-7b", {"n_parameters": "many"}),
        ("zephyr", {}),
    ]:
        Setup.objects.create(dataset=dataset, name=model, model=model, made_with=noted)

    sizes = {setup.model: setup.n_parameters for setup in dataset.setups.with_listed_size()}

    assert math.isnan(sizes.pop("zephyr"))
    assert sizes == {"judge-7b": 3e6, "writer-7b": 2e6, "imported-7b": 7e9, "typed-7b": 7e9}


@pytest.mark.once
def test_a_grid_keeps_the_size_that_was_read_from_the_files(tmp_path):
    from transformers import AutoModelForCausalLM

    folder = tiny_causal(tmp_path / "tiny", always="A mill.", context=2048)
    expected = AutoModelForCausalLM.from_pretrained(folder).num_parameters()
    dataset = dataset_of(tmp_path / "mills", 1)
    model = Checkpoint.objects.create(
        name="tiny-7b", backend="language-model", location=str(folder), is_chat=False
    )
    grid = tmp_path / "grid.toml"
    grid.write_text(GRID)

    call_command("generate", "pilot", "--grid", str(grid), "--yes", stdout=io.StringIO())

    model.refresh_from_db()
    setup = dataset.setups.get()
    assert model.n_parameters == setup.made_with["n_parameters"] == setup.n_parameters == expected

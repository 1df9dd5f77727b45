"""Grid files: what they say, what is left out, and what is refused."""

import pytest

from generation.grids.grid_file import GridError, GridModel, Retrieval, of_data, read_grid
from generation.model_specs import Price
from generation.text.prompt_types import TWELVE

LEAST = 'name = "pilot"\n[[models]]\nname = "extractive"\n'
FULL = """
name = "pilot, all said"
sample = "dev"
prompts = ["golden", "top-3", "retrieved-5-instructions"]
temperatures = [0, 1.0]
seeds = [1, 2]
positions = ["before-last-turn"]
top_p = [0.9]
top_k = [0, 40]
max_tokens = [64]
budget = 800
one_shot = "e7"
currency = "EUR"

[retrieval]
ranking = "random"
query = "dialog"
idf = "lucene"
k1 = 1.2
b = 0

[[models]]
name = "qwen"
precision = "bf16"
price = {input = 0.15, output = 0.6}

[[models]]
name = "extractive"
"""


def test_what_a_file_does_not_say_is_the_papers_grid():
    grid = read_grid(LEAST)

    assert grid.models == (GridModel("extractive", "fp32", None),)
    assert grid.prompts == tuple(kind.key for kind in TWELVE)
    assert grid.temperatures == (0.0, 0.7)
    assert (grid.seeds, grid.positions, grid.sample, grid.budget) == (
        (0,),
        ("before-dialog",),
        "",
        None,
    )
    assert (grid.top_p, grid.top_k, grid.max_tokens) == ((1.0,), (0,), (128,))


def test_every_choice_of_a_file_is_in_its_grid():
    grid = read_grid(FULL)

    assert grid.prompts == ("golden", "top-3", "retrieved-5-instructions")
    assert grid.temperatures == (0.0, 1.0)
    assert grid.top_k == (0, 40)
    assert grid.retrieval == Retrieval("random", "dialog", "lucene", 1.2, 0.0)
    assert grid.models[0] == GridModel("qwen", "bf16", Price(0.15, 0.6))
    assert grid.price_of("qwen") == Price(0.15, 0.6)
    assert grid.price_of("extractive") is None
    assert (grid.budget, grid.one_shot, grid.currency, grid.sample) == (800, "e7", "EUR", "dev")


@pytest.mark.parametrize("text", [LEAST, FULL])
def test_a_grid_written_and_read_is_the_same_grid(text):
    grid = read_grid(text)

    assert read_grid(grid.as_toml()) == grid
    assert of_data(grid.as_data()) == grid


@pytest.mark.parametrize(
    ("line", "where", "found"),
    [
        ("temprature = [0.5]", "temprature", "an unknown key"),
        ("temperatures = [0.5, 0.5]", "temperatures", "0.5 twice"),
        ("temperatures = [2.5]", "temperatures", "2.5"),
        ("temperatures = [true]", "temperatures", "true"),
        ("temperatures = [nan]", "temperatures", "NaN"),
        ("temperatures = []", "temperatures", "nothing"),
        ("temperatures = 0.7", "temperatures", "0.7"),
        ("seeds = [1.0]", "seeds", "1.0"),
        ("seeds = [-1]", "seeds", "-1"),
        ("top_p = [0.0]", "top_p", "0.0"),
        ('positions = ["after"]', "positions", "'after'"),
        ("max_tokens = [0]", "max_tokens", "0"),
        ("budget = 0", "budget", "0"),
        ('prompts = ["gold"]', "prompts", "'gold'"),
        ("prompts = [[]]", "prompts", "nothing"),
        ("sample = 3", "sample", "3"),
        ("retrieval = {k1 = -1}", "retrieval.k1", "-1"),
        ("retrieval = {b = 1.5}", "retrieval.b", "1.5"),
        ("retrieval = {k = 3}", "retrieval.k", "an unknown key"),
        ("retrieval = 3", "retrieval", "3"),
    ],
)
def test_a_choice_that_cannot_be_used_is_refused_where_it_stands(line, where, found):
    with pytest.raises(GridError) as error:
        read_grid(f"{line}\n{LEAST}")

    assert (error.value.where, error.value.found) == (where, found)


@pytest.mark.parametrize(
    ("models", "where"),
    [
        ("models = []", "models"),
        ("models = 3", "models"),
        ("models = [3]", "models.1"),
        ('models = [{precision = "fp32"}]', "models.1.name"),
        ('models = [{name = "a"}, {name = "b", precision = "fp8"}]', "models.2.precision"),
        ('models = [{name = "a"}, {name = "a"}]', "models.2"),
        ('models = [{name = "a", price = {input = -1}}]', "models.1.price.input"),
        ('models = [{name = "a", price = {output = 1e308}}]', "models.1.price.output"),
        ('models = [{name = "a", price = {in = 1}}]', "models.1.price.in"),
        (
            'models = [{name = "a", price = {input = 1}}, {name = "a", precision = "bf16"}]',
            "models.2.price",
        ),
    ],
)
def test_a_model_that_cannot_be_used_is_refused_by_its_number(models, where):
    with pytest.raises(GridError) as error:
        read_grid(f'name = "pilot"\n{models}\n')

    assert error.value.where == where
    assert error.value.field == "models"


def test_a_grid_has_2000_setups_at_most():
    lists = f"seeds = {list(range(50))}\ntop_k = {list(range(20))}"  # at two temperatures

    assert len(read_grid(f'prompts = ["golden"]\n{lists}\n{LEAST}').seeds) == 50
    with pytest.raises(GridError) as error:
        read_grid(f"{lists}\n{LEAST}")

    assert str(error.value) == (
        "seeds: found 24,000 setups (12 prompts × 2 temperatures × 50 seeds × 20 top_k); "
        "expected at most 2,000"
    )


@pytest.mark.parametrize("name", ["", " ", "x" * 101, "two\\nlines"])
def test_a_grid_needs_a_name_in_one_line(name):
    with pytest.raises(GridError, match=r"^name: found .* expected a text of 1 to 100 characters"):
        read_grid(f'name = "{name}"\n[[models]]\nname = "extractive"\n')


def test_a_file_that_is_no_toml_says_where():
    with pytest.raises(
        GridError, match=r"Found text that is not TOML \(.*line 2.*\); expected a grid file"
    ):
        read_grid('name = "pilot"\nprompts = golden\n')


@pytest.mark.parametrize("data", [[], "pilot", None])
def test_what_is_no_table_is_no_grid(data):
    with pytest.raises(GridError, match="expected a table"):
        of_data(data)


@pytest.mark.parametrize(
    "text",
    [
        "seeds = " + "[" * 100_000,
        "seeds = " + "[" * 100_000 + "]" * 100_000,
        "retrieval = " + "{k1 = " * 50_000,
        "seeds = [" + "9" * 5_000 + "]",
        "a" + ".b" * 100_000 + " = 1",
        "a" + " . 'b'" * 40 + " = 1",
        "name = '" + "a" * 1_000_000 + "'",
    ],
    ids=lambda text: text[:12],
)
def test_brackets_digits_and_keys_without_end_are_no_grid(text):
    with pytest.raises(GridError, match="expected"):
        read_grid(text)

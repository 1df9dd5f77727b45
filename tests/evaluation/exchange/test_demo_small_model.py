"""The small model of the demo: it is offered where its folder is, once, and started when asked."""

import pytest

from evaluation.exchange.demo_small_model import (
    GRID,
    NAME,
    NoSmallModel,
    offer_small_model,
    start_small_model,
)
from generation.grids.plan import plan_of
from generation.models import Checkpoint, Grid, GridChunk
from tests.makers import example_row, import_rows
from tests.tiny_language_models import CHAT, tiny_causal

pytestmark = pytest.mark.once


@pytest.fixture
def dataset(db, tmp_path):
    """Return a dataset with the demo's name and two examples."""
    examples = [example_row("e1"), example_row("e2")]
    return import_rows(tmp_path / "demo", name="Demo", examples=examples).dataset


def test_nothing_is_offered_without_the_folder(dataset, tmp_path):
    assert offer_small_model(tmp_path / "nowhere") is None

    with pytest.raises(NoSmallModel, match="make small-models"):
        start_small_model(None)
    assert not Checkpoint.objects.exists()
    assert not Grid.objects.exists()


def test_a_folder_without_a_whole_model_is_not_listed(dataset, tmp_path):
    (tmp_path / "half").mkdir()

    with pytest.raises(NoSmallModel, match=r"config\.json"):
        offer_small_model(tmp_path / "half")

    assert not Checkpoint.objects.exists()


def test_another_grid_of_its_name_is_left_alone(dataset, tmp_path):
    folder = tiny_causal(tmp_path / "tiny", chat_template=CHAT)
    Grid.objects.create(dataset=dataset, name=GRID.name, choices={"name": GRID.name})

    with pytest.raises(NoSmallModel, match="Another grid is named"):
        offer_small_model(folder)


def test_it_is_offered_once_and_started_when_asked(dataset, tmp_path):
    """There are two prompt types at one temperature about two examples: four calls."""
    folder = tiny_causal(tmp_path / "tiny", chat_template=CHAT)

    grid = offer_small_model(folder)
    again = offer_small_model(folder)

    assert grid == again == Grid.objects.get()
    assert Checkpoint.objects.get().name == NAME
    again.refresh_from_db()
    plan = plan_of(again)
    assert plan
    assert (again.state, plan.total.n_calls) == (Grid.State.PLANNED, 4)

    start_small_model(again)
    start_small_model(offer_small_model(folder))  # a second start of the demo

    again.refresh_from_db()
    assert again.state == Grid.State.RUNNING
    assert sum(len(chunk.examples) for chunk in GridChunk.objects.all()) == 4

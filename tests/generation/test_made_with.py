"""A setup has one content, and its responses are made with one model from one collection."""

from datetime import timedelta

import pytest
from django.utils import timezone

from generation.grids.grid_file import GridError
from generation.importers.setups import origin_of
from generation.model_specs import BackendError, ModelSpec
from generation.models import Grid, GridChunk, Passage, Sample, Setup
from generation.services.grid_chunks import GRID_CHUNKS
from generation.services.grids import (
    GridChangeError,
    request_grid,
    start_grid,
)
from generation.services.model_provenance import open_noted
from generation.services.planning import PLANNINGS
from tests.generation.question_makers import ask, dataset_of, grid_of, started
from tests.makers import example_row, import_rows, response_row

pytestmark = pytest.mark.both
State = Grid.State
NAME = "noting · T 0.0 · golden"  # the setup that `grid_of` asks
SPEC = ModelSpec("noting", "noting")


@pytest.fixture
def mills(tmp_path):
    """Three examples with a golden passage each."""
    return dataset_of(tmp_path / "mills", 3)


def answers_of(setup, folder, dataset):
    import_rows(folder, dataset.name, responses=[response_row("r1", "e1", setup=setup)])


# --- a setup's name -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setup", "said"),
    [
        (NAME, 'model nothing; expected "noting"'),
        ({"name": NAME, "model": "other"}, 'model "other"; expected "noting"'),
        (
            {"name": NAME, "model": "noting", "temperature": 0.9, "prompt": "golden"},
            "temperature 0.9; expected 0.0",
        ),
        (
            {"name": NAME, "model": "noting", "temperature": 0, "prompt": "golden", "top_p": 0.5},
            'settings {"top_p": 0.5}; expected nothing',
        ),
    ],
)
def test_an_imported_setup_of_the_same_name_is_not_taken_over(mills, noting, tmp_path, setup, said):
    answers_of(setup, tmp_path / "more", mills)

    grid = started(mills, grid_of())

    assert grid.state == State.FAILED
    assert grid.error.startswith(f"setup “{NAME}”: found a setup of that name in pilot with {said}")


def test_a_setup_that_was_imported_after_planning_is_not_taken_over(mills, noting, tmp_path):
    grid = request_grid(mills, grid_of(), None)
    PLANNINGS.claim_and_do(grid.pk)
    answers_of({"name": NAME, "model": "other"}, tmp_path / "more", mills)

    with pytest.raises(GridError, match='with model "other"'):
        start_grid(grid, None)

    grid.refresh_from_db()
    assert grid.state == State.PLANNED


def test_a_name_that_a_grid_about_another_dataset_has_is_refused_with_that_dataset(mills, noting):
    request_grid(mills, grid_of("first"), None)
    mills.name, mills.slug, mills.pk = "other", "other", None
    mills.save()

    with pytest.raises(GridChangeError, match=r"named “first”, about the dataset pilot\."):
        request_grid(mills, grid_of("first"), None)


# --- its model ------------------------------------------------------------------------------


def test_a_model_is_not_bound_by_what_has_answered_nothing(mills, noting):
    def refuse(n):
        raise BackendError("no key")

    noting.on_call, noting.revision = refuse, "a" * 40
    assert ask(started(mills, grid_of("one"))).state == State.FAILED
    assert Setup.objects.get().made_with["revision"] == "a" * 40

    noting.on_call, noting.revision = lambda n: "", "b" * 40
    assert ask(started(mills, grid_of("two"))).state == State.DONE
    assert Setup.objects.get().made_with["revision"] == "b" * 40


def test_a_model_is_bound_by_another_worker_that_is_at_it(mills, noting):
    """Its answers may come at any moment."""
    grid = started(mills, grid_of())
    chunk = grid.chunks.get()
    chunks = [
        GridChunk.objects.create(
            grid=grid,
            setup=chunk.setup,
            number=number,
            examples=chunk.examples,
            state=GridChunk.State.RUNNING,
            lease_until=timezone.now() + timedelta(minutes=1),
        )
        for number in (7, 8)
    ]
    open_noted(chunk.setup, SPEC)
    noting.revision = "b" * 40

    with pytest.raises(BackendError, match="revision b"):
        open_noted(chunk.setup, SPEC)

    chunks[0].delete()
    open_noted(chunk.setup, SPEC)


# --- its collection -------------------------------------------------------------------------


def sample_of(dataset, key):
    sample = Sample.objects.create(dataset=dataset, name=key, parameters={}, state="done")
    sample.members.create(example=dataset.examples.get(key=key), position=0)
    return key


@pytest.mark.parametrize(
    ("prompt", "began_with"),
    [
        ("next-best", "bm25|v:1|idf:okapi-epsilon|k1:1.5|b:0.75|tokens:unicode-words|passages:"),
        ("random", "passages:"),
    ],
)
def test_passages_of_two_collections_do_not_mix(mills, noting, tmp_path, prompt, began_with):
    ask(started(mills, grid_of("one", prompts=[prompt], sample=sample_of(mills, "e1"))))
    retrieval = Setup.objects.get().made_with["retrieval"]
    assert retrieval.startswith(began_with)

    same = ask(started(mills, grid_of("two", prompts=[prompt], sample=sample_of(mills, "e2"))))
    assert same.state == State.DONE
    import_rows(tmp_path / "more", mills.name, examples=[example_row("e4")])
    other = ask(started(mills, grid_of("three", prompts=[prompt], sample=sample_of(mills, "e3"))))

    assert other.state == State.FAILED
    assert f"made with other passages ({retrieval}) than the dataset has now" in other.error
    assert len(noting.asked) == 2


def test_a_chunk_ends_with_the_collection_that_it_began_with(mills, noting):
    def add(n):
        Passage.objects.create(dataset=mills, key=f"0{n}", text="Question of e1, e2, e3?")
        return ""

    grid = started(mills, grid_of(prompts=["top-1"]))
    noting.on_call = add
    claim = GRID_CHUNKS.claim_next(grid)
    assert claim is not None
    GRID_CHUNKS.do(claim)

    assert [prompt.split("\n")[0] for prompt, _ in noting.asked] == [
        f"Fact: Passage of e{n}." for n in (1, 2, 3)
    ]


def test_a_prompt_that_ranks_nothing_goes_with_any_collection(mills, noting, tmp_path):
    ask(started(mills, grid_of("one", sample=sample_of(mills, "e1"))))
    import_rows(tmp_path / "more", mills.name, examples=[example_row("e4")])

    assert ask(started(mills, grid_of("two"))).state == State.DONE
    assert "retrieval" not in Setup.objects.get().made_with


def test_where_it_was_computed_is_no_part_of_an_origin():
    setup = Setup(made_with={"signature": "s", "device": "cpu", "n": 1e16})

    assert origin_of(setup) == origin_of(Setup(made_with={"signature": "s", "n": 10**16}))

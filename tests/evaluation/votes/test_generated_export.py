"""Generated responses come back from an export as they were, and say what they were made with."""

import pytest

from evaluation.exchange.interchange import BadRows
from evaluation.votes.export import export_folder
from generation.models import Grid, Response, Setup
from generation.services.grid_chunks import GRID_CHUNKS
from generation.services.grids import request_grid
from generation.services.planning import PLANNINGS
from tests.generation.question_makers import ask, dataset_of, grid_of, started
from tests.makers import forget, import_path, import_rows, is_empty, response_row, write_files
from work.pieces import resend_all

pytestmark = pytest.mark.both
COLUMNS = ("key", "example__key", "setup__name", "text", "meta", "digest")


def test_generated_responses_come_back_from_an_export(tmp_path):
    dataset = dataset_of(tmp_path / "mills", 3)
    grid = grid_of(model="extractive", prompts=["golden", "next-best"], temperatures=[0.0, 0.7])
    ask(started(dataset, grid))
    rows, made_with = stored(), list(Setup.objects.values_list("name", "made_with"))
    assert len(rows) == 12
    assert made_with[0][1]["signature"].startswith("extractive|")
    export_folder(dataset, None, tmp_path / "export")

    again = import_path(tmp_path / "export")
    assert again.n_problems == 0  # all of it is there
    assert stored() == rows

    forget(dataset)
    assert is_empty()
    import_path(tmp_path / "export")
    assert stored() == rows
    assert list(Setup.objects.values_list("name", "made_with")) == made_with


def test_an_imported_grid_goes_on_where_it_was_made_with_the_same(tmp_path):
    dataset = dataset_of(tmp_path / "mills", 3)
    ask(started(dataset, grid_of("there", model="extractive")))
    export_folder(dataset, None, tmp_path / "export")
    forget(dataset)
    outcome = import_path(tmp_path / "export")
    assert outcome.dataset
    Response.objects.filter(example__key="e2").delete()

    grid = ask(started(outcome.dataset, grid_of("here", model="extractive")))

    assert grid.state == Grid.State.DONE
    assert grid.calls.get().example.key == "e2"
    assert Response.objects.count() == 3


def test_what_a_setup_was_made_with_is_an_object(tmp_path):
    setup = {"model": "qwen", "made_with": "transformers"}
    examples = [{"id": "e1", "turns": [{"speaker": "user", "text": "Why?"}]}]

    with pytest.raises(BadRows) as error:
        import_rows(tmp_path, examples=examples, responses=[response_row(setup=setup)])

    [problem] = error.value.outcome.problems
    assert (problem.field, problem.expected) == ("setup.made_with", "an object")


ONE, OTHER = {"signature": "one", "device": "cpu"}, {"signature": "other", "device": "cpu"}


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        (ONE, ONE, None),
        (ONE, ONE | {"device": "cuda"}, None),  # what computes does not matter
        (ONE, OTHER, '{"signature": "other", "device": "cpu"}'),
        (ONE, {}, "nothing"),
        ({}, ONE, '{"signature": "one", "device": "cpu"}'),
        ({}, {}, None),
    ],
)
@pytest.mark.parametrize("is_one_file", [True, False])
def test_responses_of_one_setup_were_made_with_the_same(
    tmp_path, first, second, found, is_one_file
):
    rows = [
        response_row(f"r{number}", f"e{number}", setup={"model": "qwen", "made_with": made_with})
        for number, made_with in enumerate((first, second), start=1)
    ]
    dataset_of(tmp_path / "mills", 2, responses=[] if is_one_file else rows[:1])

    more = write_files(tmp_path / "more", responses=rows if is_one_file else rows[1:])
    outcome = import_path(more, skip_bad=True)

    said = [(problem.field, problem.found) for problem in outcome.problems]
    assert said == ([] if found is None else [("setup.made_with", found)])
    assert Setup.objects.get().made_with == first
    assert Response.objects.count() == (2 if found is None else 1)


@pytest.mark.parametrize("made_with", [ONE, OTHER, {}])
def test_a_setup_without_a_response_is_made_with_what_its_first_one_says(tmp_path, made_with):
    dataset = dataset_of(tmp_path / "mills", 1)
    Setup.objects.create(dataset=dataset, name="qwen", model="qwen", made_with=ONE)

    setup = {"model": "qwen", "made_with": made_with}
    import_rows(tmp_path / "more", dataset.name, responses=[response_row(setup=setup)])

    assert Setup.objects.get().made_with == made_with


def test_what_a_worker_is_at_is_not_made_with_anything_else(tmp_path):
    dataset = dataset_of(tmp_path / "mills", 1)
    claim = GRID_CHUNKS.claim_next(started(dataset, grid_of(model="extractive")))
    assert claim
    setup = {"model": "extractive", "temperature": 0.0, "prompt": "golden", "made_with": OTHER}
    path = write_files(tmp_path / "more", responses=[response_row(setup=setup)])

    assert import_path(path, skip_bad=True).n_problems == 1

    GRID_CHUNKS.do(claim)
    assert Response.objects.get().setup.made_with["backend"] == "extractive"


def test_a_collection_is_the_same_after_an_import_elsewhere(tmp_path):
    """The ids of passages are others there; a grid that ranks them goes on."""
    dataset = dataset_of(tmp_path / "mills", 3)
    ask(started(dataset, grid_of("there", model="extractive", prompts=["next-best"])))
    export_folder(dataset, None, tmp_path / "export")
    dataset_of(tmp_path / "more", 1, name="first here")
    forget(dataset)
    outcome = import_path(tmp_path / "export")
    assert outcome.dataset
    Response.objects.filter(example__key="e2").delete()

    wanted = grid_of("here", model="extractive", prompts=["next-best"])
    grid = ask(started(outcome.dataset, wanted))

    assert (grid.error, grid.state) == ("", Grid.State.DONE)
    assert Response.objects.filter(setup__prompt="next-best").count() == 3


def test_a_lost_message_is_sent_again_and_the_grid_goes_on(tmp_path, monkeypatch):
    # Here, instead of by a worker.
    for kind in (PLANNINGS, GRID_CHUNKS):
        task = kind.task
        monkeypatch.setattr(task, "apply_async_on_commit", lambda ids, queue, t=task: t.run(*ids))
    dataset = dataset_of(tmp_path / "mills", 3)
    planning = request_grid(dataset, grid_of("planned", model="extractive"), None)
    running = started(dataset, grid_of("running", model="extractive"))

    resend_all()

    planning.refresh_from_db()
    running.refresh_from_db()
    assert planning.state == Grid.State.PLANNED
    assert running.state == Grid.State.DONE
    assert running.calls.count() == 3


def stored():
    rows = Response.objects.order_by("key").prefetch_related("shown__passage")
    shown = {r.key: [s.passage.key for s in r.shown.all()] for r in rows}
    return [(*row, shown[row[0]]) for row in rows.values_list(*COLUMNS)]

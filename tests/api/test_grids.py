"""Grids and their calls by API."""

import pytest

from generation.models import Call, Grid
from generation.services.planning import PLANNINGS
from tests.generation.grid_runs import done, failed_in_part, planned, started, valley, work
from tests.makers import statements

pytestmark = pytest.mark.once

GRIDS = "/api/v1/grids/"
WORK = "/api/v1/work/grid/"
GRID = {
    "name": "by API",
    "models": [{"name": "extractive"}],
    "prompts": ["no-evidence", "golden"],
    "temperatures": [0],
}
MANY = list(range(50))


@pytest.fixture
def dataset(tmp_path):
    return valley(tmp_path)


def ask_for(api, **asked):
    return api.post(GRIDS, asked, content_type="application/json")


def test_a_grid_is_asked_for_planned_started_and_read(
    api, read, dataset, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks() as sent:
        answer = ask_for(api, dataset="valley", grid=GRID)
    grid = answer.json()
    assert answer.status_code == 202
    assert answer["Location"] == f"http://testserver{GRIDS}{grid['id']}/"
    assert (grid["state"], grid["plan"], grid["sample"], len(sent)) == ("planning", None, "", 1)
    assert grid["grid"]["temperatures"] == [0.0]

    PLANNINGS.claim_and_do(grid["id"])
    planned = read(f"grids/{grid['id']}/")
    assert planned["state"] == "planned"
    # 3 examples without evidence, 2 with golden evidence: the first has none.
    assert [row["n_calls"] for row in planned["plan"]["rows"]] == [3, 2]
    assert (planned["plan"]["total"]["n_calls"], planned["plan"]["total"]["cost"]) == (5, None)

    with django_capture_on_commit_callbacks() as sent:
        running = api.post(f"{GRIDS}{grid['id']}/start/")
    assert (running.status_code, running.json()["state"], len(sent)) == (202, "queued", 1)
    work(Grid.objects.get())
    ended = read(f"grids/{grid['id']}/")
    assert (ended["state"], ended["n_calls"], ended["n_done"], ended["share"]) == ("done", 5, 5, 1)


def test_the_same_grid_again_is_the_one_that_is_there(api, dataset):
    first = ask_for(api, dataset="valley", grid=GRID).json()

    again = ask_for(api, dataset="valley", grid=GRID)
    other = ask_for(api, dataset="valley", grid=GRID | {"seeds": [1]})

    assert again.json()["id"] == first["id"]
    assert other.status_code == 409
    assert Grid.objects.count() == 1


@pytest.mark.parametrize(
    ("asked", "field", "message"),
    [
        ({"grid": GRID}, "dataset", "required"),
        ({"dataset": "nowhere", "grid": GRID}, "dataset", "There is no dataset 'nowhere'."),
        ({"dataset": "valley"}, "grid", "required"),
        ({"dataset": "valley", "grid": []}, "grid", "dictionary"),
        ({"dataset": "valley", "grid": GRID, "seed": 1}, "seed", "There is no such field"),
        (
            {"dataset": "valley", "grid": GRID | {"colour": 1}},
            "grid",
            "colour: found an unknown key",
        ),
        ({"dataset": "valley", "grid": GRID | {"temperatures": [9]}}, "grid", "temperatures: "),
        (
            {"dataset": "valley", "grid": GRID | {"seeds": MANY, "top_k": MANY}},
            "grid",
            "found 5,000 setups (2 prompts × 50 seeds × 50 top_k)",
        ),
        ({"dataset": "valley", "grid": GRID | {"sample": "x"}}, "grid", "sample: found 'x'"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_the_reason(api, dataset, asked, field, message):
    answer = ask_for(api, **asked)

    assert answer.status_code == 400
    assert message in str(answer.json()[field])
    assert not Grid.objects.exists()


def test_a_grid_that_has_outgrown_its_plan_is_planned_again(
    api, dataset, tmp_path, django_capture_on_commit_callbacks
):
    grid = planned(dataset)
    valley(tmp_path / "more", 4)

    with django_capture_on_commit_callbacks() as sent:
        answer = api.post(f"{GRIDS}{grid.pk}/start/")

    assert (answer.status_code, len(sent)) == (409, 1)
    assert "There is now more to ask than the plan of" in str(answer.json())
    grid.refresh_from_db()
    assert grid.state == "planning"


def test_a_grid_is_cancelled_resumed_and_retried(api, dataset):
    going_on, in_part = work(started(dataset), 1), failed_in_part(dataset)

    def ask(grid, what):
        address = WORK if what in ("cancel", "resume") else GRIDS
        answer = api.post(f"{address}{grid.pk}/{what}/")
        return answer.status_code, answer.json().get("state")

    assert ask(going_on, "cancel") == (200, "cancelled")
    assert ask(going_on, "cancel") == (409, None)
    assert ask(going_on, "start") == (409, None)
    assert ask(going_on, "resume")[0] == 202
    assert ask(going_on, "resume") == (409, None)
    assert work(going_on).state == "done"
    assert ask(going_on, "retry") == (409, None)
    assert ask(in_part, "retry") == (202, "queued")


def test_grids_are_listed_by_state_at_one_cost(api, read, dataset):
    planned(dataset, name="waits")
    one = len(statements(lambda: read("grids/")))
    done(dataset, name="ended")
    failed_in_part(dataset)

    names = [grid["name"] for grid in read("grids/")["results"]]
    assert names == ["too small", "ended", "waits"]
    [only] = read("grids/", state="failed", dataset="valley")["results"]
    assert (only["name"], only["state"]) == ("too small", "failed in part")
    assert len(statements(lambda: read("grids/"))) == one


def test_calls_are_read_word_by_word(read, dataset):
    grid, in_part = done(dataset), failed_in_part(dataset)

    calls = read("calls/", grid=grid.pk)["results"]
    failed = read("calls/", grid=in_part.pk, failed="true")["results"]

    assert len(calls) == 5
    call = Call.objects.get(pk=calls[-1]["id"])
    assert calls[-1]["prompt"] == call.prompt
    assert call.response is not None
    assert calls[-1]["response"] == call.response.key
    assert calls[-1]["setup"] == call.setup.name
    assert read("calls/", grid=grid.pk, failed="true")["results"] == []
    assert len(failed) == 5
    assert failed[0]["response"] is failed[0]["response_id"] is None
    assert "expected at most 3" in failed[0]["problem"]
    assert read(f"calls/{call.pk}/")["completion"] == call.completion

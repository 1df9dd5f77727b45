"""KaLMA's experiments by API: the list, the tables, asking and scoring."""

import io
import json

import pytest
from django.core.management import call_command

from evaluation.models import MetricRun
from generation.grids.grid_file import of_data
from generation.models import Grid
from tests.evaluation.metric_runs import mill, work
from tests.generation.lovelace import lovelace
from tests.generation.question_makers import ask, started
from tests.makers import statements

pytestmark = pytest.mark.once

BASE = "/api/v1/datasets/lovelace/experiments/"
EXTRACTIVE = {"models": [{"name": "extractive"}], "seeds": [0], "temperatures": [0.5]}


@pytest.fixture
def graph(tmp_path):
    return lovelace(tmp_path)


def post(api, address, **asked):
    return api.post(f"{BASE}{address}/", asked, content_type="application/json")


def answered(api):
    """Have the citations experiment asked, and return its grid."""
    post(api, "citations/start", **EXTRACTIVE)
    grid = Grid.objects.get()
    return ask(started(grid.dataset, of_data(grid.choices)))


def test_an_experiment_is_asked_for_scored_and_read(
    api, read, graph, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks() as sent:
        first = post(api, "citations/start", **EXTRACTIVE)
    again = post(api, "citations/start", **EXTRACTIVE)
    assert (first.status_code, first.json()["state"], len(sent)) == (202, "planning", 1)
    assert first.json()["id"] == again.json()["id"]
    assert first.json()["grid"]["prompts"] == ["graph-retrieved"]

    answered(api)
    with django_capture_on_commit_callbacks() as sent:
        runs = post(api, "citations/score", model="lexical")
    assert runs.status_code == 202
    assert [run["metric"] for run in runs.json()] == ["alignment"]
    assert len(sent) == MetricRun.objects.get().chunks.count() > 0
    work(MetricRun.objects.get())

    out = io.StringIO()
    call_command(
        *("run_kg_experiment", "citations", "--dataset", "lovelace", "--format", "json"),
        stdout=out,
        stderr=io.StringIO(),
    )
    assert read("datasets/lovelace/experiments/citations/") == json.loads(out.getvalue())


def test_the_list_says_what_there_is_of_each(api, read, graph):
    grid = answered(api)

    found = {each["key"]: each for each in read("datasets/lovelace/experiments/")}

    assert list(found) == ["citations", "quality", "removal", "accuracy", "alignment"]
    assert {key: each["grids"] for key, each in found.items() if each["grids"]} == {
        "citations": [grid.pk],
        "quality": [grid.pk],
    }
    assert found["citations"]["scoring"] == [
        {"metric": "alignment", "run": None, "state": "missing", "n_left": 3}
    ]
    assert [each["lacking"] for each in found.values()] == [[]] * 5
    assert found["citations"]["temperatures"] == [0.1, 0.5, 0.9]


def test_the_list_says_why_a_dataset_cannot_be_asked(read, tmp_path):
    mill(tmp_path)

    found = read("datasets/mill/experiments/")

    assert found[0]["lacking"] == ["mill has no questions about a knowledge graph."]


def test_more_grids_take_no_more_queries(api, graph):
    def read_list():
        api.get(BASE)

    answered(api)
    n_with_one = len(statements(read_list))
    post(api, "citations/start", **EXTRACTIVE | {"seeds": [1]})

    assert len(statements(read_list)) == n_with_one


@pytest.mark.parametrize(
    ("address", "asked", "status", "field", "message"),
    [
        ("citations/start", {}, 400, "models", "required"),
        ("citations/start", EXTRACTIVE | {"colour": 1}, 400, "colour", "no such field"),
        ("citations/start", EXTRACTIVE | {"models": [{"name": "x"}]}, 400, "models", "found 'x'"),
        ("citations/start", EXTRACTIVE | {"models": [{"nam": "x"}]}, 400, "models", "unknown key"),
        ("citations/start", EXTRACTIVE | {"temperatures": [9]}, 400, "temperatures", "found 9"),
        ("citations/start", EXTRACTIVE | {"sample": "dev"}, 400, "sample", "found 'dev'"),
        ("citations/start", EXTRACTIVE | {"graph": "any"}, 400, "graph", "not a valid choice"),
        ("alignment/start", EXTRACTIVE, 409, "detail", "uses existing answers"),
        ("nothing/start", EXTRACTIVE, 404, "detail", "The experiments are: citations"),
        ("citations/score", {"model": "lost"}, 400, "model", "There is no model 'lost'"),
        ("quality/score", {}, 400, "model", "needs a model"),
        ("accuracy/score", {}, 400, "metric", "needs no scores"),
        ("citations/score", {"model": "lexical"}, 409, "detail", "no answers yet"),
        ("citations/score", {"n_judged": -1}, 400, "n_judged", "greater than or equal"),
    ],
)
def test_what_cannot_be_done_is_refused(api, graph, address, asked, status, field, message):
    answer = post(api, address, **asked)

    assert answer.status_code == status, answer.content
    assert message in str(answer.json()[field])
    assert not Grid.objects.exists()
    assert not MetricRun.objects.exists()


def test_a_table_that_is_not_there_is_not_found(api, graph):
    for key, said in (
        ("alignment", "no study of alignment yet"),
        ("nothing", "The experiments are: citations"),
    ):
        answer = api.get(f"{BASE}{key}/")
        assert (answer.status_code, said in answer.json()["detail"]) == (404, True)
    assert api.get(f"{BASE}citations/", {"mode": "x"}).status_code == 400

"""Metric runs and scores by API."""

from functools import partial

import pytest
from django.test import Client

from accounts.models import AuditEntry
from evaluation.models import AutoScore, MetricRun, RunChunk
from evaluation.runs.services.chunks import RUN_CHUNKS
from generation.models import Checkpoint, Response
from tests.annotation.makers import material, planned
from tests.makers import statements

pytestmark = pytest.mark.once

RUNS = "/api/v1/runs/"
WORK = "/api/v1/work/metric-run/"


@pytest.fixture
def mill(tmp_path):
    """A dataset of two examples, each with two responses that were shown a passage."""
    return material(tmp_path / "mill")


def ask_for(api, **asked):
    return api.post(RUNS, asked, content_type="application/json")


def work():
    """Do what a worker would: nothing is sent to a queue before a test's transaction ends."""
    for chunk in RunChunk.objects.filter(state="queued").values_list("pk", flat=True):
        claim = RUN_CHUNKS.claim(chunk)
        assert claim is not None
        RUN_CHUNKS.do(claim)


def without_score(key):
    """Remove the score of a response, as if the model had given none."""
    score = AutoScore.objects.filter(target__response__key=key)
    assert score.update(score=None, problem="no answer within 30 s") == 1


# --- asking for a run -----------------------------------------------------------------------


def test_a_run_is_asked_for_scored_and_read(api, read, mill):
    answer = ask_for(api, dataset="mill")

    run = answer.json()
    assert answer.status_code == 202
    assert answer["Location"] == f"http://testserver{RUNS}{run['id']}/"
    assert (run["state"], run["n_targets"], run["n_scored"]) == ("queued", 4, 0)
    assert run["title"] == "Auto-AIS, localized K = 2"
    assert (run["backend"], run["model"], run["threshold"]) == ("added_words", "", 0.5)

    work()

    done = read(f"runs/{run['id']}/")
    assert (done["state"], done["n_scored"], done["share"]) == ("done", 4, 1.0)
    scores = read("scores/", run=run["id"])["results"]
    assert {s["response"] for s in scores} == set(Response.objects.values_list("key", flat=True))
    assert all(0 <= s["score"] <= 1 and s["problem"] == "" for s in scores)
    [window] = scores[0]["windows"]
    shown = read(f"responses/{scores[0]['response_id']}/")["evidence_shown"]
    assert window["passage"] == shown[0]["id"]
    assert window["probability"] == scores[0]["score"]


def test_what_is_asked_for_is_sent_to_the_worker(api, mill, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks() as sent:
        run = ask_for(api, dataset="mill").json()
    with django_capture_on_commit_callbacks() as sent_again:
        api.post(f"{WORK}{run['id']}/cancel/")
        api.post(f"{WORK}{run['id']}/resume/")

    assert len(sent) == len(sent_again) == RunChunk.objects.count()


def test_asking_again_answers_with_the_same_run(api, mill):
    first = ask_for(api, dataset="mill").json()
    work()

    again = ask_for(api, dataset="mill").json()

    assert (again["id"], again["state"]) == (first["id"], "done")
    assert MetricRun.objects.count() == 1


def test_every_choice_reaches_the_run(api, mill):
    run = ask_for(
        api,
        dataset="mill",
        flavor="v1",
        window=0,
        hypothesis="mean",
        evidence="golden",
        threshold=0.25,
    ).json()

    assert (
        run["signature"] == "auto_ais|lexical|v1|whole|sentences:mean|golden|"
        "tokens:unicode-words|t:0.25|v:3"
    )
    assert run["threshold"] == 0.25
    assert run["parameters"]["evidence"] == "golden"


def test_another_metric_is_asked_for_with_its_own_options_over_a_sample(api, mill):
    run = ask_for(api, dataset="mill", metric="sensible", sample=1, seed=7).json()

    assert (run["metric"], run["backend"], run["n_targets"]) == ("sensible", "heuristic", 2)
    assert "|sample:1@7|" in run["signature"]
    assert (run["threshold"], run["is_yes_at_threshold"]) == (0.5, True)
    assert ask_for(api, dataset="mill", metric="sensible", sample=0).json()["n_targets"] == 4


def test_what_was_scored_before_is_told_from_what_was_asked(api, read, mill):
    ask_for(api, dataset="mill")
    work()
    run = ask_for(api, dataset="mill", threshold=0.25).json()
    work()

    done = read(f"runs/{run['id']}/")

    assert (done["n_scored"], done["n_reused"], done["n_pairs_asked"]) == (4, 4, 0)
    assert (done["device"], done["files"], done["revision"]) == ("cpu", {}, "")
    assert [score["reused"] for score in read("scores/", run=run["id"])["results"]] == [True] * 4


def test_a_check_of_precision_is_refused_where_there_is_none(api, mill):
    run = ask_for(api, dataset="mill").json()

    answer = api.post(f"{RUNS}{run['id']}/precision/", {}, content_type="application/json")

    assert answer.status_code == 409
    assert answer.json()["detail"].endswith("computes in one precision only.")
    assert api.get(f"{RUNS}{run['id']}/precision/").status_code == 404


def test_a_run_over_a_study_scores_its_sample_against_its_evidence(api, mill):
    study = planned(mill, n_sampled=1, evidence_choice="golden")

    run = ask_for(api, study=study.slug).json()

    assert run["n_targets"] == 2  # one example of two, each with two responses
    assert run["parameters"]["evidence"] == "golden"


def test_a_checkpoint_is_asked_for_by_its_name(api, mill):
    Checkpoint.objects.create(name="tiny", location="attest/tiny-1", entailment_index=1)

    answer = ask_for(api, dataset="mill", model="tiny", confirmed=True)

    assert (answer.json()["backend"], answer.json()["model"]) == ("transformers", "tiny")
    assert "attest/tiny-1" not in answer.text
    run = MetricRun.objects.get()
    assert (run.model_location, run.parameters["entailment_index"]) == ("attest/tiny-1", 1)


@pytest.mark.parametrize(
    ("asked", "field", "message"),
    [
        ({}, "study", "Name a study or a dataset, but not both."),
        ({"study": "s", "dataset": "mill"}, "study", "There is no study 's'."),
        ({"dataset": "none"}, "dataset", "There is no dataset 'none'."),
        ({"metric": "rouge"}, "metric", '"rouge" is not a valid choice.'),
        ({"model": "none"}, "model", "There is no model 'none'. There are: added_words,"),
        ({"model": "/etc"}, "model", "There is no model '/etc'. There are: added_words,"),
        ({"metric": "fluency"}, "model", "Fluency (G-Eval) needs a model. Name one."),
        ({"model": "heuristic"}, "model", "Auto-AIS cannot use Words and whole sentences"),
        ({"flavor": "v4"}, "flavor", '"v4" is not a valid choice.'),
        ({"window": -1}, "window", "Found -1; expected a whole number from 0 to 50."),
        ({"window": 51}, "window", "Found 51; expected a whole number from 0 to 50."),
        ({"mode": "integer"}, "mode", "Auto-AIS has no option mode. Its options are: flavor"),
        ({"precision": "bf16"}, "precision", "Found 'bf16'; expected fp32 for"),
        ({"threshold": "nan"}, "threshold", "A valid number is required."),
        ({"threshold": 1.5}, "threshold", "Found 1.5; expected a number from 0 to 1."),
        ({"evidence": "all"}, "evidence", '"all" is not a valid choice.'),
        ({"metric": "sensible", "evidence": "shown"}, "evidence", "Auto-SSA: sensible looks at no"),
        ({"sample": -1}, "sample", "Ensure this value is greater than or equal to 0."),
        ({"windows": 2}, "windows", "There is no such field. The fields are: study, dataset,"),
    ],
)
def test_what_cannot_be_run_is_refused(api, mill, asked, field, message):
    Checkpoint.objects.create(name="tiny", location="/models/tiny")
    whole = asked if {"study", "dataset"} & set(asked) or not asked else asked | {"dataset": "mill"}

    answer = ask_for(api, **whole)

    assert answer.status_code == 400
    assert answer.json()[field][0].startswith(message)
    assert not MetricRun.objects.exists()


@pytest.mark.parametrize("body", ["", "[]", "3", "{", '"mill"', '{"threshold": NaN}'])
def test_a_body_that_is_no_json_object_is_refused(api, mill, body):
    answer = api.post(RUNS, body, content_type="application/json")

    assert answer.status_code == 400
    assert isinstance(answer.json(), dict)


def test_a_session_needs_the_csrf_token(rosa, mill):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(rosa)
    asked = {"dataset": "mill"}

    refused = browser.post(RUNS, asked, content_type="application/json")

    assert refused.status_code == 403
    assert "CSRF" in refused.json()["detail"]
    browser.get("/studies/")
    token = {"X-CSRFToken": browser.cookies["csrftoken"].value}
    taken = browser.post(RUNS, asked, content_type="application/json", headers=token)
    assert taken.status_code == 202


# --- cancel, resume, retry ------------------------------------------------------------------


def test_a_run_is_cancelled_and_taken_up_again(api, mill, rosa):
    run = ask_for(api, dataset="mill").json()
    address = f"{WORK}{run['id']}/"

    assert api.post(f"{address}cancel/").json()["state"] == "cancelled"
    assert api.post(f"{address}cancel/").status_code == 409
    resumed = api.post(f"{address}resume/")

    assert (resumed.status_code, resumed.json()["state"]) == (202, "running")
    assert api.post(f"{address}resume/").json() == {
        "detail": "This work cannot go on. Only work that was cancelled or failed can."
    }
    actors = AuditEntry.objects.filter(action__startswith="run.").values_list("actor", flat=True)
    assert set(actors) == {rosa.pk}


def test_what_failed_is_asked_for_once_more(api, mill):
    run = ask_for(api, dataset="mill").json()
    work()
    without_score("e1-cool")
    address = f"{RUNS}{run['id']}/"
    failed = api.get(address).json()
    assert (failed["state"], failed["n_failed"], failed["n_scored"]) == ("failed in part", 1, 3)
    [score] = [s for s in api.get("/api/v1/scores/").json()["results"] if s["score"] is None]
    assert (score["response"], bool(score["problem"])) == ("e1-cool", True)

    assert api.post(f"{address}retry/").status_code == 202

    work()
    assert api.get(address).json()["state"] == "done"
    assert api.post(f"{address}retry/").status_code == 409


def test_an_imported_run_stays_as_it_came(api, pilot):
    run = MetricRun.objects.get(metric="rouge")

    answer = api.post(f"{RUNS}{run.pk}/retry/")

    assert answer.status_code == 409
    assert answer.json() == {"detail": "This run was imported, so it cannot be changed."}
    assert api.get(f"{RUNS}{run.pk}/retry/").status_code == 405
    for what in ("cancel", "resume"):
        assert api.post(f"{WORK}{run.pk}/{what}/").status_code == 404


# --- lists ----------------------------------------------------------------------------------


def test_runs_are_listed_by_dataset_and_state_as_on_their_page(api, read, pilot, mill):
    ask_for(api, dataset="mill")
    work()
    without_score("e1-cool")
    ask_for(api, dataset="mill", flavor="v1")

    def titles(**parameters):
        return [run["title"] for run in read("runs/", **parameters)["results"]]

    first, second = "Auto-AIS, localized K = 2", "Auto-AIS, v1, localized K = 2"
    assert titles() == [second, first, "rouge", "nli"] or titles() == [
        second,
        first,
        "nli",
        "rouge",
    ]
    assert titles(dataset="mill") == [second, first]
    assert titles(state="running") == [second]
    assert titles(state="failed") == [first]
    assert set(titles(state="done")) == {"rouge", "nli"}
    assert titles(state="cancelled") == []


@pytest.mark.parametrize(
    ("address", "parameters", "message"),
    [
        ("runs/", {"state": "queued"}, "Select a valid choice."),
        ("runs/", {"dataset": "none"}, "There is no dataset 'none'."),
        ("scores/", {"run": "0"}, "There is no metric run 0."),
        ("scores/", {"run": "x"}, "Enter a whole number."),
        ("scores/", {"run": "1.5"}, "Enter a whole number."),
        ("scores/", {"run": "9" * 40}, "There is no metric run 9999"),
        ("scores/", {"metric": "rouge"}, "There is no such parameter. The parameters are: run,"),
    ],
)
def test_a_filter_that_means_nothing_is_refused(refused, pilot, address, parameters, message):
    [(parameter, [said])] = refused(address, **parameters).items()

    assert parameter in parameters
    assert said.startswith(message)


def test_imported_scores_are_read_by_run_and_response(read, pilot):
    run = MetricRun.objects.get(metric="nli")

    [score] = read("scores/", run=run.pk)["results"]

    assert (score["response"], score["citation"], score["score"]) == ("r1", 2, 1.0)
    assert (score["windows"], score["assumed"]) == ([], False)
    assert len(read("scores/", response="r1")["results"]) == AutoScore.objects.count() == 2


def test_runs_and_scores_cost_the_same_for_one_row_and_for_thirty(api, mill):
    def costs():
        return [len(statements(partial(api.get, a))) for a in (RUNS, "/api/v1/scores/")]

    ask_for(api, dataset="mill")
    work()
    of_one = costs()
    for number in range(1, 30):
        ask_for(api, dataset="mill", window=number + 2)
        work()

    assert costs() == of_one == [7, 3]  # token, groups; then a page, or count, page and progress

"""Metric runs, scores and reports by API."""

import json
from functools import partial
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client

from accounts.models import AuditEntry
from annotation.models import Study
from evaluation.models import AutoScore, Checkpoint, MetricRun, RunChunk
from evaluation.reports.study import REPORTS
from evaluation.services.chunks import claim_chunk, score_chunk
from generation.models import Response
from tests.annotation.makers import material, planned
from tests.makers import rated, statements

pytestmark = pytest.mark.django_db

RUNS = "/api/v1/runs/"


@pytest.fixture
def mill(tmp_path):
    """A dataset of two examples, each with two responses that were shown a passage."""
    return material(tmp_path / "mill")


def ask_for(api, **asked):
    return api.post(RUNS, asked, content_type="application/json")


def work():
    """Do what a worker would: nothing is sent to a queue before a test's transaction ends."""
    for chunk in RunChunk.objects.filter(state="queued").values_list("pk", flat=True):
        claim = claim_chunk(chunk)
        assert claim is not None
        score_chunk(claim)


# --- asking for a run -----------------------------------------------------------------------


def test_a_run_is_asked_for_scored_and_read(api, read, mill):
    answer = ask_for(api, dataset="mill")

    run = answer.json()
    assert answer.status_code == 202
    assert answer["Location"] == f"http://testserver{RUNS}{run['id']}/"
    assert (run["state"], run["n_targets"], run["n_scored"]) == ("queued", 4, 0)
    assert run["title"] == "Auto-AIS, v3, localized K = 2"
    assert (run["backend"], run["model"], run["threshold"]) == ("lexical", "", 0.5)

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
        api.post(f"{RUNS}{run['id']}/cancel/")
        api.post(f"{RUNS}{run['id']}/resume/")

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

    assert run["signature"] == "auto_ais|lexical|v1|whole|sentences:mean|golden|t:0.25|v:1"
    assert run["threshold"] == 0.25
    assert run["parameters"]["evidence"] == "golden"


def test_a_run_over_a_study_scores_its_sample_against_its_evidence(api, mill):
    study = planned(mill, n_sampled=1, evidence_choice="golden")

    run = ask_for(api, study=study.slug).json()

    assert run["n_targets"] == 2  # one example of two, each with two responses
    assert run["parameters"]["evidence"] == "golden"


def test_a_checkpoint_is_asked_for_by_its_name(api, mill):
    Checkpoint.objects.create(name="tiny", location="/models/tiny", entailment_index=1)

    answer = ask_for(api, dataset="mill", model="tiny")

    assert (answer.json()["backend"], answer.json()["model"]) == ("transformers", "tiny")
    assert "/models/tiny" not in answer.text
    run = MetricRun.objects.get()
    assert (run.model_location, run.parameters["entailment_index"]) == ("/models/tiny", 1)


@pytest.mark.parametrize(
    ("asked", "field", "message"),
    [
        ({}, "study", "Name either a study or a dataset."),
        ({"study": "s", "dataset": "mill"}, "study", "There is no study 's'."),
        ({"dataset": "none"}, "dataset", "There is no dataset 'none'."),
        ({"dataset": "a\x00"}, "dataset", "Null characters are not allowed."),
        ({"dataset": "\ud800"}, "dataset", "Surrogate characters are not allowed: U+D800."),
        ({"model": "none"}, "model", "There is no model 'none'; there are: lexical, tiny."),
        ({"model": "/etc"}, "model", "There is no model '/etc'; there are: lexical, tiny."),
        ({"flavor": "v4"}, "flavor", '"v4" is not a valid choice.'),
        ({"window": -1}, "window", "Ensure this value is greater than or equal to 0."),
        ({"window": 51}, "window", "Ensure this value is less than or equal to 50."),
        ({"threshold": "nan"}, "threshold", "A valid number is required."),
        ({"threshold": 1.5}, "threshold", "Ensure this value is less than or equal to 1."),
        ({"evidence": "all"}, "evidence", '"all" is not a valid choice.'),
        ({"windows": 2}, "windows", "There is no such field; there are: study, dataset, model,"),
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
    address = f"{RUNS}{run['id']}/"

    assert api.post(f"{address}cancel/").json()["state"] == "cancelled"
    assert api.post(f"{address}cancel/").status_code == 409
    resumed = api.post(f"{address}resume/")

    assert (resumed.status_code, resumed.json()["state"]) == (202, "queued")
    assert api.post(f"{address}resume/").json() == {
        "detail": "Only a run that was cancelled or failed can go on."
    }
    actors = AuditEntry.objects.filter(action__startswith="run.").values_list("actor", flat=True)
    assert set(actors) == {rosa.pk}


def test_what_failed_is_asked_for_once_more(api, mill):
    Response.objects.filter(key="e1-cool").update(text=" ")
    run = ask_for(api, dataset="mill").json()
    work()
    address = f"{RUNS}{run['id']}/"
    failed = api.get(address).json()
    assert (failed["state"], failed["n_failed"], failed["n_scored"]) == ("failed in part", 1, 3)
    [score] = [s for s in api.get("/api/v1/scores/").json()["results"] if s["score"] is None]
    assert (score["response"], bool(score["problem"])) == ("e1-cool", True)
    Response.objects.filter(key="e1-cool").update(text="Passage of e1.")

    assert api.post(f"{address}retry/").status_code == 202

    work()
    assert api.get(address).json()["state"] == "done"
    assert api.post(f"{address}retry/").status_code == 409


@pytest.mark.parametrize("what", ["cancel", "resume", "retry"])
def test_an_imported_run_stays_as_it_came(api, pilot, what):
    run = MetricRun.objects.get(metric="rouge")

    answer = api.post(f"{RUNS}{run.pk}/{what}/")

    assert answer.status_code == 409
    assert answer.json() == {"detail": "This run was imported: it is as it came."}
    assert api.get(f"{RUNS}{run.pk}/{what}/").status_code == 405


# --- lists ----------------------------------------------------------------------------------


def test_runs_are_listed_by_dataset_and_state_as_on_their_page(api, read, pilot, mill):
    Response.objects.filter(key="e1-cool").update(text=" ")
    ask_for(api, dataset="mill")
    work()
    ask_for(api, dataset="mill", flavor="v1")

    def titles(**parameters):
        return [run["title"] for run in read("runs/", **parameters)["results"]]

    first, second = "Auto-AIS, v3, localized K = 2", "Auto-AIS, v1, localized K = 2"
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
        ("scores/", {"metric": "rouge"}, "There is no such parameter; there are: run, response,"),
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


# --- reports --------------------------------------------------------------------------------


@pytest.fixture
def study(tmp_path):
    """A study of both arms, two setups and three raters."""
    votes = {f"r{n}": {"q": ["yes", "yes", "no"], "p": ["no", "yes", "no"]} for n in range(6)}
    merged = [
        {"response": f"r{n}", "rater": f"m{m}", "question": q, "answer": "yes", "arm": "merged"}
        | {"position": n % 2 + 1, "seconds": 10 + n}
        for n in range(6)
        for m in range(3)
        for q in ("q", "p")
    ]
    setups = {f"r{n}": ("cool", "warm")[n % 2] for n in range(6)}
    scores = [{"response": f"r{n}", "metric": "rouge", "score": n / 6} for n in range(6)]
    return rated(tmp_path / "s", votes, more_votes=merged, setups=setups, scores=scores)


def printed(report, *options):
    out = StringIO()
    call_command("report", report, "--study", "pilot", "--format", "json", *options, stdout=out)
    return json.loads(out.getvalue())


@pytest.mark.parametrize("report", REPORTS)
def test_a_report_is_what_the_command_prints(read, study, report):
    answered = read(f"studies/{study.slug}/reports/{report}/")

    assert answered == printed(report)
    assert answered["rows"]


@pytest.mark.parametrize(
    ("parameters", "options"),
    [
        ({"by_setup": "true"}, ["--by-setup"]),
        ({"with_implied": "1", "with_excluded": "true"}, ["--with-implied", "--with-excluded"]),
        ({"setup": "warm"}, ["--setup", "warm"]),
        ({"truth": "merged"}, ["--truth", "merged"]),
        ({"with_implied": "false", "setup": ""}, []),
    ],
)
@pytest.mark.parametrize("report", ["raters", "agreement"])
def test_a_report_takes_the_choices_of_the_page(read, study, report, parameters, options):
    answered = read(f"studies/{study.slug}/reports/{report}/", **parameters)

    assert answered == printed(report, *options)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"setup": "none"}, "There is no setup 'none' here; there are: cool, warm."),
        ({"truth": "none"}, '"none" is not a valid choice.'),
        ({"with_implied": "maybe"}, "Must be a valid boolean."),
        ({"bysetup": "1"}, "There is no such parameter; there are: by_setup, with_implied,"),
        ({"setup": "\x00"}, "Null characters are not allowed."),
    ],
)
def test_a_choice_that_means_nothing_is_refused(refused, study, parameters, message):
    [(parameter, [said])] = refused(f"studies/{study.slug}/reports/raters/", **parameters).items()

    assert parameter in parameters
    assert said.startswith(message)


def test_a_study_without_an_arm_says_so(refused, tmp_path):
    rated(tmp_path / "s", {"r1": {"q": ["yes"]}})

    assert refused("studies/pilot/reports/agreement/", truth="merged") == {
        "truth": ["There is no truth 'merged' here; there are: separate."]
    }


def test_another_report_is_not_found(api, study):
    answer = api.get(f"/api/v1/studies/{study.slug}/reports/none/")

    assert answer.status_code == 404
    assert answer.json()["detail"].startswith("There is no report 'none'; there are: raters,")
    assert api.get("/api/v1/studies/none/reports/raters/").status_code == 404


def test_a_report_is_not_stale(read, study):
    address = f"studies/{study.slug}/reports/raters/"
    before = read(address)

    Study.objects.get().raters.filter(code="w1").update(is_excluded=True)

    assert read(address) != before
    assert read(address) == printed("raters")

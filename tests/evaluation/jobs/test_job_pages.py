"""The pages of jobs: the list, new ones, one with its steps, and what can be done about it."""

import pytest
from django.urls import reverse

from evaluation.jobs.kinds import JOBS
from evaluation.jobs.services import request_job
from evaluation.metrics.auto_ssa import SsaPrompt
from evaluation.models import Job
from evaluation.runs.job_pages import line_of
from evaluation.runs.services.prompt_search import SearchPlan, request_prompt_search
from generation.model_specs import ModelSpec
from generation.models import Checkpoint
from tests.evaluation.makers_of_scores import make_run, make_scores
from tests.evaluation.runs.teaching import rated_and_unrated, teacher_run
from tests.evaluation.runs.test_prompt_searches import COOL, n_shown, rater_score, ssa_study
from tests.evaluation.told_language_model import BACKEND
from tests.makers import statements
from tests.shown import shown

pytestmark = pytest.mark.once

STATE = Job.State


@pytest.fixture
def study(tmp_path):
    Checkpoint.objects.create(name="teacher", backend=BACKEND, location="/srv/secret/teacher")
    return ssa_study(tmp_path / "pilot", {"cool": COOL, "warm": {"w-one": 3}})


def searched(study, name="better", **more):
    spec = ModelSpec(BACKEND, "teacher", "/srv/secret/teacher")
    plan = SearchPlan(study, "cool", "sensible", spec, name, **more)
    job = request_prompt_search(plan, None)
    if claim := JOBS.claim(job.pk):
        JOBS.do(claim)
    job.refresh_from_db()
    return job


def address(name, *arguments):
    return reverse(f"evaluation:{name}", args=arguments)


def change(name, job):
    return reverse(f"work:{name}", args=["prompt-search", job.pk])


def test_a_finished_search_shows_every_prompt_and_leads_to_a_run(study, told_model, researcher):
    told_model(lambda prompt: f"{rater_score(prompt) if n_shown(prompt) else 0.5}")
    job = searched(study)

    answer = researcher.get(address("job", job.pk))

    page = shown(answer)
    tried = page.table("Prompts tried")
    rows = zip(tried.column("New demonstration"), tried.column("Kept"), strict=True)
    [_, demonstration] = [name for name, is_kept in rows if is_kept]
    assert job.result["demonstrations"] == [demonstration]
    assert page.parts("as-is")[-1].text == " ".join(job.result["text"].split())
    assert len(tried.rows) == job.steps.count()
    assert all(prompt.startswith("Word by word") for prompt in tried.column("Prompt"))
    chosen = "metric=sensible&prompt=better&model=teacher"
    assert chosen in page.links["Start a run with it"]
    assert "/srv/secret" not in answer.text


def test_the_new_run_form_takes_the_prompt_that_was_found(study, told_model, researcher):
    told_model(lambda prompt: "0.5")
    searched(study)

    page = shown(researcher.get(address("start-run") + "?metric=sensible&prompt=better"))

    assert page.fields["prompt"] == "better"


def test_a_search_is_started_by_its_form_which_says_what_it_costs(study, told_model, researcher):
    told_model(lambda prompt: "0.5")
    planned = shown(researcher.get(address("new-search"))).part("planned").text
    assert "4 rated examples" in planned
    assert "at most 16 replies" in planned
    chosen = {"slice": "pilot/sensible/cool", "model": "teacher", "seed": "0", "n_examples": "3"}
    cheaper = shown(researcher.get(address("new-search"), chosen))
    assert "at most 9 replies" in cheaper.part("planned").text
    assert cheaper.errors == {}
    assert "This field is required" not in cheaper.text

    plan = researcher.post(address("new-search"), {**chosen, "name": "found"})
    assert "Start: 9 calls at most" in shown(plan).buttons
    assert not Job.objects.exists()
    answer = researcher.post(address("new-search"), {**chosen, "name": "found", "seen_calls": 9})

    job = Job.objects.get()
    assert answer.url == address("job", job.pk)
    assert (job.name, job.state, job.study) == ("found", STATE.QUEUED, study)
    assert job.parameters["n_examples"] == 3
    assert job.requested_by is not None


def test_a_form_with_a_mistake_says_where_and_starts_nothing(study, told_model, researcher):
    told_model(lambda prompt: "0.5")
    chosen = {"slice": "pilot/sensible/warm", "model": "teacher", "seed": "0", "name": "paper"}

    taken = researcher.post(address("new-search"), chosen)
    few = researcher.post(address("new-search"), {**chosen, "name": "x"})

    assert taken.status_code == few.status_code == 422
    assert "Attest itself uses the name" in shown(taken).errors["name"]
    assert "Found 1 of the rated responses of warm" in shown(few).errors["slice"]
    assert not Job.objects.exists()


def test_a_distillation_is_started_by_its_form(tmp_path, told_model, researcher):
    run = teacher_run(rated_and_unrated(tmp_path), told_model)
    assert "Not possible yet" in shown(researcher.get(address("new-distillation"))).headings
    Checkpoint.objects.create(name="minilm", location="/srv/secret/minilm")

    planned = shown(researcher.get(address("new-distillation"))).part("planned").text
    chosen = {"run": run.pk, "base": "minilm", "name": "small", "epochs": 2, "batch_size": 8}
    chosen |= {"learning_rate": "0.001", "seed": 0}
    refused = researcher.post(address("new-distillation"), {**chosen, "name": "minilm"})
    # 98 responses to learn from and 10 held out, in 2 epochs.
    plan = shown(researcher.post(address("new-distillation"), chosen))
    assert "Start: 216 calls at most" in plan.buttons
    answer = researcher.post(address("new-distillation"), chosen | {"seen_calls": 216})

    assert "trains the model on 98 responses" in planned
    assert "10 of other dialogs" in planned
    assert "12 of rated dialogs" in planned
    assert "already a model named minilm" in shown(refused).errors["name"]
    nothing = researcher.post(address("new-distillation"), {**chosen, "learning_rate": "0"})
    assert "greater than or equal to 1e-07" in shown(nothing).errors["learning_rate"]
    job = Job.objects.get()
    assert answer.url == address("job", job.pk)
    of_job = researcher.get(answer.url)
    choices = dict(shown(of_job).table("Choices of the distillation").rows)
    assert choices["To learn from"] == "98 responses"
    assert "/srv/secret" not in of_job.text


def test_a_job_is_cancelled_resumed_and_deleted_by_its_page(study, researcher):
    job = request_job(Job.Kind.PROMPT_SEARCH, "own", OF_SEARCH, data=NO_DATA, n_total=3)

    researcher.post(change("delete", job))
    assert Job.objects.exists()
    for name, state in (("cancel", STATE.CANCELLED), ("resume", STATE.QUEUED)):
        assert researcher.post(change(name, job)).url == address("job", job.pk)
        job.refresh_from_db()
        assert job.state == state
    researcher.post(change("cancel", job))
    assert researcher.post(change("delete", job)).url == reverse("work:all")
    assert not Job.objects.exists()


OF_SEARCH = {"metric": "sensible", "setup": "cool", "seed": 0, "model": "m", "precision": "fp32"}
NO_DATA = {"examples": [], "n_unusable": 0}


def test_progress_says_when_something_has_changed(study, researcher):
    job = request_job(Job.Kind.PROMPT_SEARCH, "own", OF_SEARCH, data=NO_DATA, n_total=3)

    same = researcher.get(change("card", job) + "?seen=0")
    Job.objects.filter(pk=job.pk).update(n_done=1)
    changed = researcher.get(change("card", job) + "?seen=0")

    assert "HX-Trigger" not in same
    assert "work-changed" in changed["HX-Trigger"]


def test_the_list_costs_the_same_however_many_jobs_there_are(study, researcher):
    request_job(Job.Kind.PROMPT_SEARCH, "one", OF_SEARCH, data=NO_DATA, n_total=3, study=study)
    few = len(statements(lambda: researcher.get(address("jobs"))))
    for name in "abcde":
        request_job(Job.Kind.PROMPT_SEARCH, name, OF_SEARCH, data=NO_DATA, n_total=3, study=study)

    answer = researcher.get(address("jobs"))

    assert len(statements(lambda: researcher.get(address("jobs")))) == few
    assert len(shown(answer).parts("run")) == 6


def test_the_page_of_a_search_costs_the_same_however_many_prompts_it_tried(
    study, told_model, researcher
):
    told_model(lambda prompt: "0.5")
    small, large = searched(study, "small", n_examples=2), searched(study, "large")
    assert small.steps.count() < large.steps.count()

    of_small = statements(lambda: researcher.get(address("job", small.pk)))
    of_large = statements(lambda: researcher.get(address("job", large.pk)))

    assert len(of_small) == len(of_large)


def test_the_study_page_shows_table_1(study, told_model, researcher):
    told_model(lambda prompt: "0.5")
    run = make_run(
        study.dataset,
        metric="sensible",
        signature="sensible|teacher",
        parameters=SsaPrompt("better", "I. ###", "cool", study.dataset.slug).parameters,
        is_yes_at_threshold=True,
    )
    make_scores(run, {"c-one": 1.0, "c-two": 0.8, "c-three": 0.7, "c-four": 0.0, "w-one": 0.2})

    page = shown(researcher.get(address("study-metrics", study.slug)))
    csv = researcher.get(address("report", study.slug, "sensibleness", "csv")).content.decode()

    [table] = page.part("sensibleness").tables
    assert table.column("Slice") == ["cool prompt built on it", "warm", "Mean of the others"]
    assert "mean of the others" in csv


def test_a_line_falls_from_the_highest_error_to_nothing():
    """240 × 60 px with 4 px around: .2 is at the top (4), .1 half-way (30), 0 below (56)."""
    line = line_of([0.2, None, 0.1, 0.0])

    assert line is not None
    assert line.dots == [(4, 4), (120, 30), (236, 56)]
    assert line.path == "M4.0 4.0L120.0 30.0L236.0 56.0"
    assert line_of([0.2]) is None
    assert line_of([0.0, 0.0]) is None


@pytest.mark.parametrize("name", ["jobs", "new-search", "new-distillation"])
def test_pages_are_for_researchers(client_for, rachel, name):
    assert client_for(rachel).get(address(name)).status_code == 403


@pytest.mark.parametrize("name", ["cancel", "resume", "delete"])
def test_changes_are_for_researchers_and_by_post(study, client_for, rachel, researcher, name):
    job = request_job(Job.Kind.PROMPT_SEARCH, "own", OF_SEARCH, data=NO_DATA, n_total=3)

    assert client_for(rachel).post(change(name, job)).status_code == 403
    assert researcher.get(change(name, job)).status_code == 405
    job.refresh_from_db()
    assert job.state == STATE.QUEUED

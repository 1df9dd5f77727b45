"""The page that starts a pull, and the job pages of pulls. The endpoint is a real Oxigraph."""

import pytest
from django.urls import reverse

from evaluation.models import Job
from evaluation.services import graph_pull
from evaluation.services.graph_pull import PullPlan, request_pull
from evaluation.services.job_kinds import do_job
from evaluation.services.jobs import cancel_job, claim_job
from generation.importers.records import KGQuestionRecord, Where
from generation.models import Entity
from generation.retrieval.sparql import Patience
from generation.services.datasets import create_dataset
from generation.services.graphs import store_kg_questions
from tests.makers import statements
from tests.ruler_model import save_ruler_model

pytestmark = pytest.mark.once

STATE = Job.State
NAMES = ("Anne Hathaway", "Annie Hathaway", "nobody")


@pytest.fixture(autouse=True)
def hasty(monkeypatch):
    monkeypatch.setattr(graph_pull, "PATIENCE", Patience(query=5.0, n_tries=1, between=0.0))


@pytest.fixture
def admin(client_for, adam):
    return client_for(adam)


@pytest.fixture
def browser(client_for, rosa):
    return client_for(rosa)


@pytest.fixture
def job(oxigraph):
    """Return a pull that has ended."""
    found = asked_for(oxigraph.url)
    work(found)
    found.refresh_from_db()
    assert found.state == STATE.DONE
    return found


def asked_for(url, *names):
    return request_pull(PullPlan("bards", names or NAMES, endpoint=url, allow_private=True), None)


def work(job) -> None:
    claim = claim_job(job.pk)
    assert claim is not None
    do_job(claim)


def page(name, *arguments):
    return reverse(f"evaluation:{name}", args=arguments)


def words(answer):
    return " ".join(answer.content.decode().split())


def sent(url, **more):
    return {
        "dataset": "bards",
        "names": "Anne Hathaway\r\n\r\nAristotle",
        "endpoint": url,
        "entities": "http://www.wikidata.org/entity/",
        "language": "en",
        "allow_private": "on",
        **more,
    }


def test_an_admin_starts_a_pull_and_sees_what_it_brought(
    admin, oxigraph, django_capture_on_commit_callbacks
):
    first = words(admin.get(reverse("graphs:pull")))
    assert 'value="https://query.wikidata.org/sparql"' in first
    assert "None yet" in first

    answer = admin.post(reverse("graphs:pull"), sent(oxigraph.url))

    job = Job.objects.get()
    assert answer.status_code == 302
    assert answer.url == page("job", job.pk)
    assert str(job.requested_by) == "adam"
    assert job.parameters["names"] == ["Anne Hathaway", "Aristotle"]
    assert job.sent_at
    work(job)
    assert Entity.objects.filter(dataset__name="bards").count() == 3
    assert "bards, pull 1</a>" in words(admin.get(reverse("graphs:pull")))


def test_what_cannot_be_used_is_said_where_it_stands(admin):
    answer = admin.post(reverse("graphs:pull"), sent("http://127.0.0.1:1/", allow_private=""))
    said = words(answer)

    assert answer.status_code == 422
    assert "Not started." in said
    assert "127.0.0.1, a local, private or reserved address, at port 1; expected a public" in said
    assert "Tick “The endpoint may be in our own network” below." in said
    assert 'id="id_endpoint_error"' in said
    assert not Job.objects.exists()


def test_names_that_spacy_reads_are_not_offered_without_a_model(admin, settings, tmp_path):
    offered = 'name="with_mentions" aria-describedby="id_with_mentions_helptext" id'
    settings.SPACY_MODEL = "not_installed"
    without = words(admin.get(reverse("graphs:pull")))
    settings.SPACY_MODEL = str(save_ruler_model(tmp_path))
    with_one = words(admin.get(reverse("graphs:pull")))

    assert "No spaCy model is installed" in without
    assert offered not in without
    assert "No spaCy model is installed" not in with_one
    assert offered in with_one


def test_the_page_says_how_much_the_graph_of_a_dataset_lacks(admin):
    dataset = create_dataset("Old bards")
    where = Where("hand-made", 1)
    store_kg_questions(
        dataset, [KGQuestionRecord(where, "q1", "Who?", ("Q692", "Q36301"), None, None)]
    )

    said = words(admin.get(reverse("graphs:pull"), {"dataset": "old-bards"}))

    assert 'value="Old bards"' in said
    assert "2 entities of Old bards are lacking." in said
    assert '<option value="Old bards">' in said


def test_the_page_costs_the_same_however_many_pulls_there_are(admin, job):
    n_few = len(statements(lambda: admin.get(reverse("graphs:pull"))))
    for name in ("Rome", "Pisa", "Paris"):
        asked_for("http://127.0.0.1:1/", name)

    assert len(statements(lambda: admin.get(reverse("graphs:pull")))) == n_few


def test_a_pull_shows_its_choices_sums_and_names(browser, admin, job, oxigraph):
    said = words(browser.get(page("job", job.pk)))
    said_to_admins = words(admin.get(page("job", job.pk)))

    assert f"<code>{oxigraph.url}</code>" in said_to_admins
    assert "our own network allowed" in said_to_admins
    assert oxigraph.url not in said
    assert "<strong>3</strong> of 3 names" in said
    assert "Anne Hathaway <code>Q36301</code>" in said
    assert 'by alias</span> <span class="tag">there already</span>' in said
    assert "not found</span>" in said
    assert "Left out: identifiers and files" in said
    assert "Start a run with it" not in said


def test_the_page_of_a_pull_costs_the_same_however_many_names_it_has(browser, job, oxigraph):
    n_few = len(statements(lambda: browser.get(page("job", job.pk))))
    longer = asked_for(oxigraph.url, *(f"Q{n}" for n in range(1, 40)))
    work(longer)

    assert len(statements(lambda: browser.get(page("job", longer.pk)))) == n_few
    assert "1 to 39 of 39 names" in words(browser.get(page("job", longer.pk)))


def test_a_pull_whose_endpoint_is_down_says_so_and_can_be_tried_again(
    admin, django_capture_on_commit_callbacks
):
    job = asked_for("http://127.0.0.1:1/sparql")
    work(job)

    said = words(admin.get(page("job", job.pk)))
    assert "It stopped.</strong> http://127.0.0.1:1/sparql: no connection" in said
    assert "Try again" in said
    assert "Nothing yet" in said

    admin.post(page("resume-job", job.pk))
    job.refresh_from_db()
    assert job.state == STATE.QUEUED


def test_pulls_stand_in_the_list_of_jobs(browser, job):
    said = words(browser.get(page("jobs")))

    assert "Knowledge graph pulled into bards" in said
    assert "An admin’s to change." in said


def test_progress_of_a_pull_is_told_piece_by_piece(browser, oxigraph):
    job = asked_for(oxigraph.url)

    said = words(browser.get(page("job-progress", job.pk), {"seen": "0"}))

    assert "<strong>0</strong> of 3 names" in said


@pytest.mark.parametrize("action", ["cancel-job", "resume-job", "delete-job"])
def test_only_admins_cancel_resume_and_delete_pulls(admin, browser, oxigraph, action):
    job = asked_for(oxigraph.url)
    if action != "cancel-job":
        cancel_job(job, None)
    before = Job.objects.values().get()

    assert browser.post(page(action, job.pk)).status_code == 403
    assert Job.objects.values().get() == before
    assert "An admin’s to change." in words(browser.get(page("job", job.pk)))

    assert admin.post(page(action, job.pk)).status_code == 302
    assert Job.objects.values().first() != before


def test_deleting_a_pull_says_that_what_it_brought_stays(admin, job):
    said = words(admin.post(page("delete-job", job.pk), follow=True))

    assert "bards, pull 1 is deleted. What it pulled stays." in said
    assert Entity.objects.count() == 2


def test_researchers_do_not_start_pulls(browser):
    assert browser.get(reverse("graphs:pull")).status_code == 403
    assert browser.post(reverse("graphs:pull"), sent("https://host/")).status_code == 403

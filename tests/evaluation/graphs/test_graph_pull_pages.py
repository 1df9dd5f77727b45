"""The page that starts a pull, and the job pages of pulls. The endpoint is a real Oxigraph."""

import pytest
from django.urls import reverse

from evaluation.graphs.services import graph_pull
from evaluation.graphs.services.graph_pull import PullPlan, request_pull
from evaluation.jobs.kinds import JOBS
from evaluation.jobs.services import cancel_job
from evaluation.models import Job
from generation.models import Entity
from generation.records import KGQuestionRecord, Where
from generation.retrieval.sparql import EndpointPatience
from generation.services.datasets import create_dataset
from generation.services.graphs import store_kg_questions
from tests.makers import statements
from tests.ruler_model import save_ruler_model
from tests.shown import shown

pytestmark = pytest.mark.once

STATE = Job.State
NAMES = ("Anne Hathaway", "Annie Hathaway", "nobody")


@pytest.fixture(autouse=True)
def hasty(monkeypatch):
    monkeypatch.setattr(graph_pull, "PATIENCE", EndpointPatience(query=5.0, n_tries=1, between=0.0))


@pytest.fixture
def admin(client_for, adam):
    return client_for(adam)


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
    claim = JOBS.claim(job.pk)
    assert claim is not None
    JOBS.do(claim)


def change(action, job):
    return reverse(f"work:{action}", args=["graph-pull", job.pk])


def address(name, *arguments):
    return reverse(f"evaluation:{name}", args=arguments)


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
    first = shown(admin.get(reverse("graphs:pull")))
    assert first.fields["endpoint"] == "https://query.wikidata.org/sparql"
    assert "None yet" in first.headings

    answer = admin.post(reverse("graphs:pull"), sent(oxigraph.url, seen_calls="2"))

    job = Job.objects.get()
    assert answer.status_code == 302
    assert answer.url == address("job", job.pk)
    assert str(job.requested_by) == "adam"
    assert job.parameters["names"] == ["Anne Hathaway", "Aristotle"]
    assert job.sent_at
    work(job)
    assert Entity.objects.filter(dataset__name="bards").count() == 3
    pulls = shown(admin.get(reverse("graphs:pull"))).table("Last pulls")
    assert pulls.row("bards, pull 1")["New entities"] == "3"
    assert pulls.links == [{"bards, pull 1": address("job", job.pk)}]


def test_what_cannot_be_used_is_said_where_it_stands(admin):
    answer = admin.post(reverse("graphs:pull"), sent("http://127.0.0.1:1/", allow_private=""))
    page = shown(answer)

    assert answer.status_code == 422
    assert any("Not started." in message for message in page.messages)
    said = page.errors["endpoint"]
    assert "127.0.0.1 is a local, private or reserved address (port 1)" in said
    assert "tick “Allow an endpoint in our own network”" in said
    assert not Job.objects.exists()


def test_names_that_spacy_reads_are_not_offered_without_a_model(admin, settings, tmp_path):
    settings.SPACY_MODEL = "not_installed"
    without = shown(admin.get(reverse("graphs:pull")))
    settings.SPACY_MODEL = str(save_ruler_model(tmp_path))
    with_one = shown(admin.get(reverse("graphs:pull")))

    assert "No spaCy model is installed" in without.text
    assert "with_mentions" not in without.fields
    assert "No spaCy model is installed" not in with_one.text
    assert "with_mentions" in with_one.fields


def test_the_page_says_how_much_the_graph_of_a_dataset_lacks(admin):
    dataset = create_dataset("Old bards")
    where = Where("hand-made", 1)
    store_kg_questions(
        dataset, [KGQuestionRecord(where, "q1", "Who?", ("Q692", "Q36301"), None, None)]
    )

    answer = admin.get(reverse("graphs:pull"), {"dataset": "old-bards"})
    page = shown(answer)

    assert page.fields["dataset"] == "Old bards"
    assert "2 entities of Old bards are lacking." in page.text
    assert '<option value="Old bards">' in answer.text


def test_the_page_costs_the_same_however_many_pulls_there_are(admin, job):
    n_few = len(statements(lambda: admin.get(reverse("graphs:pull"))))
    for name in ("Rome", "Pisa", "Paris"):
        asked_for("http://127.0.0.1:1/", name)

    assert len(statements(lambda: admin.get(reverse("graphs:pull")))) == n_few


def test_a_pull_shows_its_choices_sums_and_names(researcher, admin, job, oxigraph):
    answer = researcher.get(address("job", job.pk))
    page, of_admins = shown(answer), shown(admin.get(address("job", job.pk)))

    came_from = dict(of_admins.table("Choices").rows)["From"]
    assert came_from == f"{oxigraph.url} our own network allowed"
    assert oxigraph.url not in answer.text
    assert "3 of 3 names" in page.text
    label, alias, nobody = page.table("Names").rows
    assert label[1] == "Anne Hathaway"
    assert label[2].startswith("Anne Hathaway Q36301")
    assert alias[1:] == ["Annie Hathaway", "Anne Hathaway Q36301 human by alias already there", "0"]
    assert nobody[1:] == ["nobody", "not found", "0"]
    assert dict(page.table("Sums").rows)["Left out: identifiers and files"] == "3"
    assert "Start a run with it" not in page.text


def test_the_page_of_a_pull_costs_the_same_however_many_names_it_has(researcher, job, oxigraph):
    n_few = len(statements(lambda: researcher.get(address("job", job.pk))))
    longer = asked_for(oxigraph.url, *(f"Q{n}" for n in range(1, 40)))
    work(longer)

    assert len(statements(lambda: researcher.get(address("job", longer.pk)))) == n_few
    assert len(shown(researcher.get(address("job", longer.pk))).table("Names").rows) == 39


def test_a_pull_whose_endpoint_is_down_says_so_and_can_be_tried_again(
    admin, django_capture_on_commit_callbacks
):
    job = asked_for("http://127.0.0.1:1/sparql")
    work(job)

    page = shown(admin.get(address("job", job.pk)))
    said = "It stopped. http://127.0.0.1:1/sparql: no connection"
    assert any(message.startswith(said) for message in page.messages)
    assert "Try again bards, pull 1" in page.buttons
    assert "Nothing yet" in page.headings

    admin.post(change("resume", job))
    job.refresh_from_db()
    assert job.state == STATE.QUEUED


def test_pulls_stand_in_the_list_of_all_work(researcher, job):
    page = shown(researcher.get(reverse("work:all")))

    assert "bards, pull 1 done" in page.headings
    assert "Knowledge graph pulled into bards" in page.text
    assert "Only an admin can change this." not in page.text  # nothing is left to change


def test_progress_of_a_pull_is_told_piece_by_piece(researcher, oxigraph):
    job = asked_for(oxigraph.url)

    page = shown(researcher.get(change("card", job), {"seen": "0"}))

    assert "0 of at most 3 names" in page.text


@pytest.mark.parametrize("action", ["cancel", "resume", "delete"])
def test_only_admins_cancel_resume_and_delete_pulls(admin, researcher, oxigraph, action):
    job = asked_for(oxigraph.url)
    if action != "cancel":
        cancel_job(job, None)
    before = Job.objects.values().get()

    assert researcher.post(change(action, job)).status_code == 403
    assert Job.objects.values().get() == before
    assert "Only an admin can change this." in shown(researcher.get(address("job", job.pk))).text

    assert admin.post(change(action, job)).status_code == 302
    assert Job.objects.values().first() != before


def test_deleting_a_pull_says_that_what_it_brought_stays(admin, job):
    page = shown(admin.post(change("delete", job), follow=True))

    assert page.messages[0] == (
        "bards, pull 1 is deleted. The pulled entities stay in the graph. The record of names and "
        "what was found for them is deleted."
    )
    assert Entity.objects.count() == 2


def test_researchers_do_not_start_pulls(researcher):
    assert researcher.get(reverse("graphs:pull")).status_code == 403
    assert researcher.post(reverse("graphs:pull"), sent("https://host/")).status_code == 403

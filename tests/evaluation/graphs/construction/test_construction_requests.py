"""Requesting, resuming and deleting constructions: refusals, and requests that are the same."""

import pytest
from django.urls import reverse

from evaluation.graphs.construction.services import constructions as service
from evaluation.graphs.construction.services.constructions import (
    request_construction,
    resume_construction,
)
from evaluation.jobs.kinds import kind_of
from evaluation.jobs.services import JobError, cancel_job
from evaluation.models import Job
from generation.models import Construction, ConstructionEntry, Dataset
from generation.services.constructions import ConstructionError, publish
from tests.construction_material import add_failed, make_construction
from tests.evaluation.graphs.construction.constructions import (
    asked_for,
    construction,
    listed,
    plan,
    writer_server,
)
from tests.evaluation.graphs.pulls import HASTY, worked

pytestmark = pytest.mark.both

STATE = Job.State


@pytest.fixture(autouse=True)
def hasty(monkeypatch):
    monkeypatch.setattr(service, "PATIENCE", HASTY)


@pytest.fixture
def writer():
    with writer_server() as server:
        listed(server)
        yield server


@pytest.mark.parametrize(
    ("choices", "field"),
    [
        ({"name": " "}, "name"),
        ({"entries": ()}, "entries"),
        ({"model": "nobody"}, "model"),
        ({"language": "English"}, "language"),
        ({"entities": "wd:"}, "entities"),
        ({"endpoint": "ftp://somewhere"}, "endpoint"),
        ({"allow_private": False}, "endpoint"),
    ],
    ids=str,
)
def test_what_cannot_be_used_is_refused_and_nothing_is_made(
    family_graph, writer, tmp_path, choices, field
):
    with pytest.raises(JobError) as refused:
        asked_for(tmp_path, family_graph.url, **choices)
    assert refused.value.field == field
    assert not Construction.objects.exists()
    assert not Job.objects.exists()


def test_a_name_belongs_to_one_construction(family_graph, writer, tmp_path):
    asked_for(tmp_path, family_graph.url)
    with pytest.raises(JobError, match=r"has other choices \(seed\)"):
        asked_for(tmp_path, family_graph.url, seed=14)


def test_a_file_of_another_name_is_the_same_file(family_graph, writer, tmp_path):
    job = asked_for(tmp_path, family_graph.url)
    assert asked_for(tmp_path, family_graph.url, file="copy.csv").pk == job.pk


def test_entries_that_need_no_query_are_not_looked_up(writer, tmp_path):
    """No query is sent: the endpoint's address has no server."""
    made = plan(tmp_path, "http://127.0.0.1:1/sparql")
    made = made._replace(entries=made.entries[8:12])
    job = worked(request_construction(made, None))

    assert job.state == STATE.DONE
    assert job.result["n_entries"] == {"left_out": 4}
    assert not writer.requests


# --- gone on with -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "goes_on", "becomes"),
    [
        (STATE.DONE, True, "writing"),
        (STATE.FAILED, True, "failed"),
        (STATE.CANCELLED, True, "failed"),
        (STATE.QUEUED, False, "failed"),
        (STATE.RUNNING, False, "failed"),
    ],
)
def test_failed_entries_are_tried_again_once_all_is_done(state, goes_on, becomes):
    """A stopped construction goes on as if never stopped, or its result would be different."""
    made = make_construction(state=state)
    failed = add_failed(made)

    assert resume_construction(made, None) == goes_on

    failed.refresh_from_db()
    made.job.refresh_from_db()
    assert failed.state == becomes
    assert made.job.state == (STATE.QUEUED if goes_on else state)


def test_what_is_done_without_failed_entries_does_not_go_on():
    made = make_construction()
    assert not resume_construction(made, None)
    assert Job.objects.get().state == STATE.DONE


def test_pages_have_it_go_on_in_the_same_way(client_for, adam):
    made = make_construction()
    failed = add_failed(made)

    client_for(adam).post(reverse("work:resume", args=["construction", made.job.pk]))

    failed.refresh_from_db()
    assert failed.state == "writing"
    assert Job.objects.get().state == STATE.QUEUED


# --- cancelled and deleted --------------------------------------------------------------------


def test_what_is_not_at_its_end_makes_no_dataset(writer, family_graph, tmp_path):
    asked_for(tmp_path, family_graph.url)
    with pytest.raises(ConstructionError, match="16 entries are not built yet"):
        publish(construction(), "Painters", "complex", None)
    assert not Dataset.objects.exists()


def test_a_construction_that_goes_on_is_not_deleted(writer, family_graph, tmp_path):
    job = asked_for(tmp_path, family_graph.url)
    with pytest.raises(JobError, match="Cancel it first"):
        kind_of(job).delete(job, None)
    cancel_job(job, None)
    kind_of(job).delete(job, None)
    assert not ConstructionEntry.objects.exists()


def test_the_page_does_not_delete_what_goes_on(client_for, adam):
    made = make_construction(state=STATE.RUNNING)
    answer = client_for(adam).post(reverse("constructions:delete", args=[made.pk]), follow=True)

    assert "Cancel it first" in answer.content.decode()
    assert Construction.objects.exists()
    assert Job.objects.exists()

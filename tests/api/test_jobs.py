"""Jobs of every kind by API: researchers read them, admins change those that ask other hosts."""

import pytest

from evaluation.jobs import kinds
from evaluation.jobs.services import request_job
from evaluation.models import Job
from tests.construction_material import add_failed, make_construction
from tests.makers import statements

pytestmark = pytest.mark.once

JOBS = "/api/v1/jobs/"
WORK = "/api/v1/work/"


def job(name="one", kind=Job.Kind.PROMPT_SEARCH, **parameters):
    return request_job(kind, name, parameters, n_total=4, data={"examples": [1]})


def test_jobs_are_listed_newest_first_with_how_far_they_are(read):
    first, second = job("one", model="m", location="/models/m"), job("two", Job.Kind.GRAPH_PULL)

    found = read("jobs/")

    assert [each["id"] for each in found["results"]] == [second.pk, first.pk]
    [of_search] = read("jobs/", kind="prompt_search")["results"]
    assert of_search["parameters"] == {"model": "m"}  # neither its location nor what was read
    assert (of_search["state"], of_search["n_done"], of_search["n_total"]) == ("queued", 0, 4)
    assert read(f"jobs/{first.pk}/") == of_search
    assert [each["name"] for each in read("jobs/", state="queued")["results"]] == ["two", "one"]
    assert read("jobs/", state="done")["results"] == []


def test_a_filter_that_means_nothing_is_refused(refused):
    assert "kind" in refused("jobs/", kind="any")
    assert "dataset" in refused("jobs/", dataset="nowhere")
    assert "colour" in refused("jobs/", colour="red")


def test_more_jobs_take_no_more_queries(api):
    job("one")
    n_with_one = len(statements(lambda: api.get(JOBS)))
    for n in range(5):
        job(f"more {n}")

    assert len(statements(lambda: api.get(JOBS))) == n_with_one


def test_a_job_is_cancelled_and_gone_on_with(api, django_capture_on_commit_callbacks):
    pk = job().pk
    address = f"{WORK}prompt-search/{pk}/"

    stopped = api.post(f"{address}cancel/")
    twice = api.post(f"{address}cancel/")
    with django_capture_on_commit_callbacks() as sent:
        goes_on = api.post(f"{address}resume/")
    again = api.post(f"{address}resume/")

    assert (stopped.status_code, stopped.json()["state"]) == (200, "cancelled")
    assert (twice.status_code, twice.json()["detail"]) == (
        409,
        "This work cannot be cancelled, because it has ended.",
    )
    assert (goes_on.status_code, goes_on.json()["state"], len(sent)) == (202, "queued", 1)
    assert again.status_code == 409
    assert kinds.JOBS.claim(pk) is not None


@pytest.mark.parametrize("kind", [Job.Kind.GRAPH_PULL, Job.Kind.CONSTRUCTION])
def test_what_asks_other_machines_is_changed_by_admins_alone(api, admin, kind):
    one = job(kind=kind)
    address = f"{WORK}{kind.replace('_', '-')}/{one.pk}/"

    for change, before, after in (
        ("cancel", "queued", "cancelled"),
        ("resume", "cancelled", "queued"),
    ):
        assert api.post(f"{address}{change}/").status_code == 403
        one.refresh_from_db()
        assert one.state == before
        assert admin.post(f"{address}{change}/").json()["state"] == after


def test_a_construction_goes_on_with_its_failed_entries_and_is_not_deleted(admin):
    made = make_construction()
    failed = add_failed(made)

    assert admin.delete(f"{JOBS}{made.job.pk}/").status_code == 405
    address = f"{WORK}construction/{made.job.pk}/"
    assert admin.post(f"{address}resume/").json()["state"] == "queued"

    failed.refresh_from_db()
    assert failed.state == "writing"

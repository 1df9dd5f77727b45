"""All long work in one list: who sees what, its filters, and what its buttons and its API do."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags

from accounts.services import create_api_token
from annotation.models import Study
from evaluation.models import Job, MetricRun
from generation.models import Grid, Import, Sample
from tests.evaluation.metric_runs import cancelled, done, mill, requested
from tests.generation import grid_runs
from tests.makers import statements
from tests.shown import shown
from work import kinds as work_kinds_module
from work.kinds import WorkKind, work_kinds
from work.pages import GROUPS

pytestmark = pytest.mark.once

ALL = "/work/"
API = "/api/v1/work/"
KEYS = {
    *("metric-run", "grid", "sample", "import", "prompt-search", "distillation"),
    *("graph-pull", "construction"),
}


def bearer(user):
    return {"Authorization": f"Bearer {create_api_token(user, 'script')}"}


def bar_text(researcher):
    return " ".join(strip_tags(researcher.get("/work/bar/").text).split())


def work_of_every_kind(dataset, user) -> None:
    """Make one row of each kind that goes on; the newest is made last."""
    requested(dataset, user)
    Grid.objects.create(dataset=dataset, name="grid", choices={}, state="running")
    Sample.objects.create(dataset=dataset, name="sample", parameters={})
    Import.objects.create(requested_by=user, file_name="votes.csv", name="votes")
    for kind in Job.Kind.values:
        Job.objects.create(kind=kind, name=f"a {kind}")


def change(action, kind, work):
    return reverse(f"work:{action}", args=[kind, work.pk])


# --- the list -------------------------------------------------------------------------------


def test_every_kind_is_in_one_list_newest_first(tmp_path, adam, client_for):
    work_of_every_kind(mill(tmp_path), adam)

    page = shown(client_for(adam).get(ALL))

    names = [part.headings[0] for part in page.parts("run")]
    assert names[0] == "a construction queued"
    assert names[-1] == "Auto-AIS, v3, localized K = 2 queued"
    assert len(names) == len(KEYS)
    assert set(work_kinds()) == KEYS


def test_what_needs_a_decision_comes_first_and_runs_of_one_title_are_told_apart(
    tmp_path, researcher
):
    dataset = mill(tmp_path)
    Grid.objects.create(dataset=dataset, name="planned", choices={}, state="planned")
    requested(dataset)
    done(dataset, evidence="golden", window=0)
    done(dataset, window=0)

    page = shown(researcher.get(ALL))

    assert [part.headings[0] for part in page.parts("run")] == [
        "planned planned",
        "Auto-AIS, v3, localized K = 2 queued",
        "Auto-AIS, v3, whole, shown evidence done",
        "Auto-AIS, v3, whole, golden evidence done",
    ]
    groups = [said for said in page.headings if said in GROUPS]
    assert groups == ["Needs you", "Running", "Finished"]


def test_the_list_costs_the_same_however_much_work_there_is(tmp_path, rosa, researcher):
    dataset = mill(tmp_path)
    work_of_every_kind(dataset, rosa)
    researcher.get(ALL)
    few = len(statements(lambda: researcher.get(ALL)))

    for n in range(10):  # all are on one page
        Job.objects.create(kind="prompt_search", name=f"search {n}")

    assert len(statements(lambda: researcher.get(ALL))) == few


def test_filters_leave_a_kind_a_state_and_what_is_mine(tmp_path, rosa, researcher):
    dataset = mill(tmp_path)
    cancelled(dataset, rosa)
    done(dataset, None, window=0)
    Grid.objects.create(dataset=dataset, name="planned", choices={}, state="planned")

    def names(**wanted):
        return [part.headings[0] for part in shown(researcher.get(ALL, wanted)).parts("run")]

    assert names(kind="grid") == ["planned planned"]
    assert names(state="to-decide") == ["planned planned"]
    assert names(state="done") == ["Auto-AIS, v3, whole done"]
    assert names(mine="yes") == ["Auto-AIS, v3, localized K = 2 cancelled"]
    assert names(state="failed") == []
    assert len(names(state="nonsense", page="-7")) == 3
    assert "No job is like that" in shown(researcher.get(ALL, {"state": "failed"})).headings


def test_the_work_on_a_dataset_is_on_its_page_and_on_that_of_its_graph(
    tmp_path, rosa, researcher, client
):
    here, elsewhere = mill(tmp_path / "here"), mill(tmp_path / "elsewhere", name="elsewhere")
    work_of_every_kind(here, rosa)
    Import.objects.update(dataset=here)
    study = Study.objects.create(name="a", slug="a", dataset=here, scheme={}, raters_per_unit=3)
    Job.objects.filter(kind__in=["graph_pull", "construction"]).update(dataset=here)
    Job.objects.exclude(dataset=here).update(study=study)
    requested(elsewhere, rosa, window=0)
    done(here, rosa, window=0)

    def names(address, **wanted):
        cards = shown(researcher.get(address, wanted)).parts("run")
        return [card.headings[0].rsplit(" ", 1)[0] for card in cards]

    of_here = [f"a {kind}" for kind in reversed(Job.Kind.values)]
    of_here += ["votes.csv", "sample", "grid", "Auto-AIS, v3, localized K = 2"]
    assert names(f"/data/{here.slug}/") == names(f"/graphs/{here.slug}/") == of_here
    assert names(f"/data/{elsewhere.slug}/") == ["Auto-AIS, v3, whole"]
    assert names(ALL, dataset=here.slug) == [*of_here, "Auto-AIS, v3, whole"]
    assert names(ALL, dataset="nowhere") == []
    asked = {"dataset": elsewhere.slug}
    rows = client.get(API, asked, headers=bearer(rosa)).json()["results"]
    assert [row["dataset"] for row in rows] == [elsewhere.name]


def test_imports_are_listed_for_those_who_may_import(rosa, adam, client_for, settings):
    settings.RESEARCHERS_IMPORT = False
    upload = Import.objects.create(requested_by=adam, file_name="votes.csv", name="votes")

    assert "votes.csv" not in client_for(rosa).get(ALL).text
    assert client_for(rosa).get(f"/work/import/{upload.pk}/").status_code == 403
    assert client_for(rosa).post(change("cancel", "import", upload)).status_code == 403
    assert "votes.csv" in client_for(adam).get(ALL).text


@pytest.mark.parametrize("address", [ALL, "/work/bar/", "/work/grid/1/"])
def test_the_list_is_for_researchers(rachel, client_for, address):
    assert client_for(rachel).get(address).status_code == 403


# --- the buttons ----------------------------------------------------------------------------


def test_a_run_and_a_grid_are_cancelled_resumed_and_deleted_alike(tmp_path, rosa, researcher):
    run = requested(mill(tmp_path / "mill"), rosa)
    grid = grid_runs.started(grid_runs.valley(tmp_path / "valley"), name="grid")

    for kind, work in (("metric-run", run), ("grid", grid)):
        for action in ("cancel", "resume", "cancel"):
            assert researcher.post(change(action, kind, work)).status_code == 302
            work.refresh_from_db()
            assert work.state == ("running" if action == "resume" else "cancelled")
        researcher.post(change("delete", kind, work))
        assert not type(work).objects.filter(pk=work.pk).exists()


def test_a_sample_and_an_import_that_wait_are_cancelled(tmp_path, adam, client_for):
    sample = Sample.objects.create(dataset=mill(tmp_path), name="sample", parameters={})
    researcher = client_for(adam)

    researcher.post(change("cancel", "sample", sample))
    sample.refresh_from_db()
    assert sample.state == Sample.State.CANCELLED
    researcher.post(change("resume", "sample", sample))
    sample.refresh_from_db()
    assert (sample.state, sample.finished_at) == (Sample.State.QUEUED, None)


def test_what_goes_on_is_not_deleted_and_says_why(tmp_path, rosa, researcher):
    run = requested(mill(tmp_path), rosa)

    page = shown(researcher.post(change("delete", "metric-run", run), follow=True))

    assert page.messages[0] == "This run is going on. Cancel it first."
    assert MetricRun.objects.exists()


@pytest.mark.parametrize("action", ["cancel", "resume", "delete"])
def test_changes_are_by_post_and_for_researchers(tmp_path, rosa, rachel, client_for, action):
    run = requested(mill(tmp_path), rosa)

    assert client_for(rachel).post(change(action, "metric-run", run)).status_code == 403
    assert client_for(rosa).get(change(action, "metric-run", run)).status_code == 405
    assert client_for(rosa).post(f"/work/loaf/{run.pk}/{action}/").status_code == 404
    assert client_for(rosa).post(f"/work/grid/999/{action}/").status_code == 404
    run.refresh_from_db()
    assert run.state == MetricRun.State.RUNNING


# --- the bar at the top ---------------------------------------------------------------------


def test_the_bar_says_what_of_mine_runs_and_what_has_failed_since_i_looked(
    tmp_path, rosa, adam, researcher
):
    dataset = mill(tmp_path)
    assert bar_text(researcher) == ""

    run = requested(dataset, rosa)
    Sample.objects.create(dataset=dataset, name="another's", parameters={}, requested_by=adam)
    assert bar_text(researcher) == "1 running"

    MetricRun.objects.filter(pk=run.pk).update(state="failed", finished_at=timezone.now())
    assert bar_text(researcher) == "1 failed"
    researcher.get(ALL)
    assert bar_text(researcher) == ""


def test_failures_of_long_ago_are_no_news(tmp_path, rosa, researcher):
    run = requested(mill(tmp_path), rosa)
    two_days_ago = timezone.now() - timedelta(days=2)
    MetricRun.objects.filter(pk=run.pk).update(state="failed", finished_at=two_days_ago)

    assert bar_text(researcher) == ""


# --- the API --------------------------------------------------------------------------------


def test_the_api_lists_reads_cancels_resumes_and_deletes(tmp_path, rosa, client):
    run = requested(mill(tmp_path), rosa)
    Job.objects.create(kind="graph_pull", name="pull")
    headers = bearer(rosa)

    listed = client.get(API, {"state": "going-on", "mine": "true"}, headers=headers).json()
    assert [row["id"] for row in listed["results"]] == [run.pk]
    assert listed["count"] == 1
    one = f"{API}metric-run/{run.pk}/"
    assert client.get(one, headers=headers).json() == listed["results"][0]
    assert listed["results"][0]["page"] == f"/metrics/{run.pk}/"

    assert client.delete(one, headers=headers).status_code == 409
    assert client.post(f"{one}cancel/", headers=headers).json()["state"] == "cancelled"
    assert client.post(f"{one}cancel/", headers=headers).status_code == 409
    assert client.post(f"{one}resume/", headers=headers).status_code == 202
    client.post(f"{one}cancel/", headers=headers)
    assert client.delete(one, headers=headers).status_code == 204
    assert client.get(one, headers=headers).status_code == 404


def test_the_api_refuses_what_it_does_not_know(tmp_path, rosa, client):
    headers = bearer(rosa)
    pull = Job.objects.create(kind="graph_pull", name="pull")

    for wrong in ({"kind": "loaf"}, {"state": "stale"}, {"mine": "perhaps"}, {"colour": "red"}):
        assert client.get(API, wrong, headers=headers).status_code == 400
    assert client.get(API).status_code == 401
    assert client.get(f"{API}loaf/1/", headers=headers).status_code == 404
    assert client.post(f"{API}graph-pull/{pull.pk}/cancel/", headers=headers).status_code == 403


# --- a kind that is added -------------------------------------------------------------------


class LoafKind(WorkKind[Sample]):
    """A kind of work that only this test knows; its rows are those of samples."""

    key = "loaf"
    noun = "loaf of bread"
    model = Sample
    view = "generation:sample"
    stays = "The crumbs stay."

    def url(self, row):
        return f"/loaves/{row.pk}/"

    def cancel(self, work, user):
        return bool(Sample.objects.filter(pk=work.pk, state="queued").update(state="cancelled"))

    def resume(self, work, user):
        return bool(Sample.objects.filter(pk=work.pk, state="cancelled").update(state="queued"))

    def delete(self, work, user):
        work.delete()


def test_a_new_kind_has_its_card_its_buttons_and_its_api(
    tmp_path, rosa, researcher, client, monkeypatch
):
    """It takes a class and a line that registers it."""
    monkeypatch.setattr(work_kinds_module, "_discovered", lambda: {"loaf": LoafKind()})
    loaf = Sample.objects.create(dataset=mill(tmp_path), name="rye", parameters={}, n_total=4)

    card = shown(researcher.get(ALL)).parts("run")[0]
    assert card.text.startswith("rye queued Loaf of bread, mill")
    assert "Cancel rye" in card.buttons
    one = f"{API}loaf/{loaf.pk}/"
    assert client.get(one, headers=bearer(rosa)).json()["page"] == f"/loaves/{loaf.pk}/"

    for action, state in (("cancel", "cancelled"), ("resume", "queued"), ("cancel", "cancelled")):
        researcher.post(change(action, "loaf", loaf))
        loaf.refresh_from_db()
        assert loaf.state == state
    page = shown(researcher.post(change("delete", "loaf", loaf), follow=True))
    assert "rye is deleted. The crumbs stay." in page.messages
    assert not Sample.objects.exists()

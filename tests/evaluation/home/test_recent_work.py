"""Long work on home: progress of what runs, and what ended since a moment, failures first."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from accounts.access import Role
from accounts.models import User
from accounts.services import create_user
from evaluation.models import Job, MetricRun
from generation.models import Grid, Import, Sample
from tests.evaluation.metric_runs import BARE, cancelled, done, mill, requested, work
from tests.generation import grid_runs
from tests.makers import import_rows, pilot_rows, response_row
from work.kinds import kinds_for
from work.pages import SHOWN, ListedWork, LongWork, recent_work

pytestmark = pytest.mark.once


def seen(since: datetime | None = None, role: Role = Role.ADMIN) -> LongWork:
    """Return the work as a person in this role sees it; by default that of the last day."""
    reader = create_user(f"reader {User.objects.count()}", [role], None)
    return recent_work(kinds_for(reader), since or timezone.now() - timedelta(days=1), reader)


def said(work: list[ListedWork]) -> list[tuple[str, str, str]]:
    return [(each.kind.key, each.row.name, each.row.outcome) for each in work]


def test_a_run_has_its_title_its_dataset_and_the_share_of_its_chunks(rosa, tmp_path):
    run = work(requested(mill(tmp_path, n_responses=40), rosa), 1)
    n_chunks = run.chunks.count()
    assert n_chunks > 1

    [listed] = seen().going_on

    row = listed.row
    assert (row.kind, row.name) == ("metric-run", "Auto-AIS, v3, localized K = 2")
    assert (row.dataset, row.percent) == ("mill", 100 // n_chunks)
    assert listed.url == f"/metrics/{run.pk}/"


RUNNING = {"state": "running", "lease_until": "2026-01-01T00:00:00Z"}


def test_every_kind_of_work_is_listed_while_it_goes_on(rosa, tmp_path):
    dataset = mill(tmp_path)
    requested(dataset, rosa)
    grid_runs.started(grid_runs.valley(tmp_path), name="grid")
    Job.objects.create(kind="prompt_search", name="search", n_done=3, n_total=12, **RUNNING)
    Sample.objects.create(
        dataset=dataset, name="sample", parameters={}, n_done=1, n_total=4, **RUNNING
    )
    Import.objects.create(requested_by=rosa, file_name="votes.csv", name="votes")

    rows = {each.kind.key: each for each in seen().going_on}

    assert {kind: each.row.percent for kind, each in rows.items()} == {
        "metric-run": 0,
        "grid": 0,
        "prompt-search": 25,
        "sample": 25,
        "import": None,
    }
    assert rows["sample"].url == f"/data/mill/samples/{rows['sample'].row.pk}/"


def test_failures_come_first_then_what_ended_last(rosa, tmp_path):
    dataset = mill(tmp_path)
    done(dataset, rosa, window=0)
    cancelled(dataset, rosa, flavor="v2")
    without_evidence = [response_row("r", BARE, setup="s")]
    done(mill(tmp_path, name="gaps", responses=without_evidence), rosa, evidence="golden")
    Job.objects.create(kind="graph_pull", name="pull", state="failed", finished_at=timezone.now())

    ended = seen().ended

    assert said(ended) == [
        ("graph-pull", "pull", "failed"),
        ("metric-run", "Auto-AIS, v3, localized K = 2", "failed in part"),
        ("metric-run", "Auto-AIS, v2, localized K = 2", "cancelled"),
        ("metric-run", "Auto-AIS, v3, whole", "done"),
    ]
    assert ended[1].row.n_missing == 1


def test_a_grid_whose_calls_failed_has_failed_in_part(tmp_path):
    grid_runs.failed_in_part(grid_runs.valley(tmp_path, 4))

    [grid] = seen().ended

    assert said([grid]) == [("grid", "too small", "failed in part")]
    # 4 examples without evidence, and 3 with the golden evidence that they have
    assert grid.row.n_missing == 7


def test_what_ended_before_is_not_listed(rosa, tmp_path):
    run = done(mill(tmp_path), rosa)
    assert run.finished_at

    assert said(seen(run.finished_at).ended) == []
    assert len(seen(run.finished_at - timedelta(seconds=1)).ended) == 1


def test_imported_scores_are_no_work(tmp_path):
    import_rows(tmp_path / "pilot", **pilot_rows())

    assert MetricRun.objects.filter(is_imported=True).exists()
    assert seen() == LongWork([], [], False, False)


def test_imports_are_for_those_who_may_import(rosa, settings):
    settings.RESEARCHERS_IMPORT = False
    Import.objects.create(requested_by=rosa, file_name="votes.csv", name="votes")

    assert len(seen().going_on) == 1
    assert seen(role=Role.RESEARCHER).going_on == []


def test_addresses_in_our_network_are_for_admins(rosa):
    endpoint = "http://10.0.0.7/sparql"
    Job.objects.create(
        kind="graph_pull",
        name="pull",
        parameters={"endpoint": endpoint, "allow_private": True},
        state="failed",
        finished_at=timezone.now(),
        error=f"{endpoint} does not answer.",
    )

    assert endpoint in seen().ended[0].row.error
    assert endpoint not in seen(role=Role.RESEARCHER).ended[0].row.error


def test_long_lists_are_cut_but_no_failure_is_lost(tmp_path):
    dataset = grid_runs.valley(tmp_path)
    now = timezone.now()
    Grid.objects.bulk_create(
        Grid(
            dataset=dataset,
            name=f"grid {n}",
            choices={},
            state="done" if n else "failed",
            finished_at=now - timedelta(minutes=40 - n),
        )
        for n in range(20)
    )

    found = seen()

    assert found.is_ended_cut
    assert len(found.ended) == SHOWN
    assert found.ended[0].row.name == "grid 0"  # the oldest, but it failed
    assert found.ended[1].row.name == "grid 19"

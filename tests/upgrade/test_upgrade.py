"""An installation is upgraded in the middle of its work: nothing is lost, nothing is done twice.

Its rows, its queue and its uploads were written by an old commit: see tests/data/upgrade/README.md.
"""

import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.management import call_command

from accounts.models import User
from annotation.models import Study, Vote
from config.celery import app
from evaluation.models import AutoScore, Job, JobStep, MetricRun
from generation.models import Call, Grid, Import, Sample
from tests.language_model_server import StandIn, says, stand_in
from tests.services import database_url
from tests.shown import shown
from tests.upgrade.old_site import (
    FIXTURE,
    bring_up,
    messages,
    old_rows,
    old_tasks,
    own_database,
    rows_now,
    under_new_names,
)
from work.processes import Program, Supervisor

N_SCORED = 10
ENDS_WITHIN_SECONDS = 60.0
WORKER = ["celery", "--app=config", "worker", "--pool=solo", "--loglevel=INFO"]
WORKER += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
# What tells a score, a call and a step that stayed from one that was made again.
MADE = ["evaluation.autoscore", "generation.call", "evaluation.jobstep", "annotation.vote"]


# The beat sent these every few seconds. A message that is left in the queue holds no work.
ONLY_OF_BEAT = {
    f"evaluation.tasks.resend_{lost}"
    for lost in ("interrupted_imports", "lost_chunks", "lost_grids", "lost_jobs")
}


def test_every_task_of_the_old_code_has_its_name_still():
    app.loader.import_default_modules()

    assert set(old_tasks()) - set(app.tasks) == ONLY_OF_BEAT
    assert {task for _, task, _ in messages(FIXTURE / "queue")} <= set(old_tasks())


@pytest.fixture
def judge() -> Iterator[StandIn]:
    with stand_in() as server:
        server.otherwise = says("Answer: 0.4 ###")
        yield server


@pytest.fixture
def data(tmp_path: Path, judge: StandIn, settings: Any) -> Iterator[Path]:
    """Return the data folder of the old installation, whose database is the tests' for now."""
    settings.CACHES = settings.CACHES | {
        "default": {"BACKEND": "config.cache.FileCache", "LOCATION": str(tmp_path / "cache")}
    }
    settings.MIGRATION_MODULES = {}  # here they are what is tested, also in rounds without them
    with own_database(tmp_path):
        bring_up(tmp_path / "data", judge.url)
        yield tmp_path / "data"


@pytest.mark.both(transaction=True)
def test_an_upgrade_in_the_middle_of_all_work_keeps_and_ends_it(data, judge, client_for):
    call_command("migrate", verbosity=0)

    every_row_is_there(judge)
    the_rater_goes_on_with_her_draft(client_for)
    the_flag_stands(client_for)
    made = rows_now(MADE)
    the_worker_ends_what_waits(data)
    nothing_was_done_twice(made, judge)


def every_row_is_there(judge: StandIn) -> None:
    """Each row has what it had; of each table there are as many as there were."""
    old = dict(map(under_new_names, old_rows(judge.url)))
    now = rows_now(sorted({model for model, _ in old}))
    assert Counter(model for model, _ in now) == Counter(model for model, _ in old)
    for key, fields in old.items():
        assert {name: now[key][name] for name in fields if name in now[key]} == fields


def the_rater_goes_on_with_her_draft(client_for: Callable[..., Any]) -> None:
    """Three units are submitted; the fourth is hers still, with the answer that she had given."""
    client = client_for(User.objects.get(username="rachel"))
    votes = Vote.objects.filter(rater__user__username="rachel")
    assert votes.count() == 3 * 2

    unit = client.post("/studies/half-rated/next/").url
    desk = shown(client.get(unit))
    assert desk.fields["sensible-1"] == "1"
    assert desk.fields.get("specific-1") is None

    draft = next(row for row in old_rows() if row["model"] == "annotation.draft")
    assert unit.endswith(f"/units/{draft['fields']['unit']}/")
    client.post(unit, {"sensible-1": "1", "specific-1": "1", "seconds": "9.0"})
    assert votes.count() == 4 * 2


def the_flag_stands(client_for: Callable[..., Any]) -> None:
    client = client_for(User.objects.get(username="ruth"))
    unit = client.post("/studies/half-rated/next/").url
    assert "No words." in client.get(unit).content.decode()


def the_worker_ends_what_waits(data: Path) -> None:
    """Without a beat: what is done is done because of the old messages."""
    environment = {
        "DJANGO_SETTINGS_MODULE": "config.settings_test",
        "DATABASE_URL": database_url(),
        "ATTEST_DATA_DIR": str(data),
        "CACHE_URL": f"filecache://{data.parent / 'cache'}",
        "CELERY_BROKER_URL": "filesystem://",
        "ATTEST_QUEUE": "celery",
        "ATTEST_LOG_LEVEL": "INFO",
    }
    worker = Program("worker", WORKER, signal.SIGKILL, environment)
    with Supervisor(django_settings.BASE_DIR, data.parent) as supervisor:
        supervisor.start(worker)
        ends = time.monotonic() + ENDS_WITHIN_SECONDS
        # A message goes out of the queue when its work begins.
        supervisor.wait(lambda: not unfinished() or time.monotonic() > ends, ENDS_WITHIN_SECONDS)
    log = (data.parent / "worker.log").read_text("utf-8", "replace")
    assert not unfinished(), f"{unfinished()}\n{log[-5000:]}"
    assert messages(data / "queue" / "messages") == []
    assert "unregistered task" not in log
    for _, task, _ in messages(FIXTURE / "queue"):
        assert f"Task {task}[" in log


def unfinished() -> list[str]:
    """Return what has not ended as it should."""
    planned, asked = (Grid.objects.get(name=n) for n in ("to be planned", "half asked"))
    states = {
        # Its sentences are those of an earlier rule, so that nothing is added to it.
        "run": MetricRun.objects.get().state == "failed",
        "job": Job.objects.get().state == "done",
        "grid": asked.state == "done",
        "plan": planned.state == "planned",
        "sample": Sample.objects.get().state == "done",
        "upload": Import.objects.get().state == "checked",
    }
    return [name for name, is_over in states.items() if not is_over]


def nothing_was_done_twice(made: dict[Any, Any], judge: StandIn) -> None:
    assert made.items() <= rows_now(MADE).items(), "what was made has been made again"

    run, grid = MetricRun.objects.get(), Grid.objects.get(name="half asked")
    targets = AutoScore.objects.filter(run=run).values_list("target", flat=True)
    assert len(targets) == len(set(targets)) == N_SCORED  # those that were there
    assert run.error.startswith("The rule of this metric has changed")
    calls = Call.objects.filter(grid=grid).values_list("setup", "example")
    assert len(calls) == len(set(calls)) == 12 * 2
    assert JobStep.objects.count() == Job.objects.get().n_done == 1 + 4
    assert judge.requests
    assert all("Answer:" in request.prompt for request in judge.requests), "the first prompt again"
    assert Study.objects.count() == 2

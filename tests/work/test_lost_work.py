"""One task of the beat sends lost work of every kind again."""

import pytest
from django.conf import settings

from config.celery import app
from evaluation.exchange.tasks import resend_interrupted_imports
from evaluation.jobs.tasks import resend_lost_jobs
from evaluation.runs.tasks import resend_lost_chunks, resend_lost_grids
from work import lost_work
from work.lost_work import resend_all, resends
from work.tasks import resend_lost_work

pytestmark = pytest.mark.once


@pytest.fixture
def registered(monkeypatch):
    """Return an empty list of kinds of work, in the place of the real one."""
    kinds: list[lost_work.Resend] = []
    monkeypatch.setattr(lost_work, "_registered", kinds)
    return kinds


def test_every_kind_of_work_says_how_it_is_sent_again():
    known = {resend_interrupted_imports, resend_lost_jobs, resend_lost_chunks, resend_lost_grids}

    assert set(lost_work._registered) == known


def test_a_kind_that_fails_is_logged_and_keeps_no_other_waiting(registered, caplog):
    sent = []

    @resends
    def resend_loaves() -> None:
        raise OSError("the oven is cold")

    @resends
    def resend_rolls() -> None:
        sent.append("roll")

    resend_all()

    assert sent == ["roll"]
    [line] = caplog.records
    assert line.getMessage() == "resend_loaves failed"
    assert "the oven is cold" in caplog.text


def test_the_beat_sends_one_task_for_all_kinds():
    tasks = [entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()]

    assert [task for task in tasks if "resend" in task] == [resend_lost_work.name]
    app.loader.import_default_modules()
    assert {*tasks} <= {*app.tasks}

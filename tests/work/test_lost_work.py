"""One task of the beat sends lost work of every kind again."""

import pytest
from django.conf import settings

from config.celery import app
from evaluation.exchange.import_process import IMPORTS
from evaluation.jobs.kinds import JOBS
from evaluation.runs.services.chunks import RUN_CHUNKS
from generation.services.grid_chunks import GRID_CHUNKS
from generation.services.planning import PLANNINGS
from generation.services.samples import SAMPLES
from work.pieces import piece_kinds, resend_all
from work.tasks import resend_lost_work

pytestmark = pytest.mark.once


def test_every_kind_of_work_is_sent_again():
    assert {*piece_kinds()} == {IMPORTS, JOBS, RUN_CHUNKS, GRID_CHUNKS, PLANNINGS, SAMPLES}


def test_a_kind_that_fails_is_logged_and_keeps_no_other_waiting(monkeypatch, caplog):
    sent = []

    def fail() -> None:
        raise OSError("the queue is cold")

    for kind in piece_kinds():
        monkeypatch.setattr(kind, "resend", lambda name=kind.task_name: sent.append(name))
    monkeypatch.setattr(SAMPLES, "resend", fail)

    resend_all()

    assert len(sent) == len(piece_kinds()) - 1
    [line] = caplog.records
    assert line.getMessage() == "lost work of generation.tasks.filter_sample was not sent again"
    assert "the queue is cold" in caplog.text


def test_the_beat_sends_one_task_for_all_kinds():
    tasks = [entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()]

    assert [task for task in tasks if "resend" in task] == [resend_lost_work.name]
    app.loader.import_default_modules()
    assert {*tasks} <= {*app.tasks}

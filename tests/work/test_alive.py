"""Whether workers are alive, and what pages say when none is."""

import time
from datetime import UTC, datetime, timedelta

import pytest
from celery import signals
from django.core.cache import cache
from django.template import engines
from django.utils.formats import date_format

from work import worker_health
from work.worker_health import SIGN, Watch, at_work, give_sign, note_unsent, watch


@pytest.fixture(autouse=True)
def own_cache(settings, tmp_path, monkeypatch):
    backend = "django.core.cache.backends.locmem.LocMemCache"
    settings.CACHES = settings.CACHES | {"default": {"BACKEND": backend, "LOCATION": str(tmp_path)}}
    monkeypatch.setattr(worker_health, "_gave_sign_at", 0.0)
    monkeypatch.setattr(watch, "_latest", time.time())


def card() -> str:
    """Return what a page with waiting work shows."""
    template = engines["django"].from_string("{% load work %}{% worker_silence %}")
    return template.render().strip()


def old(seconds: float):
    """Let the last sign of any worker be that old."""
    cache.set(SIGN, time.time() - seconds)
    watch._latest = 0.0


def test_each_task_that_is_taken_from_the_queue_is_a_sign(settings):
    settings.SILENT_AFTER_SECONDS = 0.2
    watching = Watch()
    time.sleep(0.25)
    assert watching.silent_since()

    signals.task_prerun.send(sender=None, task_id="1", task=None)

    assert watching.silent_since() is None


def test_silence_begins_with_the_last_sign(settings):
    settings.SILENT_AFTER_SECONDS = 60.0

    old(59)
    assert watch.silent_since() is None
    old(61)
    since = watch.silent_since()

    assert since
    assert since.timestamp() == pytest.approx(time.time() - 61, abs=1)


def test_where_no_sign_was_ever_given_silence_begins_with_the_watch(settings):
    settings.SILENT_AFTER_SECONDS = 60.0

    assert Watch().silent_since() is None


def test_a_cache_that_forgets_the_sign_raises_no_false_alarm(settings):
    settings.SILENT_AFTER_SECONDS = 60.0
    old(10)
    assert watch.silent_since() is None

    cache.delete(SIGN)

    assert watch.silent_since() is None


def test_one_process_writes_few_signs():
    give_sign()
    cache.delete(SIGN)

    give_sign()

    assert cache.get(SIGN) is None


def test_long_work_without_a_lease_gives_signs(settings, monkeypatch):
    settings.SILENT_AFTER_SECONDS = 0.4
    monkeypatch.setattr(worker_health, "SIGNS_EVERY_SECONDS", 0.0)
    watching = Watch()

    with at_work():
        time.sleep(0.8)
        assert watching.silent_since() is None

    time.sleep(0.5)
    assert watching.silent_since()


def test_nothing_is_said_while_workers_answer():
    assert card() == ""


def test_the_page_says_since_when_nobody_answers_and_how_to_start_a_worker():
    old(3 * 24 * 3600)
    days_ago = datetime.now(UTC) - timedelta(days=3)

    said = card()

    assert "No worker has answered since <time" in said
    assert f">{date_format(days_ago, 'j M Y, H:')}" in said
    assert "make worker" in said


def test_the_page_says_that_messages_cannot_be_sent():
    note_unsent("Error 111 connecting to 127.0.0.1:1. Connection refused.")

    said = card()

    assert "The queue cannot be reached." in said
    assert "Connection refused" in said

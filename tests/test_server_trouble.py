"""A full disk, a lost cache, a lost database: pages stay up and say what is wrong."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.core.cache import caches
from django.db import connection
from django.template import engines
from django.urls import reverse

from tests.annotation.planned import make_dataset, make_raters, make_study
from work.worker_health import Watch, watch

FILES = "config.cache.FileCache"


@pytest.fixture
def lost_cache(settings, tmp_path):
    """A cache in a folder that cannot be made: its parent is a file."""
    (tmp_path / "file").touch()
    settings.CACHES = settings.CACHES | {
        "default": {"BACKEND": FILES, "LOCATION": str(tmp_path / "file" / "cache")}
    }
    return caches["default"]


def test_a_cache_that_cannot_be_used_answers_as_if_it_were_empty(lost_cache):
    lost_cache.set("mill", 1)

    assert lost_cache.get("mill", "nothing") == "nothing"
    assert lost_cache.add("mill", 1) is True
    assert lost_cache.delete("mill") is False
    assert lost_cache.get_or_set("mill", lambda: 2) == 2


def test_a_redis_that_is_gone_answers_as_if_it_were_empty(settings):
    there_is_nobody = "redis://127.0.0.1:1/0"
    settings.CACHES = settings.CACHES | {
        "default": {"BACKEND": "config.cache.RedisCache", "LOCATION": there_is_nobody}
    }
    cache = caches["default"]
    cache.set("mill", 1)

    assert cache.get("mill", "nothing") == "nothing"


def test_a_lost_cache_is_no_dead_worker(lost_cache, settings, monkeypatch):
    settings.SILENT_AFTER_SECONDS = 0.0
    monkeypatch.setattr(watch, "_latest", time.time() - 1)
    template = engines["django"].from_string("{% load work %}{% worker_silence %}")

    assert Watch().silent_since() is None
    said = template.render()

    assert "The server’s cache cannot be used" in said
    assert "No worker has answered" not in said


@pytest.mark.once
def test_pages_come_without_a_cache(client, rosa, lost_cache):
    client.force_login(rosa)

    for name in ("evaluation:runs", "generation:datasets"):
        assert client.get(reverse(name)).status_code == 200


@pytest.mark.both(transaction=True)
@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="only SQLite can be told a size")
def test_a_full_disk_is_said_and_trying_again_does_not_double(client, rosa, tmp_path):
    study = make_study(make_dataset(tmp_path), rosa, make_raters(2), text="Rate it.")
    n_before = study.guidelines.count()
    url = reverse("annotation:edit-guidelines", args=[study.slug])
    sent = {"text": "Rate it. " * 1000, "based_on": n_before}
    client.force_login(rosa)

    with full_disk():
        refused = client.post(url, sent)

    assert refused.status_code == 503
    assert "The server’s disk is full" in refused.content.decode()
    assert study.guidelines.count() == n_before
    assert client.post(url, sent).status_code == 302
    assert study.guidelines.count() == n_before + 1


@contextmanager
def full_disk() -> Iterator[None]:
    """Let SQLite's file grow no more."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")  # no page is free
        [n_pages] = cursor.execute("PRAGMA page_count").fetchone()
        cursor.execute(f"PRAGMA max_page_count = {n_pages}")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA max_page_count = {2**30}")

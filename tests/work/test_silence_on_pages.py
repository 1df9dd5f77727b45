"""Every page with waiting work says when no worker answers, and promises no time then."""

import time

import pytest
from django.core.cache import cache
from django.urls import reverse

from evaluation.models import MetricRun
from generation.models import Import
from tests.evaluation.metric_runs import mill, requested
from tests.evaluation.metric_runs import work as score
from tests.shown import markup
from work.worker_health import SIGN, watch

pytestmark = pytest.mark.once


@pytest.fixture(autouse=True)
def silence(monkeypatch, settings, tmp_path):
    """No worker has answered for an hour."""
    backend = "django.core.cache.backends.locmem.LocMemCache"
    settings.CACHES = settings.CACHES | {"default": {"BACKEND": backend, "LOCATION": str(tmp_path)}}
    monkeypatch.setattr(watch, "_latest", time.time() - 3600)


def test_a_run_that_waits_says_so(client, rosa, tmp_path):
    run = requested(mill(tmp_path, 3))
    client.force_login(rosa)

    for address in (reverse("evaluation:run", args=[run.pk]), reverse("evaluation:runs")):
        page = client.get(address).content.decode()
        assert "No worker has answered since" in page
        assert "make worker" in page

    MetricRun.objects.update(state=MetricRun.State.CANCELLED)
    page = client.get(reverse("evaluation:run", args=[run.pk])).content.decode()
    assert "No worker has answered" not in page


def test_what_is_polled_loads_the_page_again_when_silence_begins_and_ends(
    client, rosa, tmp_path, monkeypatch
):
    run = requested(mill(tmp_path, 3))
    client.force_login(rosa)
    card = reverse("work:card", args=["metric-run", run.pk])

    assert "work-changed" in client.get(card, {"seen": ""}).headers["HX-Trigger"]
    assert "HX-Trigger" not in client.get(card, {"seen": "-troubled"}).headers

    monkeypatch.setattr(watch, "_latest", time.time())
    assert "HX-Trigger" not in client.get(card, {"seen": ""}).headers
    assert "work-changed" in client.get(card, {"seen": "-troubled"}).headers["HX-Trigger"]


def test_a_run_that_stands_still_promises_no_time(client, rosa, tmp_path, monkeypatch):
    run = requested(mill(tmp_path, 12))
    score(run, 1)
    cache.delete(SIGN)  # scoring was one
    client.force_login(rosa)

    page = markup(client.get(reverse("evaluation:run", args=[run.pk])))
    assert "<dt>Ready in</dt> <dd>—</dd>" in page

    monkeypatch.setattr(watch, "_latest", time.time())
    page = markup(client.get(reverse("evaluation:run", args=[run.pk])))
    assert "<dt>Ready in</dt> <dd>—</dd>" not in page
    assert "No worker has answered" not in page


def test_an_import_that_waits_says_so(client, adam):
    upload = Import.objects.create(requested_by=adam, file_name="e.jsonl", name="Pilot")
    client.force_login(adam)

    page = client.get(reverse("evaluation:import-progress", args=[upload.pk])).content.decode()

    assert upload.state == Import.State.QUEUED
    assert "No worker has answered since" in page

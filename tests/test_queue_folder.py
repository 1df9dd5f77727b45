"""The queue in a folder: a message is there whole, or not at all."""

import os
import shutil
from queue import Empty

import pytest
from celery import current_app
from kombu.connection import Connection
from kombu.exceptions import ChannelError

from config.celery import Task
from config.queue_folder import Channel
from evaluation.exchange.tasks import forget_old_imports
from work.worker_health import why_unsent


@pytest.fixture
def channel(tmp_path):
    folders = dict.fromkeys(("data_folder_in", "data_folder_out"), str(tmp_path / "queue"))
    (tmp_path / "queue").mkdir()
    options = {**folders, "control_folder": str(tmp_path / "control")}
    with Connection("filesystem://", transport_options=options) as connection:
        yield connection.default_channel


def test_the_site_and_its_workers_use_it(channel):
    assert current_app.conf.broker_url.startswith("filesystem")
    assert isinstance(channel, Channel)


def test_a_reader_that_comes_while_a_message_is_written_finds_none(channel, monkeypatch):
    rename = os.replace

    def with_a_reader_before(*names):
        with pytest.raises(Empty):
            channel._get("celery")
        assert channel._size("celery") == 0
        rename(*names)

    monkeypatch.setattr(os, "replace", with_a_reader_before)

    channel._put("celery", {"body": "mill"})

    assert channel._size("celery") == 1
    assert channel._get("celery") == {"body": "mill"}
    with pytest.raises(Empty):
        channel._get("celery")


def test_a_folder_that_is_gone_is_made_again(channel, tmp_path):
    for folder in ("queue", "control"):
        shutil.rmtree(tmp_path / folder, ignore_errors=True)

    with pytest.raises(Empty):
        channel._get("celery")
    shutil.rmtree(tmp_path / "queue")
    channel.basic_publish(channel.prepare_message("mill"), "celery", "celery")

    assert channel._size("celery") == 1


def test_a_message_that_cannot_be_sent_is_noted_and_breaks_no_page(monkeypatch, settings):
    backend = "django.core.cache.backends.locmem.LocMemCache"
    settings.CACHES = settings.CACHES | {"default": {"BACKEND": backend, "LOCATION": "unsent"}}
    monkeypatch.setattr(Task, "_sends_again_at", 0.0)
    tries = []

    def refuse(self, queue, payload, **kwargs):
        tries.append(queue)
        raise ChannelError("No space left on device")

    monkeypatch.setattr(Channel, "_put", refuse)

    assert forget_old_imports.delay() is None
    assert forget_old_imports.delay() is None  # the next one is not tried at all

    assert tries == ["celery"] * 2  # it is tried twice
    assert "No space left on device" in why_unsent()

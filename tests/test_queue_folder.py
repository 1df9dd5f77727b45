"""The queue in a folder: a message is there whole, or not at all."""

import os
from queue import Empty

import pytest
from celery import current_app
from kombu.connection import Connection

from config.queue_folder import Channel


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

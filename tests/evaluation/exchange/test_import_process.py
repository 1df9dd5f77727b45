"""An import in its own process: its limits, and the messages when it is ended."""

import errno
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from evaluation.exchange import import_process, uploads
from evaluation.exchange.import_process import IMPORTS
from evaluation.exchange.uploads import (
    check_or_store,
    is_lack_of_memory,
    request_cancelling,
    request_import,
    request_storing,
)
from tests.makers import example_row, is_empty, write_files
from tests.services import database_url
from tests.uploading import State, file_of

pytestmark = [pytest.mark.once(transaction=True), pytest.mark.usefixtures("shared_with_children")]


@pytest.fixture
def shared_with_children(settings, tmp_path, monkeypatch):
    """Give this test a database, a folder and a cache that processes it starts have too."""
    settings.MEDIA_ROOT = tmp_path / "uploads"
    backend = "django.core.cache.backends.filebased.FileBasedCache"
    settings.CACHES = settings.CACHES | {
        "default": {"BACKEND": backend, "LOCATION": str(tmp_path / "cache")}
    }
    monkeypatch.setattr(import_process, "LOOKS_EVERY_SECONDS", 0.05)
    for name, value in (
        ("DATABASE_URL", database_url()),
        ("ATTEST_DATA_DIR", str(tmp_path)),
        ("CACHE_URL", f"filecache://{tmp_path}/cache"),
        ("DJANGO_SETTINGS_MODULE", "config.settings_test"),
    ):
        monkeypatch.setenv(name, value)


@pytest.fixture
def allow(settings, monkeypatch):
    """Return a function that sets the limits, here and in the process."""

    def allow(megabytes=1500, seconds=3600):
        settings.IMPORT_MEGABYTES, settings.IMPORT_SECONDS = megabytes, seconds
        monkeypatch.setenv("ATTEST_IMPORT_MEGABYTES", str(megabytes))
        monkeypatch.setenv("ATTEST_IMPORT_SECONDS", str(seconds))

    return allow


@pytest.fixture
def signalled(monkeypatch):
    """Return a function that has each process of an import get this signal as it begins."""

    def signalled(number):
        started = import_process._started

        def start(import_id, token):
            process = started(import_id, token)
            process.send_signal(number)
            return process

        monkeypatch.setattr(import_process, "_started", start)

    return signalled


def large(adam, n_rows=150_000):
    rows = "".join(f"r{n},anna,good,yes\n" for n in range(n_rows))
    file = SimpleUploadedFile("votes.csv", f"response,rater,question,answer\n{rows}".encode())
    return request_import(file, "pilot", "", adam)


def carried_on_apart(upload):
    IMPORTS.claim_and_do(upload.pk)
    upload.refresh_from_db()
    return upload


def test_an_import_is_checked_and_stored_by_processes_of_its_own(upload):
    assert carried_on_apart(upload).state == State.CHECKED
    assert is_empty()

    assert request_storing(upload, skip_bad=False)
    assert carried_on_apart(upload).state == State.DONE
    assert not is_empty()
    assert carried_on_apart(upload).state == State.DONE  # delivered twice


def test_an_import_that_needs_too_much_memory_ends_with_that_reason(tmp_path, adam, allow):
    allow(megabytes=140)  # it begins with about 110
    turns = [{"speaker": "user", "text": f"Why {n}?"} for n in range(150_000)]
    folder = write_files(tmp_path / "a", examples=[example_row(turns=turns)])
    file = SimpleUploadedFile("examples.jsonl", (folder / "examples.jsonl").read_bytes())
    upload = request_import(file, "pilot", "", adam)

    carried_on_apart(upload)

    assert upload.state == State.FAILED
    assert "more than 140 MB of memory" in upload.error
    assert not file_of(upload).exists()
    assert IMPORTS.resend() == []


def test_memory_that_the_system_refuses_is_a_lack_of_memory_as_well(upload, monkeypatch):
    def refused(*arguments, **options):
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr(uploads, "open_material", refused)

    claim = IMPORTS.claim(upload.pk)
    assert claim is not None
    with pytest.raises(OSError, match="Cannot allocate memory") as refusal:
        check_or_store(IMPORTS.hold(claim))
    assert is_lack_of_memory(refusal.value)
    assert upload.state != State.FAILED  # the worker says how much memory was allowed


def test_an_import_that_takes_too_long_ends_with_that_reason(adam, allow):
    allow(seconds=2)
    upload = large(adam)

    carried_on_apart(upload)

    assert upload.state == State.FAILED
    assert "more than 2 seconds" in upload.error


def test_an_import_that_does_not_hear_is_cancelled_all_the_same(upload, signalled, monkeypatch):
    monkeypatch.setattr(import_process, "STOPS_WITHIN_SECONDS", 0.1)
    signalled(signal.SIGSTOP)
    request_cancelling(upload)

    carried_on_apart(upload)

    assert (upload.state, upload.error) == (State.CANCELLED, "")
    assert not file_of(upload).exists()


def test_a_process_that_is_killed_leaves_the_import_to_the_next_worker(upload, signalled):
    signalled(signal.SIGKILL)

    carried_on_apart(upload)

    assert (upload.state, upload.attempts) == (State.QUEUED, 1)
    assert IMPORTS.resend() == [upload.pk]


def test_after_three_ends_without_a_word_the_import_has_failed(upload, signalled):
    signalled(signal.SIGKILL)

    for _ in range(IMPORTS.most_claims):
        assert carried_on_apart(upload).state == State.QUEUED
    carried_on_apart(upload)

    assert upload.state == State.FAILED
    assert "ended 3 times without an error message" in upload.error
    assert not file_of(upload).exists()
    assert IMPORTS.resend() == []


@pytest.mark.faults
def test_the_process_ends_with_its_worker(adam):
    upload = large(adam, 300_000)
    start = (
        "import django; django.setup(); import time;"
        "from evaluation.exchange import import_process as p;"
        f"token = p.IMPORTS.claim({upload.pk}).token;"
        f"print(p._started({upload.pk}, token).pid, flush=True); time.sleep(60)"
    )
    worker = subprocess.Popen(
        [sys.executable, "-c", start], stdout=subprocess.PIPE, text=True, env=os.environ
    )
    assert worker.stdout
    child = int(worker.stdout.readline())
    time.sleep(1.5)
    assert is_there(child)

    worker.send_signal(signal.SIGKILL)
    worker.wait()

    deadline = time.monotonic() + 3
    while is_there(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_there(child)


def is_there(pid):
    with suppress(OSError), open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"
    return False

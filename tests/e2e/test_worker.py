"""Background work by a real worker, on the database of the tests."""

import time

import pytest
from django.core.files.base import ContentFile

from evaluation.exchange.import_process import IMPORTS
from generation.models import Import
from work.claims import GOING_ON


@pytest.mark.usefixtures("worker")
def test_the_worker_checks_an_uploaded_file(adam):
    upload = Import.objects.create(
        requested_by=adam,
        file_name="examples.jsonl",
        upload=ContentFile(
            b'{"id": "1", "turns": [{"speaker": "user", "text": "Why?"}]}', "e.jsonl"
        ),
        name="Pilot",
    )

    IMPORTS.send_waiting(pk=upload.pk)

    assert state_after_work(upload) == Import.State.CHECKED


def state_after_work(upload: Import, seconds: float = 20) -> str:
    deadline = time.monotonic() + seconds
    while upload.state in GOING_ON and time.monotonic() < deadline:
        time.sleep(0.1)
        upload.refresh_from_db()
    return upload.state

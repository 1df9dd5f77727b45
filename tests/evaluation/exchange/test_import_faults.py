"""An import whose worker is killed: nothing of it is kept, and another worker does it once."""

import io
import os
import signal
import subprocess
import sys
import time
import zipfile
from datetime import timedelta

import pytest
from django.conf import settings
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from annotation.models import Vote
from evaluation.exchange.import_process import IMPORTS
from evaluation.exchange.uploads import progress_of
from generation.models import Dataset, Import
from tests.services import database_url
from tests.uploading import carry_on

pytestmark = pytest.mark.both

N_RESPONSES = 4000
N_RATERS = 5
CARRY_ON = "import django; django.setup(); from tests.uploading import carry_on; carry_on({pk})"


def interchange_zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("examples.csv", "id,turns\ne1,Why?\n")
        responses = "".join(f"r{i},e1,model,Because {i}.\n" for i in range(N_RESPONSES))
        archive.writestr("responses.csv", "id,example,setup,text\n" + responses)
        votes = "".join(
            f"r{i},rater{k},good,yes\n" for i in range(N_RESPONSES) for k in range(N_RATERS)
        )
        archive.writestr("votes.csv", "response,rater,question,answer\n" + votes)
    return file.getvalue()


@pytest.mark.faults
@pytest.mark.both(transaction=True)
def test_a_killed_worker_loses_nothing_and_doubles_nothing(client_for, adam):
    client = client_for(adam)
    file = SimpleUploadedFile("pilot.zip", interchange_zip())
    client.post(reverse("evaluation:import"), {"file": file})
    upload = Import.objects.get()
    carry_on(upload.pk)  # the check
    client.post(reverse("evaluation:store-import", args=[upload.pk]))

    for _ in range(IMPORTS.most_claims - 1):
        worker = subprocess.Popen(
            [sys.executable, "-c", CARRY_ON.format(pk=upload.pk)],
            env=os.environ
            | {
                "DJANGO_SETTINGS_MODULE": "config.settings_test",
                "DATABASE_URL": database_url(),
                "ATTEST_DATA_DIR": str(settings.DATA_DIR),
            },
        )
        deadline = time.monotonic() + 30
        while progress_of(upload) is None and time.monotonic() < deadline:
            time.sleep(0.05)
        worker.send_signal(signal.SIGKILL)
        assert worker.wait() == -signal.SIGKILL
        assert not Dataset.objects.exists()
        assert IMPORTS.resend() == []  # its sign of life is still fresh
        cache.clear()  # what a minute of silence does
        past = timezone.now() - timedelta(seconds=1)
        Import.objects.update(lease_until=past, sent_at=None)
        assert IMPORTS.resend() == [upload.pk]

    carry_on(upload.pk)
    carry_on(upload.pk)  # delivered twice

    upload.refresh_from_db()
    assert upload.state == Import.State.DONE
    assert Dataset.objects.count() == 1
    assert Vote.objects.count() == N_RESPONSES * N_RATERS

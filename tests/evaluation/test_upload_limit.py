"""An upload that is too large is refused before it is stored, also when it lies about its size."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from generation.models import Import


@pytest.mark.django_db
@pytest.mark.parametrize("size", [1001, 1000 + 64 * 1024 + 1])
def test_a_file_beyond_the_limit_is_refused(client_for, adam, settings, size):
    settings.MAX_UPLOAD_BYTES = 1000

    answer = client_for(adam).post(
        reverse("evaluation:import"), {"file": SimpleUploadedFile("votes.csv", b"x" * size)}
    )

    assert answer.status_code == 400
    assert not Import.objects.exists()

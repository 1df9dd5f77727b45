"""An upload that is too large is refused before it is stored, also when it lies about its size."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from generation.models import Import

pytestmark = pytest.mark.once


@pytest.mark.parametrize("size", [1001, 1000 + 64 * 1024 + 1])
def test_a_file_beyond_the_limit_is_refused(client_for, adam, settings, size):
    settings.MAX_UPLOAD_BYTES = 1000

    answer = client_for(adam).post(
        reverse("evaluation:import"), {"file": SimpleUploadedFile("votes.csv", b"x" * size)}
    )

    assert answer.status_code == 400
    assert not Import.objects.exists()


@pytest.mark.parametrize("who", [None, "rachel", "rosa"])
def test_who_may_not_import_cannot_fill_the_disk_either(request, settings, who):
    settings.RESEARCHERS_IMPORT = False
    client = Client(enforce_csrf_checks=True)
    if who:
        client.force_login(request.getfixturevalue(who))
    client.cookies[settings.CSRF_COOKIE_NAME] = "a" * 32

    # Also where no file is expected: the form is read before any view is asked.
    for address in (reverse("evaluation:import"), reverse("accounts:sign-in")):
        file = SimpleUploadedFile("votes.csv", b"x" * 100_000)
        assert client.post(address, {"file": file}).status_code == 400

    assert not Import.objects.exists()


def test_a_researcher_who_may_import_sends_as_much_as_an_admin(
    client_for, rosa, settings, tmp_path
):
    settings.MEDIA_ROOT = tmp_path
    settings.RESEARCHERS_IMPORT = True

    file = SimpleUploadedFile("votes.csv", b"x" * 200_000)
    answer = client_for(rosa).post(reverse("evaluation:import"), {"file": file})

    assert answer.status_code == 302
    assert Import.objects.count() == 1

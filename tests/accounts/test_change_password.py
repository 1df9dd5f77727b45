import pytest
from django.urls import reverse

from accounts.models import AuditEntry
from accounts.services import create_sign_in_link
from tests.shown import shown

pytestmark = pytest.mark.once

URL = "/accounts/change-password/"
NEW = "fig-and-walnut"


def new_password(confirmed=NEW, **more):
    return {"new_password1": NEW, "new_password2": confirmed, **more}


@pytest.fixture
def rachel(rachel):
    rachel.set_password("right")
    rachel.save()
    return rachel


def test_changing_the_password_keeps_one_signed_in(rachel, client_for):
    client = client_for(rachel)

    response = client.post(URL, new_password(old_password="right"))

    assert response.url == reverse("home")
    assert client.get(URL).status_code == 200
    rachel.refresh_from_db()
    assert rachel.check_password(NEW)
    assert AuditEntry.objects.get().action == "user.password_changed"


def test_a_wrong_old_password_or_two_different_new_ones_change_nothing(rachel, client_for):
    client = client_for(rachel)

    assert client.post(URL, new_password(old_password="wrong")).status_code == 422
    assert client.post(URL, new_password("other", old_password="right")).status_code == 422
    rachel.refresh_from_db()
    assert rachel.check_password("right")


def test_who_has_no_password_chooses_one_and_reads_of_no_link(rachel, client_for):
    rachel.set_unusable_password()
    rachel.save()
    client = client_for(rachel)

    page = shown(client.get(URL))

    assert page.headings[0] == "Choose a password"
    assert "link worked" not in page.text
    assert client.post(URL, new_password()).url == reverse("home")


def test_who_came_by_a_link_need_not_know_the_old_password(rachel, adam, client):
    token = create_sign_in_link(rachel, adam)
    client.post(reverse("accounts:sign-in-link", args=[token]))

    once = client.post(URL, new_password())
    again = client.post(URL, new_password())

    assert once.status_code == 302
    assert again.status_code == 422  # the link is spent: now the old password is asked for

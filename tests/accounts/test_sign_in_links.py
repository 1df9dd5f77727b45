import threading
import time
from datetime import timedelta

import pytest
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from accounts.models import AuditEntry, SignInLink
from accounts.services import (
    AccountError,
    create_sign_in_link,
    deactivate,
    reactivate,
    set_password,
    use_sign_in_link,
)
from tests.shown import shown

pytestmark = pytest.mark.once


def page_of(token):
    return reverse("accounts:sign-in-link", args=[token])


def test_a_link_signs_in_once(rachel, adam):
    token = create_sign_in_link(rachel, adam)

    assert use_sign_in_link(token) == rachel
    assert use_sign_in_link(token) is None


def test_the_database_does_not_know_the_token(rachel, adam):
    token = create_sign_in_link(rachel, adam)

    (link,) = SignInLink.objects.values()
    assert token not in str(link)
    assert len(link["token_hash"]) == 64  # sha256 in hexadecimal


def test_a_link_works_for_seven_days(rachel, adam):
    token = create_sign_in_link(rachel, adam)
    assert SignInLink.objects.get().expires_at - timezone.now() > timedelta(days=6, hours=23)

    SignInLink.objects.update(expires_at=timezone.now())

    assert use_sign_in_link(token) is None


def test_a_new_link_ends_older_ones_of_the_same_person_only(rachel, rosa, adam):
    rosas = create_sign_in_link(rosa, adam)
    older, newer = create_sign_in_link(rachel, adam), create_sign_in_link(rachel, adam)

    assert use_sign_in_link(older) is None
    assert use_sign_in_link(newer) == rachel
    assert use_sign_in_link(rosas) == rosa


def test_setting_a_password_ends_the_unused_links_of_that_person_only(rachel, rosa, adam):
    rachels, rosas = create_sign_in_link(rachel, adam), create_sign_in_link(rosa, adam)

    set_password(rachel, "fig-and-walnut")

    assert use_sign_in_link(rachels) is None
    assert use_sign_in_link(rosas) == rosa


def test_a_link_of_a_deactivated_person_does_not_work(rachel, adam):
    token = create_sign_in_link(rachel, adam)

    deactivate(rachel, adam)

    assert use_sign_in_link(token) is None


def test_nobody_deactivated_gets_a_link(rachel, adam):
    deactivate(rachel, adam)
    rachel.refresh_from_db()

    with pytest.raises(AccountError, match="rachel is deactivated"):
        create_sign_in_link(rachel, adam)

    reactivate(rachel, adam)
    rachel.refresh_from_db()
    assert create_sign_in_link(rachel, adam)


@pytest.mark.once(transaction=True)
def test_of_many_clicks_at_once_one_wins(rachel, adam):
    token = create_sign_in_link(rachel, adam)
    winners, start = [], threading.Barrier(8)

    def click():
        start.wait()
        winners.append(use_sign_in_link(token))
        connection.close()

    clicks = [threading.Thread(target=click) for _ in range(8)]
    for thread in clicks:
        thread.start()
    for thread in clicks:
        thread.join()

    assert winners.count(rachel) == 1
    assert winners.count(None) == 7


def test_opening_the_page_does_not_use_the_link_up(rachel, adam, client):
    token = create_sign_in_link(rachel, adam)

    for _ in range(2):  # a mail scanner, then Rachel
        answer = client.get(page_of(token))
        assert "Sign in as rachel" in shown(answer).buttons
        assert "no-store" in answer["Cache-Control"]
    response = client.post(page_of(token))

    assert response.url == reverse("accounts:change-password")
    assert "signed in as rachel" in shown(client.get(response.url)).text


def test_a_second_click_gets_a_page_that_says_so_and_no_session(rachel, adam, client):
    token = create_sign_in_link(rachel, adam)
    use_sign_in_link(token)

    for response in (client.get(page_of(token)), client.post(page_of(token))):
        assert response.status_code == 410
        [heading] = shown(response.text).headings
        assert "no longer works" in heading
    assert client.get(reverse("home")).status_code == 302


def test_a_link_takes_over_from_whoever_was_signed_in(rachel, rosa, adam, client_for):
    client = client_for(rosa)

    client.post(page_of(create_sign_in_link(rachel, adam)))

    page = shown(client.get(reverse("accounts:change-password")))
    assert "rachel" in page.part("account").text


def test_an_admin_sees_a_new_link_once(rachel, adam, client_for, client):
    response = client_for(adam).post(reverse("accounts:create-sign-in-link", args=[rachel.pk]))

    url = response.context["url"]
    assert url in shown(response).text.split()
    assert "no-store" in response["Cache-Control"]
    assert url.startswith("http://testserver/accounts/sign-in-link/")
    assert "Sign in as rachel" in shown(client.get(url)).buttons


def test_links_leave_their_lines_in_the_audit_trail(rachel, adam):
    use_sign_in_link(create_sign_in_link(rachel, adam))

    used, created = AuditEntry.objects.all()
    assert (created.actor, created.action, created.subject) == (adam, "link.created", "rachel")
    assert (used.actor, used.action, used.subject) == (rachel, "link.used", "rachel")


def test_deactivation_ends_links_for_good(rachel, adam):
    token = create_sign_in_link(rachel, adam)

    deactivate(rachel, adam)
    reactivate(rachel, adam)

    assert use_sign_in_link(token) is None


def test_a_link_spares_the_old_password_for_a_quarter_of_an_hour(rachel, adam, client, monkeypatch):
    rachel.set_password("an old password")
    rachel.save()
    client.post(page_of(create_sign_in_link(rachel, adam)))
    change = reverse("accounts:change-password")
    page = shown(client.get(change))
    assert "old_password" not in page.fields
    assert "The link worked only once." in page.text

    later = time.time() + 15 * 60 + 1
    monkeypatch.setattr(time, "time", lambda: later)

    assert "old_password" in shown(client.get(change)).fields

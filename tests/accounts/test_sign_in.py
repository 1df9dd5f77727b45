import pytest
from django.core.cache import caches
from django.urls import reverse

from accounts.services import deactivate, reactivate

pytestmark = pytest.mark.once

SIGN_IN = "/accounts/sign-in/"


@pytest.fixture
def rachel(rachel):
    rachel.set_password("right")
    rachel.save()
    return rachel


@pytest.fixture
def rosa(rosa):
    rosa.set_password("right")
    rosa.save()
    return rosa


def try_password(client, username, password):
    return client.post(SIGN_IN, {"username": username, "password": password})


def test_the_right_password_leads_home(client, rachel):
    response = try_password(client, "rachel", "right")

    assert response.status_code == 302
    assert response.url == reverse("home")


def test_sign_in_leads_back_to_the_page_asked_for_with_its_query(client, rachel):
    asked_for = reverse("accounts:change-password") + "?from=menu"

    sign_in = client.get(asked_for).url
    response = client.post(sign_in, {"username": "rachel", "password": "right", "next": asked_for})

    assert sign_in == f"{SIGN_IN}?next=/accounts/change-password/%3Ffrom%3Dmenu"
    assert response.url == asked_for


def test_sign_in_never_leads_to_another_site(client, rachel):
    response = client.post(
        SIGN_IN, {"username": "rachel", "password": "right", "next": "https://evil.example/"}
    )

    assert response.url == reverse("home")


def test_a_wrong_password_is_an_invalid_form(client, rachel):
    response = try_password(client, "rachel", "wrong")

    assert response.status_code == 422
    assert "Wrong username or password" in response.text


def test_five_wrong_passwords_shut_out_even_the_right_one(client, rachel):
    answers = [try_password(client, "rachel", "wrong").status_code for _ in range(5)]
    with_the_right_one = try_password(client, "rachel", "right")

    assert answers == [422, 422, 422, 422, 429]
    assert with_the_right_one.status_code == 429
    assert "Too many wrong attempts" in with_the_right_one.text
    assert "15 minutes" in with_the_right_one.text


def test_guessing_one_account_does_not_shut_out_another(client, rachel, rosa):
    for _ in range(5):
        try_password(client, "rachel", "wrong")

    assert try_password(client, "rosa", "right").status_code == 302


def test_a_deactivated_account_cannot_sign_in_and_open_sessions_end(
    client, rachel, adam, client_for
):
    open_session = client_for(rachel)
    deactivate(rachel, adam)

    assert try_password(client, "rachel", "right").status_code == 422
    assert open_session.get(reverse("accounts:change-password")).url.startswith(SIGN_IN)


def test_sessions_end_for_good_when_an_account_is_deactivated(rachel, adam, client_for):
    open_session = client_for(rachel)
    deactivate(rachel, adam)
    reactivate(rachel, adam)

    assert open_session.get(reverse("accounts:change-password")).url.startswith(SIGN_IN)
    rachel.refresh_from_db()
    signed_in_again = client_for(rachel)
    assert signed_in_again.get(reverse("accounts:change-password")).status_code == 200


def test_sign_out_is_a_post_and_ends_the_session(rachel, client_for):
    client = client_for(rachel)

    assert client.get("/accounts/sign-out/").status_code == 405
    assert client.post("/accounts/sign-out/").url == SIGN_IN
    assert client.get(reverse("accounts:change-password")).status_code == 302


def test_the_key_of_a_session_that_was_signed_out_opens_nothing(rachel, client_for):
    client = client_for(rachel)
    page = reverse("accounts:change-password")
    assert client.get(page).status_code == 200  # the session is in the cache now
    key = client.cookies["sessionid"].value
    client.post("/accounts/sign-out/")

    client.cookies["sessionid"] = key

    assert client.get(page).url.startswith(SIGN_IN)


@pytest.mark.parametrize("lost", ["emptied", "unreachable"])
def test_a_session_outlives_its_cache(rachel, client_for, settings, tmp_path, lost):
    client = client_for(rachel)
    if lost == "emptied":
        caches["sessions"].clear()
    else:
        (tmp_path / "file").touch()
        nowhere = {"BACKEND": "config.cache.FileCache", "LOCATION": f"{tmp_path}/file/cache"}
        settings.CACHES = settings.CACHES | {"sessions": nowhere}

    assert client.get(reverse("accounts:change-password")).status_code == 200


def test_who_signs_out_twice_comes_back_to_the_page_they_were_on(client):
    page = "http://testserver/accounts/users/?page=2"

    response = client.post("/accounts/sign-out/", headers={"referer": page})

    assert response.url == f"{SIGN_IN}?next=/accounts/users/%3Fpage%3D2"

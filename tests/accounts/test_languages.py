"""The language of a page: that of the rater who reads it, and English on all other pages."""

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from accounts.access import Role
from tests.conftest import person, session_of

pytestmark = pytest.mark.once
SIGN_IN, MINE = reverse("accounts:sign-in"), reverse("annotation:my-studies")


def client_of(*roles: Role, asks_for: str = "de-AT,de;q=0.9,en;q=0.5") -> Client:
    client = Client(headers={"accept-language": asks_for})
    if roles:
        user = person("-".join(roles), *roles)
        client.cookies[settings.SESSION_COOKIE_NAME] = session_of(user)
    return client


@pytest.mark.parametrize(
    ("roles", "asks_for", "name", "language"),
    [
        ((), "de-AT,de;q=0.9,en;q=0.5", "accounts:sign-in", "de"),
        ((), "en-GB,de;q=0.9", "accounts:sign-in", "en"),
        ((), "fr,it;q=0.5", "accounts:sign-in", "en"),
        ((Role.RATER,), "de", "annotation:my-studies", "de"),
        ((Role.RATER,), "de", "accounts:change-password", "de"),
        ((Role.RATER,), "de", "annotation:studies", "de"),  # the page that refuses them
        ((Role.RATER,), "de", "docs", "en"),  # documents are in English
        ((Role.RESEARCHER,), "de", "annotation:studies", "en"),
        ((Role.RESEARCHER,), "de", "accounts:change-password", "en"),
        ((Role.RESEARCHER,), "de", "annotation:my-studies", "en"),  # the page that refuses them
        ((Role.ADMIN,), "de", "accounts:users", "en"),
        ((Role.RATER, Role.RESEARCHER), "de", "annotation:my-studies", "de"),
        ((Role.RATER, Role.RESEARCHER), "de", "annotation:studies", "en"),
    ],
)
def test_the_browser_chooses_the_language_of_pages_of_raters_alone(
    db, roles, asks_for, name, language
):
    page = client_of(*roles, asks_for=asks_for).get(reverse(name))

    assert f'<html lang="{language}"' in page.text
    assert ("Accept-Language" in page.headers["Vary"]) == ('id="languages"' in page.text)


def test_a_researcher_reads_errors_of_forms_in_english(db):
    page = client_of(Role.RESEARCHER).post(reverse("accounts:change-password"), {})

    assert "This field is required." in page.text


def test_a_rater_chooses_another_language_and_keeps_it(db):
    client = client_of(Role.RATER)

    chosen = client.post(
        reverse("accounts:choose-language"),
        {"language": "en"},
        headers={"referer": f"http://testserver{MINE}"},
    )

    assert (chosen.status_code, chosen["Location"]) == (302, MINE)
    cookie = chosen.cookies[settings.LANGUAGE_COOKIE_NAME]
    assert (cookie["max-age"], cookie["httponly"], cookie["samesite"]) == (31536000, True, "Lax")
    assert "<h1>My studies</h1>" in client.get(MINE).text


def test_an_unknown_language_changes_nothing(db):
    client = client_of()

    answer = client.post(reverse("accounts:choose-language"), {"language": "../../etc"})

    assert settings.LANGUAGE_COOKIE_NAME not in answer.cookies
    assert "<h1>Anmelden</h1>" in client.get(SIGN_IN).text
    assert client.get(reverse("accounts:choose-language")).status_code == 405


def test_the_menu_says_that_no_native_speaker_has_read_the_words(db):
    said = "noch niemand mit Deutsch als Muttersprache gegengelesen"

    assert said in client_of().get(SIGN_IN).text
    assert said not in client_of(asks_for="en").get(SIGN_IN).text

"""A form sent without a cookie or a session is kept until the user is signed in again."""

from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.core import signing
from django.test import Client
from django.urls import reverse

from accounts.interrupted_forms import SALT, KeptForm, unsealed
from tests.shown import shown

SIGN_IN = "/accounts/sign-in/"
LETTER_KEYS = "/accounts/letter-keys/"
PAGE = "http://testserver/studies/mine/"
HERE = {"Origin": "http://testserver", "Referer": PAGE}

pytestmark = pytest.mark.once


@pytest.fixture
def browser(db) -> Client:
    """Return a browser that has lost its cookies, where forms need theirs."""
    return Client(enforce_csrf_checks=True)


def post(browser: Client, path: str, fields: dict[str, str], **headers: str):
    fields = {"csrfmiddlewaretoken": "of a cookie that is lost"} | fields
    return browser.post(
        path, urlencode(fields), "application/x-www-form-urlencoded", headers=HERE | headers
    )


def sign_in_with(browser: Client, page: dict[str, str], name: str, password: str):
    said = page | {"username": name, "password": password}
    return post(
        browser, SIGN_IN, said | {"csrfmiddlewaretoken": browser.cookies["csrftoken"].value}
    )


def test_a_form_without_its_cookies_is_kept_through_signing_in_and_sent_again(browser, rachel):
    rachel.set_password("right")
    rachel.save()

    lost = post(browser, LETTER_KEYS, {"on": "0"})
    page = shown(lost.text)
    wrong = sign_in_with(browser, page.fields, "rachel", "wrong")
    right = sign_in_with(browser, shown(wrong.text).fields, "rachel", "right")

    assert lost.status_code == 403
    assert page.headings == ["Sign in"]
    assert "kept" in page.messages[0]
    assert page.fields["next"] == "/studies/mine/"
    waiting = shown(right.text)
    assert waiting.actions[-1] == LETTER_KEYS
    assert waiting.fields["on"] == "0"
    assert "/studies/mine/" in waiting.addresses
    assert "no-store" in right["Cache-Control"]


def test_a_lost_session_alone_keeps_the_form_too(client, db):
    page = shown(post(client, LETTER_KEYS, {"on": "0"}).text)

    kept = unsealed(page.fields["kept"])

    assert kept == KeptForm(LETTER_KEYS, [("on", "0")])


def test_who_is_still_signed_in_sends_the_form_again_at_once(browser, rachel):
    browser.force_login(rachel)  # the session's cookie is there, the form's is not

    answer = post(browser, LETTER_KEYS, {"on": "0"})

    assert shown(answer.text).headings == ["You are signed in"]
    assert shown(answer.text).fields["on"] == "0"


@pytest.mark.parametrize("has_cookie", [True, False])
def test_who_signed_in_meanwhile_in_another_tab_loses_nothing_either(browser, rachel, has_cookie):
    page = shown(post(browser, LETTER_KEYS, {"on": "0"}).text)
    browser.force_login(rachel)
    browser.get("/accounts/change-password/")
    if not has_cookie:
        del browser.cookies[settings.CSRF_COOKIE_NAME]

    said = page.fields | {"username": "rachel", "password": "any"}
    token = browser.cookies[settings.CSRF_COOKIE_NAME].value if has_cookie else "lost"
    waiting = shown(post(browser, SIGN_IN, said | {"csrfmiddlewaretoken": token}).text)

    assert waiting.headings == ["You are signed in"]
    assert waiting.fields["on"] == "0"


def test_htmx_is_led_to_sign_in_and_back_to_its_page(browser):
    answer = post(
        browser, LETTER_KEYS, {"on": "0"}, **{"HX-Request": "true", "HX-Current-URL": PAGE}
    )

    assert answer["HX-Redirect"] == f"{SIGN_IN}?next=/studies/mine/"


def test_a_script_hears_of_it_by_the_status(browser):
    answer = post(browser, LETTER_KEYS, {"on": "0"}, Accept="application/json")

    assert answer.status_code == 403
    assert "kept" not in shown(answer.text).fields


def test_a_form_that_is_a_button_alone_is_sent_again_too(browser, rachel):
    browser.force_login(rachel)

    waiting = shown(post(browser, "/accounts/sign-out/", {}).text)

    assert waiting.actions[-1] == "/accounts/sign-out/"


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://testserver.evil"])
def test_nothing_is_kept_of_what_another_site_sends(browser, rachel, origin):
    browser.force_login(rachel)

    answer = post(browser, LETTER_KEYS, {"on": "0"}, Origin=origin, Referer="")

    assert answer.status_code == 403
    assert shown(answer.text).headings == ["This form has expired"]
    assert "on" not in shown(answer.text).fields


def test_a_password_is_never_carried_along(browser):
    answer = post(browser, reverse("accounts:change-password"), {"new_password1": "secret-word"})

    assert answer.status_code == 302
    assert answer.url.startswith(SIGN_IN)


def test_the_sign_in_form_itself_is_shown_once_more(browser):
    answer = post(browser, SIGN_IN, {"username": "a", "password": "b", "next": "/studies/mine/"})

    page = shown(answer.text)
    assert page.headings == ["Sign in"]
    assert page.fields["next"] == "/studies/mine/"
    assert settings.CSRF_COOKIE_NAME in browser.cookies


@pytest.mark.parametrize(
    "text",
    ["", "made up", signing.dumps({"path": "/"}, salt="another")],
    ids=["nothing", "made up", "sealed for something else"],  # a seal holds the time
)
def test_only_what_this_site_sealed_is_unsealed(text):
    assert unsealed(text) is None
    assert unsealed(signing.dumps({"path": "/", "fields": [["a", "b"]]}, salt=SALT)) == KeptForm(
        "/", [("a", "b")]
    )

"""The parts of every page: theme, policy, error pages, and the way back after a new sign-in."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.urls import reverse
from django.views.defaults import server_error
from django_htmx.middleware import HtmxMiddleware

from accounts.http import page_to_return_to, render_page_or_fragment
from tests.shown import markup, shown

SIGN_IN = "/accounts/sign-in/"
TEMPLATES = sorted((settings.BASE_DIR / "templates").rglob("*.html"))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_server_writes_the_chosen_theme(client, theme):
    client.cookies["theme"] = theme

    assert f'<html lang="en" data-theme="{theme}">' in markup(client.get(SIGN_IN))


@pytest.mark.parametrize("theme", ["", "pink", '"><script>'])
def test_no_other_theme_reaches_the_page(client, theme):
    client.cookies["theme"] = theme

    assert '<html lang="en">' in client.get(SIGN_IN).text


def test_the_content_security_policy_allows_nothing_inline_and_nothing_foreign(client):
    policy = client.get(SIGN_IN)["Content-Security-Policy"]

    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy + ";"
    assert "style-src 'self';" in policy + ";"
    assert "unsafe" not in policy


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_no_template_has_what_the_policy_forbids(path: Path):
    forbidden = re.compile(r"\sstyle=|\son[a-z]+=|<style|<script(?![^>]*\ssrc=)|hx-on|javascript:")

    assert not forbidden.findall(path.read_text("utf-8"))


@pytest.mark.once
def test_error_pages_look_like_the_site(client, db, rachel, client_for):
    no_page = client.get("/no/such/page/")
    not_hers = client_for(rachel).get(reverse("accounts:users"))
    expired = Client(enforce_csrf_checks=True).post(SIGN_IN)
    button = client.get(reverse("accounts:sign-out"))
    broken = server_error(RequestFactory().get("/"))

    for response, status, heading in [
        (no_page, 404, "There is no such page"),
        (not_hers, 403, "This page is not for you"),
        (expired, 403, "This form has expired"),
        (button, 405, "This address is not a page"),
        (broken, 500, "Something broke on our side"),
    ]:
        text = response.content.decode()
        page = shown(text)
        assert response.status_code == status
        assert page.headings == [heading]
        assert "Attest" in page.links
        assert "app.css" in text
    assert button["Allow"] == "POST"


def test_an_expired_session_sends_htmx_to_sign_in_and_back_to_the_page(client):
    page = "http://testserver/accounts/users/?q=a&page=2"

    response = client.get(
        "/accounts/users/?q=ab", headers={"HX-Request": "true", "HX-Current-URL": page}
    )

    assert response.status_code == 200
    assert response.content == b""
    assert response["HX-Redirect"] == f"{SIGN_IN}?next=/accounts/users/%3Fq%3Da%26page%3D2"


@pytest.mark.once
def test_other_redirects_stay_as_they_are_for_htmx(rachel, client_for):
    response = client_for(rachel).get("/", headers={"HX-Request": "true"})

    assert response.status_code == 302
    assert "HX-Redirect" not in response


@pytest.mark.parametrize(
    ("page", "way_back"),
    [
        ("http://testserver/data/?q=a%20b&page=2#row-3", "/data/?q=a%20b&page=2"),
        ("https://evil.example/data/", "/"),
        ("//evil.example/data/", "/"),
        ("javascript:alert(1)", "/"),
        ("http://testserver//evil.example/data/", "/"),
        ("http://testserver/\\evil.example/data/", "/"),
        ("http://[", "/"),
        ("", "/"),
    ],
)
def test_the_way_back_is_a_page_of_this_site(page, way_back):
    fragment = RequestFactory().get("/x/", headers={"HX-Request": "true", "HX-Current-URL": page})
    post = RequestFactory().post("/x/", headers={"Referer": page})

    assert page_to_return_to(fragment) == way_back
    assert page_to_return_to(post) == way_back


def test_a_page_whose_path_looks_like_a_host_is_no_way_out():
    request = RequestFactory().get("/", PATH_INFO="//evil.example/data/")

    assert page_to_return_to(request) == "/"


@pytest.mark.parametrize(
    ("headers", "is_page"),
    [
        ({}, True),
        ({"HX-Request": "true"}, False),
        ({"HX-Request": "true", "HX-History-Restore-Request": "true"}, True),
    ],
)
def test_htmx_gets_the_fragment_and_everything_else_the_page(headers, is_page):
    request: Any = RequestFactory().get("/", headers=headers)
    request.user = AnonymousUser()
    HtmxMiddleware(lambda _: HttpResponse())(request)

    response = render_page_or_fragment(
        request, page="404.html", fragment="_empty.html", context={"title": "Nothing"}, status=422
    )

    assert response.status_code == 422
    assert ("<html" in response.content.decode()) is is_page
    assert "HX-Request" in response["Vary"]

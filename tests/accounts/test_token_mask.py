"""Tokens of sign-in links reach no log: a reader of logs must not sign in as another user."""

import logging

import pytest
from axes.models import AccessLog
from django.test import Client
from django.urls import reverse

from accounts.services import create_sign_in_link

TOKEN = "tVq8-3xK_dWJw0yB9m2sPzQ4uLhR7nCe6GfXaYk1iSo"


@pytest.fixture
def logged(caplog):
    """Return a function that gives all that was logged so far, whatever its level."""
    caplog.set_level(logging.DEBUG)
    return lambda: "\n".join(f"{record.getMessage()} {record.args}" for record in caplog.records)


@pytest.mark.once
def test_a_link_that_no_longer_works_is_logged_without_its_token(client, db, logged):
    assert client.get(reverse("accounts:sign-in-link", args=[TOKEN])).status_code == 410

    assert "Gone: /accounts/sign-in-link/…/" in logged()
    assert TOKEN not in logged()


@pytest.mark.once
def test_a_warning_about_csrf_is_logged_without_the_token(rachel, adam, logged):
    token = create_sign_in_link(rachel, adam)
    url = reverse("accounts:sign-in-link", args=[token])

    assert Client(enforce_csrf_checks=True).post(url).status_code == 403

    assert "Forbidden" in logged()
    assert token not in logged()


@pytest.mark.once
def test_signing_in_by_a_link_leaves_no_token_in_logs_and_sign_in_records(
    rachel, adam, client, logged
):
    token = create_sign_in_link(rachel, adam)

    client.post(reverse("accounts:sign-in-link", args=[token]))

    assert "Successful login" in logged()
    assert token not in logged()
    assert AccessLog.objects.get().path_info == "/accounts/sign-in-link/…/"


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        (f'"POST /accounts/sign-in-link/{TOKEN}/ HTTP/1.1" 200', ()),
        ("%s %s", ("Not Found:", f"/accounts/sign-in-link/{TOKEN}/x")),
        ('"%(r)s"', ({"r": f"GET /accounts/sign-in-link/{TOKEN}"},)),
        ("%s", (f"/accounts/sign-in/?next=/accounts/sign-in-link/{TOKEN}/",)),
        ("%s", (f"/accounts/sign-in/?next=%2Faccounts%2Fsign-in-link%2F{TOKEN}%2F",)),
        ("%r", (ValueError(f"http://host/accounts/sign-in-link/{TOKEN}/"),)),
    ],
)
def test_whoever_logs_an_address_logs_no_token(logged, message, arguments):
    logging.getLogger("somebody's").error(message, *arguments)

    assert "sign-in-link" in logged()
    assert TOKEN not in logged()


@pytest.mark.parametrize("query", ["PROLIFIC_PID=5f3c&SESSION_ID=9", "who=5f3c", "a=b%3D5f3c"])
def test_the_ids_in_the_address_of_a_studys_link_are_not_logged(logged, query):
    logger = logging.getLogger("somebody's")
    logger.error(
        '"GET /join/AbC-d_9/?%s HTTP/1.1" 200 "https://x.org/join/AbC-d_9/?%s"', query, query
    )
    logger.error("/accounts/sign-in/?next=%%2Fjoin%%2FAbC-d_9%%2F%%3F%s", query)

    assert "join/AbC-d_9/?…" in logged()
    assert "5f3c" not in logged()


def test_an_exception_that_names_an_address_is_logged_without_its_token(caplog):
    try:
        raise RuntimeError(f"You called /accounts/sign-in-link/{TOKEN} by POST.")
    except RuntimeError:
        logging.getLogger("somebody's").exception("it broke")

    assert "RuntimeError: You called /accounts/sign-in-link/… by POST." in caplog.text
    assert TOKEN not in caplog.text


@pytest.mark.once
def test_an_address_writes_no_line_of_a_log(client, db, logged):
    forged = "\r\n2026-01-01 WARNING root: all is well\x1b[2J\u2028"
    url = reverse("accounts:sign-in-link", args=[forged])

    client.post(url)

    of_axes = [line for line in logged().splitlines() if "New login failure" in line]
    assert r"sign-in-link/\r\n2026-01-01 WARNING root: all is well\x1b[2J\u2028/" in of_axes[0]
    assert not any(line.startswith("2026-01-01") for line in logged().splitlines())


def test_the_text_of_an_exception_begins_no_line_of_a_log(caplog):
    try:
        raise RuntimeError("bad\n2026-01-01 WARNING root: all is well\x1b[2J")
    except RuntimeError:
        logging.getLogger("somebody's").exception("it broke")

    assert r"  2026-01-01 WARNING root: all is well\x1b[2J" in caplog.text.splitlines()
    assert not any(line.startswith("2026-01-01") for line in caplog.text.splitlines())


def test_other_messages_stay_as_they_are(caplog):
    logging.getLogger("ours").error("chunk %s took %.1f s", 7, 0.25)

    [record] = caplog.records
    assert (record.msg, record.args) == ("chunk %s took %.1f s", (7, 0.25))


def test_a_message_that_cannot_be_formatted_stops_nobody(caplog, monkeypatch):
    monkeypatch.setattr(logging, "raiseExceptions", False)
    caplog.handler.handleError = lambda record: None

    logging.getLogger("ours").error("%d", "sign-in-link")

"""The client of Prolific's API: what it asks, what it reads, and what it says when that fails."""

import logging

import pytest

from annotation import prolific as client
from annotation.prolific import ProlificError, Submission
from tests.prolific_server import TOKEN, Fault

REASON = "You answered every question with yes within a second, also where no text was shown. " * 2


def test_a_submission_is_read(prolific):
    prolific.put("visit-1", "kim", "s1", "AWAITING REVIEW")

    found = client.submission("visit-1")

    assert found == Submission("visit-1", "kim", frozenset({"s1"}), "AWAITING REVIEW")
    assert prolific.requests[0].authorization == f"Token {TOKEN}"


@pytest.mark.parametrize("session", ["visit-2", "", "..", "a/b", "a?b", "ä", "x" * 201])
def test_a_submission_that_is_not_there_is_none(prolific, session):
    prolific.put("visit-1", "kim")

    assert client.submission(session) is None
    assert all(request.path == "/api/v1/submissions/visit-2/" for request in prolific.requests)


@pytest.mark.parametrize("has_page_after_last", [True, False])
@pytest.mark.parametrize("largest_page", [1000, 7])
def test_all_pages_are_read_once(prolific, has_page_after_last, largest_page, monkeypatch):
    monkeypatch.setattr(client, "PAGE_SIZE", 10)
    prolific.has_page_after_last, prolific.largest_page = has_page_after_last, largest_page
    for number in range(25):
        prolific.put(f"visit-{number}", f"person-{number}")
    prolific.put("elsewhere", "kim", "s2")

    found = list(client.submissions("s1"))

    assert [each.session for each in found] == [f"visit-{number}" for number in range(25)]
    assert found[0].person == "person-0"


def test_approving_and_rejecting(prolific):
    prolific.put("good", "kim", status="AWAITING REVIEW")
    prolific.put("bad", "lee", status="AWAITING REVIEW")

    assert client.approve("good") == "APPROVED"
    assert client.approve("good") == "APPROVED"  # a second request is ignored
    assert client.reject("bad", REASON, "LOW_EFFORT") == "REJECTED"
    assert prolific.messages == {"bad": REASON}


def test_several_are_approved_at_once(prolific):
    for number in range(3):
        prolific.put(f"visit-{number}", f"person-{number}", status="AWAITING REVIEW")

    client.approve_all([f"visit-{number}" for number in range(3)])

    assert {prolific.status_of(f"visit-{number}") for number in range(3)} == {"APPROVED"}
    assert len(prolific.requests) == 1


def test_a_refusal_is_told_in_the_words_of_prolific_without_ids(prolific):
    prolific.put("5f3c9a7e5f3c9a7e5f3c9a7e", "kim", status="ACTIVE")
    prolific.put("visit-1", "kim", status="AWAITING REVIEW")

    with pytest.raises(ProlificError) as active:
        client.approve("5f3c9a7e5f3c9a7e5f3c9a7e")
    with pytest.raises(ProlificError) as short:
        client.reject("visit-1", "Too bad.", "BECAUSE")
    with pytest.raises(ProlificError) as unknown:
        client.approve_all(["visit-2"])

    assert str(active.value) == (
        "Prolific refused (400): Submission cannot be changed: … is ACTIVE, so it cannot become "
        "APPROVED."
    )
    assert "at least 100 characters" in str(short.value)
    assert "not a valid choice" in str(short.value)
    assert str(unknown.value).endswith("Unknown submissions: ….")


def test_a_wrong_token_is_said_and_never_quoted(prolific, settings):
    settings.PROLIFIC_TOKEN = "another-secret"

    with pytest.raises(ProlificError, match="does not accept the token") as refused:
        client.submission("visit-1")

    assert refused.value.is_about_all
    assert "another-secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("token", "api", "said"),
    [
        ("", "", "has no token"),
        ("two words", "", "Found spaces"),
        ("schlüssel", "", "Found spaces"),
        (TOKEN, "http://prolific.test", "unencrypted"),
        (TOKEN, "https://127.0.0.1:1", "cannot be reached"),
        (TOKEN, "nonsense", "cannot be reached"),
    ],
)
def test_what_is_wrong_with_the_settings_is_said(prolific, settings, token, api, said):
    settings.PROLIFIC_TOKEN = token
    settings.PROLIFIC_API = api or prolific.url

    with pytest.raises(ProlificError, match=said):
        client.submission("visit-1")

    assert not prolific.requests


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault(500), "out of order"),
        (Fault(503, body=b"<html>busy</html>"), "out of order"),
        (Fault(302, {"Location": "http://127.0.0.1:1/"}), "sends elsewhere"),
        (Fault(403, body=b"<html>no</html>"), r"refused \(403\)\."),
        (Fault(200, body=b"<html>"), "no JSON"),
        (Fault(200, body=b"[" * 100_000), "no JSON"),
        (Fault(200, body=b"[]"), "no object"),
        (Fault(200, body=b'{"id": "visit-1"}'), "without id or status"),
        (Fault(200, body=b'{"id": 1, "status": "ACTIVE"}'), "without id or status"),
        (Fault(200, body=b'{"id": "visit-1"', is_cut=True), "broke off"),
        (Fault(429, {"Retry-After": "3600"}), "asks to wait 3600 s"),
    ],
)
def test_an_answer_that_is_no_answer_is_said(prolific, fault, said):
    prolific.is_down = fault

    with pytest.raises(ProlificError, match=said):
        client.submission("visit-1")


def test_silence_is_said_in_time(prolific, monkeypatch):
    monkeypatch.setattr(client, "ANSWERS_WITHIN_SECONDS", 0.2)
    prolific.faults = [Fault(200, after=2.0)]

    with pytest.raises(ProlificError, match=r"did not answer within 0\.2 s"):
        client.submission("visit-1")


@pytest.mark.parametrize("after", ["0", "Thu, 01 Jan 2026 00:00:00 GMT"])
def test_it_waits_and_asks_again_if_prolific_says_so(prolific, after):
    prolific.put("visit-1", "kim")
    prolific.faults = [Fault(429, {"Retry-After": after})] * 2

    assert client.submission("visit-1") is not None
    assert len(prolific.requests) == 3


def test_it_does_not_ask_for_ever(prolific):
    prolific.is_down = Fault(429, {"Retry-After": "0"})

    with pytest.raises(ProlificError, match="too many requests"):
        client.submission("visit-1")

    assert len(prolific.requests) == client.MOST_TRIES


def test_no_log_names_what_was_asked(prolific, caplog):
    prolific.put("visit-1", "kim")
    caplog.set_level(logging.INFO)  # workers log at this level

    client.submission("visit-1")
    list(client.submissions("s1"))

    assert not any(word in caplog.text for word in ("visit-1", "study=s1", TOKEN))

"""A client of Prolific's API, version 1: how submissions stand, and their review.

A submission is one visit of a person to a study on Prolific; its id is the SESSION_ID that Prolific
puts into the address. The source is https://docs.prolific.com/api-reference (submissions).
"""

import json
import re
import time
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, NamedTuple

import httpx2
from django.conf import settings

from generation.server_addresses import sends_key_openly

ANSWERS_WITHIN_SECONDS = 10.0
LARGEST_ANSWER = 8 * 1024 * 1024  # bytes
MOST_TRIES = 3  # requests, if Prolific asks to wait
LONGEST_WAIT_SECONDS = 5.0  # a page waits for the answer
PAGE_SIZE = 100
MOST_PAGES = 1000
LONGEST_STATE = 40  # characters
LONGEST_QUOTE = 300  # characters of what Prolific says
SHORTEST_MESSAGE = 100  # characters of a message to a person who is rejected

# How a submission stands, in Prolific's words.
RESERVED = "RESERVED"  # the person has a place and has not begun
ACTIVE = "ACTIVE"
AWAITING_REVIEW = "AWAITING REVIEW"
TIMED_OUT = "TIMED-OUT"
RETURNED = "RETURNED"
UNKNOWN = "UNKNOWN"
FINAL = frozenset(
    {"APPROVED", "PARTIALLY APPROVED", "REJECTED", "SCREENED OUT", RETURNED, TIMED_OUT}
)

_ID = re.compile(r"[\w-]{1,200}", re.ASCII)
_LOOKS_LIKE_AN_ID = re.compile(r"\b[0-9a-f]{24}\b")
_NOT_THERE = {HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND}
_ABOUT_ALL = {HTTPStatus.UNAUTHORIZED, HTTPStatus.TOO_MANY_REQUESTS}


class Submission(NamedTuple):
    """A submission as Prolific has it. `person` and `studies` are empty if it does not say them."""

    session: str
    person: str
    studies: frozenset[str]  # the ids of its study, and of the study that this is a part of
    state: str


class ProlificError(Exception):
    """Prolific did not do what was asked. The message says why, without any id or token."""

    def __init__(self, why: str, status: int = 0) -> None:
        super().__init__(why)
        self.status = status  # HTTP status; 0: there was no answer that can be read

    @property
    def is_about_all(self) -> bool:
        """Whether any other request would have failed now as well."""
        return self.status in _ABOUT_ALL or self.status < 400 or self.status >= 500


def has_token() -> bool:
    """Return whether this site may ask Prolific about submissions."""
    return bool(settings.PROLIFIC_TOKEN)


# --- submissions ----------------------------------------------------------------------------


def submission(session: str) -> Submission | None:
    """Return the submission with this id; None if Prolific has none.

    Raises:
        ProlificError: there is no answer.
    """
    if not _ID.fullmatch(session):
        return None
    try:
        found = _object(_asked("GET", f"/api/v1/submissions/{session}/", ids=[session]))
    except ProlificError as error:
        if error.status in _NOT_THERE:
            return None
        raise
    return _read(found, "participant")


def submissions(study: str) -> Iterator[Submission]:
    """Yield all submissions of a study on Prolific, oldest first, one page after another.

    Raises:
        ProlificError: there is no answer, or Prolific has no such study.
    """
    seen: set[str] = set()
    for page in range(1, MOST_PAGES + 1):
        choices = {"study": study, "ordering": "started_at", "page": page, "page_size": PAGE_SIZE}
        try:
            answer = _object(_asked("GET", "/api/v1/submissions/", choices, ids=[study]))
        except ProlificError as error:
            if page > 1 and error.status == HTTPStatus.NOT_FOUND:  # there is no further page
                return
            raise
        results = answer.get("results")
        if not isinstance(results, list):
            raise _nonsense("no list of submissions")
        read = [_read(each, "participant_id") for each in results]
        new = [each for each in read if each.session not in seen]
        if not new:
            return
        seen.update(each.session for each in new)
        yield from new


def approve(session: str) -> str:
    """Approve a submission, so that the person is paid; return how it stands then.

    Raises:
        ProlificError: Prolific refuses, or there is no answer.
    """
    return _transition(session, {"action": "APPROVE"})


def approve_all(sessions: Collection[str]) -> None:
    """Ask Prolific to approve several submissions. It does so after it has answered.

    Raises:
        ProlificError: Prolific refuses, or there is no answer.
    """
    ids = list(sessions)
    _asked("POST", "/api/v1/submissions/bulk-approve/", body={"submission_ids": ids}, ids=ids)


def reject(session: str, message: str, category: str) -> str:
    """Reject a submission, so that the person is not paid; return how it stands then.

    Args:
        message: what the person reads, of `SHORTEST_MESSAGE` characters or more.
        category: one of Prolific's rejection categories.

    Raises:
        ProlificError: Prolific refuses, or there is no answer.
    """
    said = {"action": "REJECT", "message": message, "rejection_category": category}
    return _transition(session, said)


def signing_keys() -> list[Mapping[str, Any]]:
    """Return the public keys (JWKs) with which Prolific signs the addresses of studies.

    Raises:
        ProlificError: there is no answer.
    """
    keys = _object(_asked("GET", "/.well-known/study/jwks.json", needs_token=False)).get("keys")
    if not isinstance(keys, list) or not all(isinstance(key, dict) for key in keys):
        raise _nonsense("no list of keys")
    return keys


def _transition(session: str, said: Mapping[str, str]) -> str:
    if not _ID.fullmatch(session):
        raise ProlificError("The address that sent this person had no id of a submission.")
    path = f"/api/v1/submissions/{session}/transition/"
    return _read(_object(_asked("POST", path, body=said, ids=[session])), "participant").state


def _read(found: Any, person: str) -> Submission:
    """Return a submission; `person` is the name of the field with the person's id."""
    if not isinstance(found, dict):
        raise _nonsense("no submission")
    names = ("id", person, "study_id", "parent_study_id", "status")
    session, who, study, whole, state = (_text(found.get(name)) for name in names)
    if not session or not state or len(state) > LONGEST_STATE:
        raise _nonsense("a submission without id or status")
    return Submission(session, who, frozenset(filter(None, (study, whole))), state)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


# --- requests -------------------------------------------------------------------------------


class _Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


def _asked(
    method: str,
    path: str,
    choices: Mapping[str, Any] | None = None,
    body: Mapping[str, Any] | None = None,
    *,
    ids: Collection[str] = (),
    needs_token: bool = True,
) -> bytes:
    """Return what Prolific answers to a request; wait and ask again if it says so.

    Args:
        ids: what must not appear in an error.
    """
    headers = {"User-Agent": "Attest", "Accept": "application/json"}
    if needs_token:
        headers["Authorization"] = f"Token {_token()}"
    for n_tries in range(1, MOST_TRIES + 1):
        answer = _answer(method, path, headers, choices, body)
        if answer.status != HTTPStatus.TOO_MANY_REQUESTS:
            break
        wait = _seconds_to_wait(answer.headers.get("retry-after", ""))
        if n_tries == MOST_TRIES or wait > LONGEST_WAIT_SECONDS:
            raise ProlificError(
                f"Prolific got too many requests and asks to wait {wait:.0f} s (429). Try again "
                "after that.",
                answer.status,
            )
        time.sleep(wait)
    if not 200 <= answer.status < 300:
        raise _refusal(answer, ids)
    return answer.body


def _object(body: bytes) -> dict[str, Any]:
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        raise _nonsense("no JSON") from None
    if not isinstance(said, dict):
        raise _nonsense("no object")
    return said


def _answer(
    method: str,
    path: str,
    headers: Mapping[str, str],
    choices: Mapping[str, Any] | None,
    body: Mapping[str, Any] | None,
) -> _Answer:
    """Return the whole answer to one request. No redirect is followed: the token is Prolific's."""
    ends = time.monotonic() + ANSWERS_WITHIN_SECONDS
    client = httpx2.Client(timeout=ANSWERS_WITHIN_SECONDS, follow_redirects=False)
    url = f"{settings.PROLIFIC_API}{path}"
    try:
        with client, client.stream(method, url, params=choices, json=body, headers=headers) as got:
            text = b""
            for part in got.iter_bytes():
                text += part
                if time.monotonic() > ends:
                    raise httpx2.ReadTimeout("late")
                if len(text) > LARGEST_ANSWER:
                    raise _nonsense(f"more than {LARGEST_ANSWER:,} bytes")
            return _Answer(got.status_code, got.headers, text)
    except httpx2.TimeoutException:
        why = f"did not answer within {ANSWERS_WITHIN_SECONDS:g} s"
    except (httpx2.ConnectError, httpx2.InvalidURL, httpx2.UnsupportedProtocol):
        why = "cannot be reached"
    except httpx2.HTTPError:
        why = "broke off its answer"
    raise ProlificError(f"Prolific {why}.") from None


def _token() -> str:
    token: str = settings.PROLIFIC_TOKEN
    if not token:
        raise ProlificError(
            "This site has no token of Prolific's API. An admin can set ATTEST_PROLIFIC_TOKEN."
        )
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ProlificError(
            "Found spaces, accents or control characters in ATTEST_PROLIFIC_TOKEN; expected a "
            "token."
        )
    if sends_key_openly(settings.PROLIFIC_API, "ATTEST_PROLIFIC_TOKEN"):
        raise ProlificError(
            "The address in ATTEST_PROLIFIC_API would get the token unencrypted; expected one that "
            "begins with https://."
        )
    return token


# --- what went wrong ------------------------------------------------------------------------


def _nonsense(found: str) -> ProlificError:
    return ProlificError(f"Prolific's answer cannot be read: found {found}.")


def _refusal(answer: _Answer, ids: Collection[str]) -> ProlificError:
    """Return why Prolific refused, in its words; never with an id or the token."""
    status = answer.status
    if status == HTTPStatus.UNAUTHORIZED:
        # Its own words are left out, because they could quote the token.
        why = "Prolific does not accept the token in ATTEST_PROLIFIC_TOKEN (401)."
    elif status >= 500:
        why = f"Prolific is out of order ({status})."
    elif status < 400:
        why = f"Prolific sends elsewhere ({status}), which is not followed."
    else:
        quoted = _words_of(answer.body)
        for secret in filter(None, (*ids, settings.PROLIFIC_TOKEN)):
            quoted = quoted.replace(secret, "…")
        quoted = _LOOKS_LIKE_AN_ID.sub("…", quoted)[:LONGEST_QUOTE]
        why = f"Prolific refused ({status}){': ' * bool(quoted)}{quoted.rstrip('.')}."
    return ProlificError(why, status)


def _words_of(body: bytes) -> str:
    """Return the title and the details of an error in one line; "" if it has none."""
    try:
        error = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    if isinstance(error, dict) and isinstance(error.get("error"), dict):
        error = error["error"]
    if not isinstance(error, dict):
        return ""
    said = [error.get("title"), *_details(error.get("detail"))]
    return ": ".join(" ".join(each.split()) for each in said if isinstance(each, str) and each)


def _details(detail: Any) -> list[Any]:
    """Return the texts of a detail: one text, a list, or lists by the name of a field."""
    if isinstance(detail, dict):
        return [text for texts in detail.values() for text in _details(texts)]
    return detail if isinstance(detail, list) else [detail]


def _seconds_to_wait(stated: str) -> float:
    """Return the seconds in a header `Retry-After`, which has a number or a date; 1 without."""
    if stated.isdecimal():
        return float(stated[:6])
    try:
        until = parsedate_to_datetime(stated)
    except (TypeError, ValueError):
        return 1.0
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())

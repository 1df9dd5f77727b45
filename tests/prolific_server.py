"""A stand-in for Prolific's API on this machine, as https://docs.prolific.com/api-reference has it.

It speaks what this project uses: lists of submissions with pages, one submission, the transitions
with their checks, approval of several, and the keys with which addresses are signed.
"""

import json
import re
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

TOKEN = "prolific-token-5f3c9a7e"
CATEGORIES = {
    *("TOO_QUICKLY", "TOO_SLOWLY", "FAILED_INSTRUCTIONS", "INCOMP_LONGITUDINAL", "FAILED_CHECK"),
    *("LOW_EFFORT", "MALINGERING", "NO_CODE", "BAD_CODE", "NO_DATA", "UNSUPP_DEVICE", "OTHER"),
}
ACTIONS = {
    *("APPROVE", "COMPLETE", "REJECT", "RETURN", "START", "SCREEN_OUT", "UNREJECT", "UNRETURN"),
}
AFTER = {"APPROVE": "APPROVED", "REJECT": "REJECTED"}
DEFAULT_PAGE_SIZE = 20
ISSUER = "https://www.prolific.com"


class Request(NamedTuple):
    """A request that the server received."""

    method: str
    path: str
    query: Mapping[str, str]
    authorization: str
    body: dict[str, Any]


class Fault(NamedTuple):
    """An answer that the server gives instead of its own."""

    status: int
    headers: Mapping[str, str] = {}
    body: bytes = b""
    after: float = 0.0  # seconds
    is_cut: bool = False


class Refused(Exception):
    """A request that is answered with an error in Prolific's form."""

    def __init__(self, status: int, title: str, detail: object) -> None:
        super().__init__(title)
        error = {"status": status, "error_code": 140_000 + status, "title": title, "detail": detail}
        self.status, self.body = status, {"error": error}


@cache
def usual_key() -> rsa.RSAPrivateKey:
    """Return the key of all these servers; making one takes longer than most tests."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class ProlificServer(ThreadingHTTPServer):
    """Prolific, with submissions that a test puts there."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.submissions: dict[str, dict[str, Any]] = {}
        self.messages: dict[str, str] = {}  # session → what a rejected person reads
        self.requests: list[Request] = []
        self.faults: list[Fault] = []  # for the next requests, one each
        self.is_down: Fault | None = None
        self.largest_page = 1000
        self.has_page_after_last = True  # empty; otherwise it answers 404
        self.is_slow_to_approve = False  # several submissions: it says yes and has not begun
        self.key = usual_key()
        self.key_id = "stand-in-1"
        self.lock = threading.Lock()

    def put(self, session: str, person: str, study: str = "s1", status: str = "ACTIVE") -> None:
        """Put a submission there, or let it stand in another way."""
        self.submissions[session] = {
            "id": session,
            "participant": person,
            "study_id": study,
            "status": status,
            "started_at": f"2026-11-26T08:00:00.{len(self.submissions):06}Z",
            "completed_at": None,
            "entered_code": None,
        }

    def status_of(self, session: str) -> str:
        return str(self.submissions[session]["status"])

    def signed(self, audience: str, ids: Mapping[str, str], **claims: Any) -> str:
        """Return a token as Prolific adds it to the address of a study (`prolific_token`)."""
        now = int(time.time())
        said: dict[str, Any] = {
            "iss": ISSUER,
            "iat": now,
            "exp": now + 120,
            "aud": audience,
            "sub": ids.get("SESSION_ID", ""),
            "prolific": {**ids, "workspace_id": "507f1f77bcf86cd799439011"},
        }
        said = {name: value for name, value in (said | claims).items() if value is not None}
        return jwt.encode(said, self.key, "RS256", headers={"kid": self.key_id})

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report no error when the client has closed the connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    # --- the API ----------------------------------------------------------------------------

    def answer(self, request: Request) -> tuple[int, Any]:
        """Return the status and the body of an answer."""
        if request.path == "/.well-known/study/jwks.json":
            return 200, {"keys": [self._public_key()]}
        if request.authorization != f"Token {TOKEN}":
            raise Refused(401, "Authentication failed", f"Invalid token {request.authorization}")
        if request.path == "/api/v1/submissions/" and request.method == "GET":
            return 200, self._list(request.query)
        if request.path == "/api/v1/submissions/bulk-approve/" and request.method == "POST":
            return 200, self._approve_several(request.body)
        found = re.fullmatch(r"/api/v1/submissions/([^/]+)/(transition/)?", request.path)
        if found is None:
            raise Refused(404, "Not found", "There is nothing here.")
        if found[1] not in self.submissions:
            raise Refused(404, "Not found", f"No submission with id {found[1]} was found.")
        submission = self.submissions[found[1]]
        if found[2]:
            self._transition(submission, request.body)
        return 200, submission

    def _list(self, query: Mapping[str, str]) -> dict[str, Any]:
        if not query.get("study"):
            raise Refused(400, "Validation error", {"study": ["This field is required."]})
        size = min(int(query.get("page_size", DEFAULT_PAGE_SIZE)), self.largest_page)
        page = int(query.get("page", 1))
        of_study = [
            each for each in self.submissions.values() if each["study_id"] == query["study"]
        ]
        of_study.sort(key=lambda each: each["started_at"])
        shown = of_study[(page - 1) * size : page * size]
        if not shown and page > 1 and not self.has_page_after_last:
            raise Refused(404, "Not found", "Invalid page.")
        fields = ("id", "status", "started_at", "completed_at")
        return {
            "results": [
                {name: each[name] for name in fields}
                | {"participant_id": each["participant"], "has_siblings": False}
                for each in shown
            ]
        }

    def _transition(self, submission: dict[str, Any], body: Mapping[str, Any]) -> None:
        action, wrong = body.get("action"), {}
        if action not in ACTIONS:
            raise Refused(400, "Validation error", {"action": [f'"{action}" is not a choice.']})
        if action == "REJECT":
            if len(body.get("message") or "") < 100:
                wrong["message"] = ["Ensure this field has at least 100 characters."]
            if body.get("rejection_category") not in CATEGORIES:
                wrong["rejection_category"] = ["This is not a valid choice."]
        if wrong:
            raise Refused(400, "Validation error", wrong)
        after = AFTER[action]
        if submission["status"] == after:
            return  # the second request is ignored
        if submission["status"] != "AWAITING REVIEW":
            said = f"{submission['id']} is {submission['status']}, so it cannot become {after}."
            raise Refused(400, "Submission cannot be changed", said)
        submission["status"] = after
        if action == "REJECT":
            self.messages[submission["id"]] = body["message"]

    def _approve_several(self, body: Mapping[str, Any]) -> str:
        ids = body.get("submission_ids")
        if not isinstance(ids, list) or not ids:
            raise Refused(400, "Validation error", {"submission_ids": ["This field is required."]})
        if unknown := [each for each in ids if each not in self.submissions]:
            raise Refused(400, "Validation error", [f"Unknown submissions: {', '.join(unknown)}"])
        if not self.is_slow_to_approve:
            for each in ids:
                self._transition(self.submissions[each], {"action": "APPROVE"})
        return "The submissions are being approved."

    def _public_key(self) -> dict[str, Any]:
        numbers: dict[str, Any] = json.loads(
            jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key())
        )
        return numbers | {"kid": self.key_id, "alg": "RS256", "use": "sig", "key_ops": ["verify"]}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ProlificServer

    def do_GET(self) -> None:
        self._respond()

    def do_POST(self) -> None:
        self._respond()

    def _respond(self) -> None:
        length = int(self.headers.get("content-length", 0))
        text = self.rfile.read(length)
        address = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(address.query).items()}
        body = json.loads(text) if text else {}
        authorization = self.headers.get("authorization", "")
        request = Request(self.command, address.path, query, authorization, body)
        with self.server.lock:
            self.server.requests.append(request)
            fault = self.server.faults.pop(0) if self.server.faults else self.server.is_down
            if fault is None:
                try:
                    status, said = self.server.answer(request)
                except Refused as refused:
                    status, said = refused.status, refused.body
                fault = Fault(status, body=json.dumps(said).encode())
        time.sleep(fault.after)
        self.send_response(fault.status)
        for name, value in fault.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(fault.body) + fault.is_cut))
        self.end_headers()
        self.wfile.write(fault.body)
        self.close_connection = fault.is_cut

    def log_message(self, format: str, *args: Any) -> None:
        """Print no line for each request."""


@contextmanager
def prolific_server() -> Iterator[ProlificServer]:
    """Run a stand-in for as long as it is needed."""
    with ProlificServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()

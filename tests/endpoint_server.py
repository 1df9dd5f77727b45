"""A server on this machine that answers queries as it is told, well or badly."""

import json
import sys
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Reply(NamedTuple):
    """The reply to a query."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = {}
    after: float = 0.0  # seconds
    missing: int = 0  # bytes that the stated length counts but that are never sent
    # When set, `body` is the start of the raw answer, head included, and this is sent repeatedly.
    drop: bytes = b""


Behaviour = Callable[[str], Reply]  # takes a query

NOTHING = b'{"head": {"vars": []}, "results": {"bindings": []}}'


def gives(body: bytes = NOTHING, after: float = 0.0, missing: int = 0) -> Behaviour:
    """Answer every query with the same body."""
    return lambda query: Reply(body, after=after, missing=missing)


def drips(begins: bytes, drop: bytes) -> Behaviour:
    """Begin an answer with these bytes, and never end it."""
    return lambda query: Reply(begins, drop=drop)


def refuses(status: int, said: bytes = b"no", **headers: str) -> Behaviour:
    """Answer with an error."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda query: Reply(said, status, named)


def sends_on(url: str, status: int = 302) -> Behaviour:
    """Answer with a redirect to `url` that carries the query along."""

    def behave(query: str) -> Reply:
        asked = urllib.parse.urlencode({"query": query})
        return Reply(status=status, headers={"Location": f"{url}?{asked}"})

    return behave


def forwards(url: str) -> Behaviour:
    """Answer as the endpoint at `url` does."""

    def behave(query: str) -> Reply:
        asked = f"{url}?{urllib.parse.urlencode({'query': query})}"
        accept = {"Accept": "application/sparql-results+json"}
        with urllib.request.urlopen(urllib.request.Request(asked, headers=accept)) as answer:
            return Reply(answer.read())

    return behave


def rows(*bindings: Mapping[str, Mapping[str, str]]) -> bytes:
    """Return an answer with these rows."""
    return json.dumps({"head": {"vars": []}, "results": {"bindings": bindings}}).encode()


class Asked(NamedTuple):
    """A query that the server received, with its time."""

    query: str
    headers: Mapping[str, str]
    at: float


class EndpointServer(ThreadingHTTPServer):
    """A server with one planned behaviour per query; the last one serves all further queries."""

    daemon_threads = True

    def __init__(self, *plan: Behaviour) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.plan = list(plan)
        self.asked: list[Asked] = []
        self.url = f"http://127.0.0.1:{self.server_port}/sparql"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report no error when the client has closed the connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def reply(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        behaviour = self.plan.pop(0) if len(self.plan) > 1 else self.plan[0]
        return behaviour(asked.query)


class _Handler(BaseHTTPRequestHandler):
    server: EndpointServer

    def do_GET(self) -> None:
        given = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.server.reply(Asked(given.get("query", [""])[0], headers, time.monotonic()))
        time.sleep(reply.after)
        if reply.drop:
            self._drip(reply)
            return
        self.send_response(reply.status)
        self.send_header("Content-Type", "application/sparql-results+json")
        self.send_header("Content-Length", str(len(reply.body) + reply.missing))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)

    def _drip(self, reply: Reply) -> None:
        """Write a drop 50 times a second for 5 s, or until the client closes the connection."""
        self.close_connection = True
        self.wfile.write(reply.body)
        for _ in range(250):
            self.wfile.write(reply.drop)
            time.sleep(0.02)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


@contextmanager
def endpoint_server(*plan: Behaviour) -> Iterator[EndpointServer]:
    """Serve until the block ends."""
    server = EndpointServer(*plan)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()

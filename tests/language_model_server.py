"""Servers of language models on this machine: one that answers as it is told, and a real one."""

import json
import os
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import URLError

STARTS_WITHIN_SECONDS = 60.0


class Reply(NamedTuple):
    """The reply to a request."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = {}
    after: float = 0.0  # seconds
    is_cut: bool = False  # whether the connection ends in the middle of the body


Behaviour = Callable[["Request"], Reply]


class Request(NamedTuple):
    """A request that a server received."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def prompt(self) -> str:
        """The whole text that the model was to read."""
        messages = self.body.get("messages", ())
        together = "\n\n".join(message["content"] for message in messages)
        return str(self.body.get("prompt", together))


def says(
    text: Any, top: Sequence[Mapping[str, float]] = (), reason: str = "stop", after: float = 0.0
) -> Behaviour:
    """Answer with a text; `top` has the log-probabilities at each token, the chosen one first."""

    def behave(request: Request) -> Reply:
        usage = {"prompt_tokens": len(request.prompt.split()), "completion_tokens": 1}
        choice: dict[str, Any] = {"index": 0, "finish_reason": reason}
        if "messages" in request.body:
            choice["message"] = {"role": "assistant", "content": text}
            listed = [[{"token": t, "logprob": p} for t, p in each.items()] for each in top]
            if top:
                content = [{**tokens[0], "top_logprobs": tokens} for tokens in listed]
                choice["logprobs"] = {"content": content}
        else:
            choice["text"] = text
            if top:
                choice["logprobs"] = {
                    "tokens": [next(iter(each)) for each in top],
                    "token_logprobs": [next(iter(each.values())) for each in top],
                    "top_logprobs": [dict(each) for each in top],
                }
        answer = {"object": "chat.completion", "choices": [choice], "usage": usage}
        return Reply(json.dumps(answer).encode(), after=after)

    return behave


def refuses(status: int, said: object = "no", **headers: str) -> Behaviour:
    """Answer with an error in the form of such servers."""
    body = json.dumps({"error": {"message": said}}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request: Reply(body, status, named)


def gives(body: bytes) -> Behaviour:
    """Answer every request with the same body."""
    return lambda request: Reply(body)


def cuts(request: Request) -> Reply:
    """End the connection in the middle of an answer."""
    return Reply(b'{"choices": [', is_cut=True)


def quotes_the_key(request: Request) -> Reply:
    """Refuse, with a message that contains the key that was sent."""
    said = f"cannot work with {request.headers['authorization']}"
    return Reply(json.dumps({"error": {"message": said}}).encode(), 400)


class StandIn(ThreadingHTTPServer):
    """A server that answers as it is told, for each prompt separately."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        self.otherwise: Behaviour = says("0.4")
        self.models: Behaviour = gives(b'{"object": "list", "data": []}')
        self.requests: list[Request] = []
        self.most_at_once = 0
        self.at_once = 0
        self.lock = threading.Lock()
        self._plans: dict[str, list[Behaviour]] = {}

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report no error when the client has closed the connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def plan(self, words: str, *behaviours: Behaviour) -> None:
        """Plan the answers to prompts with these words, one after another; the last one repeats."""
        self._plans[words] = list(behaviours)

    def asked(self, words: str) -> list[Request]:
        """Return the requests about prompts with these words."""
        return [request for request in self.requests if words in request.prompt]

    def behaviour(self, request: Request) -> Behaviour:
        with self.lock:
            self.requests.append(request)
            for words, plan in self._plans.items():
                if words in request.prompt:
                    return plan.pop(0) if len(plan) > 1 else plan[0]
        return self.otherwise


class _Handler(BaseHTTPRequestHandler):
    server: StandIn
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._give(self.server.models(Request(self.path, self._headers(), {})))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        request = Request(self.path, self._headers(), body)
        with self.server.lock:
            self.server.at_once += 1
            self.server.most_at_once = max(self.server.most_at_once, self.server.at_once)
        reply = self.server.behaviour(request)(request)
        time.sleep(reply.after)
        with self.server.lock:
            self.server.at_once -= 1
        self._give(reply)

    def _headers(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.headers.items()}

    def _give(self, reply: Reply) -> None:
        try:
            self.send_response(reply.status)
            for name, value in {"content-type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(reply.body) + 100 * reply.is_cut))
            self.end_headers()
            self.wfile.write(reply.body)
        except (BrokenPipeError, ConnectionResetError):  # the client has gone
            self.close_connection = True
        self.close_connection |= reply.is_cut

    def log_message(self, *parts: object) -> None:
        """Log nothing."""


@contextmanager
def stand_in() -> Iterator[StandIn]:
    """Yield a server that runs in this process."""
    with StandIn() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def transformers_serve(model: Path, home: Path) -> Iterator[str]:
    """Yield the base address of a `transformers serve` with one model, named by its folder."""
    (home / "hub").mkdir(parents=True)
    with StandIn() as unused:
        port = unused.server_port
    command = [str(Path(sys.executable).parent / "transformers"), "serve", str(model)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(home)}
    environment["OMP_NUM_THREADS"] = "1"  # more threads make a tiny model no faster
    log = home / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + STARTS_WITHIN_SECONDS
        while not _is_up(url):
            is_late = time.monotonic() > deadline or process.poll() is not None
            assert not is_late, log.read_text("utf-8", "replace")[-2000:]
            time.sleep(0.1)
        yield f"{url}/v1"
    finally:
        process.kill()
        process.wait()


def _is_up(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False

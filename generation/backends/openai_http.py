"""Language models behind any server that speaks the protocol of OpenAI's HTTP interface."""

import base64
import json
import math
import os
import random
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from hashlib import sha256
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit
from weakref import finalize

from generation.backends.base import Completion, Decoding, Prompt
from generation.backends.openai_replies import Nonsense, completion_of, said_in
from generation.backends.openai_requests import Requests, needed
from generation.backends.thread_slots import Places
from generation.model_specs import BackendError, ModelSpec
from generation.server_addresses import check_key, server_address

AT_ONCE = 4  # prompts at most, even if the model's limit of calls at once is higher
MOST_SILENT = 4  # prompts in a row without an answer; after that the server counts as out of order
SHORTEST_KEY = 8  # characters
LARGEST_ANSWER = 8 * 1024 * 1024  # bytes
_PASSING = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS}
# The headers that a request keeps. The client would add others: settings for another server that it
# finds in the environment, and a description of this machine.
_HEADERS_SENT = {
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "host",
    "transfer-encoding",
    "x-stainless-raw-response",  # tells the client how to return an answer
}
_LONGEST_IN_SIGNATURE = 30  # characters of a name
_LOOKS_LIKE_A_KEY = re.compile(r"(?i)\b(?:bearer|basic)\s+\S+|\bsk-[\w*.-]{4,}")


class ServerPatience(NamedTuple):
    """The limits of waiting for a server."""

    request: float = 90.0  # seconds for one request
    prompt: float = 180.0  # seconds for all requests about one prompt, with the pauses between them
    n_tries: int = 5  # for one prompt; after 'too many requests' only the time is limited
    first_pause: float = 0.5  # seconds; doubled each time, unless the server says how long to wait
    longest_pause: float = 20.0


PATIENCE = ServerPatience()


class _RequestTrouble(Exception):
    """A request without an answer, with the reason and whether asking again may help."""

    def __init__(self, why: str, status: int = 0, wait: float | None = None) -> None:
        super().__init__(why)
        self.status = status  # HTTP status; 0: there was no response
        self.wait = wait  # seconds, if the server says how many

    @property
    def is_passing(self) -> bool:
        return self.is_silence or self.status in _PASSING or self.status >= 500

    @property
    def is_silence(self) -> bool:
        return not self.status

    @property
    def is_limit(self) -> bool:
        return self.status == HTTPStatus.TOO_MANY_REQUESTS


class _Call:
    """One call of `complete`: the time when it began, and whether it is over."""

    def __init__(self) -> None:
        self.is_over = threading.Event()
        self.began = time.monotonic()


class OpenAILanguageModel:
    """A model behind a server, asked over the network, a few prompts at once."""

    revision = ""  # servers report no revision that lasts
    device = "server"

    def __init__(self, spec: ModelSpec, patience: ServerPatience = PATIENCE) -> None:
        """Check that the server can be reached.

        Args:
            spec: its location is the base address, as in 'https://host/v1', for chat messages. If
                it ends in '/completions', the server continues texts instead.

        Raises:
            BackendError: there is no address or no name of a model; a key is named but is not set,
                or others could read it on its way; no server answers, or it refuses the key.
        """
        self._location = spec.location
        self._base, self._kind = server_address(spec.location)
        check_key(spec)
        self._model = spec.served_name
        if not self._model:
            raise BackendError("Found no name of the model; expected the one that its server knows")
        self._key_variable = spec.key_variable
        self._key = _key_in(spec.key_variable)
        self._patience = patience
        self._requests = Requests(self._kind, self._model)
        # Shared by the prompts of all calls.
        self._places = Places(min(AT_ONCE, spec.calls_at_once))
        self._answered_at = -math.inf  # time of the last final answer: a text or a refusal
        self._has_completed = False  # whether any prompt was ever completed
        self._was_given_up = False  # about the last prompt; if true, the next are asked only once
        self._n_silent = 0  # prompts in a row without an answer
        self.files: dict[str, str] = {}
        host = _short(urlsplit(self._base).hostname or "")
        self.signature = f"openai|{self._kind}|{host}|{_short(self._model)}|v:1"
        self._client = self._made()
        finalize(self, self._client.close)  # otherwise connections may stay open
        self._look()

    def complete(self, prompts: Sequence[Prompt], decoding: Decoding) -> Iterator[Completion]:
        """Yield a completion for each prompt, in the same order, as soon as each is ready.

        Whether the same prompt gives the same text is up to the server, even with a seed.

        Raises:
            BackendError: as the protocol says, and when `MOST_SILENT` prompts in a row get no
                answer, because waiting for each of thousands of prompts would show nothing more.
        """
        call = _Call()
        pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="prompts")
        try:
            asked = [pool.submit(self._completion, each, decoding, call) for each in prompts]
            for each in asked:
                yield each.result()
        finally:
            call.is_over.set()
            pool.shutdown(wait=False, cancel_futures=True)

    # --- one prompt -----------------------------------------------------------------------------

    def _completion(self, prompt: Prompt, decoding: Decoding, call: _Call) -> Completion:
        with self._places.one():
            return self._completion_now(prompt, decoding, call)

    def _completion_now(self, prompt: Prompt, decoding: Decoding, call: _Call) -> Completion:
        if call.is_over.is_set():
            return Completion(problem="not asked: nobody waits for it any more")
        silent = time.monotonic() - max(call.began, self._answered_at)
        if silent > self._patience.prompt:
            return Completion(problem=f"not asked: the server has been silent for {silent:.0f} s")
        try:
            body = self._answer(prompt, decoding, call)
            self._answered_at = time.monotonic()
            self._has_completed = True
            self._was_given_up = False
            self._n_silent = 0
            return completion_of(self._without_key(body), decoding.stop, decoding.max_tokens)
        except Nonsense as nonsense:
            return nonsense.counted._replace(problem=self._safe(str(nonsense)))
        except _RequestTrouble as trouble:
            if not trouble.is_passing:
                self._answered_at = time.monotonic()
            self._was_given_up = trouble.is_passing and not trouble.is_limit
            self._n_silent = self._n_silent + 1 if trouble.is_silence else 0
            if self._n_silent >= MOST_SILENT:
                raise BackendError(
                    f"{self._location}: {self._n_silent} calls in a row got no answer. The last: "
                    f"{trouble}. Check that the server works, then resume"
                ) from None
            return Completion(problem=str(trouble))

    def _answer(self, prompt: Prompt, decoding: Decoding, call: _Call) -> bytes:
        """Return the server's answer; ask again as long as that may help."""
        ends = time.monotonic() + self._patience.prompt
        most = 1 if self._was_given_up else self._patience.n_tries
        pause = self._patience.first_pause
        n_tries = 0
        while True:
            n_tries += 1
            request = self._requests.request(prompt, decoding)
            try:
                return self._answer_once(request, ends)
            except _RequestTrouble as trouble:
                if not trouble.is_passing and self._requests.adapts(request, str(trouble)):
                    continue
                setting = "" if trouble.is_passing else needed(request, str(trouble))
                if setting and not self._has_completed:
                    raise BackendError(
                        f"{self._location}: {str(trouble).rstrip('.')}. The work needs {setting}. "
                        "Choose a model that takes it"
                    ) from None
                wait = pause * random.uniform(0.75, 1) if trouble.wait is None else trouble.wait
                is_late = time.monotonic() + wait > ends
                is_last = n_tries >= most and not trouble.is_limit
                if not trouble.is_passing or is_last or is_late or call.is_over.wait(wait):
                    asked = f" (asked {n_tries} times)" if n_tries > 1 else ""
                    raise _RequestTrouble(f"{trouble}{asked}", trouble.status) from None
                pause = min(2 * pause, self._patience.longest_pause)

    def _answer_once(self, request: Mapping[str, Any], ends: float) -> bytes:
        import httpx2
        import openai

        began = time.monotonic()
        seconds = max(min(self._patience.request, ends - began), 0.01)
        api = self._client.chat if self._kind == "chat" else self._client
        asked = api.completions.with_streaming_response.create(**request, timeout=seconds)
        try:
            with asked as answer:
                body = b""
                for part in answer.iter_bytes():
                    body += part
                    if time.monotonic() > began + seconds:
                        raise _RequestTrouble(f"no whole answer within {seconds:.3g} s")
                    if len(body) > LARGEST_ANSWER:
                        raise Nonsense(f"the server's answer has more than {LARGEST_ANSWER} bytes")
                return body
        except (openai.APITimeoutError, httpx2.TimeoutException):
            raise _RequestTrouble(f"no answer within {seconds:.3g} s") from None
        except openai.APIStatusError as error:
            raise self._refusal(error) from None
        except (openai.APIConnectionError, httpx2.HTTPError) as error:
            raise _RequestTrouble(_in_words(error)) from None

    # --- the server -----------------------------------------------------------------------------

    def _made(self) -> Any:
        import openai

        key = self._key or "none"  # the client requires a key; never that of another server

        def make_bare(request: Any) -> None:
            for name in set(request.headers) - _HEADERS_SENT:
                del request.headers[name]
            request.headers["authorization"] = f"Bearer {key}"
            request.headers["user-agent"] = "Attest"

        return openai.OpenAI(
            api_key=key,
            base_url=self._base,
            timeout=self._patience.request,
            max_retries=0,  # its own retries have no time limit and miss an answer that is cut
            http_client=openai.DefaultHttpxClient(
                follow_redirects=False,  # key and prompts are for this server only
                event_hooks={"request": [make_bare]},
            ),
        )

    def _look(self) -> None:
        """Check that a server answers and accepts the key; it need not have a list of models."""
        import httpx2
        import openai

        listed = self._client.models.with_streaming_response.list(
            timeout=min(self._patience.request, 20.0)
        )
        try:
            with listed:
                return
        except openai.APIStatusError as error:
            if error.status_code in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
                self._refusal(error)
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout):
                raise BackendError(f"{self._location}: {_in_words(error)}") from None

    def _refusal(self, error: Any) -> _RequestTrouble:
        """Return why a request was refused.

        Raises:
            BackendError: every request would be refused. After a completion, only a refused key
                (401) counts as that. Other refusals are about one request then: gateways answer 403
                to texts that they find indecent.
        """
        status = int(error.status_code)
        said = f"the server answered {status}{_phrase(status)}"
        is_about_all = not self._has_completed
        if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            # The server's own words are left out, because servers often quote the key.
            key = (
                f"the key in {self._key_variable}"
                if self._key_variable
                else "a request without a key"
            )
            if is_about_all or status == HTTPStatus.UNAUTHORIZED:
                raise BackendError(f"{self._location}: {said} to {key}")
            return _RequestTrouble(said, status)
        if 300 <= status < 400:
            elsewhere = f"{said}: it sends elsewhere, which is not followed"
            if is_about_all:
                raise BackendError(f"{self._location}: {elsewhere}; expected the address itself")
            return _RequestTrouble(elsewhere, status)
        quoted = self._safe(said_in(error.body))
        if status == HTTPStatus.NOT_FOUND and is_about_all:
            expected = f"expected a model {self._model!r} there"
            raise BackendError(f"{self._location}: {said}; {expected}{': ' * bool(quoted)}{quoted}")
        is_paid_up = "insufficient_quota" not in str(error.body)
        return _RequestTrouble(
            f"{said}{': ' * bool(quoted)}{quoted}",
            status if is_paid_up else HTTPStatus.PAYMENT_REQUIRED,
            _seconds_to_wait(error.response.headers),
        )

    def _safe(self, text: str) -> str:
        """Return a server's words without the key, in any form that it may have there."""
        for form in self._forms_of_key():
            text = text.replace(form, "…")
        return _LOOKS_LIKE_A_KEY.sub("…", text)

    def _without_key(self, body: bytes) -> bytes:
        """Return an answer without the key, wherever it occurs, because completions are shown."""
        for form in self._forms_of_key():
            if len(form) >= SHORTEST_KEY:  # a shorter key may be an ordinary word
                body = body.replace(form.encode(), "…".encode())
        return body

    def _forms_of_key(self) -> list[str]:
        if not self._key:
            return []
        coded = base64.b64encode(self._key.encode()).decode()
        return [self._key, json.dumps(self._key)[1:-1], quote(self._key, safe=""), coded]


def _key_in(variable: str) -> str:
    """Return the key in an environment variable; "" when none is named."""
    if not variable:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise BackendError(
            f"Found no environment variable {variable} where the worker runs; expected a key in it"
        )
    if not key.isascii() or not key.isprintable():
        raise BackendError(
            f"Found spaces, accents or control characters in the environment variable {variable}; "
            "expected a key"
        )
    return key


def _short(name: str) -> str:
    """Return a name for a signature, shortened and with a digest where it is a path or long.

    Of a path only the last part is kept, of a long name only the start.
    """
    end = name.rpartition("/")[2] if name.count("/") > 1 else name
    if end == name and len(name) <= _LONGEST_IN_SIGNATURE:
        return name
    return f"{end[: _LONGEST_IN_SIGNATURE - 9]}~{sha256(name.encode()).hexdigest()[:8]}"


def _seconds_to_wait(headers: Any) -> float | None:
    """Return the seconds that a server asks to wait; None: it asks for none, or for a past time."""
    stated = headers.get("retry-after", "")
    try:
        seconds = float(stated)
    except ValueError:
        try:
            at = parsedate_to_datetime(stated)
        except ValueError:
            return None
        seconds = (at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return seconds if seconds > 0 else None


def _phrase(status: int) -> str:
    try:
        return f" ({HTTPStatus(status).phrase})"
    except ValueError:
        return ""


def _in_words(error: Exception) -> str:
    """Return in words what happened to a connection."""
    import httpx2

    cause = error.__cause__ or error
    if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout):
        return "the server cannot be reached"
    return "the connection was cut before the answer was whole"

"""Connections to an endpoint: only by http and https, and only to checked addresses.

A query has one deadline for everything: connections, redirects, headers, the body, and the text of
errors. It ends at the deadline, however slowly the server sends.
"""

import http.client
import socket
import ssl
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, NamedTuple

from generation.retrieval.endpoint_addresses import EndpointError, Guard, HostAndPort, place_of

_MOST_REDIRECTS = 3
_LOOKS_EVERY_SECONDS = 1.0


class Until(NamedTuple):
    """The deadline of a query, and a function to call while waiting."""

    moment: float  # deadline by the monotonic clock, in seconds
    keep: Callable[[], None]  # called in every second of silence; an exception ends the waiting

    def left(self) -> float:
        """Return how many seconds are left, more than 0.

        Raises:
            TimeoutError: no time is left.
        """
        left = self.moment - time.monotonic()
        if left <= 0:
            raise TimeoutError("it took too long")
        return left


@contextmanager
def guarded(guard: Guard, until: Until) -> Iterator[None]:
    """Let `urlopen` open one query in this context, without a proxy, and check every address.

    An answer with an error status is returned like any other. When the time is over, `urlopen` and
    the response raise TimeoutError (in a URLError or alone). Other threads open addresses as usual.
    """
    urllib.request.install_opener(_OPENER)
    token = _GUARDED.set(_opener(guard, until))
    try:
        yield
    finally:
        _GUARDED.reset(token)


_GUARDED: ContextVar[urllib.request.OpenerDirector | None] = ContextVar("guarded", default=None)


class _Opener(urllib.request.OpenerDirector):
    """The opener of `urlopen` in this process: the guarded one if set, or else the usual one."""

    def open(self, *request: Any, **options: Any) -> Any:
        return (_GUARDED.get() or _USUAL).open(*request, **options)


_USUAL, _OPENER = urllib.request.build_opener(), _Opener()


def _opener(guard: Guard, until: Until) -> urllib.request.OpenerDirector:
    director = urllib.request.OpenerDirector()
    for handler in (
        _PlainHandler(guard, until),
        _SecureHandler(guard, until),
        _Redirects(),
        _Errors(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
    ):
        director.add_handler(handler)
    return director


# --- sockets --------------------------------------------------------------------------------


class _Socket(socket.socket):
    """A socket whose reads end at one deadline for all, instead of after a silence for each."""

    until: Until

    def recv_into(self, *buffer: Any) -> int:
        while True:
            self.settimeout(min(self.until.left(), _LOOKS_EVERY_SECONDS))
            try:
                return super().recv_into(*buffer)
            except TimeoutError:
                self.until.keep()


class _SecureSocket(_Socket, ssl.SSLSocket):
    """A socket like `_Socket` for TLS."""


def _connected(guard: Guard, place: HostAndPort, until: Until) -> _Socket:
    """Connect to the first address of a place that answers; divide the time among its addresses."""
    place = HostAndPort(place.host.rstrip(".").lower(), place.port)
    trouble: OSError = OSError(f"{place.host} has no address")
    addresses = guard.addresses(place)
    for n_left, address in zip(range(len(addresses), 0, -1), addresses, strict=True):
        try:
            seconds = until.left() / n_left
            plain = socket.create_connection((address, place.port), seconds)
        except OSError as error:
            trouble = error
            continue
        connected = _Socket(fileno=plain.detach())
        connected.until = until
        connected.settimeout(until.left())
        return connected
    raise trouble


class _Connection(http.client.HTTPConnection):
    def __init__(self, host: str, *, guard: Guard, until: Until, **options: Any) -> None:
        super().__init__(host, **options)
        self._guard, self._until = guard, until

    def connect(self) -> None:
        self.sock = _connected(self._guard, HostAndPort(self.host, self.port), self._until)


class _SecureConnection(http.client.HTTPSConnection):
    """A TLS connection whose certificate must be that of the name, whatever the address is."""

    def __init__(self, host: str, *, guard: Guard, until: Until, **options: Any) -> None:
        self._tls = ssl.create_default_context()
        self._tls.sslsocket_class = _SecureSocket
        super().__init__(host, context=self._tls, **options)
        self._guard, self._until = guard, until

    def connect(self) -> None:
        plain = _connected(self._guard, HostAndPort(self.host, self.port), self._until)
        try:
            secure = self._tls.wrap_socket(plain, server_hostname=self.host)
        except BaseException:
            plain.close()
            raise
        assert isinstance(secure, _SecureSocket)
        secure.until = self._until
        self.sock = secure


# --- handlers -------------------------------------------------------------------------------


class _PlainHandler(urllib.request.HTTPHandler):
    def __init__(self, guard: Guard, until: Until) -> None:
        super().__init__()
        self._connection = partial(_Connection, guard=guard, until=until)

    def http_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(self._connection, req)


class _SecureHandler(urllib.request.HTTPSHandler):
    def __init__(self, guard: Guard, until: Until) -> None:
        super().__init__()
        self._connection = partial(_SecureConnection, guard=guard, until=until)

    def https_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(self._connection, req)


class _Errors(urllib.request.BaseHandler):
    """A handler that returns an answer with an error status like any other answer.

    The caller reads as much of the answer as is allowed.
    """

    def http_error_default(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, hdrs: Any
    ) -> Any:
        return fp


class _Redirects(urllib.request.HTTPRedirectHandler):
    max_redirections = _MOST_REDIRECTS
    max_repeats = _MOST_REDIRECTS

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        fp.close()  # otherwise its whole body would be read, however large
        try:
            place_of(newurl)
        except EndpointError as error:
            asked = req.full_url.partition("?")[0]
            raise EndpointError(f"{asked} sends on to another address. {error}") from None
        return super().redirect_request(req, fp, code, msg, headers, newurl)

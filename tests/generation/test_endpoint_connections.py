"""One end for each query, over plain connections and over TLS, however an endpoint drips."""

import shutil
import socket
import ssl
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from urllib.request import urlopen

import pytest

from generation.retrieval import endpoint_connections
from generation.retrieval.endpoint_addresses import EndpointError, Guard
from generation.retrieval.endpoint_connections import Until, guarded
from generation.retrieval.sparql import Endpoint, EndpointPatience, TooMuch
from tests.endpoint_server import drips, endpoint_server, gives, rows, sends_on

HASTY = EndpointPatience(query=0.4, n_tries=1, between=0.0)
PATIENT = EndpointPatience(query=5.0, n_tries=3, first_pause=0.01, between=0.0)
OK, ERROR = b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 500 No\r\n"
LENGTH, CHUNKED = b"Content-Length: 9999\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n"
ONE_ROW = gives(rows({"a": {"type": "uri", "value": "http://x"}}))


def asked(url, patience=HASTY, keep=lambda: None):
    endpoint = Endpoint(url, "Attest/0 (test)", allow_private=True, patience=patience, keep=keep)
    return endpoint.select("SELECT ?a WHERE { ?a ?b ?c }", ("a",))


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Return a folder with a certificate that this machine signed for itself, and its key."""
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("openssl, which makes certificates, is not installed")
    folder = tmp_path_factory.mktemp("certificate")
    asked = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    named = "-subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    written = ("-keyout", folder / "key.pem", "-out", folder / "certificate.pem")
    command = [program, *asked.split(), *named.split(), *written]
    subprocess.run(command, check=True, capture_output=True)
    return folder


def secured(server, certificate):
    """Let a server speak TLS; return its address."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "certificate.pem", certificate / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    return server.url.replace("http:", "https:")


# --- one end ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "plan",
    [
        drips(b"HTTP/1.1 200", b" "),
        drips(OK, b"x"),
        drips(OK + LENGTH, b" "),
        drips(OK + CHUNKED, b"0"),
        drips(OK + CHUNKED, b"1\r\n \r\n"),
        drips(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
    ids=["status", "header", "body", "size of a chunk", "chunks", "continue"],
)
def test_an_answer_that_drips_ends_with_its_time(plan):
    began = time.monotonic()
    with endpoint_server(plan) as server, pytest.raises(TooMuch, match=r"within 0\.4 s"):
        asked(server.url)
    assert time.monotonic() - began < 1.5


def test_what_is_said_of_an_error_ends_with_its_time_and_the_error_is_said():
    began = time.monotonic()
    plan, said = drips(ERROR + LENGTH, b"x"), "it answered 500 No"
    with endpoint_server(plan) as server, pytest.raises(EndpointError, match=said):
        asked(server.url)
    assert time.monotonic() - began < 1.5


def test_redirects_have_one_end_together_and_what_comes_with_them_is_not_read():
    begins = b"HTTP/1.1 302 Found\r\nLocation: /sparql?n=%d\r\n"
    begun = time.monotonic()
    with endpoint_server(drips(begins % 1 + LENGTH, b"x"), ONE_ROW) as server:
        assert asked(server.url)
    assert time.monotonic() - begun < 0.4

    slow = [lambda query, n=n: sends_on(f"/sparql?n={n}")(query)._replace(after=0.3) for n in "123"]
    with endpoint_server(*slow, ONE_ROW) as server:
        with pytest.raises(TooMuch, match=r"within 0\.4 s"):
            asked(server.url)
        assert len(server.asked) == 2


def test_a_silent_endpoint_is_waited_for_with_signs_of_life(monkeypatch):
    class StopIt(Exception):
        pass

    signs = []

    def keep():
        signs.append(time.monotonic())
        if len(signs) == 4:
            raise StopIt

    monkeypatch.setattr(endpoint_connections, "_LOOKS_EVERY_SECONDS", 0.05)
    began = time.monotonic()
    with endpoint_server(gives(after=3.0)) as server, pytest.raises(StopIt):
        asked(server.url, PATIENT, keep)
    assert time.monotonic() - began < 1.5


def test_a_wait_that_was_looked_at_loses_nothing(monkeypatch):
    monkeypatch.setattr(endpoint_connections, "_LOOKS_EVERY_SECONDS", 0.05)
    late = ONE_ROW("")._replace(after=0.3)
    with endpoint_server(lambda query: late) as server:
        assert asked(server.url, PATIENT)
    assert len(server.asked) == 1


@contextmanager
def silent_place():
    """Give a place that takes no connection and refuses none: its queue is full."""
    with ExitStack() as stack:
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(3):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listening.getsockname())
        yield listening.getsockname()


def test_an_address_that_does_not_answer_leaves_time_for_the_next(monkeypatch):
    """The first of two addresses has half of the time: 0.5 s of 1 s."""
    connect = socket.create_connection
    with silent_place() as silent, endpoint_server(ONE_ROW) as server:
        places = {"198.51.100.1": silent, "198.51.100.2": ("127.0.0.1", server.server_port)}
        monkeypatch.setattr(Guard, "addresses", lambda *_: list(places))
        monkeypatch.setattr(
            socket, "create_connection", lambda place, seconds: connect(places[place[0]], seconds)
        )
        moment = time.monotonic() + 1.0
        until = Until(moment, lambda: None)
        with guarded(Guard(), until), urlopen("http://host/") as answer:
            assert answer.status == 200
    assert 0.2 < moment - time.monotonic() <= 0.5


def test_only_what_is_asked_of_an_endpoint_is_guarded():
    with endpoint_server(ONE_ROW) as server:
        address = f"http://127.0.0.1:{server.server_port}/"
        until = Until(time.monotonic() + 5, lambda: None)

        with guarded(Guard(), until), pytest.raises(EndpointError, match="expected a public one"):
            urlopen(address)

        with ThreadPoolExecutor() as others, guarded(Guard(), until):
            assert others.submit(lambda: urlopen(address).status).result() == 200
        assert urlopen(address).status == 200


# --- TLS ----------------------------------------------------------------------------------------


def test_over_tls_an_answer_is_read_and_one_that_drips_ends(certificate, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "certificate.pem"))
    monkeypatch.setattr(endpoint_connections, "_LOOKS_EVERY_SECONDS", 0.05)
    late = ONE_ROW("")._replace(after=0.2)
    with endpoint_server(lambda query: late, drips(OK, b"x")) as server:
        url = secured(server, certificate)
        assert asked(url, PATIENT)
        began = time.monotonic()
        with pytest.raises(TooMuch, match=r"within 0\.4 s"):
            asked(url)
    assert time.monotonic() - began < 1.5


def test_a_certificate_that_nobody_vouches_for_is_said_at_once(certificate):
    with endpoint_server(ONE_ROW) as server, pytest.raises(EndpointError) as raised:
        asked(secured(server, certificate), PATIENT)

    assert "no connection: its certificate is not trusted" in str(raised.value)
    assert "asked" not in str(raised.value)


def test_a_name_that_nobody_knows_is_said_at_once():
    with pytest.raises(EndpointError, match="no connection: ") as raised:
        asked("http://attest.invalid/sparql", PATIENT)

    if "Temporary failure" in str(raised.value):
        pytest.skip("no name server can be reached, and one that is away may come back")
    assert "asked" not in str(raised.value)

"""A real Oxigraph server on this machine, with a graph of its own."""

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.error import URLError

BINARY = Path(sys.executable).parent / "oxigraph"
STARTS_WITHIN_SECONDS = 30.0


class Oxigraph(NamedTuple):
    """A server that answers queries."""

    url: str  # address of its SPARQL endpoint
    n_triples: int


@contextmanager
def oxigraph_server(lines: Iterable[str], folder: Path) -> Iterator[Oxigraph]:
    """Load lines of N-Triples into a store in `folder`, and serve it until the block ends."""
    file = folder / "graph.nt"
    n_triples = 0
    with file.open("w", encoding="utf-8") as written:
        for line in lines:
            n_triples += 1
            written.write(line)
    store = folder / "store"
    load: list[str | Path] = [BINARY, "load", "--location", store, "--file", file]
    subprocess.run(load, check=True, capture_output=True)
    port = _free_port()
    address = f"127.0.0.1:{port}"
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(
            [BINARY, "serve", "--location", store, "--bind", address], stdout=log, stderr=log
        )
    try:
        _wait_for(f"http://{address}/", server, folder / "server.log")
        yield Oxigraph(f"http://{address}/query", n_triples)
    finally:
        server.terminate()
        server.wait(timeout=10)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    ends = time.monotonic() + STARTS_WITHIN_SECONDS
    while time.monotonic() < ends:
        if server.poll() is not None:
            break
        try:
            urllib.request.urlopen(url, timeout=1).close()
            return
        except (URLError, OSError):
            time.sleep(0.05)
    raise RuntimeError(f"Oxigraph does not answer at {url}:\n{log.read_text()}")

"""Uploads, and a backend that answers as it is told."""

from collections.abc import Callable, Iterator

import pytest

from evaluation.backends.base import Entailment
from evaluation.backends.registry import BACKENDS, BackendKind
from evaluation.exchange.uploads import request_import
from evaluation.measures.entailment import Pair
from evaluation.runs.scoring import pace_of
from tests import constructed_entries
from tests.evaluation.told import Told
from tests.evaluation.told_language_model import told_model  # noqa: F401 - a fixture
from tests.oxigraph_server import Oxigraph, oxigraph_server
from tests.uploading import zipped
from tests.wikidata_shape import ntriples


@pytest.fixture
def upload(tmp_path, adam):
    return request_import(zipped(tmp_path / "pilot"), "pilot", "", adam)


@pytest.fixture
def bad_upload(tmp_path, adam):
    return request_import(zipped(tmp_path / "pilot", bad=True), "pilot", "", adam)


@pytest.fixture(scope="session")
def family_graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oxigraph]:
    """Return a real endpoint with the people of `tests.constructed_entries`."""
    lines = ntriples(constructed_entries.graph())
    with oxigraph_server(lines, tmp_path_factory.mktemp("family")) as server:
        yield server


@pytest.fixture
def told(monkeypatch, tmp_path) -> Callable[..., Told]:
    """Return a function from what to answer to the backend that runs called 'told' ask."""

    def tell(answer: Callable[[Pair], Entailment] | float = 0.9, revision: str = "") -> Told:
        constant = answer if callable(answer) else lambda pair: Entailment(answer)
        backend = Told(constant, revision)
        kind = BackendKind("Told", lambda spec: backend, needs_model=False)
        monkeypatch.setitem(BACKENDS, "told", kind)
        pace_of.cache_clear()  # the former backend's pace is forgotten
        return backend

    return tell

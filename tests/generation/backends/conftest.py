"""A server of language models on this machine, and a key."""

import pytest

from tests.generation.backends.servers import KEY
from tests.language_model_server import stand_in


@pytest.fixture
def server():
    with stand_in() as running:
        yield running


@pytest.fixture
def key(monkeypatch) -> str:
    monkeypatch.setenv("ATTEST_TEST_KEY", KEY)
    return KEY

"""The users who ask the API in its tests, with tokens: Rosa, a researcher, and Adam, an admin."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from accounts.services import create_api_token
from tests.evaluation.pages import make_pilot
from tests.evaluation.told_language_model import told_model  # noqa: F401 - a fixture


@pytest.fixture
def api(rosa: User) -> Client:
    """Return a client that sends Rosa's token, which was used before in this minute."""
    client = Client(headers={"Authorization": f"Bearer {create_api_token(rosa, 'tests')}"})
    client.get("/api/v1/datasets/")
    return client


@pytest.fixture
def admin(adam: User) -> Client:
    """Return a client that sends Adam's token."""
    return Client(headers={"Authorization": f"Bearer {create_api_token(adam, 'tests')}"})


@pytest.fixture
def read(api: Client) -> Callable[..., Any]:
    """Return a function from an address below /api/v1/ and parameters to what is answered."""

    def read(address: str, **parameters: Any) -> Any:
        answer = api.get(f"/api/v1/{address}", parameters)
        assert answer.status_code == 200, answer.content
        return answer.json()

    return read


@pytest.fixture
def refused(api: Client) -> Callable[..., Any]:
    """Return a function to the message that an address is refused with, by 400."""

    def refused(address: str, **parameters: Any) -> Any:
        answer = api.get(f"/api/v1/{address}", parameters)
        assert answer.status_code == 400, answer.content
        return answer.json()

    return refused


@pytest.fixture
def pilot(tmp_path: Any) -> Any:
    return make_pilot(tmp_path)

"""Addresses that no user types: with NUL characters, endless names and bytes that are no text."""

import pytest
from django.test import Client

from tests.evaluation.pages import make_pilot

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    "address",
    [
        "/accounts/users/?q=%00",
        "/data/?page=1&x=a%00b",
        "/data/a%00b/",
        "/accounts/sign-in/?next=%00",
    ],
)
def test_an_address_with_a_nul_is_malformed(client_for, adam, address):
    client = client_for(adam)
    client.raise_request_exception = False

    assert client.get(address).status_code == 400


def test_percent_signs_that_only_look_like_a_nul_are_let_through(client_for, adam):
    assert client_for(adam).get("/accounts/users/?q=%2500").status_code == 200


@pytest.mark.parametrize("name", ["a" * 151, "a" * 300, "é" * 300])
def test_a_name_longer_than_any_user_s_is_refused_at_the_door(db, name):
    client = Client(raise_request_exception=False)

    answer = client.post("/accounts/sign-in/", {"username": name, "password": "x"})

    assert answer.status_code == 422
    assert "at most 150 characters" in answer.content.decode()


def test_a_parameter_called_items_is_one_like_others(client_for, rosa, tmp_path):
    make_pilot(tmp_path)
    client = client_for(rosa)
    client.raise_request_exception = False

    assert client.get("/studies/pilot/?items=x").status_code == 200

"""Refusals of the API, which are JSON at every status."""

import pytest
from django.test import Client

from accounts.api import NoSuchAddress
from generation.models import Dataset

pytestmark = pytest.mark.once


@pytest.fixture
def api(api):
    api.raise_request_exception = False
    return api


def said(answer, status):
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/json"
    return answer.json()["detail"]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("[" * 100_000, "brackets that are nested too deep"),
        ('{"a": ' * 33 + "1" + "}" * 33, "more than 32 levels"),
        ('{"metric": ' + "9" * 5_000 + "}", "a number of thousands of digits"),
        ('{"score": NaN}', "NaN"),
        ('{"score": 1e999}', "1e999"),
        ('{"metric": "a\\u0000b"}', "a NUL character"),
        ('{"metric": "\\ud800"}', "a lone surrogate"),
        ('{"metric": 1, "metric": 2}', 'the key "metric" twice'),
        ('{"metric":', "Expecting value"),
        (b'{"metric": "\xe9"}', "at byte 13"),
        ("[" + "[]," * 900_000 + "[]]", "too large"),
        ("[" + "0," * 1_000_000 + "0]", "more than 1,000,000 values"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_body_that_is_no_sound_json_is_refused(api, body, found):
    answer = api.post("/api/v1/runs/", body, content_type="application/json")

    assert found in said(answer, 400)


@pytest.mark.parametrize("address", ["/api/x", "/api/v2/", "/api/v1/runs/%ff/x/"])
def test_an_address_where_nothing_is_says_so_as_json(api, address):
    assert "no such address" in said(api.get(address), 404)


def test_an_unknown_host_is_refused_as_json(api):
    said(api.get("/api/v1/runs/", headers={"Host": "evil.example"}), 400)


def test_a_fault_of_ours_is_json(api, monkeypatch):
    def fault(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(NoSuchAddress, "http_method_not_allowed", fault)

    assert "went wrong" in said(api.get("/api/v1/nowhere/"), 500)


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_the_document_refuses_as_json_although_it_is_yaml(api, method):
    assert method.upper() in said(getattr(api, method)("/api/schema/"), 405)


def test_the_document_refuses_strangers_as_json():
    said(Client().get("/api/schema/"), 401)


@pytest.mark.parametrize(
    ("address", "status"), [("/api/", 405), ("/api/schema/", 200), ("/api/v1/datasets/", 200)]
)
def test_options_are_answered(client_for, rosa, address, status):
    client = client_for(rosa)
    client.raise_request_exception = False

    assert client.options(address).status_code == status


@pytest.mark.parametrize("address", ["/api/v1/runs/?dataset=%00", "/api/v1/runs/a%00b/"])
def test_an_address_with_a_nul_is_refused_as_json(api, address):
    said(api.get(address), 400)


def test_what_is_there_is_answered_as_before(api):
    Dataset.objects.create(name="pilot", slug="pilot")

    assert api.get("/api/v1/datasets/pilot/").json()["name"] == "pilot"

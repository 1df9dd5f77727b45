"""The OpenAPI document and its page."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.urls import reverse

pytestmark = pytest.mark.once

DOCS = "/api/"


def test_the_document_is_valid_and_leaves_nothing_to_guess():
    call_command("spectacular", "--validate", "--fail-on-warn", stdout=StringIO())


def test_researchers_read_the_document_by_token_and_in_a_browser(api, rosa, client_for):
    document = api.get(
        reverse("api:schema"), headers={"Accept": "application/vnd.oai.openapi+json"}
    )

    assert document.json()["info"]["title"] == "Attest"
    assert "/api/v1/votes/" in document.json()["paths"]
    assert client_for(rosa).get(reverse("api:schema")).status_code == 200


def test_every_operation_says_who_may_ask_and_how_it_refuses(api):
    document = api.get("/api/schema/", headers={"Accept": "application/vnd.oai.openapi+json"})

    operations = [o for path in document.json()["paths"].values() for o in path.values()]

    assert len(operations) >= 15
    for operation in operations:
        assert {"token": []} in operation["security"]
        assert "4XX" in operation["responses"]


@pytest.mark.parametrize("address", ["", "nothing/", "datasets", "runs/x/", "runs/1,2/cancel/"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_where_nothing_is_the_api_says_so_as_json(api, client, address, method):
    answer = getattr(api, method)(f"/api/v1/{address}")

    assert answer.status_code == 404
    assert answer.json()["detail"].startswith("There is no such address.")
    assert getattr(client, method)(f"/api/v1/{address}").status_code == 401


def test_the_page_lists_every_operation_of_the_document_with_its_inputs(api, rosa, client_for):
    document = api.get("/api/schema/", headers={"Accept": "application/vnd.oai.openapi+json"})
    operations = [o for path in document.json()["paths"].values() for o in path.values()]

    page = client_for(rosa).get(DOCS)

    assert page.text.count('<details class="more operation">') == len(operations)
    assert "unsafe" not in page["Content-Security-Policy"]
    runs = page.text.partition('id="runs"')[2].partition("</section>")[0]
    for name in ("state", "dataset", "confirmed", "metric"):
        assert f"<code>{name}</code>" in runs


def test_the_page_is_for_researchers(client, rachel, client_for):
    assert client.get(DOCS).url == "/accounts/sign-in/?next=/api/"
    assert client_for(rachel).get(DOCS).status_code == 403


def test_the_menu_leads_there_for_researchers_alone(rosa, rachel, client_for):
    page = client_for(rosa).get("/studies/").text

    assert f'href="{DOCS}"' in page
    assert 'href="/accounts/api-tokens/"' in page
    assert f'href="{DOCS}"' not in client_for(rachel).get("/studies/mine/").text

import pytest

from accounts.services import record

pytestmark = pytest.mark.once

URL = "/accounts/audit-trail/"


def test_the_trail_shows_who_did_what_to_what(adam, client_for):
    record(adam, "dataset.deleted", "pilot", examples=100)
    record(None, "dataset.imported", "pilot")

    page = client_for(adam).get(URL).text

    assert "dataset.deleted" in page
    assert "examples: 100" in page
    assert "command line" in page
    assert page.index("dataset.imported") < page.index("dataset.deleted")  # newest first


def test_the_trail_comes_in_pages_with_a_fixed_number_of_queries(
    adam, client_for, django_assert_num_queries
):
    for n in range(60):
        record(adam, "dataset.imported", f"dataset-{n}")
    client = client_for(adam)

    with django_assert_num_queries(4):  # user, its roles; count, entries with actors
        page = client.get(URL).text

    assert "1 to 50 of 60 entries" in page


def test_an_empty_trail_says_so(adam, client_for):
    assert "Nothing yet" in client_for(adam).get(URL).text


def test_the_trail_is_for_admins_and_read_only(rosa, adam, client_for):
    assert client_for(rosa).get(URL).status_code == 403
    assert client_for(adam).post(URL).status_code == 405

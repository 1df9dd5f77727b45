"""Invitations in bulk: accounts and one-time links for pasted names."""

import csv
from io import StringIO
from urllib.parse import unquote

import pytest
from django.urls import reverse
from lxml import html

from accounts.models import SignInLink, User
from accounts.services import use_sign_in_link
from tests.shown import shown

pytestmark = pytest.mark.once


@pytest.fixture
def admin(client_for, adam):
    return client_for(adam)


def invite(admin, names, roles=("rater",)):
    return admin.post(reverse("accounts:invitations"), {"names": names, "roles": list(roles)})


def test_each_name_gets_an_account_and_a_link_that_works_once(admin):
    answer = invite(admin, "kim\n\n  lee  \n")

    assert answer.status_code == 200
    [table] = shown(answer).tables
    assert [row[0] for row in table.rows] == ["kim", "lee"]
    for name, code, url in table.rows:
        user = User.objects.get(username=name)
        assert user.rater_code == code
        assert set(user.group_names) == {"rater"}
        token = url.rstrip("/").rpartition("/")[2]
        assert use_sign_in_link(token) == user
        assert use_sign_in_link(token) is None


def test_the_csv_has_the_rows_of_the_page(admin):
    answer = invite(admin, "kim\nlee")

    [link] = html.document_fromstring(answer.content).xpath("//a[@download]")
    text = unquote(link.get("href").partition(",")[2])
    head, *rows = csv.reader(StringIO(text))
    assert head == ["name", "rater", "link"]
    assert rows == [list(row) for row in shown(answer).tables[0].rows]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("kim\nRACHEL", "Line 2: there is already a user named RACHEL"),
        ("kim\nKim", "Line 2: there is already a user named Kim"),
        ("kim\n\n=1+1", "Line 3: =1+1 cannot be a name"),
        ("kim\n@sum", "Line 2: @sum cannot be a name"),
        ("two words", "Line 1: two words cannot be a name"),
        ("\n".join(f"n{n}" for n in range(201)), "Found 201 names; expected at most 200"),
        (" \n ", "required"),
    ],
)
def test_a_name_that_cannot_be_is_refused_with_its_line_and_nothing_is_made(
    admin, rachel, names, said
):
    before = User.objects.count()

    answer = invite(admin, names)

    assert answer.status_code == 422
    assert said in shown(answer).text
    assert User.objects.count() == before
    assert not SignInLink.objects.exists()


def test_two_hundred_people_can_be_invited(admin):
    assert invite(admin, "\n".join(f"n{n}" for n in range(200))).status_code == 200
    assert SignInLink.objects.count() == 200


@pytest.mark.parametrize("who", ["rachel", "rosa"])
def test_raters_and_researchers_cannot_invite(client_for, request, who):
    client = client_for(request.getfixturevalue(who))

    assert invite(client, "kim").status_code == 403
    assert not User.objects.filter(username="kim").exists()

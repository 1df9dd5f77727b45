"""API tokens: made once, kept as a hash, good for their owner's roles until revoked."""

import re
from datetime import UTC, date, datetime, timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from accounts.access import Role
from accounts.authentication import PerToken
from accounts.models import ApiToken, AuditEntry
from accounts.services import (
    AccountError,
    create_api_token,
    deactivate,
    reactivate,
    revoke_api_token,
    set_roles,
)
from tests.makers import statements
from tests.shown import shown

pytestmark = pytest.mark.once

TOKENS = "/accounts/api-tokens/"
DATASETS = "/api/v1/datasets/"


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def only_token():
    return ApiToken.objects.get()


# --- the page -------------------------------------------------------------------------------


def test_a_new_token_is_shown_once_and_only_its_hash_is_kept(rosa, client_for):
    client = client_for(rosa)

    made = client.post(TOKENS, {"name": "notebook"})

    token = made.context["token"]
    assert re.fullmatch(r"attest_[\w-]{43}", token)
    assert token in shown(made).text.split()
    assert "no-store" in made["Cache-Control"]
    kept = ApiToken.objects.values_list().get()
    assert token not in str(kept)
    assert token.removeprefix("attest_") not in str(kept)
    again = client.get(TOKENS)
    assert shown(again).table().column("Name") == ["notebook"]
    assert token not in again.text


def test_the_page_lists_ones_own_tokens_alone(rosa, adam, client_for):
    create_api_token(rosa, "of rosa")
    create_api_token(adam, "of adam")

    answer = client_for(rosa).get(TOKENS)

    assert shown(answer).table().column("Name") == ["of rosa"]
    assert "of adam" not in answer.text


def test_two_tokens_of_one_person_have_two_names(rosa, adam, client_for):
    create_api_token(adam, "notebook")
    create_api_token(rosa, "notebook")

    response = client_for(rosa).post(TOKENS, {"name": "notebook"})

    assert response.status_code == 422
    assert "already have a token named notebook" in shown(response).errors["name"]
    assert rosa.api_tokens.count() == 1
    with pytest.raises(AccountError):
        create_api_token(rosa, "notebook")


@pytest.mark.parametrize("name", ["", "   ", "x" * 101])
def test_a_token_needs_a_name(rosa, client_for, name):
    assert client_for(rosa).post(TOKENS, {"name": name}).status_code == 422
    assert not ApiToken.objects.exists()


def test_the_page_says_when_a_token_was_last_used(rosa, client_for, client):
    def last_used():
        return shown(client_for(rosa).get(TOKENS)).table().row("notebook")["Last used"]

    token = create_api_token(rosa, "notebook")
    assert last_used() == "never"

    client.get(DATASETS, headers=bearer(token))

    assert f"{only_token().last_used_at:%H:%M}" in last_used()


def test_a_revoked_token_lets_nothing_in(rosa, client_for, client):
    token = create_api_token(rosa, "notebook")
    revoke = reverse("accounts:revoke-api-token", args=[only_token().pk])

    response = client_for(rosa).post(revoke)

    assert response.url == TOKENS
    assert client.get(DATASETS, headers=bearer(token)).status_code == 401


def test_nobody_revokes_another_persons_token(rosa, adam, client_for):
    create_api_token(rosa, "notebook")
    revoke = reverse("accounts:revoke-api-token", args=[only_token().pk])

    assert client_for(adam).post(revoke).status_code == 404
    assert client_for(rosa).get(revoke).status_code == 405
    assert ApiToken.objects.exists()


def test_tokens_leave_their_lines_in_the_audit_trail(rosa):
    create_api_token(rosa, "notebook")
    token = only_token()

    revoke_api_token(token)
    revoke_api_token(token)

    revoked, created = AuditEntry.objects.all()
    assert (created.actor, created.action, created.subject) == (rosa, "token.created", "rosa")
    assert (revoked.actor, revoked.action, revoked.subject) == (rosa, "token.revoked", "rosa")
    assert created.details == {"name": "notebook", "is_read_only": False, "ends_on": None}
    assert revoked.details == {"name": "notebook"}


# --- who gets in ----------------------------------------------------------------------------


@pytest.mark.parametrize("person", ["rosa", "adam"])
def test_a_token_lets_researchers_and_admins_in(request, client, person):
    token = create_api_token(request.getfixturevalue(person), "notebook")

    answer = client.get(DATASETS, headers=bearer(token))

    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]


@pytest.mark.parametrize(
    "header", ["Bearer attest_unknown", "Bearer", "bearer  ", "Bearer \xe9\x00", "Bearer a b c"]
)
def test_any_other_text_is_refused_and_told_what_is_wanted(db, client, header):
    response = client.get(DATASETS, headers={"Authorization": header})

    assert response.status_code == 401
    assert response["WWW-Authenticate"] == 'Bearer realm="Attest"'
    assert response.json() == {
        "detail": "There is no such token, or it was revoked. Make one under your name → "
        "API tokens."
    }


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Basic cm9zYTpyb3Nh"}])
def test_without_a_token_and_a_session_nobody_gets_in(db, client, headers):
    response = client.get(DATASETS, headers=headers)

    assert response.status_code == 401
    assert response["Content-Type"] == "application/json"


def test_the_hash_of_a_token_is_no_token(rosa, client):
    create_api_token(rosa, "notebook")

    response = client.get(DATASETS, headers=bearer(only_token().token_hash))

    assert response.status_code == 401


def test_a_token_of_a_deactivated_user_is_gone_for_good(rosa, adam, client):
    token = create_api_token(rosa, "notebook")

    deactivate(rosa, adam)

    assert client.get(DATASETS, headers=bearer(token)).status_code == 401
    reactivate(rosa, adam)
    assert client.get(DATASETS, headers=bearer(token)).status_code == 401


def test_a_token_of_somebody_who_is_not_active_lets_nobody_in(rosa, client):
    token = create_api_token(rosa, "notebook")
    type(rosa).objects.update(is_active=False)

    assert client.get(DATASETS, headers=bearer(token)).status_code == 401


def test_a_token_may_what_its_owner_may_now(rosa, adam, client):
    token = create_api_token(rosa, "notebook")

    set_roles(rosa, [Role.RATER], adam)

    refused = client.get(DATASETS, headers=bearer(token))
    assert refused.status_code == 403
    assert refused.json() == {"detail": "The API is for researchers and admins."}


def test_a_token_opens_no_page(rosa, client):
    token = create_api_token(rosa, "notebook")

    assert client.get(TOKENS, headers=bearer(token)).status_code == 302


# --- what it may, and until when ------------------------------------------------------------


def test_a_token_may_be_made_to_read_alone_and_to_end(rosa, client_for):
    last_day = datetime.now(UTC).date() + timedelta(days=30)

    client_for(rosa).post(TOKENS, {"name": "cron", "is_read_only": "on", "ends_on": last_day})

    token = only_token()
    assert (token.is_read_only, token.ends_on) == (True, last_day)
    details = AuditEntry.objects.get().details
    assert details == {"name": "cron", "is_read_only": True, "ends_on": last_day.isoformat()}
    [name] = shown(client_for(rosa).get(TOKENS)).table().column("Name")
    assert name == f"cron reads only, until {last_day.day} {last_day:%b %Y}"


@pytest.mark.parametrize("ends_on", ["2026-02-30", "soon", "2020-01-01"])
def test_a_token_ends_on_a_day_to_come(rosa, client_for, ends_on):
    answer = client_for(rosa).post(TOKENS, {"name": "cron", "ends_on": ends_on})

    assert answer.status_code == 422
    assert [*shown(answer).errors] == ["ends_on"]
    assert not ApiToken.objects.exists()


def test_a_token_lets_in_on_its_last_day_and_not_the_day_after(rosa, client, client_for):
    today = datetime.now(UTC).date()
    token = create_api_token(rosa, "cron", ends_on=today)
    assert client.get(DATASETS, headers=bearer(token)).status_code == 200

    ApiToken.objects.update(ends_on=date(2026, 3, 1))

    refused = client.get(DATASETS, headers=bearer(token))
    assert refused.status_code == 401
    assert "ended on 1 March 2026" in refused.json()["detail"]
    [name] = shown(client_for(rosa).get(TOKENS)).table().column("Name")
    assert name == "cron ended on 1 Mar 2026"


def test_a_token_that_only_reads_is_told_so_when_it_writes(rosa, client):
    token = create_api_token(rosa, "cron", is_read_only=True)
    for read in (client.get, client.head, client.options):
        assert read(DATASETS, headers=bearer(token)).status_code == 200

    refused = client.post("/api/v1/runs/", {}, "application/json", headers=bearer(token))

    assert refused.status_code == 403
    assert "only read" in refused.json()["detail"]


# --- when, how often ------------------------------------------------------------------------


def test_the_use_of_a_token_is_written_down_once_a_minute(rosa, client):
    token = create_api_token(rosa, "notebook")

    def updates():
        sent = statements(lambda: client.get(DATASETS, headers=bearer(token)))
        return sum(sql.startswith("UPDATE") for sql in sent)

    assert [updates(), updates(), updates()] == [1, 0, 0]
    ApiToken.objects.update(last_used_at=timezone.now() - timedelta(seconds=61))
    assert updates() == 1


def test_each_token_has_so_many_requests_a_minute(rosa, client, client_for, monkeypatch, settings):
    settings.CACHES = settings.CACHES | {
        "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
    }
    monkeypatch.setattr(PerToken, "rate", "2/minute", raising=False)
    one, other = (bearer(create_api_token(rosa, name)) for name in ("one", "other"))

    answers = [client.get(DATASETS, headers=one) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert int(answers[-1]["Retry-After"]) <= 60
    assert "throttled" in answers[-1].json()["detail"]
    assert client.get(DATASETS, headers=other).status_code == 200
    assert client_for(rosa).get(DATASETS).status_code == 200

"""Models behind a server: keys over plain http, and how often a model may be asked."""

from datetime import UTC, datetime

import pytest
from django.urls import reverse

from accounts.models import AuditEntry
from evaluation.runs.services.checkpoints import (
    CallLimits,
    CheckpointError,
    add_checkpoint,
    change_limits,
)
from generation.models import Checkpoint
from generation.services.checkpoints import as_listed_now
from tests.evaluation.runs.test_checkpoints import add, server_of
from tests.shown import shown

pytestmark = pytest.mark.once

MODELS = "/metrics/models/"


@pytest.fixture
def admin(adam, client_for):
    return client_for(adam)


# --- keys over plain http -------------------------------------------------------------------

PLAIN = "http://models.example.org/v1"
WITH_KEY = {"backend": "openai", "served_name": "m", "key_variable": "MODELS_API_KEY"}


def test_a_key_over_plain_http_is_refused_unless_the_admin_says_so(admin):
    refused = add(admin, PLAIN, **WITH_KEY)
    assert refused.status_code == 422
    assert "unencrypted" in shown(refused).errors["key_over_http"]
    assert not Checkpoint.objects.exists()

    assert add(admin, PLAIN, **WITH_KEY, key_over_http="on").status_code == 302

    assert Checkpoint.objects.get().spec().key_over_http
    assert AuditEntry.objects.latest("pk").details["key_over_http"] is True


@pytest.mark.parametrize("location", ["https://models.example.org/v1", "http://localhost:8000/v1"])
def test_https_and_this_machine_need_no_such_word(admin, location):
    assert add(admin, location, **WITH_KEY).status_code == 302

    added = Checkpoint.objects.get()
    assert reverse("evaluation:key-over-http", args=[added.pk]) not in admin.get(MODELS).text


def test_an_admin_gives_and_takes_back_the_leave_of_a_listed_model(admin, adam):
    listed = server_of(location=PLAIN, key_variable="MODELS_API_KEY")
    address = reverse("evaluation:key-over-http", args=[listed.pk])
    spec = listed.spec()  # the spec that a run was requested with

    for allow, is_allowed in (("1", True), ("1", True), ("0", False)):
        assert admin.post(address, {"allow": allow}).status_code == 302
        assert as_listed_now(spec).key_over_http is is_allowed
        [location] = shown(admin.get(MODELS)).table("Models").column("Location")
        assert ("not sent over plain http" in location) is not is_allowed

    actions = [(entry.actor, entry.action) for entry in AuditEntry.objects.all()]
    assert actions == [(adam, "checkpoint.key_over_http")] * 2


def test_a_model_that_sends_no_key_over_http_gets_no_leave(admin):
    listed = server_of(key_variable="MODELS_API_KEY")  # https

    answer = admin.post(reverse("evaluation:key-over-http", args=[listed.pk]), {"allow": "1"})

    [message] = shown(admin.get(answer.url)).messages
    assert "has no key that could go over plain http" in message
    assert not Checkpoint.objects.get().key_over_http


def test_only_admins_let_a_key_go_over_http(rosa, client_for, admin):
    listed = server_of(location=PLAIN, key_variable="MODELS_API_KEY")
    address = reverse("evaluation:key-over-http", args=[listed.pk])

    assert client_for(rosa).post(address, {"allow": "1"}).status_code == 403
    assert admin.get(address).status_code == 405
    assert not Checkpoint.objects.get().key_over_http


# --- the limits of calls --------------------------------------------------------------------


def limit_to(client, checkpoint, per_minute, at_once=""):
    address = reverse("evaluation:change-limits", args=[checkpoint.pk])
    return client.post(address, {"calls_per_minute": per_minute, "calls_at_once": at_once})


@pytest.mark.parametrize(("said", "limit"), [("60", 60), ("", None)])
def test_a_language_model_is_added_with_its_limit_or_without(admin, said, limit):
    add(admin, "some-org/some-model", backend="language-model", calls_per_minute=said)

    assert Checkpoint.objects.get().calls_per_minute == limit
    assert AuditEntry.objects.latest("pk").details["calls_per_minute"] == limit


def test_only_language_models_have_a_limit(admin, adam):
    add(admin, "roberta-large-mnli", calls_per_minute="60")  # folded away, so it is left out

    added = Checkpoint.objects.get()
    assert added.calls_per_minute is None
    address = reverse("evaluation:change-limits", args=[added.pk])
    answer = admin.get(MODELS)
    assert address not in answer.text
    assert shown(answer).table("Models").column("Limits and prices") == ["—"]
    answer = limit_to(admin, added, "60")
    assert answer.status_code == 422
    error = shown(answer).errors[f"{added.pk}_calls_per_minute"]
    assert "Only language models" in error
    with pytest.raises(CheckpointError, match="Only language models"):
        add_checkpoint("b", "some-org/some-model", adam, limits=CallLimits(60))


@pytest.mark.parametrize(
    ("said", "limits"),
    [(("90", "2"), (90, 2)), (("90", ""), (90, 8)), (("", "100"), (None, 100))],
)
def test_an_admin_changes_the_limits_of_a_listed_model(admin, adam, said, limits):
    place = datetime(2026, 3, 1, tzinfo=UTC)
    listed = server_of(60, next_call_at=place)

    answer = limit_to(admin, listed, *said)

    assert answer.status_code == 302
    page = shown(admin.get(answer.url))
    assert page.messages == ["The limits of mini are saved."]
    [form] = page.parts("limits-form")
    assert form.fields["calls_per_minute"] == said[0]
    assert form.fields["calls_at_once"] == str(limits[1])
    listed.refresh_from_db()
    assert (listed.calls_per_minute, listed.calls_at_once) == limits
    assert listed.next_call_at == place  # what is reserved stays reserved
    entry = AuditEntry.objects.latest("pk")
    assert (entry.actor, entry.action, entry.subject) == (adam, "checkpoint.limited", "mini")
    prices = {"input_price": None, "output_price": None, "n_parameters": None}
    names = ("calls_per_minute", "calls_at_once")
    assert entry.details == {
        "before": dict(zip(names, (60, 8), strict=True)) | prices,
        "after": dict(zip(names, limits, strict=True)) | prices,
    }


def test_a_model_has_both_prices_or_none(admin):
    listed = server_of(60)
    address = reverse("evaluation:change-limits", args=[listed.pk])
    limits = {"calls_per_minute": "60", "calls_at_once": "8"}

    one = admin.post(address, limits | {"input_price": "30"})
    both = admin.post(address, limits | {"input_price": "30", "output_price": "60"})

    assert one.status_code == 422
    assert "Give both prices, or none" in shown(one).errors[f"{listed.pk}_output_price"]
    assert both.status_code == 302
    listed.refresh_from_db()
    assert listed.price == (30.0, 60.0)


def test_the_same_limit_again_is_no_change(admin):
    limit_to(admin, server_of(60), "60")

    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ("0", "greater than or equal to 1"),
        ("-3", "greater than or equal to 1"),
        ("1000001", "less than or equal to 1000000"),
        ("2.5", "Enter a whole number"),
        ("often", "Enter a whole number"),
    ],
)
def test_what_is_no_number_of_calls_is_refused_at_its_field(admin, said, error):
    other, listed = server_of(5, name="a"), server_of(60)

    answer = limit_to(admin, listed, said)

    assert answer.status_code == 422
    page = shown(answer)
    assert [*page.errors] == [f"{listed.pk}_calls_per_minute"]
    assert error in page.errors[f"{listed.pk}_calls_per_minute"]
    of_other, of_listed = (form.fields["calls_per_minute"] for form in page.parts("limits-form"))
    assert (of_other, of_listed) == (str(other.calls_per_minute), said)
    assert answer.text.count('aria-invalid="true"') == 1
    added = add(admin, "a/b", name="b", backend="language-model", calls_per_minute=said)
    assert added.status_code == 422
    assert error in shown(added).errors["calls_per_minute"]
    assert Checkpoint.objects.get(name="mini").calls_per_minute == 60
    assert not Checkpoint.objects.filter(name="b").exists()


@pytest.mark.parametrize("limit", [0, 1_000_001])
def test_commands_are_refused_the_same(limit):
    with pytest.raises(CheckpointError, match="expected 1 to 1,000,000 calls a minute"):
        change_limits(server_of(60), CallLimits(limit), None)


@pytest.mark.parametrize("said", ["0", "10001", "1.5"])
def test_what_is_no_number_of_calls_at_once_is_refused_at_its_field(admin, said):
    listed = server_of(60)

    answer = limit_to(admin, listed, "60", said)

    assert answer.status_code == 422
    assert [*shown(answer).errors] == [f"{listed.pk}_calls_at_once"]
    assert Checkpoint.objects.get().calls_at_once == 8
    with pytest.raises(CheckpointError, match="expected 1 to 10,000 calls at once"):
        change_limits(listed, CallLimits(60, 10_001), None)


def test_only_models_behind_servers_have_a_limit_of_calls_at_once(admin):
    of_server = {"served_name": "m", "calls_at_once": "3"}
    add(admin, "https://host/v1", name="far", backend="openai", **of_server)
    add(admin, "some-org/some-model", name="here", backend="language-model", calls_at_once="3")

    limits = dict(Checkpoint.objects.values_list("name", "calls_at_once"))
    assert limits == {"far": 3, "here": 8}  # folded away for a model that computes here
    fields = [[*form.fields] for form in shown(admin.get(MODELS)).parts("limits-form")]
    assert ["calls_at_once" in names for names in fields] == [True, False]


def test_of_many_models_the_page_that_has_the_changed_one_is_shown(admin):
    for n in range(30):
        server_of(name=f"m{n:02}")
    last = Checkpoint.objects.get(name="m29")

    refused = shown(limit_to(admin, last, "0"))
    assert [*refused.errors] == [f"{last.pk}_calls_per_minute"]
    assert f"{MODELS}?page=1" in refused.addresses
    assert f"{MODELS}?page=2" not in refused.addresses
    assert limit_to(admin, last, "7").url == f"{MODELS}?page=2"


@pytest.mark.parametrize("who", ["rachel", "rosa"])
def test_only_admins_change_a_limit(who, request, client_for):
    listed = server_of(60)

    assert limit_to(client_for(request.getfixturevalue(who)), listed, "1").status_code == 403

    listed.refresh_from_db()
    assert listed.calls_per_minute == 60


def test_a_limit_is_changed_by_post_of_somebody_signed_in_on_a_model_that_is_listed(admin, client):
    listed = server_of(60)
    address = reverse("evaluation:change-limits", args=[listed.pk])

    assert limit_to(client, listed, "1").url.startswith("/accounts/sign-in/")
    assert admin.get(address).status_code == 405
    listed.pk += 1
    assert limit_to(admin, listed, "1").status_code == 404
    assert Checkpoint.objects.get().calls_per_minute == 60


def test_a_size_is_typed_for_a_server_and_read_for_other_models(admin):
    """The size of a folder's files is in test_model_commands."""
    served, folder = server_of(name="served"), server_of(name="folder", backend="language-model")
    Checkpoint.objects.filter(pk=folder.pk).update(n_parameters=1_000_000)

    for listed, typed in [(served, "7B"), (folder, "9B")]:
        address = reverse("evaluation:change-limits", args=[listed.pk])
        assert admin.post(address, {"n_parameters": typed}).status_code == 302
        listed.refresh_from_db()
    wrong = admin.post(reverse("evaluation:change-limits", args=[served.pk]), {"n_parameters": "x"})

    assert (served.n_parameters, folder.n_parameters) == (7_000_000_000, 1_000_000)
    assert wrong.status_code == 422
    assert "7B parameters" in admin.get(MODELS).text

"""Models that runs and grids may use: adding and deleting them as an admin, and their pace."""

import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from django.urls import reverse
from safetensors.numpy import save_file

from accounts.models import AuditEntry
from evaluation.models import MetricRun
from evaluation.runs.services.checkpoints import CheckpointError, add_checkpoint, change_pace
from generation.models import Checkpoint, Dataset, Grid, GridSetup, Setup
from generation.services.checkpoints import pin_revision, with_leave
from tests.makers import audit_actions, statements
from tests.shown import shown

pytestmark = pytest.mark.once

MODELS = "/metrics/models/"
CLASSIFIER = {
    "architectures": ["BertForSequenceClassification"],
    "id2label": {"0": "not_entailment", "1": "entailment"},
}
LABELS_WITHOUT_NAMES = CLASSIFIER | {"id2label": {"0": "LABEL_0", "1": "LABEL_1"}}


@pytest.fixture
def admin(adam, client_for):
    return client_for(adam)


@pytest.fixture
def folder(tmp_path):
    """Return a function that makes a folder with config.json and weights, and gives its path."""

    def make(config, name="model"):
        (tmp_path / name).mkdir()
        text = config if isinstance(config, str) else json.dumps(config)
        (tmp_path / name / "config.json").write_text(text, "utf-8")
        save_file({"w": np.zeros(4, np.float32)}, tmp_path / name / "model.safetensors")
        return str(tmp_path / name)

    return make


def add(client, location, name="mini", backend="transformers", **more):
    described = {"name": name, "backend": backend, "location": location}
    return client.post(MODELS, described | more)


# --- adding ---------------------------------------------------------------------------------


def test_an_admin_adds_a_folder_that_holds_a_classifier(admin, adam, folder):
    location = folder(CLASSIFIER)

    answer = add(admin, location)

    assert answer.status_code == 302
    added = Checkpoint.objects.get()
    assert (added.name, added.location, added.entailment_index) == ("mini", location, None)
    assert added.added_by == adam
    entry = AuditEntry.objects.latest("pk")
    assert (entry.action, entry.subject) == ("checkpoint.added", "mini")
    assert entry.details["location"] == location


@pytest.mark.parametrize("location", ["cross-encoder/nli-deberta-v3-base", "roberta-large-mnli"])
def test_a_name_on_the_hub_is_taken_as_it_is(admin, location):
    assert add(admin, location).status_code == 302

    assert Checkpoint.objects.get().location == location


@pytest.mark.parametrize(
    ("config", "found"),
    [
        ({"architectures": ["BertModel"]}, "Found BertModel in"),
        ({"architectures": []}, "Found no architecture in"),
        ({"architectures": "BertForSequenceClassification"}, "Found no architecture in"),
        ([1], "Found no architecture in"),
        (CLASSIFIER | {"id2label": ["entailment"]}, "Found no labels in its config.json"),
        ("{", "cannot be read as JSON"),
        ("[" * 100_000, "cannot be read as JSON"),
        (" " * 2**21, "is larger than"),
    ],
)
def test_a_folder_that_holds_something_else_is_refused_with_what_was_found(
    admin, folder, config, found
):
    answer = add(admin, folder(config))

    assert answer.status_code == 422
    [error] = shown(answer).errors.values()
    assert found in error
    assert not Checkpoint.objects.exists()


def test_a_place_where_no_folder_is_is_refused(admin, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")

    for place, found in [
        (f"{tmp_path}/nowhere", "Found nothing at"),
        (f"{tmp_path}/file", "Found a file at"),
        (f"{tmp_path}/empty", "Found no config.json in"),
        ("./models/mini", "neither a full path nor a name on the hub"),
        ("~/mini", "neither a full path"),
        ("a/b/c", "neither a full path"),
        ("../secret", "neither a full path"),
    ]:
        answer = add(admin, place)
        assert answer.status_code == 422
        assert found in shown(answer).errors["location"]
    assert not Checkpoint.objects.exists()


def test_labels_without_names_need_the_index_of_entailment(admin, folder):
    location = folder(LABELS_WITHOUT_NAMES)

    answer = add(admin, location)
    assert answer.status_code == 422
    error = shown(answer).errors["entailment_index"]
    assert "0 LABEL_0, 1 LABEL_1" in error
    assert "none says entailment" in error
    answer = add(admin, location, entailment_index="2")
    assert answer.status_code == 422
    assert "no output 2" in shown(answer).errors["entailment_index"]

    assert add(admin, location, entailment_index="1").status_code == 302
    assert Checkpoint.objects.get().entailment_index == 1


@pytest.mark.parametrize(
    "name",
    ["", "lexical", "Heuristic", "openai", "Extractive", "a|b", "a b", "-a", "a\n", "x" * 101],
)
def test_a_name_that_a_signature_could_not_hold_is_refused(admin, name):
    answer = add(admin, "roberta-large-mnli", name=name)

    assert answer.status_code == (302 if name == "a\n" else 422)  # white space round it is cut
    assert Checkpoint.objects.filter(name=name).count() == 0


def test_a_name_is_given_once(admin):
    add(admin, "roberta-large-mnli")

    answer = add(admin, "bart-large-mnli")

    assert answer.status_code == 422
    assert "already a model named mini" in shown(answer).errors["name"]
    assert Checkpoint.objects.get().location == "roberta-large-mnli"


@pytest.mark.parametrize(
    ("backend", "architecture", "other"),
    [
        ("seq2seq", "T5ForConditionalGeneration", "BertForSequenceClassification"),
        ("distilled", "BertForSequenceClassification", "BertModel"),
        ("language-model", "LlamaForCausalLM", "BertForSequenceClassification"),
        ("language-model", "GPT2LMHeadModel", "BertModel"),
        ("language-model", "T5ForConditionalGeneration", "T5EncoderModel"),
    ],
)
def test_a_folder_of_each_kind_is_told_from_others(admin, folder, backend, architecture, other):
    right, wrong = (folder({"architectures": [name]}, name) for name in (architecture, other))

    answer = add(admin, wrong, backend=backend)
    assert answer.status_code == 422
    assert f"Found {other} in" in shown(answer).errors["location"]
    assert add(admin, right, backend=backend).status_code == 302
    assert Checkpoint.objects.get().backend == backend


def test_a_folder_with_half_its_weights_is_refused(admin, folder):
    location = folder(CLASSIFIER)
    weights = Path(location) / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-8])

    answer = add(admin, location)

    assert answer.status_code == 422
    assert "model.safetensors: found" in shown(answer).errors["location"]
    assert not Checkpoint.objects.exists()


def test_the_commit_of_the_first_load_is_kept_where_none_was_asked_for():
    commit, later = "2a8f12d2" * 5, "0123abcd" * 5
    Checkpoint.objects.create(name="hub", location="some-org/some-model")
    Checkpoint.objects.create(name="folder", location="/srv/model")

    assert pin_revision("hub", commit)
    assert not pin_revision("hub", later)
    assert not pin_revision("folder", commit)
    assert not pin_revision("hub", "516ee1f7d23f74cb")  # a folder's digest

    assert dict(Checkpoint.objects.values_list("name", "revision")) == {"hub": commit, "folder": ""}


def test_a_name_on_the_hub_may_come_with_its_revision(admin):
    commit = "2a8f12d27941090092df78e4ba6f0928eb5eac98"

    add(admin, f"some-org/some-model@{commit}")

    added = Checkpoint.objects.get()
    assert (added.location, added.revision) == ("some-org/some-model", commit)
    listed = shown(admin.get(MODELS)).table("Models").row("mini Entailment classifier")
    assert listed["Location"] == f"some-org/some-model revision {commit}"
    assert add(admin, "some-org/some-model@", name="b").status_code == 422
    assert add(admin, "some-org/some-model@a b", name="b").status_code == 422


def test_a_server_is_added_with_its_name_for_the_model_and_its_key_s_variable(admin, monkeypatch):
    monkeypatch.setenv("MODELS_API_KEY", "sk-very-secret")
    server = {"backend": "openai", "served_name": "llama-3", "key_variable": "MODELS_API_KEY"}

    assert add(admin, "https://models.example.org/v1", **server).status_code == 302

    added = Checkpoint.objects.get()
    assert (added.served_name, added.key_variable) == ("llama-3", "MODELS_API_KEY")
    answer = admin.get(MODELS)
    [location] = shown(answer).table("Models").column("Location")
    assert "llama-3" in location
    assert location.endswith("MODELS_API_KEY: set")
    assert "sk-very-secret" not in answer.text
    assert "sk-very-secret" not in str(AuditEntry.objects.latest("pk").details)
    monkeypatch.delenv("MODELS_API_KEY")
    [location] = shown(admin.get(MODELS)).table("Models").column("Location")
    assert location.endswith("MODELS_API_KEY: not set")


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"location": "models.example.org"}, "location"),
        ({"location": "ftp://models.example.org/v1"}, "location"),
        ({"location": "https://user:secret@models.example.org/v1"}, "location"),
        ({"location": "https://models.example.org/v1?key=secret"}, "location"),
        ({"served_name": ""}, "served_name"),
        ({"key_variable": "DJANGO_SECRET_KEY"}, "key_variable"),
        ({"key_variable": "sk-very-secret"}, "key_variable"),
        ({"backend": "lexical"}, "backend"),
        ({"backend": ""}, "backend"),
    ],
)
def test_a_server_that_is_described_wrongly_is_refused_at_its_field(admin, wrong, field):
    right = {"backend": "openai", "location": "https://models.example.org/v1", "served_name": "m"}

    answer = add(admin, **right | wrong)

    assert answer.status_code == 422
    assert [*shown(answer).errors] == [field]
    assert not Checkpoint.objects.exists()


def test_what_is_folded_away_for_a_kind_is_left_out(admin):
    folded = {"served_name": "x", "key_variable": "X_API_KEY", "entailment_index": "1"}

    add(admin, "some-org/some-model", backend="language-model", **folded)

    added = Checkpoint.objects.get()
    assert (added.served_name, added.key_variable, added.entailment_index) == ("", "", None)


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
        assert with_leave(spec).key_over_http is is_allowed
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


# --- the limit of calls ---------------------------------------------------------------------


def server_of(calls_per_minute=None, name="mini", **more):
    described = {"backend": "openai", "location": "https://models.example.org/v1"}
    return Checkpoint.objects.create(
        name=name, calls_per_minute=calls_per_minute, **described | more
    )


def pace(client, checkpoint, said):
    address = reverse("evaluation:change-pace", args=[checkpoint.pk])
    return client.post(address, {"calls_per_minute": said})


@pytest.mark.parametrize(("said", "limit"), [("60", 60), ("", None)])
def test_a_language_model_is_added_with_its_limit_or_without(admin, said, limit):
    add(admin, "some-org/some-model", backend="language-model", calls_per_minute=said)

    assert Checkpoint.objects.get().calls_per_minute == limit
    assert AuditEntry.objects.latest("pk").details["calls_per_minute"] == limit


def test_only_language_models_have_a_limit(admin, adam):
    add(admin, "roberta-large-mnli", calls_per_minute="60")  # folded away, so it is left out

    added = Checkpoint.objects.get()
    assert added.calls_per_minute is None
    address = reverse("evaluation:change-pace", args=[added.pk])
    answer = admin.get(MODELS)
    assert address not in answer.text
    assert shown(answer).table("Models").column("Calls a minute") == ["—"]
    answer = pace(admin, added, "60")
    assert answer.status_code == 422
    error = shown(answer).errors[f"{added.pk}_calls_per_minute"]
    assert "Only language models" in error
    with pytest.raises(CheckpointError, match="Only language models"):
        add_checkpoint("b", "some-org/some-model", adam, calls_per_minute=60)


@pytest.mark.parametrize(
    ("said", "limit", "told"),
    [
        ("90", 90, "mini is saved: at most 90 calls a minute"),
        ("", None, "mini is saved: no limit of calls"),
    ],
)
def test_an_admin_changes_the_limit_of_a_listed_model(admin, adam, said, limit, told):
    place = datetime(2026, 3, 1, tzinfo=UTC)
    listed = server_of(60, next_call_at=place)

    answer = pace(admin, listed, said)

    assert answer.status_code == 302
    page = shown(admin.get(answer.url))
    assert any(told in message for message in page.messages)
    [form] = page.parts("pace-form")
    assert form.fields["calls_per_minute"] == said
    listed.refresh_from_db()
    assert listed.calls_per_minute == limit
    assert listed.next_call_at == place  # what is reserved stays reserved
    entry = AuditEntry.objects.latest("pk")
    assert (entry.actor, entry.action, entry.subject) == (adam, "checkpoint.paced", "mini")
    assert entry.details == {"before": 60, "after": limit}


def test_the_same_limit_again_is_no_change(admin):
    pace(admin, server_of(60), "60")

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

    answer = pace(admin, listed, said)

    assert answer.status_code == 422
    page = shown(answer)
    assert [*page.errors] == [f"{listed.pk}_calls_per_minute"]
    assert error in page.errors[f"{listed.pk}_calls_per_minute"]
    of_other, of_listed = (form.fields["calls_per_minute"] for form in page.parts("pace-form"))
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
        change_pace(server_of(60), limit, None)


def test_of_many_models_the_page_that_has_the_changed_one_is_shown(admin):
    for n in range(30):
        server_of(name=f"m{n:02}")
    last = Checkpoint.objects.get(name="m29")

    refused = shown(pace(admin, last, "0"))
    assert [*refused.errors] == [f"{last.pk}_calls_per_minute"]
    assert f"{MODELS}?page=1" in refused.addresses
    assert f"{MODELS}?page=2" not in refused.addresses
    assert pace(admin, last, "7").url == f"{MODELS}?page=2"


@pytest.mark.parametrize("who", ["rachel", "rosa"])
def test_nobody_but_admins_changes_a_limit(who, request, client_for):
    listed = server_of(60)

    assert pace(client_for(request.getfixturevalue(who)), listed, "1").status_code == 403

    listed.refresh_from_db()
    assert listed.calls_per_minute == 60


def test_a_limit_is_changed_by_post_of_somebody_signed_in_on_a_model_that_is_listed(admin, client):
    listed = server_of(60)
    address = reverse("evaluation:change-pace", args=[listed.pk])

    assert pace(client, listed, "1").url.startswith("/accounts/sign-in/")
    assert admin.get(address).status_code == 405
    listed.pk += 1
    assert pace(admin, listed, "1").status_code == 404
    assert Checkpoint.objects.get().calls_per_minute == 60


# --- deleting and listing -------------------------------------------------------------------


def test_a_model_that_no_run_uses_can_be_deleted(admin):
    added = Checkpoint.objects.create(name="mini", location="roberta-large-mnli")

    answer = admin.post(reverse("evaluation:delete-checkpoint", args=[added.pk]), follow=True)

    assert any("mini is no longer offered" in message for message in shown(answer).messages)
    assert not Checkpoint.objects.exists()
    assert ("checkpoint.deleted", "mini") in audit_actions()


def test_a_model_that_a_run_uses_stays(admin):
    added = Checkpoint.objects.create(name="mini", location="roberta-large-mnli")
    dataset = Dataset.objects.create(name="pilot", slug="pilot")
    MetricRun.objects.create(dataset=dataset, metric="auto_ais", model_name="mini")

    answer = admin.post(reverse("evaluation:delete-checkpoint", args=[added.pk]), follow=True)

    page = shown(answer)
    assert any("mini cannot be removed: 1 run" in message for message in page.messages)
    assert page.table("Models").column("Delete") == ["in use"]
    assert Checkpoint.objects.exists()


def test_a_model_that_a_grid_uses_stays(admin):
    added = server_of()
    dataset = Dataset.objects.create(name="pilot", slug="pilot")
    setups = [Setup.objects.create(dataset=dataset, name=name, model="mini") for name in "ab"]
    grid = Grid.objects.create(dataset=dataset, name="first", choices={})
    for position, setup in enumerate(setups):
        GridSetup.objects.create(grid=grid, setup=setup, position=position)

    answer = admin.post(reverse("evaluation:delete-checkpoint", args=[added.pk]), follow=True)

    page = shown(answer)
    assert any("mini cannot be removed: 1 grid" in message for message in page.messages)
    assert page.table("Models").column("Delete") == ["in use"]
    assert Checkpoint.objects.exists()


def test_the_list_shows_where_models_lie_to_admins_alone(admin, rosa, client_for):
    Checkpoint.objects.create(name="mini", location="some-org/some-model", entailment_index=2)

    listed = shown(admin.get(MODELS)).table("Models").row("mini Entailment classifier")
    assert listed["Location"] == "some-org/some-model entailment: output 2"
    researcher = client_for(rosa)
    assert researcher.get(MODELS).status_code == 403
    for page in ("/metrics/", "/metrics/new/"):
        assert "some-org" not in researcher.get(page).text


def test_the_list_costs_the_same_for_1_and_for_20(admin):
    def cost(names):
        Checkpoint.objects.bulk_create(Checkpoint(name=n, location="a/b") for n in names)
        return len(statements(lambda: admin.get(MODELS)))

    assert cost(["one"]) == cost([f"m{n}" for n in range(19)])


def test_without_models_the_list_says_what_runs_can_use(admin):
    [message] = shown(admin.get(MODELS)).messages

    assert "runs can use only the three baselines" in message


@pytest.mark.parametrize("method", ["put", "delete", "patch"])
def test_only_get_and_post_are_answered(admin, method):
    assert getattr(admin, method)(MODELS).status_code == 405

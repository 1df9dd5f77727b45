"""Models that runs and grids may use: adding, listing and deleting them as an admin."""

import json
from pathlib import Path

import numpy as np
import pytest
from django.urls import reverse
from safetensors.numpy import save_file

from accounts.models import AuditEntry
from evaluation.models import MetricRun
from generation.models import Checkpoint, Dataset, Grid, GridSetup, Setup
from generation.services.checkpoints import pin_revision
from tests.makers import audit_actions, statements
from tests.ruler_model import save_ruler_model
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


def server_of(calls_per_minute=None, name="mini", **more):
    described = {"backend": "openai", "location": "https://models.example.org/v1"}
    return Checkpoint.objects.create(
        name=name, calls_per_minute=calls_per_minute, **described | more
    )


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


def test_a_chat_model_is_told_by_its_address_or_its_tokenizer(admin, folder):
    server = {"backend": "openai", "served_name": "llama-3"}
    add(admin, "https://models.example.org/v1", name="chat", **server)
    add(admin, "https://models.example.org/v1/completions", name="texts", **server)
    for name, tokenizer in {"own": {"chat_template": "{{ messages }}"}, "base": {}}.items():
        location = folder({"architectures": ["LlamaForCausalLM"]}, name=name)
        (Path(location) / "tokenizer_config.json").write_text(json.dumps(tokenizer))
        add(admin, location, name=name, backend="language-model")
    add(admin, "some-org/some-model", name="hub", backend="language-model")

    names = shown(admin.get(MODELS)).table("Models").column("Name")
    assert [name.endswith("takes messages") for name in names] == [False, True, False, True, False]
    assert [name.endswith("continues texts") for name in names] == [True, False, False, False, True]
    assert dict(Checkpoint.objects.values_list("name", "is_chat")) == {
        "chat": True,
        "texts": False,
        "own": True,
        "base": False,
        "hub": None,
    }


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


def test_the_page_names_the_spacy_model_or_says_how_to_install_one(admin, settings, tmp_path):
    settings.SPACY_MODEL = "en_core_web_that_is_missing"
    without = shown(admin.get(MODELS)).text
    settings.SPACY_MODEL = str(tmp_path / "missing" / "folder")
    wrong = shown(admin.get(MODELS)).text
    settings.SPACY_MODEL = str(save_ruler_model(tmp_path / "model"))
    with_model = shown(admin.get(MODELS)).text

    command = "-m spacy download en_core_web_sm"
    assert command in without
    assert "no spaCy model en_core_web_that_is_missing is installed" in without
    assert command in wrong
    assert "cannot be used: there is no such folder" in wrong
    assert str(tmp_path) not in wrong
    assert "The spaCy model en_tests 0.0.0" in with_model
    assert command not in with_model


@pytest.mark.parametrize("method", ["put", "delete", "patch"])
def test_only_get_and_post_are_answered(admin, method):
    assert getattr(admin, method)(MODELS).status_code == 405

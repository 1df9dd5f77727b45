"""Models that runs may use: which an admin can add, and what stands in the way of deleting one."""

import json

import pytest
from django.urls import reverse

from accounts.models import AuditEntry
from evaluation.models import Checkpoint, MetricRun
from generation.models import Dataset
from tests.evaluation.pages import words
from tests.makers import audit_actions, statements

pytestmark = pytest.mark.django_db

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
    """Return a function that makes a folder with a config.json, and gives its path."""

    def make(config, name="model"):
        (tmp_path / name).mkdir()
        text = config if isinstance(config, str) else json.dumps(config)
        (tmp_path / name / "config.json").write_text(text, "utf-8")
        return str(tmp_path / name)

    return make


def add(client, location, name="mini", entailment_index=""):
    return client.post(
        MODELS, {"name": name, "location": location, "entailment_index": entailment_index}
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
    assert found in answer.text
    assert not Checkpoint.objects.exists()


def test_a_place_where_no_folder_is_is_refused(admin, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")

    for place, found in [
        (f"{tmp_path}/nowhere", "Found nothing at"),
        (f"{tmp_path}/file", "Found a file at"),
        (f"{tmp_path}/empty", "Found no config.json in"),
        ("./models/mini", "neither a whole path nor a name on the hub"),
        ("~/mini", "neither a whole path"),
        ("a/b/c", "neither a whole path"),
        ("../secret", "neither a whole path"),
    ]:
        answer = add(admin, place)
        assert answer.status_code == 422
        assert found in answer.text, place
    assert not Checkpoint.objects.exists()


def test_labels_without_names_need_the_index_of_entailment(admin, folder):
    location = folder(LABELS_WITHOUT_NAMES)

    answer = add(admin, location)
    assert answer.status_code == 422
    assert "Found 0 LABEL_0, 1 LABEL_1 in its config.json: none says entailment" in answer.text
    answer = add(admin, location, entailment_index="2")
    assert answer.status_code == 422
    assert "there is no output 2" in answer.text

    assert add(admin, location, entailment_index="1").status_code == 302
    assert Checkpoint.objects.get().entailment_index == 1


@pytest.mark.parametrize("name", ["", "lexical", "Lexical", "a|b", "a b", "-a", "a\n", "x" * 101])
def test_a_name_that_a_signature_could_not_hold_is_refused(admin, name):
    answer = add(admin, "roberta-large-mnli", name=name)

    assert answer.status_code == (302 if name == "a\n" else 422)  # white space round it is cut
    assert Checkpoint.objects.filter(name=name).count() == 0


def test_a_name_is_given_once(admin):
    add(admin, "roberta-large-mnli")

    answer = add(admin, "bart-large-mnli")

    assert answer.status_code == 422
    assert "There already is a model named mini." in answer.text
    assert Checkpoint.objects.get().location == "roberta-large-mnli"


# --- deleting and listing -------------------------------------------------------------------


def test_a_model_that_no_run_uses_can_be_deleted(admin):
    added = Checkpoint.objects.create(name="mini", location="roberta-large-mnli")

    answer = admin.post(reverse("evaluation:delete-checkpoint", args=[added.pk]), follow=True)

    assert "mini is not offered any more." in words(answer)
    assert not Checkpoint.objects.exists()
    assert ("checkpoint.deleted", "mini") in audit_actions()


def test_a_model_that_a_run_uses_stays(admin):
    added = Checkpoint.objects.create(name="mini", location="roberta-large-mnli")
    dataset = Dataset.objects.create(name="pilot", slug="pilot")
    MetricRun.objects.create(dataset=dataset, metric="auto_ais", model_name="mini")

    answer = admin.post(reverse("evaluation:delete-checkpoint", args=[added.pk]), follow=True)

    assert "mini stays: 1 run uses it." in words(answer)
    assert "in use" in words(answer)
    assert Checkpoint.objects.exists()


def test_the_list_shows_where_models_lie_to_admins_alone(admin, rosa, client_for):
    Checkpoint.objects.create(name="mini", location="some-org/some-model", entailment_index=2)

    assert "mini some-org/some-model output 2" in words(admin.get(MODELS))
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
    assert "Runs can use lexical overlap, which needs none." in words(admin.get(MODELS))


@pytest.mark.parametrize("method", ["put", "delete", "patch"])
def test_only_get_and_post_are_answered(admin, method):
    assert getattr(admin, method)(MODELS).status_code == 405

"""The commands of the list of models: models, add_model, check_model, remove_model."""

import io
import json

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from safetensors.numpy import save_file

from accounts.models import AuditEntry
from evaluation.models import MetricRun
from generation.models import Checkpoint, Dataset
from tests.language_model_server import refuses, says
from tests.language_model_server import stand_in as language_model_server
from tests.tiny_language_models import tiny_causal

pytestmark = pytest.mark.once

CLASSIFIER = {
    "architectures": ["BertForSequenceClassification"],
    "id2label": {"0": "not_entailment", "1": "entailment"},
}
SERVER = ("--backend", "openai", "--served-name", "m/1")


def said_by(command: str, *arguments: object) -> str:
    out = io.StringIO()
    call_command(command, *map(str, arguments), stdout=out, stderr=io.StringIO())
    return out.getvalue()


@pytest.fixture
def classifier(tmp_path):
    folder = tmp_path / "classifier"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CLASSIFIER), "utf-8")
    save_file({"w": np.zeros((4, 3), np.float32)}, folder / "model.safetensors")
    return folder


def test_models_are_added_listed_and_removed(classifier, monkeypatch):
    monkeypatch.delenv("MODELS_API_KEY", raising=False)

    said_by("add_model", "nli", classifier)
    said_by("add_model", "hub", "owner/name@" + "a" * 40, "--backend", "language-model")
    said_by(
        *("add_model", "served", "https://models.example.org/v1", *SERVER, "--calls-at-once", 3),
        *("--key-variable", "MODELS_API_KEY", "--input-price", 0.5, "--output-price", 2),
        *("--n-parameters", "7.5B"),
    )

    served = Checkpoint.objects.get(name="served")
    assert (served.calls_at_once, served.input_price, served.output_price) == (3, 0.5, 2.0)
    assert (served.added_by, served.n_parameters) == (None, 7_500_000_000)
    # The one tensor of the classifier's files has 4 × 3 numbers.
    assert Checkpoint.objects.get(name="nli").n_parameters == 12
    assert AuditEntry.objects.filter(action="checkpoint.added").count() == 3
    lines = said_by("models").splitlines()
    assert lines[0].startswith("extractive: ")
    hub, nli, last = lines[-3:]
    assert f"run here, size not known, owner/name, revision {'a' * 40}" in hub
    assert nli.startswith(f"nli: Entailment classifier, 12 parameters, {classifier}")
    assert "behind a server, takes messages, 7.5B parameters" in last
    assert "served as m/1, key in MODELS_API_KEY, which is not set" in last

    said_by("remove_model", "nli")

    assert not Checkpoint.objects.filter(name="nli").exists()


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["a|b", "owner/name"], "NAME: Use letters"),
        (["lexical", "owner/name"], "NAME: A kind of backend"),
        (["nli", "/nowhere/at/all"], "LOCATION: Found nothing at /nowhere/at/all"),
        (["nli", "https://example.org/v1", "--backend", "openai"], "--served-name: The name of"),
        (["nli", "https://u:p@example.org/v1", *SERVER], "LOCATION: Found an address with a user"),
        (["m", "https://example.org/v1", *SERVER, "--key-variable", "HOME"], "--key-variable: Exp"),
        (["m", "https://example.org/v1", *SERVER, "--input-price", "1"], "--output-price: Give bo"),
        (["m", "https://example.org/v1", *SERVER, "--calls-at-once", "x"], "--calls-at-once: "),
        (["m", "https://example.org/v1", *SERVER, "--n-parameters", "7 X"], "Found 7 X; expected"),
        (["there", "owner/name"], "NAME: There is already a model named there"),
    ],
)
def test_what_the_page_refuses_the_command_refuses(arguments, found):
    Checkpoint.objects.create(name="there", location="owner/name")

    with pytest.raises(CommandError) as refused:
        said_by("add_model", *arguments)

    assert found in str(refused.value)
    assert str(refused.value).endswith("No model was listed.")
    assert Checkpoint.objects.count() == 1


def test_a_model_in_use_is_kept_and_an_unknown_one_is_named_with_those_that_are_there():
    Checkpoint.objects.create(name="used", location="owner/name")
    dataset = Dataset.objects.create(name="pilot", slug="pilot")
    MetricRun.objects.create(dataset=dataset, metric="auto_ais", model_name="used", threshold=0.5)

    for command, name, found in [
        ("remove_model", "used", "used cannot be removed: 1 run uses it."),
        ("remove_model", "other", "No model 'other' is listed. Listed are: used."),
        ("check_model", "other", "No model 'other' is listed. Listed are: used."),
    ]:
        with pytest.raises(CommandError) as refused:
            said_by(command, name)
        assert str(refused.value) == found


def test_a_check_opens_a_folder_and_asks_a_server(classifier, tmp_path):
    said_by("add_model", "broken", classifier)
    tiny = tiny_causal(tmp_path / "tiny", always="Yes")
    said_by("add_model", "tiny", tiny, "--backend", "language-model")
    with language_model_server() as server:
        said_by("add_model", "served", server.url, *SERVER)
        server.otherwise = says("Hello there.")

        assert "it replied on cpu to “Say hello.” with “Yes”" in said_by("check_model", "tiny")
        assert "it replied on server to “Say hello.” with “Hel" in said_by("check_model", "served")
        server.otherwise = refuses(400, "no such model")
        with pytest.raises(CommandError, match="served cannot be used"):
            said_by("check_model", "served")
    with pytest.raises(CommandError, match="broken cannot be used"):
        said_by("check_model", "broken")

"""Commands that ask a model behind a server: each takes --server, and lists the model."""

import pytest
from django.core.management import CommandError, call_command, load_command_class

from accounts.models import AuditEntry
from generation.management.asked_server import models_to_ask
from generation.management.asking_command import AskingCommand
from generation.models import Checkpoint, Dataset, Response
from tests.generation.question_makers import dataset_of
from tests.language_model_server import says
from tests.language_model_server import stand_in as language_model_server
from tests.makers import row_counts
from tests.test_plan_first import COMMANDS

GRID = """
name = "g"
prompts = ["golden"]
temperatures = [0.0]
[[models]]
name = "m"
"""
URL = "https://models.example.org/v1"
# Commands that ask models, or start what does, but take none by name.
TAKE_NO_MODEL = {
    "distil": "Its teacher is a run, and its base an encoder, which no server has.",
    "pull_graph": "It asks a SPARQL endpoint.",
    "load_demo": "The demo asks the models that are always there.",
}


@pytest.mark.parametrize(("app", "name"), COMMANDS, ids=lambda text: text)
def test_every_command_that_takes_a_model_takes_a_server_too(app, name):
    command = load_command_class(app, name)
    help = command.create_parser("manage.py", name).format_help()

    asks = isinstance(command, AskingCommand) and name not in TAKE_NO_MODEL
    assert ("--server URL" in help) == asks
    assert ("--ask-server URL" in help) == (name == "run_kg_experiment")


def options(**given):
    return {"server": URL, "key_variable": None, "key_over_http": False} | given


@pytest.mark.once
def test_a_model_is_listed_once_under_a_name_that_models_may_have():
    for _ in range(2):
        with models_to_ask(options(key_variable="A_API_KEY"), ["Qwen/Qwen2 7B", "m"]) as names:
            assert names == ["Qwen-Qwen2-7B", "m"]

    listed = Checkpoint.objects.get(name="Qwen-Qwen2-7B")
    assert (listed.backend, listed.location, listed.served_name) == ("openai", URL, "Qwen/Qwen2 7B")
    assert (listed.key_variable, listed.is_chat) == ("A_API_KEY", True)
    assert Checkpoint.objects.count() == 2
    assert AuditEntry.objects.filter(action="checkpoint.added", actor=None).count() == 2
    with models_to_ask(options(server=None), ["anything"]) as names:
        assert names == ["anything"]


@pytest.mark.once
@pytest.mark.parametrize(
    ("given", "models", "prefix", "found"),
    [
        ({"server": "models.example.org"}, ["m"], "", "--server: Found models.example.org"),
        ({"server": None, "key_variable": "A_API_KEY"}, ["m"], "", "--key-variable: A key is only"),
        ({}, ["there"], "", "--model: Another model is listed with the name there"),
        ({}, ["m", "openai"], "", "--model: openai is the name of a kind of model"),
        ({"server": "http://example.org/v1", "key_variable": "K"}, ["m"], "", "--key-over-http: "),
        ({}, ["there"], "ask-", "--models: Another model is listed"),
        ({"server": "x"}, ["m"], "ask-", "--ask-server: Found x"),
    ],
)
def test_a_mistake_lists_nothing(given, models, prefix, found):
    Checkpoint.objects.create(name="there", backend="openai", location="https://other.example/v1")
    named = {f"{prefix.replace('-', '_')}{name}": said for name, said in options(**given).items()}

    with pytest.raises(CommandError) as refused, models_to_ask(named, models, prefix):
        pass

    assert str(refused.value).startswith(found)
    assert str(refused.value).endswith("Nothing was asked.")
    assert Checkpoint.objects.count() == 1


@pytest.mark.once
def test_a_grid_is_asked_of_a_server_and_a_dry_run_stores_nothing(tmp_path, capsys):
    dataset_of(tmp_path / "mills", 2)
    grid = tmp_path / "grid.toml"
    grid.write_text(GRID)
    before = row_counts()
    with language_model_server() as server:
        server.otherwise = says("A mill.")
        asked = ["generate", "pilot", "--grid", str(grid), "--server", server.url, "--model", "m"]

        call_command(*asked, "--dry-run")
        assert row_counts() == before
        assert "2 examples, 1 setups of m" in capsys.readouterr().out
        call_command(*asked, "--yes")
        with pytest.raises(CommandError, match="names no model other"):
            call_command(*asked[:-1], "other", "--dry-run")
        with pytest.raises(CommandError, match="expected both or neither"):
            call_command(*asked[:-2])
        restricted = [*asked[:2], *asked[4:], "--shares", "1", "--evidence", "golden", "--yes"]
        call_command("restrict_context", *restricted[1:])

    assert set(Response.objects.values_list("text", flat=True)) == {"A mill."}
    assert set(Dataset.objects.get().setups.values_list("model", flat=True)) == {"m"}

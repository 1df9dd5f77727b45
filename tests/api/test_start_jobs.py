"""Jobs that are started by API: the same rows as by the page, refusals, and who may."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from evaluation.models import Job
from generation.models import Checkpoint, Construction, ConstructionEntry, Dataset
from tests.evaluation.runs.teaching import rated_and_unrated, teacher_run
from tests.evaluation.runs.test_prompt_searches import COOL, ssa_study
from tests.evaluation.told_language_model import BACKEND

pytestmark = pytest.mark.once

JOBS = "/api/v1/jobs/"
SEARCH = {
    "study": "pilot",
    "setup": "cool",
    "metric": "sensible",
    "model": "teacher",
    "name": "found",
    "n_examples": 3,
    "seed": 4,
}
DISTILLATION = {
    "base": "minilm",
    "name": "small",
    "epochs": 2,
    "batch_size": 8,
    "learning_rate": 0.001,
}
ENDPOINT = {"endpoint": "http://127.0.0.1:1/sparql", "allow_private": True}
PULL = {"dataset": "bards", "names": ["Anne Hathaway", "", " Q692 "], **ENDPOINT}
SEEN = {"seen_calls": 1000}  # the plan that the person has seen has no more calls
ENTRY = {
    "name_1": "Anne Hathaway",
    "name_2": "William Shakespeare",
    "paragraph": "Anne married William – twice.",
    "relation": "spouse",
}
CONSTRUCTION: dict[str, Any] = {
    "name": "Bards",
    "model": "small",
    "entries": [ENTRY, ENTRY | {"name_1": "Anne"}],
    "n_rounds": 2,
    **ENDPOINT,
}


@pytest.fixture
def study(tmp_path, told_model):
    told_model(lambda prompt: "0.5")
    Checkpoint.objects.create(name="teacher", backend=BACKEND, location="/srv/secret/teacher")
    return ssa_study(tmp_path / "pilot", {"cool": COOL, "warm": {"w-one": 3}})


@pytest.fixture
def run(tmp_path, told_model):
    Checkpoint.objects.create(name="minilm", location="/srv/secret/minilm")
    return teacher_run(rated_and_unrated(tmp_path), told_model)


@pytest.fixture
def writer():
    return Checkpoint.objects.create(name="small", backend="openai", location="http://127.0.0.1:1")


def start(client, kind, asked):
    asked = {"confirmed": True, **asked}
    return client.post(f"{JOBS}{kind}/", asked, content_type="application/json")


def started(client, kind, asked):
    """Start a job, and return it; the answer shows it, and says where it is."""
    answer = start(client, kind, asked)
    assert answer.status_code == 202, answer.content
    job = Job.objects.get()
    assert answer["Location"] == f"http://testserver{JOBS}{job.pk}/"
    assert answer.json() == client.get(answer["Location"]).json()
    assert (answer.json()["id"], answer.json()["state"]) == (job.pk, "queued")
    assert job.sent_at is not None
    assert start(client, kind, asked).json()["id"] == job.pk
    assert Job.objects.count() == 1
    return job


def taken_back(job):
    """Delete a job, and return everything that was stored about its choices."""
    names = ("kind", "name", "parameters", "n_total", "study", "dataset", "requested_by")
    stored = Job.objects.values(*names).get(pk=job.pk)
    job.delete()
    return stored


def refusal(client, kind, asked):
    """Return why a start is refused. It stores nothing."""
    answer = start(client, kind, asked)
    assert answer.status_code == 400, answer.content
    assert not Job.objects.exists()
    assert not Construction.objects.exists()
    return answer.json()


# --- prompt searches ------------------------------------------------------------------------


def test_a_search_is_the_one_that_the_page_starts(api, client_for, rosa, study):
    form = {"slice": "pilot/sensible/cool", "model": "teacher", "name": "found"}
    client_for(rosa).post(
        reverse("evaluation:new-search"), form | {"n_examples": 3, "seed": 4} | SEEN
    )
    by_page = taken_back(Job.objects.get())

    job = started(api, "prompt-searches", SEARCH)

    assert by_page == taken_back(job)
    assert by_page["parameters"]["n_examples"] == 3
    assert by_page["parameters"]["location"] == "/srv/secret/teacher"


def test_a_search_takes_all_examples_unless_it_is_told_how_many(api, study):
    asked = {name: SEARCH[name] for name in ("study", "setup", "metric", "model", "name")}

    job = started(api, "prompt-searches", asked)

    assert (job.parameters["n_examples"], job.parameters["seed"]) == (None, 0)
    assert job.n_total == 1 + len(COOL)


@pytest.mark.parametrize(
    ("wrong", "field", "message"),
    [
        ({"study": "lost"}, "study", "There is no study 'lost'."),
        ({"setup": "lost"}, "setup", "has no setup 'lost'. It has: cool, warm."),
        ({"setup": "warm"}, "setup", "Found 1 of the rated responses of warm"),
        ({"metric": "auto_ais"}, "metric", "not a valid choice"),
        ({"model": "lost"}, "model", "There is no checkpoint 'lost'."),
        ({"model": "encoder"}, "model", "Only a language model can be given a prompt."),
        ({"name": "two words"}, "name", "expected up to 60 letters"),
        ({"name": "paper"}, "name", "Attest itself uses the name"),
        ({"n_examples": 1}, "n_examples", "greater than or equal to 2"),
        ({"seed": -1}, "seed", "greater than or equal to 0"),
        ({"colour": "red"}, "colour", "There is no such field."),
    ],
)
def test_what_no_search_can_use_is_said_at_its_field(api, study, wrong, field, message):
    Checkpoint.objects.create(name="encoder", location="/srv/secret/encoder")

    found = refusal(api, "prompt-searches", SEARCH | wrong)

    assert list(found) == [field]
    assert message in found[field][0]


def test_a_name_with_other_choices_is_taken(api, study):
    job = started(api, "prompt-searches", SEARCH)

    answer = start(api, "prompt-searches", SEARCH | {"seed": 5})

    assert answer.status_code == 400
    assert "A job with other choices is named found." in answer.json()["name"][0]
    assert Job.objects.get().parameters == job.parameters


# --- distillations --------------------------------------------------------------------------


def test_a_distillation_is_the_one_that_the_page_starts(api, client_for, rosa, run):
    asked = DISTILLATION | {"run": run.pk}
    client_for(rosa).post(reverse("evaluation:new-distillation"), asked | {"seed": 0} | SEEN)
    by_page = taken_back(Job.objects.get())

    job = started(api, "distillations", asked)

    assert by_page == taken_back(job)
    assert by_page["n_total"] == by_page["parameters"]["epochs"] == 2


@pytest.mark.parametrize(
    ("wrong", "field", "message"),
    [
        ({"run": 0}, "run", "There is no run 0."),
        ({"run": 10**30}, "run", "There is no run"),
        ({"run": 1.5}, "run", "A valid integer is required."),
        ({"run": "one"}, "run", "A valid integer is required."),
        ({"base": "teacher"}, "base", "There is no encoder 'teacher' here."),
        ({"name": "minilm"}, "name", "There is already a model named minilm."),
        ({"learning_rate": 0}, "learning_rate", "greater than or equal to 1e-07"),
        ({"epochs": 101}, "epochs", "less than or equal to 100"),
    ],
)
def test_what_no_distillation_can_use_is_said_at_its_field(api, run, wrong, field, message):
    Checkpoint.objects.create(name="teacher", backend=BACKEND, location="/srv/secret/teacher")

    found = refusal(api, "distillations", DISTILLATION | {"run": run.pk} | wrong)

    assert list(found) == [field]
    assert message in found[field][0]


# --- pulls ----------------------------------------------------------------------------------


def test_a_pull_is_the_one_that_the_page_starts(admin, client_for, adam):
    form = {"dataset": "bards", "names": "Anne Hathaway\r\n\r\nQ692", **ENDPOINT}
    form |= {"language": "en", "entities": "http://www.wikidata.org/entity/"}
    client_for(adam).post(reverse("graphs:pull"), form | SEEN)
    by_page = taken_back(Job.objects.get())

    job = started(admin, "graph-pulls", PULL)

    assert by_page == taken_back(job)
    assert by_page["parameters"]["names"] == ["Anne Hathaway", "Q692"]


@pytest.mark.parametrize(
    ("wrong", "field", "message"),
    [
        ({"dataset": ""}, "dataset", "may not be blank"),
        ({"dataset": "d" * 101}, "dataset", "of up to 100 characters"),
        ({"names": []}, "names", "Found no name"),
        ({"names": ["n" * 1000]}, "names", "has 1000 characters"),
        ({"names": "Anne"}, "names", "Expected a list of items"),
        ({"names": [], "with_missing": True}, "names", "This dataset is new"),
        ({"allow_private": False}, "endpoint", "127.0.0.1 is a local, private or reserved"),
        ({"language": "of the bards"}, "language", "expected the code of a language"),
        ({"entities": "Q"}, "entities", "expected an address that ends in / or #"),
    ],
)
def test_what_no_pull_can_use_is_said_at_its_field(admin, wrong, field, message):
    found = refusal(admin, "graph-pulls", PULL | wrong)

    assert list(found) == [field]
    assert message in found[field][0]
    assert not Dataset.objects.exists()


# --- constructions --------------------------------------------------------------------------


def test_a_construction_is_the_one_that_the_page_starts(admin, client_for, adam, writer):
    lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in CONSTRUCTION["entries"])
    form = {name: value for name, value in CONSTRUCTION.items() if name != "entries"} | {
        "do": "start",
        "file": SimpleUploadedFile("entries.jsonl", lines.encode()),
        "precision": "fp32",
        "temperature": 0.1,
        "seed": 13,
        "language": "en",
        "entities": "http://www.wikidata.org/entity/",
    }
    client_for(adam).post(reverse("constructions:new"), form | SEEN)
    by_page, of_page = stored_construction(), taken_back(Job.objects.get())
    Construction.objects.all().delete()

    job = started(admin, "constructions", CONSTRUCTION)

    assert stored_construction() == by_page
    assert taken_back(job) == of_page
    assert [state for state, *_ in by_page["entries"]] == ["waiting", "left_out"]
    assert by_page["parameters"]["n_rounds"] == 2


def stored_construction():
    """Return the choices and the entries of the only construction."""
    texts = ("state", "problem", "paragraph", "name_1", "relation", "name_2")
    made = Construction.objects.values("name", "parameters", "requested_by").get()
    entries = ConstructionEntry.objects.order_by("number").values_list(*texts)
    return made | {"entries": list(entries)}


def test_the_order_of_keys_makes_no_other_construction(admin, writer):
    job = started(admin, "constructions", CONSTRUCTION)
    turned = [dict(reversed(row.items())) for row in CONSTRUCTION["entries"]]

    again = start(admin, "constructions", CONSTRUCTION | {"entries": turned})

    assert (again.status_code, again.json()["id"]) == (202, job.pk)


def test_relations_of_ones_own_count(admin, writer):
    strange = [ENTRY | {"relation": "met by chance"}]
    own = {"met by chance": {"properties": ["P9"]}}

    refused = refusal(admin, "constructions", CONSTRUCTION | {"entries": strange})
    started(admin, "constructions", CONSTRUCTION | {"entries": strange, "relations": own})

    assert "No entry can be looked up." in refused["entries"][0]
    assert Construction.objects.get().parameters["relations"]["met by chance"]["properties"] == [
        "P9"
    ]


@pytest.mark.parametrize(
    ("wrong", "field", "message"),
    [
        ({"name": "n" * 101}, "name", "of up to 100 characters"),
        ({"model": "lost"}, "model", "found 'lost'; expected one of"),
        ({"precision": "bf16"}, "precision", "found 'bf16'; expected fp32 of small"),
        ({"n_rounds": 7}, "n_rounds", "less than or equal to 6"),
        ({"entries": []}, "entries", "may not be empty"),
        ({"entries": [ENTRY, ENTRY | {"relation": [7]}]}, "entries", "line 2, relation: found [7]"),
        ({"entries": [ENTRY] * 2001}, "entries", "found more than 2,000 rows"),
        ({"relations": {}}, "relations", "body: found"),
        ({"relations": {"met": {}}}, "relations", 'body, relations, "met": found no property'),
        ({"allow_private": False}, "endpoint", "127.0.0.1 is a local, private or reserved"),
    ],
)
def test_what_no_construction_can_use_is_said_at_its_field(admin, writer, wrong, field, message):
    found = refusal(admin, "constructions", CONSTRUCTION | wrong)

    assert list(found) == [field]
    assert message in found[field][0]


# --- who may --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        ("prompt-searches", SEARCH),
        ("distillations", DISTILLATION),
        ("graph-pulls", PULL),
        ("constructions", CONSTRUCTION),
    ],
)
def test_raters_start_nothing(client_for, rachel, kind, asked):
    assert start(client_for(rachel), kind, asked).status_code == 403
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("kind", "asked"), [("graph-pulls", PULL), ("constructions", CONSTRUCTION)]
)
def test_what_asks_other_machines_is_started_by_admins_alone(api, writer, kind, asked):
    for sent in (asked, asked | {"colour": "red"}):  # nor are they told what is wrong
        answer = start(api, kind, sent)
        assert answer.status_code == 403
        assert "Only admins may start" in answer.json()["detail"]
    assert not Job.objects.exists()
    assert not Construction.objects.exists()


def test_a_start_is_sent_by_post(api):
    for kind in ("prompt-searches", "distillations", "graph-pulls", "constructions"):
        assert api.get(f"{JOBS}{kind}/").status_code == 405

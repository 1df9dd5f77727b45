"""The forms of a new grid: by choices, and by a file."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from generation.models import Checkpoint, Grid, Sample
from tests.generation.grid_runs import planned, valley
from tests.generation.lovelace import lovelace
from tests.makers import example_row, import_rows
from tests.shown import shown

pytestmark = pytest.mark.once

NEW, FILE = "/grids/new/", "/grids/new/file/"
TWELVE = [
    *("no-evidence", "golden", "golden-instructions", "retrieved-2", "retrieved-3"),
    *("retrieved-2-instructions", "retrieved-3-instructions", "one-shot"),
    *("no-history-no-evidence", "no-history-golden", "random", "next-best"),
]


@pytest.fixture
def dataset(tmp_path):
    return valley(tmp_path)


@pytest.fixture
def sample(dataset):
    """A sample of two examples, one of which was dropped."""
    sample = Sample.objects.create(dataset=dataset, name="two", parameters={}, state="done")
    for position, example in enumerate(dataset.examples.order_by("pk")[:2]):
        said = {"verdict": "drop", "reason": "odd"} if position else {}
        sample.members.create(example=example, position=position, **said)
    return sample


def choices(**more):
    """Return what the form sends: two prompt types at two temperatures over the whole dataset."""
    return {
        "name": "pilot",
        "over": "dataset:valley",
        "models": ["extractive"],
        "currency": "USD",
        "prompts": ["no-evidence", "golden"],
        "more_prompts": "",
        "temperatures": "0, 0.7",
        "seeds": "0",
        "top_p": "1",
        "top_k": "0",
        "max_tokens": "128",
        "positions": ["before-dialog"],
        "budget": "",
        "one_shot": "",
        "ranking": "bm25",
        "query": "question",
        "idf": "okapi-epsilon",
        "k1": "1.5",
        "b": "0.75",
    } | more


# --- by choices -----------------------------------------------------------------------------


def test_without_examples_there_is_nothing_to_ask(researcher):
    for address in (NEW, FILE):
        page = shown(researcher.get(address))
        [message] = page.messages
        assert "Nothing to ask about" in message
        assert "Preview calls" not in page.text


def test_the_form_begins_with_the_usual_grid_over_what_the_address_names(researcher, sample):
    planned(sample.dataset, name="valley-1")
    for query, over in [
        ("", "dataset:valley"),
        ("?dataset=valley", "dataset:valley"),
        (f"?sample={sample.pk}", f"sample:{sample.pk}"),
    ]:
        answer = researcher.get(f"{NEW}{query}")
        page = shown(answer)
        assert page.fields["over"] == over
        assert (page.messages, page.errors) == ([], {})
        assert 'aria-invalid="true"' not in answer.text
    assert page.fields["prompts"] == TWELVE
    assert page.fields["name"] == "valley-2"


def test_it_says_how_many_calls_that_is_at_most(researcher, sample):
    def n_calls(**chosen):
        asked = choices(**chosen)
        page = shown(researcher.get(NEW, asked, headers={"HX-Request": "true"}))
        return re.findall(r"\d+|at most", page.part("to-ask").text)

    # Setups × examples: at most so many calls.
    assert n_calls() == ["4", "3", "at most", "12"]
    # Of three seeds, one is asked at temperature 0.
    assert n_calls(seeds="0, 1, 2") == ["8", "3", "at most", "24"]
    # The example that was dropped is not asked about.
    assert n_calls(over=f"sample:{sample.pk}") == ["4", "1", "at most", "4"]
    assert n_calls(name="") == ["4", "3", "at most", "12"]
    assert n_calls(temperatures="hot") == []


def test_every_choice_reaches_the_grid(researcher, sample):
    server = Checkpoint.objects.create(name="llm", backend="openai", location="http://127.0.0.1/v1")
    local = Checkpoint.objects.create(name="tiny", backend="language-model", location="/nowhere")
    asked = {
        "over": f"sample:{sample.pk}",
        "models": ["extractive", "llm", "tiny"],
        "currency": "EUR",
        "more_prompts": "top-3, golden, restricted-golden-0.5, top-2-of-5-part-3",
        "seeds": "0, 1",
        "top_p": "1, 0.9",
        "top_k": "0, 40",
        "max_tokens": "64",
        "positions": ["before-dialog", "before-last-turn"],
        "form": ["native"],
        "budget": "900",
        "one_shot": "e2",
        "ranking": "random",
        "query": "dialog",
        "idf": "lucene",
        "k1": "1.2",
        "b": "0.5",
        f"input_{server.pk}": "0.15",
        f"output_{server.pk}": "0.6",
        f"precision_{local.pk}": "bf16",
    }

    answer = researcher.post(NEW, choices(**asked))

    grid = Grid.objects.get()
    assert answer.url == f"/grids/{grid.pk}/"
    assert (grid.name, grid.state, grid.sample) == ("pilot", "planning", sample)
    assert grid.choices == {
        "name": "pilot",
        "models": [
            {"name": "extractive", "precision": "fp32"},
            {"name": "llm", "precision": "fp32", "price": {"input": 0.15, "output": 0.6}},
            {"name": "tiny", "precision": "bf16"},
        ],
        "sample": "two",
        "prompts": [
            *("no-evidence", "golden", "top-3"),
            *("restricted-golden-0.5", "top-2-of-5-part-3"),
        ],
        "temperatures": [0.0, 0.7],
        "seeds": [0, 1],
        "positions": ["before-dialog", "before-last-turn"],
        "form": ["native"],
        "top_p": [1.0, 0.9],
        "top_k": [0, 40],
        "max_tokens": [64],
        "budget": 900,
        "one_shot": "e2",
        "retrieval": {
            "ranking": "random",
            "query": "dialog",
            "idf": "lucene",
            "k1": 1.2,
            "b": 0.5,
        },
        "currency": "EUR",
    }


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("name", "", "required"),
        ("over", "dataset:nowhere", "There is no dataset nowhere."),
        ("models", [], "required"),
        ("prompts", [], "one value or more"),
        ("more_prompts", "bottom-3", "prompt type 'bottom-3'; expected one of no-evidence"),
        ("temperatures", "", "required"),
        ("temperatures", "0, warm", "Found 'warm'; expected a number"),
        ("temperatures", "nan", "Found 'nan'; expected a number"),
        ("temperatures", "0.7, 0, 0.70", "0.70 twice"),
        ("temperatures", "9", "Found 9.0; expected a number from 0 to 2"),
        ("seeds", "0.5", "whole number"),
        ("top_p", "1.5", "expected a number above 0, at most 1"),
        ("one_shot", "e9", "expected an example of valley"),
        ("b", "2", "expected a number from 0 to 1"),
        ("budget", "0", "greater than or equal to 1"),
    ],
)
def test_a_mistake_is_shown_at_its_field(researcher, dataset, field, value, message):
    prompts = ["no-evidence", "one-shot"]

    answer = researcher.post(NEW, choices(**{"prompts": prompts, field: value}))

    page = shown(answer)
    assert answer.status_code == 422
    [trouble] = page.messages
    assert "Not planned" in trouble
    assert message in page.errors[field]
    assert not Grid.objects.exists()


def test_too_many_setups_are_refused_at_the_longest_list(researcher, dataset):
    seeds, top_k = (", ".join(map(str, range(n))) for n in (50, 20))

    answer = researcher.post(NEW, choices(seeds=seeds, top_k=top_k))

    assert answer.status_code == 422
    said = "4,000 setups (2 prompts × 2 temperatures × 50 seeds × 20 top_k)"
    assert said in shown(answer).errors["seeds"]


def test_one_price_without_the_other_is_a_mistake(researcher, dataset):
    model = Checkpoint.objects.create(name="llm", backend="openai", location="http://127.0.0.1/v1")

    answer = researcher.post(NEW, choices(**{f"input_{model.pk}": "0.15"}))

    assert answer.status_code == 422
    assert f"output_{model.pk}" in shown(answer).errors


def test_a_name_that_another_grid_has_is_refused(researcher, dataset):
    researcher.post(NEW, choices())

    same = researcher.post(NEW, choices())
    other = researcher.post(NEW, choices(seeds="1"))

    assert same.status_code == 302
    assert other.status_code == 422
    assert "name" in shown(other).errors
    assert Grid.objects.count() == 1


def test_what_is_asked_for_is_sent_to_be_planned(
    researcher, dataset, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks() as sent:
        researcher.post(NEW, choices())

    assert len(sent) == 1


# --- what is offered ------------------------------------------------------------------------


def offered(client, query):
    """Return the groups of prompt types: number of types, title, note, whether it is open."""
    answer = client.get(f"{NEW}?{query}")
    groups = answer.context["form"].prompt_groups
    return [(len(each.options), each.title, each.note, each.is_chosen) for each in groups]


def test_a_dataset_with_a_graph_offers_its_prompts_first(researcher, tmp_path):
    lovelace(tmp_path)

    # Three kinds of graph, 1 to 3 members removed, and four accuracies.
    note = "12 without a graph, for which this dataset has no passages"
    assert offered(researcher, "dataset=lovelace") == [
        (10, "", "", True),
        (12, "More prompt types", note, False),
    ]


def test_prompts_that_a_dataset_cannot_have_are_folded_away_with_the_reason(researcher, tmp_path):
    passage = {"id": "p1", "text": "A passage."}
    import_rows(tmp_path / "1", "Bare", examples=[example_row(evidence=[])])
    import_rows(tmp_path / "2", "Ungolden", examples=[example_row(evidence=[passage])])
    valley(tmp_path)

    # Two types show no passages, two others show passages that are not golden.
    assert offered(researcher, "dataset=bare") == [
        (2, "", "", True),
        (10, "More prompt types", "10 that need passages; this dataset has none", False),
    ]
    assert offered(researcher, "dataset=ungolden") == [
        (4, "", "", True),
        (8, "More prompt types", "8 that need golden evidence; this dataset has none", False),
    ]
    assert offered(researcher, "dataset=valley") == [(12, "", "", True)]


def test_a_chosen_prompt_is_never_folded_away(researcher, tmp_path):
    lovelace(tmp_path)
    asked = choices(over="dataset:lovelace", prompts=["graph-gold", "golden"], temperatures="hot")

    answer = researcher.post(NEW, asked)

    groups = answer.context["form"].prompt_groups
    assert [each.is_chosen for each in groups] == [True, True]
    assert shown(answer).fields["prompts"] == ["graph-gold", "golden"]
    [folded] = [each for each in shown(answer).parts("more") if "12 without" in each.text]
    assert folded.is_open


def test_folded_values_are_said_and_a_mistake_in_them_is_open(researcher, dataset):
    page = shown(researcher.get(NEW))
    asked = choices(top_p="1.5", seeds="1, 2", positions=["before-last-turn"], budget="900")

    refused = shown(researcher.post(NEW, asked))

    said = "seed 0, top-p 1, top-k off, 128 new tokens at most"
    assert page.part("id_decoding_said").text == said
    assert not any(each.is_open for each in page.parts("more"))
    said = "seed 1, 2, top-p 1.5, top-k off, 128 new tokens at most"
    assert refused.part("id_decoding_said").text == said
    said = (
        "the usual form of each model, evidence just before the last turn, "
        "900 tokens at most, one-shot example of the paper"
    )
    assert refused.part("id_form_said").text == said
    [opened] = [each for each in refused.parts("more") if each.is_open]
    assert "Top-p" in opened.text


# --- by a file ------------------------------------------------------------------------------

WRITTEN = 'name = "by file"\nprompts = ["golden"]\n[[models]]\nname = "extractive"\n'


def test_a_grid_file_is_pasted_or_uploaded(researcher, dataset):
    pasted = researcher.post(FILE, {"dataset": "valley", "text": WRITTEN})
    file = SimpleUploadedFile("grid.toml", b"\xef\xbb\xbf" + WRITTEN.encode())
    uploaded = researcher.post(FILE, {"dataset": "valley", "file": file})

    grid = Grid.objects.get()
    assert pasted.url == uploaded.url == f"/grids/{grid.pk}/"
    assert grid.choices["prompts"] == ["golden"]


@pytest.mark.parametrize(
    ("sent", "field", "message"),
    [
        ({"text": WRITTEN + "colour = 1\n"}, "text", "models.1.colour: found an unknown key"),
        ({"text": "name = "}, "text", "Found text that is not TOML"),
        ({"text": WRITTEN.replace("extractive", "gpt")}, "text", "models.1.name: found"),
        (
            {"file": SimpleUploadedFile("grid.toml", b"\xff")},
            "file",
            "Found bytes that are not UTF-8, at byte 0",
        ),
        ({}, None, "Found neither; expected a file or a text"),
    ],
)
def test_a_grid_file_with_a_mistake_is_refused(researcher, dataset, sent, field, message):
    for value in sent.values():
        getattr(value, "seek", bool)(0)

    answer = researcher.post(FILE, {"dataset": "valley", **sent})

    page = shown(answer)
    [trouble] = page.messages
    assert answer.status_code == 422
    assert message in (page.errors[field] if field else trouble)
    assert not Grid.objects.exists()


def test_a_large_file_is_refused_whoever_sends_it(researcher, dataset, adam, client_for, settings):
    settings.RESEARCHERS_IMPORT = False
    large = b"#" * 65_537  # one more than 64 KB

    def sent(client):
        file = SimpleUploadedFile("grid.toml", large)
        return client.post(FILE, {"dataset": "valley", "file": file})

    assert sent(researcher).status_code == 400
    said = shown(sent(client_for(adam))).errors["file"]
    assert "Found 65,537 bytes; expected 65,536 at most" in said


# --- who may --------------------------------------------------------------------------------


@pytest.mark.parametrize("address", [NEW, FILE])
def test_new_grids_are_for_researchers(address, researcher, dataset, client, rachel, client_for):
    assert client.get(address).url.startswith("/accounts/sign-in/")
    assert client_for(rachel).post(address, choices()).status_code == 403
    assert researcher.put(address).status_code == 405
    assert not Grid.objects.exists()

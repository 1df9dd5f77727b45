"""The form of a new metric run."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Study
from evaluation.models import MetricRun
from generation.models import Checkpoint, Import
from tests.evaluation.metric_runs import cancelled, done, mill, work
from tests.evaluation.pages import run_choices
from tests.makers import (
    rated,
    response_row,
)
from tests.shown import shown

pytestmark = pytest.mark.once

NEW = "/metrics/new/"


@pytest.fixture
def dataset(tmp_path):
    return mill(tmp_path)


@pytest.fixture
def study(tmp_path):
    """Two rated responses by one setup; both say 'Text of …', as nothing was shown to say."""
    return rated(tmp_path / "rated", {"a": {"q": ["yes"]}, "b": {"q": ["no"]}}, name="rated")


def address(name, run):
    return reverse(f"evaluation:{name}", args=[run.pk])


# --- a new run ------------------------------------------------------------------------------


def test_the_form_begins_with_what_the_address_names(researcher, study, dataset, rosa):
    """Otherwise it begins with the newest study of the dataset that the person used last."""
    Study.objects.update(evidence_choice="golden")
    Import.objects.create(requested_by=rosa, file_name="a", name="a", dataset=study.dataset)
    for query, over, evidence in [
        ("?study=rated", "study:rated", "golden"),
        ("?dataset=mill", "dataset:mill", "shown"),
        ("", "study:rated", "golden"),
    ]:
        answer = researcher.get(f"{NEW}{query}")
        page = shown(answer)
        assert (page.fields["over"], page.fields["evidence"]) == (over, evidence)
        assert page.errors == {}
        assert 'aria-invalid="true"' not in answer.text


def test_without_responses_there_is_nothing_to_run(researcher):
    page = shown(researcher.get(NEW))

    assert "Nothing to score yet" in page.headings
    assert "Start run" not in page.text


def test_it_says_how_many_responses_have_no_score_under_the_choices(researcher, dataset):
    cancelled(dataset)  # after 5 of 12
    done(dataset, window=0)

    def n_to_score(**chosen):
        answer = researcher.get(NEW, run_choices(**chosen), headers={"HX-Request": "true"})
        return shown(answer).part("to-score").text.partition(" without a score")[0]

    assert n_to_score() == "A worker scores 7 responses"
    assert n_to_score(window="0") == "A worker scores 0 responses"
    assert n_to_score(window="0", threshold="0.6") == "A worker scores 12 responses"
    assert n_to_score(window="") == ""
    page = shown(researcher.get(f"{NEW}?dataset=mill&model=lexical"))
    assert page.part("to-score").text.startswith("A worker scores 7 responses")


def test_starting_makes_the_run_and_sends_its_chunks(
    researcher, rosa, dataset, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks() as sent:
        answer = researcher.post(
            NEW,
            run_choices(
                flavor="v2", window="3", hypothesis="min", evidence="golden", threshold="0.25"
            ),
        )

    run = MetricRun.objects.get()
    assert answer.url == address("run", run)
    assert (
        run.signature == "auto_ais|lexical|v2|localized:3|sentences:min|golden|"
        "tokens:unicode-words|t:0.25|v:3"
    )
    assert (run.state, run.requested_by, run.threshold) == ("running", rosa, 0.25)
    assert len(sent) == run.chunks.count() == 3


def test_a_run_over_a_study_covers_its_responses_alone(researcher, tmp_path):
    two = [response_row("r1", setup="mine"), response_row("r2", setup="other")]
    dataset = mill(tmp_path, responses=two)
    study = Study.objects.create(
        name="S", slug="s", dataset=dataset, scheme={}, is_imported=True, state="closed"
    )
    study.setups.set(dataset.setups.filter(name="mine"))

    researcher.post(NEW, run_choices(over="study:s"))

    [score] = work(MetricRun.objects.get()).scores.all()
    assert score.target.response.key == "r1"


def test_a_run_by_a_model_takes_what_the_admin_has_set(researcher, dataset):
    model = Checkpoint.objects.create(name="mini", location="some-org/mini", entailment_index=1)

    researcher.post(NEW, run_choices(model=model.name) | {"seen_calls": "1000"})

    run = MetricRun.objects.get()
    assert (run.backend, run.model_name, run.model_location) == (
        "transformers",
        "mini",
        "some-org/mini",
    )
    assert run.parameters["entailment_index"] == 1


def test_the_same_choices_again_are_the_same_run(researcher, dataset):
    run = done(dataset)

    answer = researcher.post(NEW, run_choices(), follow=True)

    [message] = shown(answer).messages
    assert "Every response has a score" in message
    assert MetricRun.objects.get() == run


@pytest.mark.parametrize(
    "wrong",
    [
        {"over": "dataset:nowhere"},
        {"over": ""},
        {"over": "study:mill"},
        {"model": "nowhere"},
        {"model": "/etc"},
        {"metric": "auto_x"},
        {"sample": "-1"},
        {"seed": "-1"},
        {"precision": "bf16"},
        {"flavor": "v4"},
        {"window": "-1"},
        {"window": "51"},
        {"window": "two"},
        {"hypothesis": "max"},
        {"evidence": "none"},
        {"threshold": "1.5"},
        {"threshold": "nan"},
        {"threshold": ""},
    ],
    ids=str,
)
def test_a_choice_that_is_none_is_refused_at_its_field(researcher, dataset, wrong):
    answer = researcher.post(NEW, run_choices(**wrong))

    [name] = wrong
    assert answer.status_code == 422
    page = shown(answer)
    assert page.errors[name]
    [message] = page.messages
    assert message.startswith("Not started.")
    assert not MetricRun.objects.exists()


def test_new_runs_are_for_researchers_with_a_token(rachel, rosa, client_for, dataset):
    careful = Client(enforce_csrf_checks=True)
    careful.force_login(rosa)

    assert careful.post(NEW, run_choices()).status_code == 403
    assert client_for(rachel).post(NEW, run_choices()).status_code == 403
    assert client_for(rachel).get(NEW).status_code == 403
    assert client_for(rosa).put(NEW).status_code == 405
    assert not MetricRun.objects.exists()

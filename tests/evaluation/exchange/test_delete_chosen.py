"""Deleting chosen examples and setups: what goes is said before, and nothing else goes."""

import json
from typing import Any

import pytest
from django.urls import reverse

from accounts.models import AuditEntry
from annotation.models import Unit, Vote
from annotation.services.studies import close_study
from evaluation.exchange.chosen_material import (
    ChosenMaterial,
    InUseError,
    delete_chosen,
    what_goes,
)
from evaluation.exchange.services import delete_dataset
from evaluation.models import Job, MetricRun
from evaluation.reports.cache import votes_version
from evaluation.votes.export import export_folder
from generation.models import Example, Grid, Sample
from tests.annotation.makers import material, opened, planned, rate_all, researcher
from tests.evaluation.exchange.test_delete_dataset import make_everything
from tests.makers import (
    contents,
    example_row,
    import_rows,
    is_empty,
    response_row,
    row_counts,
    vote_row,
)
from tests.shown import shown

pytestmark = pytest.mark.both

# What a dataset keeps of `make_everything` when all its examples are gone.
KEPT = {
    "Alias",
    "Arm",
    "AuditEntry",
    "ConstructedDataset",
    "Construction",
    "CrowdPlatform",
    "Dataset",
    "DrawnDialog",
    "Entity",
    "Grid",
    "GridChunk",
    "GridSetup",
    "Guideline",
    "Job",
    "JobStep",
    "MetricRun",
    "Participant",
    "Passage",
    "Planning",
    "Ranking",
    "Rater",
    "RunChunk",
    "Sample",
    "SavedView",
    "Setup",
    "Study",
    "StudyLink",
    "Study_setups",
    "Triple",
}


@pytest.fixture
def admin(adam, client_for):
    return client_for(adam)


def imported(folder, name="pilot", **rows):
    dataset = import_rows(folder, name, **rows).dataset
    assert dataset
    return dataset


def chosen(dataset, examples=(), setups=()):
    return ChosenMaterial(
        dataset,
        [dataset.examples.get(key=key).pk for key in examples],
        [dataset.setups.get(name=name).pk for name in setups],
    )


def address(dataset):
    return reverse("evaluation:delete-chosen", args=[dataset.slug])


def rows(keys):
    """Return two examples, answered by two setups, rated and scored; of these examples alone."""
    responses = [(f"{key}-{setup}", key, setup) for key in keys for setup in ("a", "b")]
    return {
        "examples": [example_row(key) for key in keys],
        "responses": [response_row(key, of, setup=setup) for key, of, setup in responses],
        "votes": [vote_row(key, rater) for key, _, _ in responses for rater in ("anna", "ben")],
        "scores": [{"response": key, "metric": "nli", "score": 0.5} for key, _, _ in responses],
    }


def exported(study, folder):
    export_folder(study.dataset, study, folder)
    return {file.name: file.read_text("utf-8") for file in folder.iterdir()}


def test_what_is_left_is_what_an_import_without_it_would_have_made(adam, tmp_path):
    passages = [{"id": "p-e2", "text": "Passage e2."}]
    example_rows = rows(["e1", "e2", "e3"])
    study = import_rows(tmp_path / "all", "mills", **example_rows).study
    assert study

    delete_chosen(chosen(study.dataset, ["e2"]), adam)

    left = exported(study, tmp_path / "left")
    delete_dataset(study.dataset, adam)
    without = import_rows(tmp_path / "x", "mills", **rows(["e1", "e3"])).study
    expected = exported(without, tmp_path / "expected")
    further = json.loads(left.pop("passages.jsonl"))  # the collection keeps the passage
    assert further["id"] == passages[0]["id"]
    assert left == expected


def test_everything_that_hangs_on_examples_goes_and_was_counted_before(adam, tmp_path):
    dataset = make_everything(tmp_path / "a", "Pilot")
    Grid.objects.update(state=Grid.State.DONE)
    Sample.objects.update(state=Sample.State.DONE)
    MetricRun.objects.update(state=MetricRun.State.DONE)
    Job.objects.update(state=Job.State.DONE)
    every = chosen(dataset, dataset.examples.values_list("key", flat=True))

    goes = what_goes(every)
    delete_chosen(every, adam)

    left = {name for name, n in row_counts().items() if n}
    assert {name.rpartition(".")[2] for name in left} <= KEPT
    assert goes["examples"] == 2
    assert goes["responses"] == 2
    assert goes["votes"] == 2
    entry = AuditEntry.objects.get(action="material.deleted")
    assert (entry.actor, entry.subject) == (adam, "Pilot")
    assert entry.details == {f"n_{name.replace(' ', '_')}": n for name, n in goes.items()}
    delete_dataset(dataset, adam)
    assert is_empty()


def test_a_merged_unit_keeps_the_responses_that_stay(adam, tmp_path):
    dataset = material(tmp_path / "mills", setups=("cool", "warm"))
    study = opened(
        dataset,
        raters=3,
        raters_per_unit=3,
        arms=("separate", "merged"),
        may_meet_both_arms=True,
    )
    rate_all(study)
    close_study(study, researcher())
    of_cool = Vote.objects.filter(target__response__setup__name="cool").order_by("pk")
    before, version = list(of_cool.values()), votes_version(study)

    delete_chosen(chosen(dataset, setups=["warm"]), adam)

    assert list(of_cool.values()) == before
    assert Vote.objects.count() == len(before)
    # Two examples: a separate unit each for cool, and a merged one each with cool alone.
    assert sorted(arm.n_units for arm in study.arms.all()) == [2, 2]
    assert {unit.targets.count() for unit in Unit.objects.all()} == {1}
    study.refresh_from_db()
    assert sum(study.n_units_by_group) == 4
    assert votes_version(study) != version


def test_a_choice_among_responses_goes_with_the_response_that_was_chosen(adam, tmp_path):
    dataset = imported(
        tmp_path / "a",
        examples=[example_row()],
        responses=[
            response_row("r1", setup="a", text="Yes."),
            response_row("best", setup="reranked", text="Yes.", chosen_from="r1"),
        ],
    )

    assert what_goes(chosen(dataset, setups=["a"])) == {"setups": 1, "responses": 2}
    delete_chosen(chosen(dataset, setups=["a"]), adam)

    assert not dataset.responses.exists()
    assert dataset.setups.get().name == "reranked"


# --- what is in use -------------------------------------------------------------------------


def test_what_is_being_rated_or_planned_stays(adam, tmp_path):
    dataset = material(tmp_path / "mills", setups=("cool", "warm"))
    study = opened(dataset, raters=1, raters_per_unit=1)
    before = contents()

    for choice in ({"examples": ["e1"]}, {"setups": ["warm"]}):
        with pytest.raises(InUseError, match=r"The study Pilot is open\. Close it first"):
            delete_chosen(chosen(dataset, **choice), adam)
    close_study(study, researcher())
    planned(dataset, raters=1, raters_per_unit=1, name="Next")
    with pytest.raises(InUseError, match="The study Next is planned"):
        delete_chosen(chosen(dataset, setups=["warm"]), adam)

    assert contents()["generation.Response"] == before["generation.Response"]


def test_work_that_goes_on_is_waited_for(adam, tmp_path):
    dataset = imported(tmp_path / "a", examples=[example_row()])
    one = chosen(dataset, ["e1"])
    running: dict[str, tuple[Any, Any]] = {
        "run of Auto-AIS": (MetricRun, {"metric": "auto_ais", "state": "running"}),
        "grid Temperatures": (Grid, {"name": "Temperatures", "choices": {}, "state": "running"}),
        "sample hundred": (Sample, {"name": "hundred", "parameters": {}, "state": "queued"}),
        "a pull": (Job, {"kind": Job.Kind.GRAPH_PULL, "name": "a pull"}),
    }

    for what, (model, columns) in running.items():
        row = model.objects.create(dataset=dataset, **columns)
        with pytest.raises(InUseError, match=what):
            delete_chosen(one, adam)
        row.delete()

    delete_chosen(one, adam)
    assert not Example.objects.exists()


# --- the page -------------------------------------------------------------------------------


def test_boxes_lead_to_a_look_and_the_look_to_deletion(admin, tmp_path):
    dataset = imported(tmp_path / "a", **rows(["e1", "e2"]))
    page = shown(admin.get(reverse("generation:dataset", args=[dataset.slug])))
    assert "Delete the chosen items" in page.text
    choice = {"example": dataset.examples.get(key="e1").pk}

    look = shown(admin.get(address(dataset), choice))
    assert Example.objects.count() == 2
    answer = admin.post(address(dataset), choice, follow=True)

    # e1 has two responses, each with two votes and one score.
    assert look.tables[0].rows == [
        ["Examples", "1"],
        ["Responses", "2"],
        ["Scores", "2"],
        ["Votes", "4"],
    ]
    assert any("The chosen examples and setups" in message for message in shown(answer).messages)
    assert dataset.examples.get().key == "e2"


def test_who_deletes_what_is_rated_is_told_why_not(admin, tmp_path):
    dataset = material(tmp_path / "mills")
    opened(dataset, raters=1, raters_per_unit=1)
    choice = {"example": dataset.examples.get(key="e1").pk}

    look, answer = admin.get(address(dataset), choice), admin.post(address(dataset), choice)

    assert "The study Pilot is open. Close it first." in shown(look).text
    assert answer.status_code == 409
    assert dataset.examples.count() == 2


@pytest.mark.parametrize("choice", [{}, {"example": "x"}, {"example": 10**9}, {"setup": -1}])
def test_nothing_chosen_deletes_nothing(admin, tmp_path, choice):
    dataset = imported(tmp_path / "a", examples=[example_row()])

    answer = admin.post(address(dataset), choice, follow=True)

    assert any(
        "Tick the boxes of examples or setups" in message for message in shown(answer).messages
    )
    assert Example.objects.exists()


def test_examples_of_another_dataset_are_not_deleted(admin, tmp_path):
    mine = imported(tmp_path / "a", "mine", examples=[example_row()])
    other = imported(tmp_path / "b", "other", examples=[example_row()])

    admin.post(address(mine), {"example": other.examples.get().pk})

    assert Example.objects.count() == 2


@pytest.mark.parametrize("user", ["rosa", "rachel"])
def test_only_admins_choose_and_delete(request, client_for, tmp_path, user):
    dataset = imported(tmp_path / "a", examples=[example_row()])
    client = client_for(request.getfixturevalue(user))

    answer = client.post(address(dataset), {"example": dataset.examples.get().pk})

    assert answer.status_code == 403
    assert Example.objects.exists()
    page = client.get(reverse("generation:dataset", args=[dataset.slug]))
    assert b"delete-chosen" not in page.content

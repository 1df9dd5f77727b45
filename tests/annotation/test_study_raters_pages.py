"""The set-up page: raters taken out and let back, slots that no rater may take, deletion."""

import json

import pytest
from django.urls import reverse

from annotation.models import Assignment, Flag, Skip, Study, Vote
from annotation.services.claiming import claim_next_unit
from annotation.services.rating import skip_unit
from evaluation.votes.export import export_folder
from tests.annotation.makers import (
    claimed,
    material,
    opened,
    planned,
    rate,
    rate_next,
    raters_of,
)
from tests.makers import audit_actions
from tests.shown import shown

pytestmark = pytest.mark.once


@pytest.fixture
def study(tmp_path, db) -> Study:
    return opened(material(tmp_path), raters=5)


def address(name: str, study: Study, *more: int) -> str:
    return reverse(name, args=[study.slug, *more])


def setup_page(client, study: Study):
    return shown(client.get(address("annotation:study-setup", study)))


def skip_one(study: Study):
    rater = raters_of(study)[0]
    unit = claimed(rater).unit
    skip_unit(unit, rater, "I cannot judge this topic")
    return unit, rater


# --- slots that no rater may take -----------------------------------------------------------


def test_a_stranded_slot_is_said_with_three_ways_out(researcher, study):
    unit, rater = skip_one(study)

    page = setup_page(researcher, study)

    assert "No rater may take 1 slot" in page.messages[0]
    assert "invite one more rater" in page.messages[0]
    row = page.table("Units with slots").row(unit.example.key)
    assert row["Slots"] == "1"
    assert row["Left after release"] == "4 of 5"
    assert row["Ask again"] == f"{rater.code} skipped: I cannot judge this topic"
    assert row["Release"] == "Release"
    assert "N stays 5" in page.facts["Release"]
    assert page.links["One more rater"] == "#raters"


def test_without_a_stranded_slot_nothing_is_said(researcher, study):
    page = setup_page(researcher, study)

    assert not page.messages
    assert "Slots that no rater may take" not in page.headings


def test_a_slot_is_let_go_counted_and_wanted_again(researcher, study):
    unit, _ = skip_one(study)

    let_go = address("annotation:let-slots-go", study)
    said = shown(researcher.post(let_go, {"unit": unit.pk}, follow=True))
    again = shown(researcher.post(let_go, {"unit": unit.pk}, follow=True))

    assert said.messages == ["1 slot is released."]
    assert again.messages == ["Nothing was released: there is no such slot any more."]
    row = said.table("Slots").row("separate")
    assert (row["Of"], row["Not needed"]) == ("19", "1")
    assert "1 by hand" in said.text
    assert "Slots that no rater may take" not in said.headings

    back = shown(researcher.post(address("annotation:take-slots-back", study), follow=True))
    assert back.messages[0] == "1 slot can be filled again."
    assert back.table("Slots").row("separate")["Of"] == "20"
    said_in_trail = [action for action, _ in audit_actions()]
    assert said_in_trail[-2:] == ["study.slots-let-go", "study.slots-taken-back"]


def test_what_was_let_go_is_said_by_report_and_export(researcher, study, tmp_path):
    rate_next(raters_of(study)[1])
    skip_one(study)
    researcher.post(address("annotation:let-slots-go", study))

    report = shown(researcher.get(address("evaluation:study", study)))
    export_folder(study.dataset, study, tmp_path / "out")

    said = json.loads((tmp_path / "out" / "study.json").read_text("utf-8"))
    assert (said["n_slots_let_go_by_hand"], said["raters_per_unit"]) == (1, 5)
    assert "1 released because no rater may take it (N stays 5)" in report.notes["Assignments done"]


def test_a_unit_that_could_never_be_decided_is_marked(researcher, tmp_path, db):
    study = opened(material(tmp_path, n_examples=1, setups=["a"]), raters=5)
    for rater in raters_of(study)[:3]:
        skip_unit(claimed(rater).unit, rater, "I cannot judge this topic")

    [row] = setup_page(researcher, study).table("Units with slots").rows

    assert "2 of 5 no majority possible" in row


def test_the_skipper_is_asked_again(researcher, study):
    unit, rater = skip_one(study)

    url = address("annotation:ask-again", study, unit.pk, rater.pk)
    said = shown(researcher.post(url, follow=True))
    again = shown(researcher.post(url, follow=True))

    assert said.messages == [f"{rater.code} can now rate the unit again."]
    assert "may take it" in again.messages[0]
    assert "asked again" in said.table("Skipped").rows[0][3]
    assert Skip.objects.get().asked_again_at


@pytest.mark.parametrize("name", ["let-slots-go", "ask-again"])
def test_a_unit_of_another_study_is_not_found(researcher, study, name):
    unit, rater = skip_one(study)
    other = opened(study.dataset, name="Other")

    if name == "ask-again":
        answer = researcher.post(address("annotation:ask-again", other, unit.pk, rater.pk))
    else:
        answer = researcher.post(address("annotation:let-slots-go", other), {"unit": unit.pk})

    assert answer.status_code == 404
    assert not Assignment.objects.filter(is_let_go=True).exists()


@pytest.mark.parametrize("unit", ["x", "-1", "9" * 30])
def test_a_unit_that_is_no_number_is_not_found(researcher, study, unit):
    skip_one(study)

    answer = researcher.post(address("annotation:let-slots-go", study), {"unit": unit})

    assert answer.status_code == 404


# --- taken out ------------------------------------------------------------------------------


def test_a_rater_is_taken_out_after_the_page_said_what_that_does(researcher, study):
    rater = raters_of(study)[0]
    rate_next(rater)
    claimed(rater)
    url = address("annotation:take-out-rater", study, rater.pk)

    page = shown(researcher.get(url))
    done = shown(researcher.post(url, follow=True))

    assert "has submitted 1 unit. One more unit is reserved" in page.text
    assert "votes stay in every report" in page.text
    assert page.links["ignore these votes"] == address("annotation:exclude-rater", study, rater.pk)
    assert f"{rater.code} no longer takes part." in done.messages
    row = next(row for row in done.table("Raters").rows if row[0].startswith(rater.code))
    assert "taken out" in row[0]
    assert row[-1] == "Let back Ignore votes…"
    rater.refresh_from_db()
    assert not rater.is_excluded

    researcher.post(address("annotation:let-rater-back", study, rater.pk))
    rater.refresh_from_db()
    assert rater.taken_out_at is None


def test_before_it_opens_raters_change_as_everything_else_does(researcher, tmp_path, db):
    study = planned(material(tmp_path), raters=5)
    rater = raters_of(study)[0]

    researcher.post(address("annotation:take-out-rater", study, rater.pk))

    assert study.raters.count() == 4
    edit = shown(researcher.get(address("annotation:edit-study", study)))
    assert "you can change everything except the dataset" in edit.text
    assert edit.links["set-up page"] == address("annotation:study-setup", study)


def test_a_rater_of_another_study_is_not_found(researcher, study):
    other = opened(study.dataset, name="Other")
    rater = raters_of(study)[0]

    for name in ("take-out-rater", "let-rater-back", "exclude-rater"):
        answer = researcher.post(address(f"annotation:{name}", other, rater.pk))
        assert answer.status_code == 404
    refill = address("annotation:refill", other)
    assert researcher.post(refill, {"rater": rater.pk}).status_code == 404
    assert raters_of(study)[0].taken_out_at is None


def test_who_was_taken_out_is_told_so_and_changes_nothing(researcher, client_for, study):
    rater = raters_of(study)[0]
    done = claimed(rater)
    rate(rater, done)
    researcher.post(address("annotation:take-out-rater", study, rater.pk))
    own = client_for(rater.user)

    next_one = shown(own.post(address("annotation:next-unit", study), follow=True))
    unit = shown(own.get(address("annotation:rate-unit", study, done.unit_id)))

    assert "You no longer take part" in next_one.messages[0]
    assert "You no longer take part" in next_one.text
    assert "Rate next unit" not in next_one.buttons
    assert any("you cannot change your answers" in said for said in unit.messages)
    assert not any(button.startswith("Save changes") for button in unit.buttons)


# --- deletion -------------------------------------------------------------------------------


@pytest.mark.parametrize("is_open", [False, True])
def test_a_study_without_votes_is_deleted(researcher, tmp_path, db, is_open):
    study = (opened if is_open else planned)(material(tmp_path), raters=5)
    if is_open:
        skip_one(study)
        claimed(raters_of(study)[1])
    url = setup_page(researcher, study).links["can be deleted"]

    unsure = researcher.post(url)
    kept = Study.objects.filter(pk=study.pk).exists()
    done = researcher.post(url, {"is_final": "on"}, follow=True)

    assert unsure.status_code == 422
    assert kept
    assert shown(done).messages[0] == "Pilot is deleted."
    assert not Study.objects.exists()
    assert not Assignment.objects.exists()
    assert study.dataset.responses.exists()
    assert audit_actions()[-1] == ("study.deleted", "Pilot")


@pytest.mark.parametrize("judged", ["votes", "a flag alone", "late"])
def test_a_study_that_somebody_has_rated_in_is_kept(researcher, study, judged):
    rater = raters_of(study)[0]
    held = claimed(rater)
    if judged == "votes":
        rate(rater, held)
    elif judged == "late":
        Assignment.objects.filter(pk=held.pk).update(rater=None)
        rate(rater, held)
        assert Vote.objects.filter(is_surplus=True).exists()
    else:
        target = held.unit.targets.get()
        Flag.objects.create(arm=held.unit.arm, response=target.response, rater=rater)
        Assignment.objects.filter(pk=held.pk).update(submitted_at=held.claimed_at)
    url = address("evaluation:delete-study", study)

    page = shown(researcher.get(url))
    answer = shown(researcher.post(url, {"is_final": "on"}, follow=True))

    assert page.headings == ["Pilot is kept"]
    assert "has votes" in answer.messages[0]
    assert Study.objects.exists()
    assert "can be deleted" not in answer.links


def test_an_imported_study_is_not_deleted_here(researcher, study):
    Study.objects.update(is_imported=True)

    assert researcher.post(address("evaluation:delete-study", study)).status_code == 404


def test_a_rater_does_none_of_this(client_for, study):
    rater = raters_of(study)[0]
    unit, _ = skip_one(study)
    own = client_for(rater.user)

    for url in (
        address("annotation:take-out-rater", study, rater.pk),
        address("annotation:let-rater-back", study, rater.pk),
        address("annotation:exclude-rater", study, rater.pk),
        address("annotation:refill", study),
        address("annotation:ask-again", study, unit.pk, rater.pk),
        address("annotation:let-slots-go", study),
        address("annotation:take-slots-back", study),
        address("evaluation:delete-study", study),
    ):
        assert own.post(url).status_code == 403
    assert claim_next_unit(rater)

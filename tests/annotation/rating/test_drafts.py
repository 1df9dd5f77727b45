"""Drafts are kept; skips and flags have reasons."""

import pytest
from django.urls import reverse

from annotation.models import (
    Assignment,
    Draft,
    Flag,
    Skip,
    Vote,
)
from annotation.services.studies import close_study
from tests.annotation.makers import material, opened, researcher
from tests.annotation.rating.desk import filled_in, take_over
from tests.shown import shown

pytestmark = pytest.mark.once


# --- drafts ----------------------------------------------------------------------------------


JSON = {"Accept": "application/json"}


def test_a_draft_is_kept_and_comes_back(desk):
    response = desk.post({"understand-1": "1", "relevant-1": "0"}, "save-draft", **JSON)

    said = response.json()
    assert said.keys() == {"saved_at", "lease_until"}
    page = desk.page()
    assert (page.fields["understand-1"], page.fields["relevant-1"]) == ("1", "0")
    assert "2 of 7" in page.text
    assert "Draft saved" in page.text


def test_a_draft_may_contradict_itself(desk):
    desk.post(filled_in(evidence_contradicts="1"), "save-draft", **JSON)

    assert len(next(iter(Draft.objects.get().answers.values()))) == 7


def test_without_a_script_a_draft_comes_back_to_the_unit(desk):
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}

    assert desk.post({"understand-1": "1"}, "save-draft", **browser).url == desk.url()


def test_a_late_answer_is_kept_beside_the_vote(desk, study, client_for):
    desk.post({"understand-1": "1"}, "save-draft")
    colleague = take_over(desk, study, client_for)
    assert colleague.assignment.unit_id == desk.assignment.unit_id

    page = desk.page()
    [message] = page.messages
    assert "went to another rater" in message
    assert page.fields["understand-1"] == "1"
    assert any("Submit anyway" in button for button in page.buttons)
    assert desk.post({"understand-1": "1"}, "save-draft", **JSON).json() == {"state": "gone"}

    desk.post(filled_in())
    colleague.post(filled_in())

    assert Vote.objects.filter(rater=desk.rater, is_surplus=True).count() == 7
    assert Vote.objects.filter(rater=colleague.rater, is_surplus=False).count() == 7
    assert any("Kept, but not counted" in message for message in desk.page().messages)
    answers = shown(desk.client.get(reverse("annotation:my-answers", args=[study.slug])))
    assert "kept, but not counted" in answers.text


# --- skip and flag ---------------------------------------------------------------------------


CANNOT = "I cannot judge this topic"
GARBLED = "Text is cut off or garbled"


def test_a_skip_has_a_reason_and_goes_on(desk):
    response = desk.post({"reason": CANNOT, "note": "Law."}, "skip-unit")

    assert Skip.objects.get().note == "Law."
    assert response.url != desk.url()
    [message] = desk.page().messages
    assert "You skipped this unit" in message


@pytest.mark.parametrize("page", ["skip-unit", "flag-unit"])
@pytest.mark.parametrize("reason", ["", "Made up"])
def test_no_skip_and_no_flag_without_a_reason_of_the_list(desk, page, reason):
    response = desk.post({"reason": reason, "responses": "1"}, page)

    assert response.status_code == 422
    [message] = shown(response).messages
    assert "say w" in message
    assert not Skip.objects.exists()
    assert not Flag.objects.exists()


def test_a_flagged_response_may_be_submitted_without_answers(desk):
    assert desk.post({}).status_code == 422

    desk.post({"reason": GARBLED, "note": "Ends early.", "responses": "1"}, "flag-unit")
    [message] = desk.page().messages
    assert "Text is cut off or garbled: Ends early." in message
    response = desk.post({})

    assert response.status_code == 302
    assert Flag.objects.get().reason == "Text is cut off or garbled: Ends early."
    assert not Vote.objects.exists()
    assert not Assignment.objects.filter(pk=desk.assignment.pk, submitted_at=None).exists()


def test_flags_are_for_the_responses_that_are_named_and_can_be_taken_back(tmp_path, db, sit_down):
    desk = sit_down(opened(material(tmp_path / "m", setups=["a", "b", "c"]), arms=["merged"]))

    desk.post({"reason": GARBLED, "responses": ["1", "3"]}, "flag-unit")
    page = desk.page()
    [message] = page.messages
    assert "response 1, response 3:" in message
    assert ["flagged" in page.part(f"r{n}").text for n in (1, 2, 3)] == [True, False, True]
    assert desk.post({"reason": GARBLED}, "flag-unit").status_code == 422
    assert desk.post({"reason": GARBLED, "responses": "4"}, "flag-unit").status_code == 422

    desk.post({"take_back": "1"}, "flag-unit")
    assert not Flag.objects.exists()


def test_in_a_closed_study_nothing_is_flagged(desk, study):
    close_study(study, researcher())

    desk.post({"reason": GARBLED, "responses": "1"}, "flag-unit")

    assert not Flag.objects.exists()

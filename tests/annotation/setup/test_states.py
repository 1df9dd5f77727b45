"""A study opens, pauses, closes and is extended from its page."""

import pytest

from annotation.models import Assignment, Unit
from annotation.services.studies import pause_study
from tests.annotation.planned import (
    make_dataset,
    make_open_study,
    make_study,
    setups_named,
)
from tests.annotation.setup.pages import act, page_of, state_of
from tests.makers import contents
from tests.shown import shown

pytestmark = pytest.mark.once


# --- opening, pausing, closing ---------------------------------------------------------------


def test_a_study_opens_pauses_resumes_and_closes(researcher, dataset, rosa, raters):
    study = make_study(dataset, rosa, raters)

    states = []
    for action, more in (
        ("open", {}),
        ("pause", {}),
        ("resume", {}),
        ("close", {"is_final": "on"}),
    ):
        answer = act(researcher, study, action, **more)
        assert answer.url == page_of(study)
        states.append(state_of(study))

    assert states == ["open", "paused", "open", "closed"]
    assert Assignment.objects.filter(study=study).count() == 40
    assert "Votes can no longer be changed" in shown(researcher.get(page_of(study))).text


def test_too_few_raters_need_a_tick_to_open(researcher, planned):
    refused = act(researcher, planned, "open")
    state_then = state_of(planned)
    act(researcher, planned, "open", open_anyway="on")

    assert refused.status_code == 422
    assert "too few raters" in shown(refused).errors["open_anyway"]
    assert state_then == "planned"
    assert state_of(planned) == "open"


def test_closing_needs_a_tick_because_it_is_final(researcher, opened):
    refused = act(researcher, opened, "close")

    assert refused.status_code == 422
    assert "final" in shown(refused).errors["is_final"]
    assert state_of(opened) == "open"


def test_a_paused_study_may_be_closed(researcher, opened, rosa):
    pause_study(opened, rosa)

    act(researcher, opened, "close", is_final="on")

    assert state_of(opened) == "closed"


@pytest.mark.parametrize("action", ["open", "resume"])
def test_what_a_state_does_not_allow_is_said(researcher, opened, action):
    answer = researcher.post(
        page_of(opened, "change-state"), {"action": action, "open_anyway": "on"}, follow=True
    )

    [message] = shown(answer).messages
    assert "Mills is now open" in message
    assert state_of(opened) == "open"


def test_an_action_that_does_not_exist_is_404(researcher, opened):
    assert act(researcher, opened, "delete").status_code == 404


def test_a_study_with_nothing_to_rate_is_not_opened(researcher, dataset, rosa):
    study = make_study(dataset, rosa, setups=setups_named(dataset, "model-c"))

    answer = researcher.post(
        page_of(study, "change-state"), {"action": "open", "open_anyway": "on"}, follow=True
    )

    assert any("There is nothing to rate" in message for message in shown(answer).messages)
    assert state_of(study) == "planned"


# --- extending -------------------------------------------------------------------------------


def test_what_an_extension_adds_is_shown_before_it_is_stored(researcher, dataset, rosa, raters):
    study = make_open_study(dataset, rosa, raters, setups=setups_named(dataset, "model-a"))
    choice = {"setups": [setup.pk for setup in setups_named(dataset, "model-b")]}
    before = contents()

    answer = researcher.post(page_of(study, "extend-study"), choice)
    after_showing = contents()
    researcher.post(page_of(study, "extend-study"), choice | {"is_confirmed": "on"})

    [message] = shown(answer).messages
    assert "4 units (4 separate): 20 slots" in message
    assert after_showing == before
    assert Unit.objects.filter(arm__study=study).count() == 8
    assert study.setups.count() == 2


def test_a_sample_grows(researcher, dataset, rosa, raters):
    study = make_open_study(dataset, rosa, raters, n_sampled=2)
    before = set(Unit.objects.values_list("example", flat=True))

    researcher.post(page_of(study, "extend-study"), {"n_sampled": 3, "is_confirmed": "on"})

    study.refresh_from_db()
    examples = set(Unit.objects.values_list("example", flat=True))
    assert study.n_sampled == 3
    assert before < examples
    assert len(examples) == 3


@pytest.mark.parametrize("is_confirmed", [{}, {"is_confirmed": "on"}])
def test_a_sample_does_not_shrink(researcher, dataset, rosa, raters, is_confirmed):
    study = make_open_study(dataset, rosa, raters, n_sampled=3)

    answer = researcher.post(page_of(study, "extend-study"), {"n_sampled": 2} | is_confirmed)

    assert answer.status_code == 422
    assert "3 dialogs. It cannot become smaller" in shown(answer).part("extend").text


def test_an_extension_that_adds_nothing_says_so(researcher, opened):
    [message] = shown(researcher.post(page_of(opened, "extend-study"), {})).messages

    assert "Adds nothing" in message


def test_a_setup_of_another_dataset_is_refused(researcher, opened, tmp_path):
    other = make_dataset(tmp_path, name="other")

    answer = researcher.post(
        page_of(opened, "extend-study"), {"setups": [other.setups.all()[0].pk]}
    )

    assert answer.status_code == 422


def test_a_planned_study_is_edited_and_not_extended(researcher, planned):
    answer = researcher.post(page_of(planned, "extend-study"), {})

    assert answer.status_code == 422

"""The kept parts of a page are the same for everybody; all else is as the database has it now."""

import re

import pytest

from annotation.models import Rater
from annotation.pages.drawn_questions import kept_question
from annotation.services.guideline_reading import note_reading
from annotation.services.studies import close_study, write_guideline
from annotation.services.study_raters import set_excluded
from tests.annotation.makers import material, opened, researcher
from tests.annotation.rating.desk import Desk, filled_in
from tests.makers import example_row
from tests.shown import shown

pytestmark = pytest.mark.once


@pytest.fixture
def both(tmp_path, db, sit_down) -> tuple[Desk, Desk]:
    """Return two raters at the only unit of a study, both of whom have looked at it."""
    study = opened(material(tmp_path / "one", n_examples=1, setups=["cool"]))
    one, other = sit_down(study, 0), sit_down(study, 1)
    assert one.assignment.unit == other.assignment.unit
    one.get()
    other.get()
    return one, other


def questions(page: str) -> list[str]:
    return re.findall(r'<fieldset class="question.*?</fieldset>', page, re.S)


def test_questions_are_drawn_once_for_all_raters(both):
    one, other = both
    drawn = kept_question.cache_info().misses

    assert questions(one.get().text) == questions(other.get().text)
    assert len(questions(one.get().text)) == 7
    assert kept_question.cache_info().misses == drawn


def test_answers_of_one_rater_are_not_shown_to_another(both):
    one, other = both

    one.post(filled_in(), page="save-draft", accept="application/json")

    assert len(re.findall(r"\bchecked\b", one.get().text)) == 7
    assert "checked" not in other.get().text


def test_an_error_is_shown_to_the_one_who_made_it_and_once(both):
    one, other = both

    refused = one.post({"understand-1": "1"})

    assert refused.status_code == 422
    assert "No answer yet." in refused.text
    assert "No answer yet." not in one.get().text + other.get().text


def test_a_flag_is_shown_to_the_one_who_made_it(both):
    one, other = both

    one.post({"reason": "Something else", "responses": "1"}, page="flag-unit")

    assert "You flagged" in one.get().text
    assert "You flagged" not in other.get().text


def test_a_changed_guideline_is_read_first_and_named_after_that(desk):
    desk.post(filled_in())  # the rater has begun
    newest = write_guideline(desk.rater.study, "The evidence is the only source.", researcher())
    desk.assignment = desk.rater.assignments.in_hand().get()

    led = desk.get()
    note_reading(Rater.objects.get(pk=desk.rater.pk), newest)

    assert led.status_code == 302
    assert "Guidelines, version 2" in desk.page().text


def test_in_a_study_that_was_closed_nothing_can_be_answered(both):
    one, _ = both

    close_study(one.rater.study, researcher())

    assert '<fieldset class="as-one" disabled>' in one.get().text
    assert "The study is closed." in one.page().text


def test_who_was_excluded_gets_no_unit_after_the_one_in_hand(desk):
    desk.get()

    set_excluded(desk.rater, True, "Clicks at random.", researcher())
    answer = desk.post(filled_in(), hx_request="true")

    assert answer.status_code == 302
    assert not desk.rater.assignments.in_hand().exists()


@pytest.mark.parametrize("text_format", ["plain", "markdown"])
def test_a_text_is_escaped_in_what_is_kept(tmp_path, db, sit_down, text_format):
    said = {"Is it?": "user", "<i>x</i>": "system", "Is it so?": "user"}
    turns = [{"speaker": speaker, "text": text} for text, speaker in said.items()]
    dataset = material(tmp_path / "m", n_examples=1, examples=[example_row("e1", turns=turns)])
    desk = sit_down(opened(dataset, text_format=text_format))

    for _ in range(2):
        page = desk.get().text
        assert "<i>x</i>" not in page
        assert shown(page).text.count("<i>x</i>") == 1

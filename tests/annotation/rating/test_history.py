"""A rater's past answers, and the units that are left."""

from typing import Any

import pytest
from django.urls import reverse

from annotation.models import (
    Vote,
    VoteChange,
)
from annotation.services.studies import close_study, pause_study
from tests.annotation.makers import material, opened, rate_next, raters_of, researcher
from tests.annotation.rating.desk import filled_in
from tests.makers import example_row, response_row
from tests.shown import shown

pytestmark = pytest.mark.once


# --- own history -----------------------------------------------------------------------------


def test_submitted_answers_are_listed_and_can_be_changed(desk, study):
    desk.post(filled_in(relevant="0"))

    answers = shown(desk.client.get(reverse("annotation:my-answers", args=[study.slug])))
    assert "relevant no" in answers.text
    assert f"{desk.url()}?from_answers=1" in answers.addresses
    page = desk.page("?from_answers=1")
    [message] = page.messages
    assert "You have submitted this unit" in message
    assert any("Save changes" in button for button in page.buttons)
    response = desk.post(filled_in() | {"from_answers": "1"})

    assert response.url == reverse("annotation:my-answers", args=[study.slug])
    [message] = shown(desk.client.get(response.url)).messages
    assert "changes are saved" in message
    assert Vote.objects.get(question="relevant").answer == 1
    assert VoteChange.objects.get().old_answer == 0


def test_answers_stand_under_the_question_of_their_unit(tmp_path, db, sit_down):
    turns = [
        {"speaker": "user", "text": "Who built it?"},
        {"speaker": "assistant", "text": "Monks."},
        {"speaker": "user", "text": "When did it close?"},
    ]
    dataset = material(tmp_path / "m", examples=[example_row("e1", turns=turns)], n_examples=1)
    desk = sit_down(opened(dataset, arms=["merged"]))
    desk.post(filled_in(2))

    page = shown(desk.client.get(reverse("annotation:my-answers", args=[desk.rater.study.slug])))

    [asked] = page.parts("asked")
    assert asked.text == "Question When did it close?"
    assert len(page.parts("own-response")) == 2


def test_when_the_study_is_closed_answers_stay(desk, study):
    desk.post(filled_in())
    close_study(study, researcher())

    answer = desk.get()
    page = shown(answer)
    [message] = page.messages
    assert "you cannot change your answers" in message
    assert '<fieldset class="as-one" disabled>' in answer.text
    assert "Save changes" not in page.text
    assert desk.post(filled_in(relevant="0")).url == desk.url()
    assert Vote.objects.get(question="relevant").answer == 1


def test_a_paused_study_takes_what_was_begun_and_hands_out_no_more(desk, study):
    pause_study(study, researcher())

    response = desk.post(filled_in())

    assert Vote.objects.count() == 7
    assert response.url == reverse("annotation:my-studies")
    page = shown(desk.client.get(response.url))
    [message] = page.messages
    assert "is now paused" in message
    assert "Rate next" not in page.text


def test_the_list_of_answers_has_pages_and_costs_the_same_for_each(
    tmp_path, db, client_for, django_assert_num_queries
):
    study = opened(material(tmp_path / "m", n_examples=22, setups=["a"]))
    rater = raters_of(study)[0]
    client = client_for(rater.user)
    url = reverse("annotation:my-answers", args=[study.slug])
    rate_next(rater)

    def cost() -> int:
        with django_assert_num_queries(12, exact=False) as queries:
            client.get(url)
        return len(queries)

    with_one = cost()
    while rate_next(rater):
        pass

    assert cost() == with_one
    first, second = shown(client.get(url)), shown(client.get(url + "?page=2"))
    assert "1 to 20 of 22" in first.text
    assert len([address for address in second.addresses if "from_answers" in address]) == 2


# --- my studies ------------------------------------------------------------------------------


def test_a_half_answered_unit_comes_first_with_its_time(desk):
    desk.post({"understand-1": "1", "relevant-1": "1"}, "save-draft")

    page = shown(desk.client.get(reverse("annotation:my-studies")))

    [message] = page.messages
    for said in ("not finished a unit in Pilot", "2 answers", "30 minutes"):
        assert said in message
    [primary] = page.parts("btn--primary")
    assert primary.addresses == [desk.url()]


def test_my_studies_have_one_primary_button_and_a_fixed_cost(
    tmp_path, db, client_for, django_assert_num_queries
):
    dataset = material(tmp_path / "m")
    study = opened(dataset, introduction="Read, then answer.")
    rater = raters_of(study)[0]
    client = client_for(rater.user)
    url = reverse("annotation:my-studies")

    with django_assert_num_queries(5):  # user, groups, studies, units in hand, drafts
        page = shown(client.get(url))
    assert "Read, then answer." in page.text
    assert "7 questions" in page.text
    assert "Guidelines v1" in page.links
    for name in ("Second", "Third"):
        opened(dataset, name=name, raters=[rater.user])
    with django_assert_num_queries(5):
        page = shown(client.get(url))

    assert page.buttons.count("Rate next unit") == 3
    assert len(page.parts("btn--primary")) == 1


def test_a_study_in_which_nothing_is_left_is_finished(study, client_for):
    rater = raters_of(study)[0]
    while rate_next(rater):
        pass

    page = shown(client_for(rater.user).get(reverse("annotation:my-studies")))

    assert "Pilot 4 units done" in page.headings
    assert "Rate next" not in page.text
    assert reverse("annotation:my-answers", args=[study.slug]) in page.addresses


def test_a_planned_study_is_not_shown_and_a_closed_one_is_finished(desk, study, client_for):
    close_study(study, researcher())

    page = shown(desk.client.get(reverse("annotation:my-studies")))

    assert "Pilot closed" in page.headings
    assert "cannot be changed any more" in page.text
    assert desk.url() not in page.addresses


def test_my_studies_say_what_is_left_in_each_and_how_long_it_takes(tmp_path, db, client_for):
    # A rater reads 23.8 characters a second: 14,280 of the dialog in 600 s, 119 of the response in
    # 5 s. Two answers take 8 s. So a unit takes 613 s, and two take 20.4 minutes.
    turns = [{"speaker": "user", "text": "x" * 14_280}]
    rows: dict[str, Any] = {
        "examples": [example_row(key, turns=turns) for key in ("e1", "e2")],
        "responses": [
            response_row(f"{key}-r", key, setup="cool", text="y" * 119) for key in ("e1", "e2")
        ],
    }
    dataset = material(tmp_path / "m", **rows)
    study = opened(dataset, scheme="SSA", raters=5)
    opened(dataset, scheme="SSA", raters=5, name="Another")
    rater = raters_of(study)[0]
    rate_next(rater)

    page = shown(client_for(rater.user).get(reverse("annotation:my-studies")))

    assert "1 of 2 units, about 10 min left" in page.text
    assert "0 of 2 units, about 20 min left" in page.text

"""A rater asks researchers about a unit (an enquiry), and finds the answer."""

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from annotation.models import Enquiry, Skip
from annotation.services.enquiries import answer_enquiry
from annotation.services.studies import close_study
from annotation.services.study_raters import take_out_rater
from tests.annotation.makers import raters_of, researcher
from tests.annotation.rating.desk import alignment
from tests.makers import statements
from tests.shown import shown

pytestmark = pytest.mark.once

MINE = reverse("annotation:my-studies")


def ask(desk, text="Does a date count?", **more):
    return desk.post({"text": text} | more, "ask-researchers")


def answer(text, **more):
    [enquiry] = Enquiry.objects.all()
    said = {"is_for_all": False} | more
    return answer_enquiry(enquiry, text, researcher(), **said)


# --- asking ---------------------------------------------------------------------------------


def test_a_question_is_kept_and_shown_at_the_unit_which_stays_the_rater_s(desk):
    response = ask(desk, " Does a date\r\ncount? ")

    enquiry = Enquiry.objects.get()
    assert (enquiry.unit, enquiry.rater) == (desk.assignment.unit, desk.rater)
    assert enquiry.text == "Does a date\ncount?"
    assert enquiry.is_open
    assert response.url == desk.url()
    [message] = desk.page().messages
    assert message == "You asked: Does a date count? A researcher has not answered yet."
    desk.assignment.refresh_from_db()
    assert desk.assignment.rater == desk.rater


def test_a_second_click_asks_once(desk):
    first, second = ask(desk), ask(desk)

    assert first.url == second.url
    assert Enquiry.objects.count() == 1


def test_another_question_waits_until_the_first_has_an_answer(desk):
    ask(desk)

    refused = ask(desk, "And a year?")

    assert refused.status_code == 422
    page = shown(refused)
    assert "Not sent: you have asked about this unit already." in page.messages[-1]
    assert refused["HX-Push-Url"] == "false"
    answer("It does.")
    assert ask(desk, "And a year?").status_code == 302
    assert Enquiry.objects.count() == 2


def test_the_database_holds_one_open_question_per_rater_and_unit(desk, study):
    unit, colleague = desk.assignment.unit, raters_of(study)[1]
    Enquiry.objects.create(unit=unit, rater=desk.rater, text="One?")
    Enquiry.objects.create(unit=unit, rater=colleague, text="One?")

    with pytest.raises(IntegrityError, match=r"(?i)unique"), transaction.atomic():
        Enquiry.objects.create(unit=unit, rater=desk.rater, text="Two?")


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": ""},
        {"answer": "Yes."},
        {"answered_at": timezone.now()},
        {"is_for_all": True},
        {"answer": "Yes.", "answered_at": timezone.now()},
    ],
)
def test_the_database_holds_no_half_answered_question(desk, wrong):
    row = {"unit": desk.assignment.unit, "rater": desk.rater, "text": "One?"} | wrong

    with pytest.raises(IntegrityError, match=r"(?i)check"), transaction.atomic():
        Enquiry.objects.create(**row)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "write your question first"),
        ("  \r\n ", "write your question first"),
        ("x" * 2001, "it has 2001 characters, and 2000 at most"),
    ],
)
def test_an_empty_or_a_long_question_is_refused_and_stays_in_its_field(desk, text, said):
    refused = ask(desk, text)

    assert refused.status_code == 422
    page = shown(refused)
    assert f"Not sent: {said}" in page.messages[0]
    assert page.fields["text"].strip() == text.strip()
    assert not Enquiry.objects.exists()


def test_line_ends_count_once(desk):
    text = "x" * 1000 + "\r\n" + "y" * 999  # 2,000 characters with one line end

    assert ask(desk, text).status_code == 302


def test_a_question_is_shown_as_text(desk):
    ask(desk, "<script>alert(1)</script>")

    assert "<script>alert" not in desk.get().text
    assert "<script>alert" not in desk.client.get(MINE).text


def test_after_a_question_the_unit_can_be_skipped(desk):
    ask(desk)

    desk.post({"reason": "Another reason"}, "skip-unit")

    assert Skip.objects.count() == 1
    answer("It does.")
    assert "It does." in shown(desk.get()).text


def test_a_pair_can_be_asked_about_too(tmp_path, db, sit_down):
    desk = sit_down(alignment(tmp_path))

    assert "Ask…" in desk.page().buttons
    ask(desk)

    assert "You asked: Does a date count?" in desk.page().messages[0]


# --- who may --------------------------------------------------------------------------------


def test_nobody_else_asks_about_a_unit(desk, study, rachel, rosa, client_for, client):
    url = desk.url("ask-researchers")
    said = {"text": "Does it count?"}

    assert client_for(raters_of(study)[1].user).post(url, said).status_code == 404
    assert client_for(rachel).post(url, said).status_code == 404
    assert client_for(rosa).post(url, said).status_code == 403
    assert client.post(url, said).status_code == 302
    assert desk.client.get(url).status_code == 405
    assert not Enquiry.objects.exists()


def test_in_a_closed_study_there_is_nothing_to_ask(desk, study):
    close_study(study, researcher())

    assert "Ask…" not in desk.page().buttons
    assert ask(desk).url == desk.url()
    assert not Enquiry.objects.exists()


def test_who_was_taken_out_does_not_ask(desk):
    take_out_rater(desk.rater, researcher())

    ask(desk)

    assert not Enquiry.objects.exists()


# --- the answer -----------------------------------------------------------------------------


def test_the_answer_is_at_the_unit_and_in_my_studies_for_the_one_who_asked(
    desk, study, client_for, sit_down
):
    ask(desk)
    waiting = shown(desk.client.get(MINE)).part("asked-h").headings

    answer("It does.\n\nIf it is a whole date.")

    assert waiting == ["Your questions"]
    for page in (desk.page(), shown(desk.client.get(MINE))):
        assert "You asked: Does a date count? Answer: It does. If it is a whole date." in page.text
    assert desk.url() in shown(desk.client.get(MINE)).addresses
    colleague = client_for(raters_of(study)[1].user)
    guidelines = reverse("annotation:guidelines", args=[study.slug])
    for url in (MINE, guidelines):
        assert "Does a date count?" not in shown(colleague.get(url)).text
    assert "Does a date count?" not in sit_down(study, 1).page().text


def test_an_answer_to_all_is_in_the_guidelines_and_says_nothing_of_who_asked(
    desk, study, client_for
):
    ask(desk)

    answer("It does.", is_for_all=True)

    colleague = raters_of(study)[1]
    page = shown(
        client_for(colleague.user).get(reverse("annotation:guidelines", args=[study.slug]))
    )
    assert "Questions and answers" in page.headings
    assert "Does a date count? It does." in page.text
    assert "Version 2, in use" in page.text
    assert desk.rater.code not in page.text
    assert "Answer to all raters: It does." in shown(desk.client.get(MINE)).text


def test_an_answer_to_all_is_read_before_the_next_unit(study, client_for, desk):
    colleague = raters_of(study)[1]
    client = client_for(colleague.user)
    next_unit = reverse("annotation:next-unit", args=[study.slug])
    unit = client.post(next_unit).url
    ask(desk)

    answer("It does.", is_for_all=True)

    page = shown(client.get(unit, follow=True))
    assert page.headings[0] == "The guidelines changed"
    assert "added > Does a date count?" in page.text
    assert "added It does." in page.text


def test_questions_of_closed_studies_are_not_listed(desk, study):
    ask(desk)
    close_study(study, researcher())

    assert "Your questions" not in shown(desk.client.get(MINE)).text


# --- costs ----------------------------------------------------------------------------------


def test_a_page_costs_one_statement_more_for_who_asked_and_none_for_others(desk):
    desk.get()
    page, mine = len(statements(desk.get)), len(statements(lambda: desk.client.get(MINE)))

    ask(desk)

    assert len(statements(desk.get)) == page + 1
    assert len(statements(lambda: desk.client.get(MINE))) == mine + 1

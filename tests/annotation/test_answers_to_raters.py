"""Researchers answer questions of raters (enquiries): to one rater, or to all of the study."""

import pytest
from django.urls import reverse

from accounts.models import AuditEntry
from annotation.guidelines import LONGEST_GUIDELINE
from annotation.models import Enquiry, Study
from annotation.services.enquiries import (
    answer_enquiry,
    ask_researchers,
)
from annotation.services.gold import set_gold
from annotation.services.studies import close_study, open_study, write_guideline
from evaluation.home.reminders import reminders
from tests.annotation.makers import claimed, material, opened, planned, raters_of, researcher
from tests.makers import statements
from tests.shown import shown

pytestmark = pytest.mark.once


@pytest.fixture
def study(tmp_path, db):
    return opened(material(tmp_path / "m"), raters=6)


@pytest.fixture
def enquiry(study):
    return asked(study)


@pytest.fixture
def browser(rosa, client_for):
    return client_for(rosa)


def asked(study, number=0, text="Does a date count?"):
    rater = raters_of(study)[number]
    unit = claimed(rater).unit
    ask_researchers(unit, rater, text)
    return Enquiry.objects.select_related("rater__study").latest("pk")


def page_of(study, name="enquiries"):
    return reverse(f"annotation:{name}", args=[study.slug])


def answer_of(enquiry):
    return reverse("annotation:answer-enquiry", args=[enquiry.rater.study.slug, enquiry.pk])


def error_of(refused):
    [error] = shown(refused).errors.values()
    return error


def newest(study):
    return study.guidelines.order_by("-version").first()


# --- the page -------------------------------------------------------------------------------


def test_the_page_has_the_code_the_question_and_a_link_to_the_response(browser, study, enquiry):
    page = shown(browser.get(page_of(study)))

    assert "1 open, 0 answered" in page.headings
    assert "Does a date count?" in page.headings
    assert enquiry.rater.code in page.text
    assert enquiry.rater.user.username not in page.text
    response = enquiry.unit.targets.get().response
    path = reverse("evaluation:response", args=[study.dataset.slug, response.pk])
    assert page.links[response.key] == path


def test_open_questions_come_first_and_then_the_newest_answer(browser, study, rosa):
    for number, text in enumerate(["One?", "Two?", "Three?", "Four?"]):
        asked(study, number, text)
    for text in ("One?", "Three?"):
        answer_enquiry(Enquiry.objects.get(text=text), "Yes.", rosa, is_for_all=False)

    page = shown(browser.get(page_of(study)))

    assert [head for head in page.headings if head.endswith("?")] == [
        "Two?",
        "Four?",
        "Three?",
        "One?",
    ]


def test_a_page_costs_the_same_however_many_questions_there_are(browser, study):
    asked(study)
    browser.get(page_of(study))
    one = len(statements(lambda: browser.get(page_of(study))))

    for number in range(1, 6):
        asked(study, number)

    assert len(statements(lambda: browser.get(page_of(study)))) == one


def test_without_questions_the_page_says_so(browser, study):
    [message] = shown(browser.get(page_of(study))).messages

    assert message.startswith("No questions yet")


def test_the_set_up_page_and_home_say_how_many_wait(browser, study, enquiry, rosa):
    setup = shown(browser.get(page_of(study, "study-setup")))
    groups = {each.group.key: each for each in reminders(rosa, with_imports=True)}
    home = shown(browser.get(reverse("home")))

    assert "1 question of raters waits for an answer." in setup.messages[0]
    settings = shown(browser.get(page_of(study, "study-settings")))
    assert settings.facts["Questions of raters"] == "1 open, 0 answered"
    [(reminder, url)] = groups["enquiry"].rows
    assert (reminder.name, reminder.n, url) == ("Pilot", 1, page_of(study))
    assert "Questions of raters to answer Pilot 1 waiting" in home.text

    answer_enquiry(enquiry, "It does.", rosa, is_for_all=False)

    setup = shown(browser.get(page_of(study, "study-setup")))
    assert not any("waits" in message for message in setup.messages)
    settings = shown(browser.get(page_of(study, "study-settings")))
    assert settings.facts["Questions of raters"] == "0 open, 1 answered"
    assert "enquiry" not in {each.group.key for each in reminders(rosa, with_imports=True)}


def test_two_questions_of_a_study_are_one_reminder(study, rosa):
    asked(study, 0)
    asked(study, 1)

    groups = {each.group.key: each for each in reminders(rosa, with_imports=True)}

    [(reminder, _)] = groups["enquiry"].rows
    assert reminder.n == 2


def test_a_question_about_a_known_answer_says_so(tmp_path, db, browser):
    dataset = material(tmp_path / "gold")
    study = planned(dataset, scheme="SSA", raters=6)
    known = {"e1-cool": {"sensible": 1, "specific": 1}}
    set_gold(study, known, researcher(), n_qualifying=1)
    open_study(study, researcher())
    asked(study)

    assert "gold item" in shown(browser.get(page_of(study))).text


# --- answers --------------------------------------------------------------------------------


def test_an_answer_to_one_rater_is_stored_and_leaves_the_guidelines(browser, study, enquiry, rosa):
    response = browser.post(answer_of(enquiry), {"answer": "It does.", "to": "rater"}, follow=True)

    enquiry.refresh_from_db()
    assert (enquiry.answer, enquiry.is_for_all, enquiry.answered_by) == ("It does.", False, rosa)
    assert enquiry.rater.code in shown(response).messages[0]
    assert study.guidelines.count() == 1
    entry = AuditEntry.objects.get(action="study.question-answered")
    assert (entry.actor, entry.subject) == (rosa, "Pilot")
    assert entry.details == {
        "rater": enquiry.rater.code,
        "unit": enquiry.unit_id,
        "for_all": False,
    }


def test_an_answer_to_all_makes_a_version_of_the_guidelines(browser, study, enquiry):
    browser.post(answer_of(enquiry), {"answer": "It does.\r\n*Always.*", "to": "all"})

    enquiry.refresh_from_db()
    assert enquiry.is_for_all
    assert newest(study).text == (
        "Read, then judge.\n\n## Questions and answers\n\n"
        "> Does a date count?\n\nIt does.  \n\\*Always.\\*\n"
    )


def test_answers_to_all_stand_one_below_the_other(study, rosa):
    for number, text in enumerate(["One?", "Two?"]):
        answer_enquiry(asked(study, number, text), f"Yes, {text}", rosa, is_for_all=True)

    assert newest(study).text.endswith(
        "## Questions and answers\n\n> One?\n\nYes, One?\n\n> Two?\n\nYes, Two?\n"
    )


def test_a_second_click_answers_once(browser, study, enquiry):
    said = {"answer": "It does.", "to": "all"}

    browser.post(answer_of(enquiry), said)
    again = browser.post(answer_of(enquiry), said, follow=True)

    assert "stored already" in shown(again).messages[-1]
    assert study.guidelines.count() == 2
    assert AuditEntry.objects.filter(action="study.question-answered").count() == 1


def test_an_answer_to_one_rater_can_be_changed_and_given_to_all(browser, study, enquiry):
    browser.post(answer_of(enquiry), {"answer": "Yes.", "to": "rater"})
    form = shown(browser.get(page_of(study))).fields

    browser.post(answer_of(enquiry), {"answer": "No.", "to": "rater", "replaces": form["replaces"]})
    browser.post(answer_of(enquiry), {"answer": "No.", "to": "all", "replaces": "No."})

    enquiry.refresh_from_db()
    assert (enquiry.answer, enquiry.is_for_all) == ("No.", True)
    assert form == form | {"replaces": "Yes.", "answer": "Yes."}


def test_an_answer_of_a_colleague_is_not_lost(browser, study, enquiry, adam):
    answer_enquiry(enquiry, "Never.", adam, is_for_all=False)

    refused = browser.post(answer_of(enquiry), {"answer": "Always.", "to": "rater", "replaces": ""})

    page = shown(refused)
    assert refused.status_code == 422
    assert "adam answered this question while you wrote." in error_of(refused)
    assert page.fields["answer"] == "Always."
    assert page.fields["replaces"] == "Never."  # the next answer may replace it
    enquiry.refresh_from_db()
    assert enquiry.answer == "Never."


def test_an_answer_that_all_raters_have_is_changed_in_the_guidelines_alone(
    browser, study, enquiry, rosa
):
    answer_enquiry(enquiry, "It does.", rosa, is_for_all=True)

    page = shown(browser.get(page_of(study)))
    refused = browser.post(
        answer_of(enquiry), {"answer": "No.", "to": "rater", "replaces": "It does."}
    )

    assert page.links["Edit it in the guidelines"] == page_of(study, "edit-guidelines")
    assert "answer" not in page.fields
    assert refused.status_code == 422
    enquiry.refresh_from_db()
    assert enquiry.answer == "It does."


def test_guidelines_that_would_be_too_long_take_no_answer(browser, study, enquiry, rosa):
    write_guideline(study, "x" * (LONGEST_GUIDELINE - 10), rosa)

    refused = browser.post(answer_of(enquiry), {"answer": "It does.", "to": "all"})

    assert "the guidelines would have 100,0" in error_of(refused)
    enquiry.refresh_from_db()
    assert enquiry.is_open
    assert study.guidelines.count() == 2


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"answer": "", "to": "rater"}, "Write an answer."),
        ({"answer": " \r\n", "to": "all"}, "Write an answer."),
        ({"answer": "x" * 2001, "to": "all"}, "2001"),
        ({"answer": "Yes."}, "Choose who gets the answer"),
        ({"answer": "Yes.", "to": "everybody"}, "everybody"),
    ],
)
def test_an_answer_that_is_not_whole_is_refused(browser, study, enquiry, said, message):
    refused = browser.post(answer_of(enquiry), said)

    assert refused.status_code == 422
    assert any(message in part.text for part in shown(refused).parts("hint--bad"))
    assert shown(refused).fields["answer"].strip() == said["answer"].strip()
    enquiry.refresh_from_db()
    assert enquiry.is_open
    assert study.guidelines.count() == 1


def test_in_a_closed_study_nothing_is_answered(browser, study, enquiry, rosa):
    close_study(study, rosa)

    page = shown(browser.get(page_of(study)))
    refused = browser.post(answer_of(enquiry), {"answer": "Yes.", "to": "all"}, follow=True)

    assert "answer" not in page.fields
    assert "is now closed" in shown(refused).messages[0]
    enquiry.refresh_from_db()
    assert enquiry.is_open
    assert "enquiry" not in {each.group.key for each in reminders(rosa, with_imports=True)}


# --- who may --------------------------------------------------------------------------------


def test_raters_see_no_questions_and_answer_none(client_for, study, enquiry, client):
    rater = client_for(enquiry.rater.user)

    assert rater.get(page_of(study)).status_code == 403
    assert rater.post(answer_of(enquiry), {"answer": "Yes.", "to": "all"}).status_code == 403
    assert client.get(page_of(study)).status_code == 302
    enquiry.refresh_from_db()
    assert enquiry.is_open


def test_answering_is_a_post_about_a_question_of_the_study(browser, tmp_path, study, enquiry):
    other = opened(material(tmp_path / "other"), name="Other", raters=6)
    elsewhere = reverse("annotation:answer-enquiry", args=[other.slug, enquiry.pk])

    assert browser.get(answer_of(enquiry)).status_code == 405
    assert browser.post(elsewhere, {"answer": "Yes.", "to": "all"}).status_code == 404
    assert browser.get(reverse("annotation:enquiries", args=["none"])).status_code == 404
    Study.objects.filter(pk=study.pk).update(is_imported=True)
    assert browser.get(page_of(study)).status_code == 404

"""Reloads, lost connections, lost sessions and several tabs lose no answer."""

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect

from annotation.models import Assignment, Draft, Vote, VoteChange
from tests.annotation.makers import claimed, opened, raters_of
from tests.conftest import end_all_sessions
from tests.e2e.rating.keys import (
    ALL_YES,
    answered,
    press,
    saved,
    sign_in_by_keys,
    submitted,
)


def test_a_reload_in_the_middle_loses_nothing(page, study, rating):
    rater = rating(study)

    press(page, "yyn")
    saved(page)
    assert Draft.objects.get(rater=rater).seconds >= 0
    page.reload()

    assert answered(page) == ["1", "1", "0"]
    expect(page.locator(".question.is-now .q-num")).to_have_text("4")
    page.goto(reverse("annotation:my-studies"))
    expect(page.get_by_text("Your 3 answers are kept")).to_be_visible()


def test_no_text_stays_in_the_browser(page, study, rating):
    rating(study)
    press(page, "yyn")
    saved(page)
    press(page, "yyyy")
    page.locator("#evidence_contradicts-1").get_by_label("No").check()
    submitted(page)

    stored = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert "Text of" not in stored
    assert "Passage of" not in stored
    assert "attest:R-" not in stored  # confirmed, so the copy is gone


def test_answers_given_offline_are_kept_and_sent_later(page, study, rating, console_errors):
    rater = rating(study)
    state = page.locator("[data-save-state]")

    page.context.set_offline(True)
    press(page, "yn")
    expect(state).to_have_text("Offline, kept in this browser")
    expect(page.get_by_text("You are offline.")).to_be_visible()
    assert not Draft.objects.exists()
    page.context.set_offline(False)

    saved(page)
    expect(page.get_by_text("You are offline.")).to_be_hidden()
    assert list(Draft.objects.get(rater=rater).answers.values()) == [
        {"understand": 1, "relevant": 0}
    ]
    console_errors.clear()


def test_a_submit_without_a_connection_is_sent_when_it_is_back(page, study, rating, console_errors):
    rating(study)
    press(page, ALL_YES)
    saved(page)
    here = page.url

    page.context.set_offline(True)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Not submitted yet.")).to_be_visible()
    assert answered(page) == ["1", "1", "1", "1", "0", "1", "1"]
    page.context.set_offline(False)

    expect(page).not_to_have_url(here)
    assert Vote.objects.count() == 7
    console_errors.clear()


@pytest.mark.parametrize(
    "answer", [{"status": 500}, {"body": '{"saved_at": "2026-'}], ids=["fails", "is cut off"]
)
def test_a_server_that_fails_is_asked_again(page, study, rating, console_errors, answer):
    rating(study)
    page.route("**/draft/", lambda route: route.fulfill(**answer))

    press(page, "y")
    expect(page.locator("[data-save-state]")).to_have_text("Not saved, retrying")
    page.unroute("**/draft/")

    saved(page)
    assert all("status of 500" in error for error in console_errors)
    console_errors.clear()


def test_the_browser_s_copy_is_put_back_after_a_crash(page, study, rating, console_errors):
    rating(study)
    page.route("**/draft/", lambda route: route.abort())
    press(page, "yn")
    expect(page.locator("[data-save-state]")).to_have_text("Not saved, retrying")

    page.goto("about:blank")  # leaving tries to save once more, which may arrive or not
    page.unroute("**/draft/")
    page.go_back()

    expect(page.locator(".seg input:checked")).to_have_count(2)
    expect(page.locator("[data-save-state]")).to_have_text(re.compile("^Draft saved"))
    assert Draft.objects.count() == 1
    console_errors.clear()


def test_an_older_copy_gives_way_to_a_later_draft(page, study, rating):
    rating(study)
    press(page, "yn")
    saved(page)
    name = page.locator("form[data-kept-as]").get_attribute("data-kept-as")
    old = '{"fields": {"understand-1": "0"}, "seconds": 1, "at": 1000}'

    page.evaluate(f"localStorage.setItem('{name}', '{old}')")
    page.reload()

    assert answered(page) == ["1", "0"]
    assert page.evaluate(f"localStorage.getItem('{name}')") is None


def test_an_expired_session_loses_no_draft(page, study, rating, sign_in, console_errors):
    rater = rating(study)
    here = page.url
    end_all_sessions()

    press(page, "yy")
    notice = page.get_by_role("alert").filter(has_text="You are signed out.")
    expect(notice).to_be_visible()
    notice.get_by_role("link", name="Sign in").click()
    expect(page.get_by_label("Username")).to_be_visible()
    way_back = page.url.partition("next=")[2]
    assert here.endswith(way_back)
    sign_in(rater.user)
    page.goto(way_back)

    assert answered(page) == ["1", "1"]
    saved(page)
    console_errors.clear()


def test_a_submit_after_the_session_expired_comes_back_to_the_unit(page, study, rating, sign_in):
    rater = rating(study)
    press(page, ALL_YES)
    saved(page)
    page.locator("#relevant-1").get_by_label("No").check()
    end_all_sessions()

    page.keyboard.press("Control+Enter")
    expect(page.get_by_label("Username")).to_be_visible()
    way_back = page.url.partition("next=")[2]
    sign_in(rater.user)
    page.goto(way_back)

    assert answered(page) == ["1", "0", "1", "1", "0", "1", "1"]
    submitted(page)
    assert Vote.objects.get(question="relevant").answer == 0


def test_lost_cookies_at_submit_lead_to_sign_in_and_back_with_all_answers(page, study, rating):
    rater = rating(study)
    here = page.url
    press(page, ALL_YES)
    saved(page)
    page.locator("#relevant-1").get_by_label("No").check()
    page.context.clear_cookies()

    page.keyboard.press("Control+Enter")
    expect(page.get_by_label("Username")).to_be_visible()
    sign_in_by_keys(page, rater)

    expect(page).to_have_url(here)
    assert answered(page) == ["1", "0", "1", "1", "0", "1", "1"]
    submitted(page)
    assert Vote.objects.get(question="relevant").answer == 0


def test_one_lost_cookie_at_submit_leads_back_to_all_answers(page, study, rating):
    rating(study)
    here = page.url
    press(page, ALL_YES)
    saved(page)
    page.context.clear_cookies(name="csrftoken")

    with page.expect_event("load"):  # the site knows the rater: the page is drawn anew
        page.keyboard.press("Control+Enter")

    expect(page).to_have_url(here)
    expect(page.locator(".seg input:checked")).to_have_count(7)
    submitted(page)
    assert Vote.objects.count() == 7


def test_a_unit_that_went_to_another_rater_is_said_and_kept_as_surplus(page, study, rating):
    rater = rating(study)
    mine = Assignment.objects.get(rater=rater)
    press(page, "y")
    saved(page)
    Assignment.objects.exclude(pk=mine.pk).update(is_let_go=True)
    Assignment.objects.filter(pk=mine.pk).update(lease_until=timezone.now() - timedelta(hours=1))
    taken = claimed(raters_of(study)[1])
    assert taken.pk == mine.pk

    press(page, "y")
    expect(page.get_by_text("This unit went to another rater.")).to_be_visible()
    press(page, "yynyy")
    page.keyboard.press("Control+Enter")

    expect(page.get_by_role("heading", name="My studies")).to_be_visible()
    assert Vote.objects.filter(rater=rater, is_surplus=True).count() == 7
    page.get_by_role("link", name="Review my answers").click()
    expect(page.get_by_text("kept, but not counted")).to_be_visible()


def test_two_tabs_give_one_set_of_votes(page, study, rating):
    rating(study)
    other = page.context.new_page()
    other.goto(page.url)
    here = page.url

    for tab in (page, other):
        press(tab, ALL_YES)
        saved(tab)
    for tab in (page, other):
        tab.keyboard.press("Control+Enter")
        expect(tab).not_to_have_url(here)

    assert page.url == other.url  # both have the same next unit
    assert Vote.objects.count() == 7
    assert not VoteChange.objects.exists()


def test_a_double_click_submits_once(page, study, rating):
    rating(study)
    press(page, ALL_YES)
    here = page.url

    page.get_by_role("button", name="Submit").dblclick()

    expect(page).not_to_have_url(here)
    assert Vote.objects.count() == 7


def test_the_back_button_shows_what_was_submitted_to_change_it(page, study, rating):
    rating(study)
    first = page.url
    press(page, ALL_YES)
    submitted(page)
    second = page.url

    page.go_back()

    expect(page).to_have_url(first)
    expect(page.get_by_text("You have submitted this unit.")).to_be_visible()
    assert answered(page) == ["1", "1", "1", "1", "0", "1", "1"]
    page.locator("#relevant-1").get_by_label("No").check()
    page.get_by_role("button", name="Save changes").click()
    expect(page).to_have_url(second)
    expect(page.get_by_text("Your changes are saved.")).to_be_visible()
    assert VoteChange.objects.get().new_answer == 0


def test_a_unit_that_came_with_a_submit_outlives_reload_back_and_forward(page, study, rating):
    rating(study)
    first = page.url
    press(page, ALL_YES)
    submitted(page)
    second = page.url
    press(page, "yn")
    saved(page)

    page.reload()
    expect(page).to_have_url(second)
    assert answered(page) == ["1", "0"]
    page.go_back()
    expect(page).to_have_url(first)
    expect(page.get_by_text("You have submitted this unit.")).to_be_visible()
    page.go_forward()
    expect(page).to_have_url(second)
    expect(page.locator("[data-answered]")).to_have_text("2 of 7 answered")

    press(page, "yyyyy")
    page.locator("#evidence_contradicts-1").get_by_label("No").check()
    submitted(page)
    assert Vote.objects.filter(question="relevant", answer=0).count() == 1
    assert Vote.objects.count() == 14


def test_the_keys_that_submit_are_pressed_twice_and_one_unit_is_submitted(page, study, rating):
    rater = rating(study)
    press(page, ALL_YES)
    here = page.url

    page.evaluate("""() => { for (const time of [1, 2]) document.querySelector("#questions")
      .dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", ctrlKey: true, bubbles: true})); }
    """)

    expect(page).not_to_have_url(here)
    expect(page.locator(".seg input:checked")).to_have_count(0)
    expect(page.locator(".callout--bad:visible")).to_have_count(0)
    assert Vote.objects.count() == 7
    assert Assignment.objects.filter(rater=rater).count() == 2


def test_an_answer_is_changed_at_once_and_from_the_history(page, study, rating):
    rating(study)
    press(page, ALL_YES)
    submitted(page)
    next_unit = page.url
    press(page, "yu")  # back to the unit before, while the answer is on its way
    expect(page.get_by_text("You have submitted this unit.")).to_be_visible()
    press(page, "jn")
    page.keyboard.press("Control+Enter")
    expect(page).to_have_url(next_unit)
    expect(page.get_by_text("1 of 7 answered")).to_be_visible()
    assert [*VoteChange.objects.values_list("vote__question", flat=True)] == ["relevant"]
    page.get_by_role("link", name="Save and exit").click()
    page.get_by_role("link", name="Review my answers").click()

    page.get_by_role("link", name="Change unit 1").click()
    page.locator("#understand-1").get_by_label("No").check()
    page.keyboard.press("Control+Enter")

    expect(page.get_by_role("heading", name="My answers")).to_be_visible()
    expect(page.get_by_text("understand no")).to_be_visible()
    expect(page.get_by_text("6 not asked")).to_be_visible()
    assert Vote.objects.filter(is_implied=True).count() == 6


def test_time_on_task_stops_when_the_rater_is_not_at_it(page, study, rating):
    page.clock.install()
    rating(study)
    counted = page.locator("[data-seconds]")

    def seconds() -> float:
        return float(counted.input_value())

    press(page, "y")
    page.clock.run_for(30_000)
    assert 28 <= seconds() <= 32
    page.clock.run_for(600_000)  # ten minutes without a sign of life
    assert 58 <= seconds() <= 62
    press(page, "j")
    page.clock.run_for(10_000)
    assert 67 <= seconds() <= 73


def test_help_that_was_closed_stays_closed(page, study, rating):
    rating(opened(study.dataset, name="SSA", scheme="SSA"))
    expect(page.locator("details[open]")).to_have_count(2)

    press(page, "jke")
    press(page, "y")
    press(page, "y")
    submitted(page)

    expect(page.locator("details[open]")).to_have_count(1)

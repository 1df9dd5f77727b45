"""Rating in a real browser: keys, drafts, lost connections, several tabs, no script at all."""

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from accounts.models import User
from annotation.models import Assignment, Draft, Flag, Rater, Skip, Study, Vote, VoteChange
from tests.annotation.makers import claimed, material, opened, raters_of
from tests.makers import example_row, response_row

ALL_YES = "yyyynyy"  # the fifth: does the evidence contradict it?
Rating = Callable[..., Rater]


@pytest.fixture
def study(live_server, tmp_path: Path) -> Study:
    return opened(material(tmp_path / "material"), raters=6, introduction="Read, then answer.")


@pytest.fixture
def rating(page: Page, sign_in: Callable[[User], None]) -> Rating:
    """Return a function that signs a rater in and opens their next unit."""

    def rating(study: Study, number: int = 0) -> Rater:
        rater = raters_of(study)[number]
        assert rater.user is not None
        sign_in(rater.user)
        page.goto(unit_url(claimed(rater)))
        return rater

    return rating


def unit_url(assignment: Assignment) -> str:
    return reverse("annotation:rate-unit", args=[assignment.study.slug, assignment.unit_id])


def press(page: Page, keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def answered(page: Page) -> list[str]:
    """Return the chosen answers in the order of the page."""
    values: list[str] = page.locator(".seg input:checked").evaluate_all(
        "all => all.map(r => r.value)"
    )
    return values


def saved(page: Page) -> None:
    expect(page.locator("[data-save-state]")).to_have_text(re.compile(r"^Draft saved \d\d:\d\d$"))


def submitted(page: Page) -> None:
    """Submit by key, and wait for the next unit."""
    here = page.url
    page.keyboard.press("Control+Enter")
    expect(page).not_to_have_url(here)
    expect(page.locator(".seg input:checked")).to_have_count(0)


# --- by keys alone --------------------------------------------------------------------------


def test_a_study_is_rated_from_the_keyboard_alone(page, study, sign_in):
    rater = raters_of(study)[0]
    sign_in(rater.user)
    page.goto(reverse("annotation:my-studies"))
    page.get_by_role("button", name="Rate next unit").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".question.is-now")).to_have_count(1)  # the keys are listened to
    page.evaluate("window.sameDocument = true")

    for _ in range(3):
        press(page, ALL_YES)
        expect(page.get_by_text("7 of 7 answered")).to_be_visible()
        submitted(page)
    press(page, "n")
    expect(page.get_by_text("1 of 1 answered")).to_be_visible()
    page.keyboard.press("Control+Enter")

    expect(page.get_by_role("heading", name="My studies")).to_be_visible()
    expect(page.get_by_role("status")).to_have_text("Nothing is left to rate. Thank you.")
    assert page.evaluate("window.sameDocument"), "htmx should swap, not reload the page"
    assert Vote.objects.filter(rater=rater).count() == 4 * 7
    assert Vote.objects.filter(is_implied=True).count() == 6
    assert all(vote.seconds is not None for vote in Vote.objects.all())


def test_keys_move_answer_help_and_find(page, study, rating):
    rating(study)

    press(page, "jjk")
    expect(page.locator(".question.is-now .q-num")).to_have_text("2")
    press(page, "n")
    expect(page.locator(".question.is-now .q-num")).to_have_text("3")
    press(page, "e")
    expect(page.locator(".question.is-now details")).to_have_attribute("open", "")
    press(page, "/")
    page.keyboard.type("passage of")
    expect(page.locator("[data-find] output")).to_have_text("1 of 1")
    expect(page.locator("mark")).to_have_text("Passage of")
    assert answered(page) == ["0"]  # no letter of the search was an answer
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert").first).to_contain_text("question 1 has no answer.")
    expect(page.locator("#understand-1 input").first).to_be_focused()


def test_letters_can_be_switched_off(page, study, rating):
    rating(study)
    press(page, "?")
    page.get_by_role("button", name="Switch them off").click()
    expect(page.locator("form[data-no-letters]")).to_be_visible()

    press(page, "y?s")

    assert answered(page) == []
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_answers_on_a_scale_are_digits(page, study, rating):
    quality = opened(study.dataset, name="Quality", scheme="QUALITY")
    rating(quality)

    press(page, "y9453")
    expect(page.locator("[data-answered]")).to_have_text("3 of 4 answered")
    press(page, "1")
    submitted(page)

    votes = Vote.objects.order_by("pk").values_list("answer", flat=True)
    assert list(votes) == [4, 5, 3, 1]


def test_what_cannot_stand_together_is_said_at_once_and_not_sent(page, study, rating):
    rating(study)
    wrong = page.get_by_text("5 and 7 cannot both be yes.")
    expect(wrong).to_be_hidden()

    press(page, "yyyyyyy")
    expect(wrong).to_be_visible()
    page.keyboard.press("Control+Enter")
    expect(
        page.locator("#evidence_contradicts-1 input, #attributable-1 input")
        .filter(visible=True)
        .and_(page.locator(":focus"))
    ).to_have_count(1)
    page.locator("#evidence_contradicts-1").get_by_label("No").check()
    expect(wrong).to_be_hidden()
    submitted(page)

    assert Vote.objects.count() == 7


@pytest.mark.parametrize("width", [390, 768])
def test_a_form_with_a_hole_comes_back_to_the_hole_on_a_small_screen(
    page, tmp_path, rating, live_server, width
):
    evidence = [{"id": "p-e1", "text": "A long passage. " * 600}]
    dataset = material(
        tmp_path / "m", n_examples=1, examples=[example_row("e1", evidence=evidence)]
    )
    page.set_viewport_size({"width": width, "height": 800})
    rating(opened(dataset))
    page.evaluate("scrollTo(0, 0)")
    page.keyboard.press("Control+Enter")

    expect(page.locator(".error").first).to_be_in_viewport()
    expect(page.locator("input[name=understand-1]").first).to_be_focused()


def test_a_closed_gate_folds_what_is_not_asked(page, study, rating):
    rating(study)

    press(page, "yyyn")

    expect(page.get_by_text("5 to 7 are not asked.")).to_be_visible()
    expect(page.locator("[data-answered]")).to_have_text("4 of 4 answered")
    page.locator("#understand-1").get_by_label("No").check()
    expect(page.get_by_text("2 to 7 are not asked.")).to_be_visible()
    expect(page.get_by_text("5 to 7 are not asked.")).to_be_hidden()
    expect(page.locator("[data-answered]")).to_have_text("1 of 1 answered")


# --- nothing is lost ------------------------------------------------------------------------


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
    Session.objects.all().delete()

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
    Session.objects.all().delete()

    page.keyboard.press("Control+Enter")
    expect(page.get_by_label("Username")).to_be_visible()
    way_back = page.url.partition("next=")[2]
    sign_in(rater.user)
    page.goto(way_back)

    assert answered(page) == ["1", "0", "1", "1", "0", "1", "1"]
    submitted(page)
    assert Vote.objects.get(question="relevant").answer == 0


def sign_in_by_keys(page: Page, rater: Rater) -> None:
    """Sign a rater in on the sign-in page."""
    assert rater.user is not None
    rater.user.set_password("for-this-test-only")
    rater.user.save()
    page.get_by_label("Username").focus()
    page.keyboard.type(rater.user.username)
    page.keyboard.press("Tab")
    page.keyboard.type("for-this-test-only")
    page.keyboard.press("Enter")


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
    expect(page.get_by_text("kept beside the vote")).to_be_visible()


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


def test_an_answer_is_changed_from_the_history(page, study, rating):
    rating(study)
    press(page, ALL_YES)
    submitted(page)
    page.get_by_role("link", name="Leave").click()
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


# --- skip and flag --------------------------------------------------------------------------


def test_a_unit_is_skipped_by_keys(page, study, rating):
    rating(study)
    here = page.url

    press(page, "s")
    expect(page.get_by_role("dialog", name="Skip this unit")).to_be_visible()
    press(page, " ")  # the focus is on the first reason
    page.keyboard.press("Enter")

    expect(page).not_to_have_url(here)
    assert Skip.objects.get().reason == "I cannot judge this topic"


def test_a_flag_keeps_what_is_typed_and_can_be_taken_back(page, study, rating):
    rating(study)
    press(page, "y")

    press(page, "f")
    page.get_by_label("Text is cut off or garbled").check()
    page.get_by_role("button", name="Send flag").click()
    expect(page.get_by_text("You flagged this: Text is cut off or garbled.")).to_be_visible()
    expect(page.locator(".seg input:checked")).to_have_count(1)
    page.get_by_role("button", name="Take back").click()
    expect(page.get_by_text("You flagged this")).to_have_count(0)

    assert not Flag.objects.exists()


def test_a_flag_that_overtakes_the_draft_takes_no_answer_away(page, study, rating):
    """The page with the flag is drawn before the draft is stored, and comes after it."""
    held: dict[str, Any] = {}
    page.route("**/draft/", lambda route: held.setdefault("draft", route))
    page.route("**/flag/", lambda route: held.setdefault("flag", (route, route.fetch())))
    rating(study)
    press(page, "yf")
    page.get_by_label("Text is cut off or garbled").check()
    page.get_by_role("button", name="Send flag").click()
    while not ("flag" in held and "draft" in held):
        page.wait_for_timeout(50)

    held["draft"].continue_()
    expect(page.get_by_text("Draft saved")).to_be_visible()
    page.unroute("**/draft/")
    route, drawn_before_the_draft = held["flag"]
    route.fulfill(response=drawn_before_the_draft)

    expect(page.get_by_text("You flagged this: Text is cut off or garbled.")).to_be_visible()
    assert answered(page) == ["1"]


def test_letters_in_a_note_are_letters(page, study, rating):
    rating(study)
    press(page, "s")
    page.get_by_label("Note").first.fill("")
    page.keyboard.type("synfj?")

    expect(page.get_by_label("Note").first).to_have_value("synfj?")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert answered(page) == []


# --- other layouts --------------------------------------------------------------------------


def test_responses_side_by_side(page, tmp_path, rating, live_server):
    merged = opened(material(tmp_path / "m", setups=["a", "b", "c"]), arms=["merged"])
    rating(merged)
    now = page.locator("td.is-now")

    press(page, "yny")  # the first question, along the row
    expect(page.locator("[data-answered]")).to_have_text("3 of 15 answered")
    expect(now).to_have_attribute("id", "relevant-1")
    press(page, "l")
    expect(now).to_have_attribute("id", "relevant-3")  # the second is not asked
    press(page, "jjk")
    expect(now).to_have_attribute("id", "consistent-3")
    press(page, "h")
    expect(now).to_have_attribute("id", "consistent-1")
    expect(page.get_by_text("not asked").filter(visible=True)).to_have_count(6)
    for position in (1, 3):
        for key, answer in zip(
            [
                "relevant",
                "consistent",
                "evidence_relevant",
                "evidence_contradicts",
                "evidence_supports",
                "attributable",
            ],
            ["Yes", "Yes", "Yes", "No", "Yes", "Yes"],
            strict=True,
        ):
            page.locator(f"#{key}-{position}").get_by_label(answer).check()
    page.locator("#evidence_contradicts-3").get_by_label("Yes").check()
    expect(page.get_by_text("Response 3: 5 and 7 cannot both be yes.")).to_be_visible()
    page.locator("#evidence_contradicts-3").get_by_label("No").check()
    page.get_by_role("button", name="Submit all 3").click()

    expect(page.locator(".seg input:checked")).to_have_count(0)
    assert Vote.objects.count() == 21
    assert Vote.objects.filter(is_implied=True).values("target").distinct().count() == 1


def test_responses_in_turn(page, tmp_path, rating, live_server):
    dataset = material(tmp_path / "m", setups=["a", "b"])
    rating(opened(dataset, arms=["merged"], merged_layout="in_turn"))

    press(page, ALL_YES + "n")

    expect(page.locator("[data-answered]")).to_have_text("8 of 8 answered")
    submitted(page)
    assert Vote.objects.count() == 14


def test_pairs_take_one_key_each_and_can_be_undone(page, tmp_path, rating, live_server):
    text = "Crane was born in 1871 [Q1, date of birth: 1871]. He died at 28 [Q1, age: 28]."
    dataset = material(
        tmp_path / "cited",
        examples=[example_row("e1")],
        responses=[
            response_row(
                "r1",
                "e1",
                text=text,
                graph_shown=[["Q1", "date of birth", "1871"], ["Q1", "age", "28"]],
            )
        ],
    )
    rating(opened(dataset, scheme="ALIGNMENT", raters=2, raters_per_unit=2))
    page.evaluate("window.sameDocument = true")

    press(page, "c")
    expect(page.get_by_role("dialog", name="The whole answer")).to_contain_text("He died at 28")
    press(page, "y")  # not while it is open
    page.keyboard.press("Escape")
    assert not Vote.objects.exists()
    press(page, "y")
    expect(page.get_by_text("Last answer: yes, saved")).to_be_visible()
    assert page.evaluate("window.sameDocument")
    press(page, "u")
    expect(page.get_by_text("your answer", exact=True)).to_be_visible()
    press(page, "n")
    expect(page.get_by_text("Last answer: no, saved")).to_be_visible()
    press(page, "y")

    expect(page.get_by_text("Nothing is left to rate. Thank you.")).to_be_visible()
    assert sorted(Vote.objects.values_list("answer", flat=True)) == [0, 1]
    assert VoteChange.objects.count() == 1


# --- without a script -----------------------------------------------------------------------


@pytest.fixture
def plain_page(browser: Browser, page: Page, live_server) -> Page:
    """Return a page of the same person in a browser that runs no script."""
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    context.set_default_timeout(10_000)
    page.context.on("close", lambda _: context.close())
    return context.new_page()


def test_everything_works_without_a_script(page, plain_page, study, sign_in):
    rater = raters_of(study)[0]
    sign_in(rater.user)
    plain_page.context.add_cookies(page.context.cookies())
    plain_page.goto(reverse("annotation:my-studies"))
    plain_page.get_by_role("button", name="Rate next unit").click()
    first = plain_page.url

    # a draft
    plain_page.locator("#understand-1").get_by_label("Yes").check()
    plain_page.get_by_role("button", name="Save draft").click()
    expect(plain_page).to_have_url(first)
    expect(plain_page.locator("#understand-1").get_by_label("Yes")).to_be_checked()
    # a hole
    plain_page.get_by_role("button", name="Submit").click()
    expect(plain_page.get_by_text("question 2 has no answer.")).to_be_visible()
    # a gate
    plain_page.locator("#understand-1").get_by_label("No").check()
    expect(plain_page.get_by_text("2 to 7 are not asked.")).to_be_visible()
    expect(plain_page.locator("#relevant-1")).to_be_hidden()
    # a flag
    plain_page.get_by_role("button", name="Flag…").click()
    plain_page.get_by_label("Evidence is missing or empty").check()
    plain_page.get_by_role("button", name="Send flag").click()
    expect(plain_page.get_by_text("You flagged this")).to_be_visible()
    # a submit
    plain_page.locator("#understand-1").get_by_label("No").check()
    plain_page.get_by_role("button", name="Submit").click()
    expect(plain_page).not_to_have_url(first)
    assert Vote.objects.filter(rater=rater).count() == 7
    # a skip
    second = plain_page.url
    plain_page.get_by_role("button", name="Skip…").click()
    plain_page.get_by_label("The content is distressing").check()
    plain_page.get_by_role("button", name="Skip unit").click()
    expect(plain_page).not_to_have_url(second)
    assert Skip.objects.count() == 1


@pytest.mark.parametrize("lost", ["cookies", "session"])
def test_what_is_lost_at_submit_keeps_all_answers_without_a_script(
    page, plain_page, study, sign_in, console_errors, lost
):
    rater = raters_of(study)[0]
    sign_in(rater.user)
    plain_page.context.add_cookies(page.context.cookies())
    plain_page.goto(unit_url(claimed(rater)))
    here = plain_page.url
    for place, answer in enumerate(["Yes", "No", "Yes", "Yes", "No", "Yes", "Yes"]):
        plain_page.locator(".question").nth(place).get_by_label(answer, exact=True).check()
    if lost == "cookies":
        plain_page.context.clear_cookies()
    else:
        Session.objects.all().delete()

    plain_page.get_by_role("button", name="Submit").click()
    expect(plain_page.get_by_text("What you filled in is kept")).to_be_visible()
    sign_in_by_keys(plain_page, rater)
    expect(plain_page.get_by_role("heading", name="You are signed in")).to_be_visible()
    plain_page.keyboard.press("Enter")  # the focus is on the one button

    expect(plain_page).not_to_have_url(here)
    expect(plain_page.locator("#relevant-1")).to_be_visible()  # of the next unit
    assert Vote.objects.get(rater=rater, question="relevant").answer == 0
    assert Vote.objects.filter(rater=rater).count() == 7


def test_a_matrix_folds_without_a_script(page, plain_page, tmp_path, sign_in, live_server):
    merged = opened(material(tmp_path / "m", setups=["a", "b"]), arms=["merged"])
    rater = raters_of(merged)[0]
    sign_in(rater.user)
    plain_page.context.add_cookies(page.context.cookies())
    plain_page.goto(unit_url(claimed(rater)))

    for position in (1, 2):
        plain_page.locator(f"#understand-{position}").get_by_label("No").check()
    expect(plain_page.get_by_text("not asked").filter(visible=True)).to_have_count(12)
    plain_page.get_by_role("button", name="Submit both").click()

    expect(plain_page.locator(".seg input:checked")).to_have_count(0)
    assert Vote.objects.count() == 14


# --- texts of every kind, windows of every size ---------------------------------------------

LONG_WORD = "Donaudampfschifffahrtsgesellschaft" * 6
ARABIC = "فازت بها لاكتشاف الراديوم."


def test_difficult_texts_fit_a_narrow_window_and_large_letters(page, tmp_path, rating, live_server):
    row = example_row(
        "e1", evidence=[{"id": "p", "text": "Line. " * 3400 + LONG_WORD, "title": LONG_WORD}]
    )
    row["turns"][0]["text"] = LONG_WORD
    responses = [
        response_row(f"r{n}", "e1", setup=f"s{n}", text=text, evidence_shown=["p"])
        for n, text in enumerate([ARABIC, "<script>document.title = 'broken'</script>", LONG_WORD])
    ]
    dataset = material(tmp_path / "m", examples=[row], responses=responses)
    rating(opened(dataset, name=LONG_WORD[:90], arms=["merged"]))

    settings = page.context.new_cdp_session(page)
    for width, letters in [(1440, 16), (768, 16), (320, 16), (1440, 32), (768, 32), (640, 32)]:
        page.set_viewport_size({"width": width, "height": 800})
        settings.send("Page.setFontSizes", {"fontSizes": {"standard": letters}})
        sideways = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert sideways <= 0, (width, letters)
    assert "broken" not in page.title()
    arabic = page.get_by_role("region", name=re.compile(r"^Response \d")).filter(has_text=ARABIC)
    assert arabic.evaluate("e => getComputedStyle(e).direction") == "rtl"

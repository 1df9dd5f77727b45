"""Units are skipped and responses flagged by keys; a unit is rated in another language."""

from typing import Any

from playwright.sync_api import expect

from annotation.models import Flag, Skip, Vote
from tests.e2e.rating.keys import ALL_YES, answered, press


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


def test_a_unit_is_rated_in_german_on_a_small_phone(page, study, rating):
    page.set_viewport_size({"width": 360, "height": 740})
    page.set_extra_http_headers({"Accept-Language": "de"})
    rating(study)

    expect(page.get_by_role("link", name="Beenden")).to_be_in_viewport()  # the bar is one line
    press(page, ALL_YES)
    expect(page.locator("[data-answered]")).to_have_text("7 von 7 beantwortet")
    expect(page.locator("[data-save-state]")).to_contain_text("Entwurf gespeichert")
    page.get_by_role("button", name="Überspringen…").click()
    expect(page.get_by_role("button", name="Aufgabe überspringen")).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="Weiter bewerten").click()
    page.get_by_role("button", name="Abgeben").click()
    expect(page.get_by_role("status").filter(has_text="Abgegeben")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert Vote.objects.count() == 7

    page.get_by_role("button", name="Sprache: Deutsch").click()
    page.get_by_role("button", name="English").click()

    expect(page.get_by_role("button", name="Language: English")).to_be_visible()

"""A rater asks about a unit, a researcher answers, and both find it in a browser."""

from django.urls import reverse
from playwright.sync_api import expect

from annotation.models import Enquiry
from tests.annotation.makers import raters_of, researcher
from tests.e2e.rating.keys import answered, press, saved


def test_a_question_is_asked_by_keys_answered_to_all_and_read_by_a_colleague(
    page, study, rating, sign_in
):
    def go_as(user):
        page.goto("about:blank")  # a draft that is still being sent arrives first
        sign_in(user)

    rater = rating(study)
    here = page.url
    press(page, "y")
    saved(page)

    press(page, "a")
    expect(page.get_by_role("dialog", name="Ask a researcher")).to_be_visible()
    expect(page.get_by_label("Your question about this unit")).to_be_focused()
    page.keyboard.type("Does a year without a day count?")  # letters are letters here
    page.get_by_role("button", name="Send question").press("Enter")

    expect(page.get_by_text("A researcher has not answered yet.")).to_be_visible()
    expect(page).to_have_url(here)
    assert answered(page) == ["1"]
    press(page, "a")
    expect(page.get_by_text("You can ask again when you have the answer.")).to_be_visible()
    page.keyboard.press("Escape")

    colleague = raters_of(study)[1]
    go_as(colleague.user)
    page.goto(reverse("annotation:my-studies"))
    page.get_by_role("button", name="Rate next unit").click()
    expect(page.get_by_role("heading", name="Questions", exact=True)).to_be_visible()

    go_as(researcher())
    page.goto(reverse("annotation:study-setup", args=[study.slug]))
    page.get_by_role("link", name="Answer", exact=True).click()
    expect(page.get_by_role("heading", name="Does a year without a day count?")).to_be_visible()
    page.get_by_role("button", name="Answer this rater").click()
    expect(page.get_by_text("Write an answer.")).to_be_visible()
    expect(page.get_by_label("Answer", exact=True)).to_be_focused()
    page.get_by_label("Answer", exact=True).fill("It does, if the evidence has no day either.")
    page.get_by_role("button", name="Answer all raters").click()
    expect(page.get_by_text("are in a new version of the guidelines.")).to_be_visible()

    go_as(colleague.user)
    page.goto(reverse("annotation:my-studies"))
    page.get_by_role("button", name="Rate next unit").click()
    expect(page.get_by_role("heading", name="The guidelines changed")).to_be_visible()
    expect(page.get_by_text("It does, if the evidence has no day either.")).to_be_visible()
    expect(page.get_by_text(rater.code)).to_have_count(0)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Questions", exact=True)).to_be_visible()

    go_as(rater.user)
    page.goto(reverse("annotation:my-studies"))
    expect(page.get_by_role("heading", name="Your questions")).to_be_visible()
    expect(page.get_by_text("Answer to all raters:")).to_be_visible()
    page.get_by_role("link", name="See the unit").click()
    expect(page).to_have_url(here)
    expect(page.get_by_text("It does, if the evidence has no day either.")).to_be_visible()


def test_a_question_that_overtakes_the_draft_takes_no_answer_away(page, study, rating):
    page.route("**/draft/", lambda route: None)  # it never arrives
    rating(study)
    press(page, "y")
    press(page, "a")
    page.keyboard.type("Does it count?")

    page.get_by_role("button", name="Send question").click()

    expect(page.get_by_text("A researcher has not answered yet.")).to_be_visible()
    assert answered(page) == ["1"]
    assert Enquiry.objects.count() == 1

"""Rating without a script."""

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from annotation.models import Skip, Vote
from tests.annotation.makers import claimed, material, opened, raters_of
from tests.conftest import end_all_sessions
from tests.e2e.rating.keys import sign_in_by_keys, unit_url


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
    expect(plain_page.get_by_text("6 answers are missing.")).to_be_visible()
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
        end_all_sessions()

    plain_page.get_by_role("button", name="Submit").click()
    expect(plain_page.get_by_text("What you filled in is kept")).to_be_visible()
    sign_in_by_keys(plain_page, rater)
    expect(plain_page.get_by_role("button", name="Send it again")).to_be_focused()
    plain_page.keyboard.press("Enter")

    expect(plain_page).not_to_have_url(here)
    expect(plain_page.locator("#relevant-1")).to_be_visible()  # the next unit's
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

"""A researcher looks through disagreements and adjudicates one; no vote changes."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.models import Vote
from evaluation.models import Adjudication
from tests.evaluation.makers_of_scores import disputed

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_researcher_filters_opens_and_adjudicates(page, sign_in, rosa, tmp_path):
    study, _ = disputed(tmp_path)
    votes = list(Vote.objects.order_by("pk").values_list())
    sign_in(rosa)

    page.goto(reverse("evaluation:study-metrics", args=[study.slug]))
    page.get_by_role("link", name="3 disagreements").click()
    expect(page.get_by_role("heading", name="Disagreements", level=1)).to_be_visible()
    expect(page.get_by_role("article")).to_have_count(3)
    page.evaluate("window.sameDocument = true")
    page.get_by_role("link", name="Missed 2").click()
    expect(page.get_by_role("article")).to_have_count(2)
    page.get_by_label("Setup").select_option("cool")
    expect(page.get_by_role("article")).to_have_count(1)
    assert "kind=missed" in page.url
    assert "setup=cool" in page.url

    case = page.get_by_role("article", name="Response r-miss")
    expect(case.locator("mark")).to_have_text(
        "The mill closed in 1971 after the flood. Its wheel was sold."
    )
    case.get_by_text("Adjudicate").click()
    case.get_by_role("button", name="Save decision").click()
    expect(case.get_by_text("Say why. The note is stored with the answer.")).to_be_visible()
    case.get_by_role("radio", name="yes").check()
    case.get_by_label("Why").fill("Sentence 3 says so.")
    case.get_by_role("button", name="Save decision").click()
    expect(case.get_by_role("status")).to_have_text("The decision is saved. No vote was changed.")
    expect(case.get_by_role("status")).to_be_focused()
    assert page.evaluate("window.sameDocument"), "htmx should swap, not reload the page"

    page.reload()
    expect(case.get_by_text("Sentence 3 says so.")).to_be_visible()
    case.get_by_role("link", name="r-miss").click()
    adjudications = page.get_by_role("table", name="Adjudications")
    expect(adjudications).to_contain_text("Sentence 3 says so.")
    expect(page.locator("mark.window")).to_be_visible()
    # From the figure to the votes it was made of.
    expect(page.get_by_role("region", name="Votes").get_by_text("w1", exact=True)).to_be_visible()
    assert list(Vote.objects.order_by("pk").values_list()) == votes


def test_it_works_without_javascript(browser, live_server, sign_in, page, rosa, tmp_path):
    study, _ = disputed(tmp_path)
    sign_in(rosa)
    context = browser.new_context(
        base_url=live_server.url,
        java_script_enabled=False,
        storage_state=page.context.storage_state(),
    )
    plain = context.new_page()

    plain.goto(reverse("evaluation:disagreements", args=[study.slug]))
    plain.get_by_label("Setup").select_option("warm")
    plain.get_by_role("button", name="Apply").click()
    case = plain.get_by_role("article")
    expect(case).to_have_count(1)
    case.locator("summary").click()
    case.get_by_role("radio", name="no", exact=True).check()
    case.get_by_label("Why").fill("The date is missing.")
    case.get_by_role("button", name="Save decision").click()

    expect(plain.get_by_text("The decision is saved. No vote was changed.")).to_be_visible()
    expect(plain.get_by_role("article")).to_contain_text("The date is missing.")
    assert Adjudication.objects.get().answer == 0
    context.close()

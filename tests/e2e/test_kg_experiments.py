"""An experiment is planned, asked by a real worker, scored, read, and clicked down to an answer."""

import re

import pytest
from playwright.sync_api import expect

from generation.models import Response
from tests.e2e.journey import ENDS_WITHIN, Mouse
from tests.evaluation.hand_ablated import import_answers

pytestmark = pytest.mark.django_db(transaction=True)
# Two seeds of: three questions whole, and the two with a minimum set with 1 to 3 members removed.
N_CALLS = 2 * (3 + 3 * 2)


@pytest.mark.usefixtures("worker")
def test_removal_is_asked_scored_read_and_followed_to_an_answer(page, sign_in, rosa, tmp_path):
    dataset = import_answers(tmp_path, [], "Coast")
    sign_in(rosa)
    mouse = Mouse(page)
    mouse.press("link", "Graph")
    mouse.press("link", "Run experiments")
    expect(page.get_by_role("article", name="Removed knowledge")).to_contain_text("nothing asked")
    mouse.press("link", "Removed knowledge")
    expect(page.get_by_text("KaLMA, table 5 and figure 4")).to_be_visible()
    page.get_by_text("Decoding:").click()
    page.get_by_label("Seeds").fill("1, 2")
    mouse.press("button", "Preview calls and cost")

    mouse.press("link", re.compile("^See plan"))
    mouse.press("button", f"Start {N_CALLS} calls")
    mouse.press("link", "Removed knowledge")
    # What is asked for while answers still come is scored without those to come.
    expect(page.locator("#step-1")).to_contain_text("done", timeout=ENDS_WITHIN)
    mouse.press("button", "Score")
    mouse.needs_at_most(clicks=8)

    table = page.get_by_role("table", name="Removed knowledge by model and temperature")
    runs = page.get_by_role("link", name="2 runs of extractive (0.5), 1 removed")
    expect(page.locator("#step-2")).to_contain_text("done", timeout=ENDS_WITHIN)
    expect(page.locator("[data-chart=recall] svg")).to_be_visible()
    assert Response.objects.filter(dataset=dataset).count() == N_CALLS
    page.evaluate("window.sameDocument = true")
    runs.press("Enter")
    expect(table.locator(".run-row")).to_have_count(2, timeout=ENDS_WITHIN)
    assert page.evaluate("window.sameDocument"), "htmx should unfold, not a page load"
    expect(runs).to_have_attribute("aria-expanded", "true")

    body = table.locator("tbody").filter(has=runs)
    whole = body.get_by_role("row").first
    correct = whole.get_by_role("cell").nth(3).get_by_role("link")
    expect(correct).to_have_text("100.0")  # the extractive model cites what it is shown
    correct.click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Answers")
    answers = page.get_by_role("table", name="Answers with the verdicts on their citations")
    expect(answers.get_by_role("row")).to_have_count(1 + 4)  # two questions, two seeds
    expect(answers.get_by_role("row").nth(1)).to_contain_text("graph-gold-minus-1")
    answers.get_by_role("link", name="Who is q1?").first.click()
    expect(page.get_by_role("heading", name="Response, with its citations")).to_be_visible()
    expect(page.get_by_role("heading", name="Removed from it")).to_be_visible()

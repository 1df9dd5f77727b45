"""A researcher chooses examples for a new grid: prompts about a graph come and go with them."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from tests.e2e.axe import violations
from tests.generation.grid_runs import valley
from tests.generation.lovelace import lovelace

pytestmark = pytest.mark.django_db(transaction=True)


def test_prompts_follow_the_examples_that_are_chosen(page, sign_in, rosa, tmp_path):
    lovelace(tmp_path)
    valley(tmp_path)
    sign_in(rosa)
    page.goto(f"{reverse('grids:new')}?dataset=valley")
    page.evaluate("window.sameDocument = true")
    gold = page.get_by_role("checkbox", name="Gold sub-graph", exact=True)
    expect(gold).to_have_count(0)

    page.get_by_label("Examples").select_option(label="All of lovelace")

    expect(gold).to_be_checked()
    golden = page.get_by_role("checkbox", name="Golden", exact=True)
    more = page.get_by_text("More prompt types: 12 without a graph")
    expect(more).to_be_visible()
    expect(golden).not_to_be_visible()
    more.click()
    for fold in ("Prompt types by key:", "Form of the prompts:", "Retrieval:", "Seeds,"):
        page.locator("summary", has_text=fold).click()
    assert not list(violations(page))
    expect(golden).not_to_be_checked()
    expect(page.get_by_label("New tokens at most")).to_have_value("500")
    # Three types at two temperatures.
    expect(page.get_by_role("status")).to_contain_text("6 setups × 3 examples")
    gold.uncheck()
    expect(page.get_by_role("status")).to_contain_text("4 setups × 3 examples")
    expect(gold).not_to_be_checked()

    page.get_by_label("Examples").select_option(label="All of valley")

    expect(gold).to_have_count(0)
    expect(page.get_by_label("New tokens at most")).to_have_value("128")
    expect(page.get_by_role("status")).to_contain_text("24 setups × 3 examples")
    assert page.evaluate("window.sameDocument"), "htmx should swap, not reload the page"

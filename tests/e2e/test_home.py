"""Home keeps up with work that goes on, and leaves the focus where it is."""

import pytest
from playwright.sync_api import Page, expect

from tests.annotation.makers import researcher
from tests.evaluation.metric_runs import mill, requested, work

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_run_that_ends_moves_to_what_has_ended_and_keeps_the_focus(page: Page, sign_in, tmp_path):
    run = work(requested(mill(tmp_path, n_responses=40), researcher()), 1)
    sign_in(researcher())
    page.goto("/")
    page.evaluate("window.sameDocument = true")
    link = page.get_by_role("link", name="Auto-AIS, v3")
    expect(page.get_by_role("progressbar", name="Auto-AIS, v3")).to_be_visible()
    link.focus()

    work(run)

    expect(page.get_by_role("list", name="Ended").get_by_text("done")).to_be_visible()
    expect(page.get_by_text("Nothing is running.")).to_be_visible()
    expect(link).to_be_focused()
    assert page.evaluate("window.sameDocument"), "htmx should swap, not reload the page"

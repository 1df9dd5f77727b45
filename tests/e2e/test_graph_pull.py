"""A pull in the browser: started by its form, done by a real worker, from a real endpoint."""

import os
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from accounts.access import Role
from tests.conftest import person
from tests.e2e.axe import violations
from tests.e2e.test_accessibility import DESK, PHONE
from tests.e2e.walk import sideways

pytestmark = pytest.mark.django_db(transaction=True)

WITHIN = 60_000  # ms


def test_a_pull_is_started_and_followed_to_its_end(page, sign_in, worker, oxigraph):
    sign_in(person("ada", Role.ADMIN))
    page.set_viewport_size(DESK)
    page.goto(reverse("graphs:pull"))
    assert not list(complaints(page, "form"))
    page.get_by_label("Dataset").fill("bards")
    page.get_by_label("Names", exact=True).fill("Anne Hathaway\nAnnie Hathaway\nnobody")
    page.get_by_text("Endpoint: https://query.wikidata.org").click()
    page.get_by_label("Endpoint", exact=True).fill(oxigraph.url)
    page.get_by_role("button", name="Start the pull").click()

    expect(page.get_by_role("alert")).to_contain_text("Not started.")
    assert not list(complaints(page, "refused"))
    page.get_by_label("Allow an endpoint in our own network").check()
    page.get_by_role("button", name="Start the pull").click()
    page.get_by_role("button", name="Start: 3 calls at most").click()

    names = page.get_by_role("region", name="Names and what was found")
    expect(names.locator("tbody tr")).to_have_count(3, timeout=WITHIN)
    expect(page.get_by_text("3 of 3 names", exact=True)).to_be_visible()
    expect(names).to_contain_text("Q232478")
    assert not list(complaints(page, "pull"))


def complaints(page: Page, name: str):
    """Yield what is wrong with the page, at a desk and on a phone."""
    for size in (PHONE, DESK):
        page.set_viewport_size(size)
        yield from violations(page)
        yield from sideways(page)
        if folder := os.environ.get("SHOTS"):
            page.screenshot(path=Path(folder) / f"{name}-{size['width']}.png", full_page=True)

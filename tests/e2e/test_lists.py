"""A list follows what a person types and chooses, with scripts and without."""

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from accounts.models import User
from tests.annotation.makers import material, planned


def make_studies(folder: Path) -> None:
    dataset = material(folder, n_examples=1)
    for name in ("Mill pilot", "Mill again", "Bridge pilot"):
        planned(dataset, name=name)


def rows(page: Page) -> list[str]:
    return page.locator("#studies tbody th a").all_inner_texts()


def test_a_list_follows_what_is_typed_and_its_address_too(
    page: Page, rosa: User, sign_in, tmp_path: Path
):
    make_studies(tmp_path)
    sign_in(rosa)
    page.goto("/studies/")
    page.evaluate("window.sameDocument = true")

    page.get_by_role("searchbox", name="Search studies").press_sequentially("mill")

    expect(page.locator("#studies tbody tr")).to_have_count(2)
    expect(page).to_have_url(re.compile(r"[?&]q=mill"))
    expect(page.get_by_role("searchbox")).to_be_focused()
    assert page.evaluate("window.sameDocument"), "htmx should swap, not reload the page"
    page.get_by_role("link", name="Study", exact=True).click()
    expect(page.get_by_role("columnheader", name="Study", exact=True)).to_have_attribute(
        "aria-sort", "ascending"
    )
    assert rows(page) == ["Mill again", "Mill pilot"]


def test_a_study_is_archived_and_restored(page: Page, rosa: User, sign_in, tmp_path: Path):
    make_studies(tmp_path)
    sign_in(rosa)
    page.goto("/studies/")

    page.get_by_role("button", name="Archive Mill pilot").click()

    expect(page.locator("#studies tbody tr")).to_have_count(2)
    page.get_by_role("checkbox", name="Archived").check()
    expect(page.locator("#studies tbody tr")).to_have_count(1)
    page.get_by_role("button", name="Restore Mill pilot").click()
    expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()
    page.get_by_role("link", name="Show all").click()
    expect(page.locator("#studies tbody tr")).to_have_count(3)

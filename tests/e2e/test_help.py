"""Help by keyboard and without scripts: a term and the '?' open, close with Esc, and lead on."""

import pytest
from playwright.sync_api import Browser, expect

from tests.annotation.makers import material, opened
from tests.e2e.help_walk import open_help, open_term
from tests.e2e.walk import in_hand

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_term_opens_by_keyboard_closes_by_esc_and_leads_to_the_glossary(
    page, sign_in, rosa, tmp_path
):
    material(tmp_path)
    sign_in(rosa)
    page.goto("/metrics/new/")
    meaning = page.get_by_role("dialog", name="window")

    open_term("window")(page)
    expect(meaning).to_contain_text("consecutive sentences of the evidence")
    page.keyboard.press("Escape")
    expect(meaning).to_be_hidden()

    open_term("window")(page)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page).to_have_url("/docs/glossary/#window")
    expect(page.locator("#window")).to_be_in_viewport()


def test_a_part_that_is_renewed_has_its_terms_once(page, sign_in, rosa, tmp_path):
    dataset = material(tmp_path)
    sign_in(rosa)
    page.goto(f"/data/{dataset.slug}/retrieval/")

    page.locator("#figures select").last.select_option(index=1)
    expect(page.locator("#term-recallk-figures")).to_have_count(1)

    open_term("Recall and precision at k")(page)
    expect(page.get_by_role("dialog", name="recall@k")).to_have_count(1)


def test_the_help_of_a_page_works_without_scripts(
    browser: Browser, live_server, page, sign_in, rosa
):
    sign_in(rosa)
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    context.add_cookies(page.context.cookies())
    plain = context.new_page()
    plain.goto("/data/")

    open_help(plain)
    plain.get_by_role("link", name="Docs: What can be imported").click()

    expect(plain.get_by_role("heading", name="What can be imported")).to_be_visible()
    context.close()


def test_the_key_of_a_rater_opens_the_keys_and_not_the_help(page, sign_in, tmp_path):
    user, path = in_hand(opened(material(tmp_path)))
    sign_in(user)
    page.goto(path)

    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    expect(page.get_by_role("dialog", name="About this page")).to_be_hidden()
    page.keyboard.press("Escape")

    open_help(page)
    expect(page.get_by_role("dialog", name="About this page")).to_contain_text(
        "Answer every question"
    )

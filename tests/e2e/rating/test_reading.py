"""Texts in a browser: their direction, and the search in rendered evidence."""

import pytest
from playwright.sync_api import expect

from tests.annotation.makers import material, opened
from tests.makers import example_row, response_row

pytestmark = pytest.mark.django_db(transaction=True)

ARABIC = "أغلق المصنع عام 1971."
FLOOD = "The mill closed in **1971**, after the *flood*."
MIXED = f"{ARABIC}\n\n{FLOOD}\n\n- {ARABIC}\n- It stood by a cafe\u0301."


def mixed(folder):
    row = example_row("e1", evidence=[{"id": "p", "text": MIXED, "title": "The mill"}])
    return material(
        folder,
        examples=[row],
        responses=[response_row("r1", "e1", text=MIXED, evidence_shown=["p"])],
    )


@pytest.mark.parametrize("text_format", ["plain", "markdown"])
def test_arabic_and_english_paragraphs_have_their_own_directions(
    page, tmp_path, rating, text_format
):
    rating(opened(mixed(tmp_path / "m"), text_format=text_format))

    for place in ("#response .response", ".passage"):
        paragraphs = page.locator(place).locator("p")
        for number, direction in ((0, "rtl"), (1, "ltr")):
            expect(paragraphs.nth(number)).to_have_css("direction", direction)
    if text_format == "markdown":
        items = page.locator(".passage li")
        expect(items.nth(0)).to_have_css("direction", "rtl")
        expect(items.nth(1)).to_have_css("direction", "ltr")


def test_the_search_finds_words_across_bold_and_italic_ones(page, tmp_path, rating):
    rating(opened(mixed(tmp_path / "m"), text_format="markdown"))
    page.keyboard.press("/")
    found, marks = page.locator("[data-find] output"), page.locator("[data-find-in] mark")

    page.keyboard.type("in 1971, after the flood")
    expect(found).to_have_text("1 of 1")
    # 'in ', the bold '1971', ', after the ' and the italic 'flood' are one match
    expect(marks).to_have_text(["in ", "1971", ", after the ", "flood"])

    page.locator("#find").fill("1971")
    expect(found).to_have_text("1 of 3")
    page.keyboard.press("Enter")
    expect(found).to_have_text("2 of 3")
    expect(page.locator("mark.is-now")).to_have_count(1)

    page.locator("#find").fill("by a caf\u00e9")  # the text has the accent as a letter of its own
    expect(found).to_have_text("1 of 1")
    expect(marks).to_have_text(["by a cafe\u0301"])

    page.locator("#find").fill("flood.It stood")  # the words of two paragraphs are no match
    expect(found).to_have_text("0 of 0")
    expect(page.locator(".passage strong")).to_have_text("1971")

    # words of the response are found by selecting them, until the selection goes
    page.locator("#response strong").dblclick()
    expect(found).to_have_text("1 of 3")
    page.get_by_role("button", name="Next match").click()
    expect(found).to_have_text("2 of 3")
    expect(marks).to_have_text(["1971"] * 3)
    page.locator("#response .response p").first.click(click_count=3)
    expect(found).to_have_text("1 of 2")
    expect(marks).to_have_text([ARABIC] * 2)
    page.evaluate("getSelection().removeAllRanges()")
    expect(found).to_have_text("0 of 0")  # The field says what is sought now.
    expect(marks).to_have_count(0)

"""The figure of a trade-off: filter, zoom by dragging, save a view, open a mark, take the PDF."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from tests.evaluation.tradeoffs.imported_setups import LARGE, SMALL, imported

VIEWS = ["Four clusters", "Golden evidence", "Large model", "Restricted, top-1"]
VIEWS += ["Restricted, top-k", "Re-ranked large", "Re-ranked small", "Close"]
CONTROLS = """() => [...document.querySelectorAll("main :is(a, button, input, select, textarea)")]
    .filter(each => each.type !== "hidden" && each.checkVisibility()).length"""

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_researcher_looks_closer_saves_what_she_sees_and_takes_it_along(
    page, sign_in, rosa, tmp_path
):
    dataset = imported(tmp_path / "own", "own")
    sign_in(rosa)
    page.set_viewport_size({"width": 1440, "height": 1600})
    page.goto(reverse("tradeoffs:tradeoff", args=[dataset.slug]))
    page.evaluate("window.sameDocument = true")
    marks, lines = page.locator("a.dot:visible"), page.locator("[data-setups] tr")
    expect(marks).to_have_count(4)
    # Besides the marks: five sections, a term, the views and the files.
    assert page.evaluate(CONTROLS) == 4 + 5 + 1 + 1 + 1
    marks.first.focus()
    expect(page.locator(".plot-card")).to_have_text(re.compile("attribution 0.*4 examples$"))

    page.get_by_text("Counted:").click()
    page.get_by_role("checkbox", name=SMALL).click()
    expect(marks).to_have_count(3)
    expect(page).to_have_url(re.compile(r"\?model=M\+540B$"))

    # From attribution 0.5 and sensibleness 0.9 to the lower right: only (0.75, 0.75) is in there.
    frame = page.locator(".plot--desk .axis").bounding_box()
    window = [
        float(end) for end in page.locator(".plot--desk").get_attribute("data-window").split()
    ]

    def place(x, y):
        x_from, x_to, y_from, y_to = window
        across, up = (x - x_from) / (x_to - x_from), (y - y_from) / (y_to - y_from)
        return frame["x"] + across * frame["width"], frame["y"] + (1 - up) * frame["height"]

    page.mouse.move(*place(0.5, 0.9))
    page.mouse.down()
    page.mouse.move(*place(0.9, 0.7), steps=4)
    page.mouse.up()
    expect(marks).to_have_count(1)
    page.locator("#setups summary").click()
    expect(lines.filter(visible=True)).to_have_count(3)
    assert float(page.get_by_label("Attribution from").input_value()) == pytest.approx(
        0.5, abs=0.01
    )

    page.get_by_text("Save this view").first.click()
    page.get_by_label("Name of this view").fill("Close")
    assert page.evaluate("window.sameDocument"), "htmx should swap, not reload the page"
    page.get_by_role("button", name="Save this view").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Close")
    expect(page).to_have_title("Close · own · Attest")
    page.get_by_role("button", name="View: Close").click()
    views = page.get_by_role("navigation", name="Views").get_by_role("link")
    assert [each.split("\n")[0] for each in views.all_inner_texts()] == VIEWS
    expect(page.get_by_role("link", name="Close")).to_have_attribute("aria-current", "page")
    page.keyboard.press("Escape")
    expect(marks).to_have_count(1)

    with page.expect_download() as started:
        page.get_by_role("button", name="Download figure").click()
        page.get_by_role("link", name="PDF").click()
    page.keyboard.press("Escape")
    assert started.value.path().read_bytes().startswith(b"%PDF")

    page.get_by_role("link", name="Show all").click()
    expect(marks).to_have_count(3)

    # A phone shows the whole plane without scrolling, and opens the same responses.
    page.set_viewport_size({"width": 390, "height": 844})
    expect(marks).to_have_count(3)
    plane = page.locator(".plot--phone")
    assert plane.evaluate("plot => plot.scrollWidth <= plot.clientWidth")
    assert plane.locator(".axis").bounding_box()["width"] > 250
    page.locator("a.dot[aria-label^='One-shot']:visible").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("one-shot")
    expect(page.get_by_role("row")).to_have_count(5)  # a head, and four responses
    assert LARGE in page.locator(".facts").inner_text()

"""Responses side by side and in turn, pairs, and texts of every kind."""

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from annotation.models import Vote, VoteChange
from tests.annotation.makers import material, opened
from tests.e2e.rating.keys import (
    ALL_YES,
    press,
    submitted,
)
from tests.makers import example_row, response_row


def heights(page):
    """Return the heights of the desk, the dialog and the evidence."""
    return [
        page.locator(selector).evaluate("each => each.getBoundingClientRect().height")
        for selector in (".desk", "#dialog", "#evidence")
    ]


@pytest.mark.parametrize(("n_turns", "is_long"), [(1, False), (41, True)])
def test_a_dialog_takes_the_height_that_it_needs_up_to_a_half(
    page, tmp_path, rating, n_turns, is_long
):
    speakers = [("user", "assistant")[n % 2] for n in range(n_turns)]
    turns = [{"speaker": speaker, "text": "Did the mill close?"} for speaker in speakers]
    responses = [response_row(key, "e1", setup=f"model-{key}") for key in ("a", "b")]
    examples = [example_row("e1", turns=turns)]
    dataset = material(tmp_path / "m", examples=examples, responses=responses)
    rating(opened(dataset, arms=["merged"]))

    for width, height in ((1440, 900), (1280, 720)):
        page.set_viewport_size({"width": width, "height": height})
        desk, dialog, evidence = heights(page)
        widths = [page.locator(each).first.bounding_box()["width"] for each in ("#evidence", "td")]
        assert widths == [pytest.approx(0.42 * width, abs=2), pytest.approx(150, abs=6)]
        assert dialog + evidence == pytest.approx(desk, abs=2)
        if is_long:
            assert dialog == pytest.approx(desk / 2, abs=2)
        else:
            assert dialog < desk / 3
        shoot(page, f"desk-{n_turns}-{width}")
    page.set_viewport_size({"width": 390, "height": 844})
    shoot(page, f"desk-{n_turns}-390")


def shoot(page, name):
    if folder := os.environ.get("SHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png")


# --- other layouts ---------------------------------------------------------------------------


def test_responses_side_by_side(page, tmp_path, rating, live_server):
    merged = opened(material(tmp_path / "m", setups=["a", "b", "c"]), arms=["merged"])
    rating(merged)
    now, last = page.locator("td.is-now"), page.locator("#attributable-3")

    place = last.bounding_box()
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-missing]")).to_have_text("21 answers are missing.")
    assert last.bounding_box() == place  # what is said moves no question
    press(page, ALL_YES + "n")  # down the first column, then the second one
    expect(page.locator("[data-answered]")).to_have_text("8 of 15 answered")
    expect(now).to_have_attribute("id", "understand-3")
    press(page, "jh")
    expect(now).to_have_attribute("id", "relevant-1")  # the second is not asked
    press(page, "ljk")
    expect(now).to_have_attribute("id", "relevant-3")
    expect(page.get_by_text("not asked").filter(visible=True)).to_have_count(6)
    page.locator("#attributable-1").get_by_label("Yes").click()  # A click goes there too.
    expect(now).to_have_attribute("id", "understand-3")
    press(page, ALL_YES)
    page.locator("#evidence_contradicts-3").get_by_label("Yes").check()
    expect(page.get_by_text("Response 3: Questions 5 and 7 cannot both be yes.")).to_be_visible()
    page.locator("#evidence_contradicts-3").get_by_label("No").check()
    page.get_by_role("button", name="Submit all 3").click()

    expect(page.locator(".seg input:checked")).to_have_count(0)
    assert Vote.objects.count() == 21
    assert Vote.objects.filter(is_implied=True).values("target").distinct().count() == 1


def test_responses_in_turn(page, tmp_path, rating, live_server):
    dataset = material(tmp_path / "m", setups=["a", "b"])
    rating(opened(dataset, arms=["merged"], merged_layout="in_turn"))

    press(page, ALL_YES + "n")

    expect(page.locator("[data-answered]")).to_have_text("8 of 8 answered")
    submitted(page)
    assert Vote.objects.count() == 14


def test_pairs_take_one_key_each_and_can_be_undone(page, tmp_path, rating, live_server):
    text = "Crane was born in 1871 [Q1, date of birth: 1871]. He died at 28 [Q1, age: 28]."
    dataset = material(
        tmp_path / "cited",
        examples=[example_row("e1")],
        responses=[
            response_row(
                "r1",
                "e1",
                text=text,
                graph_shown=[["Q1", "date of birth", "1871"], ["Q1", "age", "28"]],
            )
        ],
    )
    rating(opened(dataset, scheme="ALIGNMENT", raters=2, raters_per_unit=2))
    page.evaluate("window.sameDocument = true")

    press(page, "c")
    expect(page.get_by_role("dialog", name="The whole answer")).to_contain_text("He died at 28")
    press(page, "y")  # not while it is open
    page.keyboard.press("Escape")
    assert not Vote.objects.exists()
    press(page, "y")
    expect(page.get_by_text("Last answer: yes, saved")).to_be_visible()
    assert page.evaluate("window.sameDocument")
    press(page, "u")
    expect(page.get_by_text("your answer", exact=True)).to_be_visible()
    press(page, "n")
    expect(page.get_by_text("Last answer: no, saved")).to_be_visible()
    press(page, "y")

    expect(page.get_by_text("Nothing is left to rate. Thank you.")).to_be_visible()
    assert sorted(Vote.objects.values_list("answer", flat=True)) == [0, 1]
    assert VoteChange.objects.count() == 1


# --- texts of every kind, windows of every size ----------------------------------------------


LONG_WORD = "Donaudampfschifffahrtsgesellschaft" * 6
ARABIC = "فازت بها لاكتشاف الراديوم."


def test_difficult_texts_fit_a_narrow_window_and_large_letters(page, tmp_path, rating, live_server):
    row = example_row(
        "e1", evidence=[{"id": "p", "text": "Line. " * 3400 + LONG_WORD, "title": LONG_WORD}]
    )
    row["turns"][0]["text"] = LONG_WORD
    responses = [
        response_row(f"r{n}", "e1", setup=f"s{n}", text=text, evidence_shown=["p"])
        for n, text in enumerate([ARABIC, "<script>document.title = 'broken'</script>", LONG_WORD])
    ]
    dataset = material(tmp_path / "m", examples=[row], responses=responses)
    rating(opened(dataset, name=LONG_WORD[:90], arms=["merged"]))

    settings = page.context.new_cdp_session(page)
    for width, letters in [(1440, 16), (768, 16), (320, 16), (1440, 32), (768, 32), (640, 32)]:
        page.set_viewport_size({"width": width, "height": 800})
        settings.send("Page.setFontSizes", {"fontSizes": {"standard": letters}})
        sideways = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert sideways <= 0, (width, letters)
    assert "broken" not in page.title()
    responses_shown = page.get_by_role("region", name=re.compile(r"^Response \d"))
    arabic = responses_shown.get_by_text(ARABIC)
    assert arabic.evaluate("e => getComputedStyle(e).direction") == "rtl"

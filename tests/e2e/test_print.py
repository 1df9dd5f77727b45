"""Paper has all numbers of a page, and nothing that only a screen can use."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from generation.text.prompt_types import TWELVE
from tests.evaluation.studies.hand_made import COOL, WARM, two_arms
from tests.evaluation.tradeoffs.imported_setups import imported

pytestmark = pytest.mark.django_db(transaction=True)

A4 = {"width": 718, "height": 1047}  # 190 mm by 277 mm, without margins of 10 mm
# What runs out of the page, and controls.
FAULTS = """() => {
    const seen = [...document.querySelectorAll("main *")].filter(each => each.checkVisibility());
    const cut = each => each instanceof HTMLElement && !each.matches(".vh")
        && each.getBoundingClientRect().right > innerWidth + 1;
    const faults = seen.filter(each => cut(each) || each.matches("form, nav, input, select, .btn"));
    return faults.map(each => each.outerHTML.slice(0, 90));
}"""

# The themes of charts, once those who listen before have made them ready for paper.
WATCH = """() => addEventListener("beforeprint", () => {
    window.printed = [...document.querySelectorAll("[data-drawn]")].map(each => each.dataset.drawn);
})"""


def test_a4_has_all_setups_of_a_trade_off_and_all_scenarios_of_a_study(
    page, sign_in, rosa, tmp_path
):
    setups = [
        (model, temperature, kind.key, "yyny", "yyyn")
        for model in ("M 8B", "M 540B")
        for temperature in (0.0, 0.7)
        for kind in TWELVE
    ]
    dataset = imported(tmp_path / "own", "own", setups)
    votes = {"c1": ("nnn", "yyy"), "w1": ("yyy", "yyn")}
    study = two_arms(tmp_path / "s", votes, setups={"c1": COOL, "w1": WARM})
    sign_in(rosa)
    page.set_viewport_size(A4)
    page.emulate_media(media="print")

    page.goto(reverse("tradeoffs:tradeoff", args=[dataset.slug]))
    expect(page.locator("[data-setups] tr").filter(visible=True)).to_have_count(48)
    expect(page.locator(".plot--desk")).to_be_visible()
    assert page.evaluate(FAULTS) == []

    page.goto(reverse("evaluation:study", args=[study.slug]))
    scenarios = page.get_by_role("table", name="Question means by scenario")
    heads = scenarios.get_by_role("columnheader").all_inner_texts()
    assert [head.split()[0] for head in heads] == ["Question", *"ABCD", "Waiting", "Tied"]
    assert page.evaluate(FAULTS) == []

    page.emulate_media(media="print", color_scheme="dark")
    expect(page.locator("[data-drawn='dark false']")).not_to_have_count(0)
    page.evaluate(WATCH)
    page.pdf()
    assert set(page.evaluate("printed")) == {"light false"}
    expect(page.locator("[data-drawn='dark false']")).not_to_have_count(0)

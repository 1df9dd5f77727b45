"""The pages of a study: one click fills them, filters and choices stay in the address, charts."""

import re
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from tests.evaluation.makers_of_scores import make_run, make_scores
from tests.evaluation.studies.hand_made import COOL, WARM, two_arms
from tests.makers import rated

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def report(page, sign_in, rosa, tmp_path):
    """Open the metrics of a study of two arms, two setups and two runs."""
    arms = {f"c{n}": ("nnn", "yyy") for n in range(3)} | {f"w{n}": ("yyy", "yyn") for n in range(3)}
    study = two_arms(tmp_path / "s", arms, setups={k: COOL if k[0] == "c" else WARM for k in arms})
    for signature, score in (("old", 0.9), ("new", 0.2)):
        make_scores(make_run(study.dataset, signature=signature), dict.fromkeys(arms, score))
    sign_in(rosa)
    page.goto(reverse("evaluation:study-metrics", args=[study.slug]))
    page.evaluate("window.sameDocument = true")
    return page


def go_to(report, tab, title):
    report.get_by_role("link", name=tab, exact=True).click()
    expect(report).to_have_title(re.compile(f"^{title} · "))


def test_a_filter_and_a_run_are_chosen_and_stay_in_the_address(report):
    expect(report.get_by_label("Truth")).to_be_hidden()
    report.get_by_text("Counted:").click()
    report.get_by_label("Truth").select_option("majority of the merged arm")
    expect(report).to_have_url(re.compile(r"truth=merged"))
    auto = report.get_by_role("region", name="Runs beside people")
    expect(auto).to_contain_text("the majority of the merged arm give the same label")

    # The newest run says no to everything, the older one yes: as the merged arm does.
    expect(auto.get_by_role("link", name="lexical (new)")).to_have_attribute("aria-current", "true")
    auto.get_by_role("link", name="lexical (old)").click()
    expect(auto.get_by_role("heading", name="lexical (old)")).to_be_visible()
    expect(report).to_have_url(re.compile(r"truth=merged.*run=\d+"))
    confusion = auto.get_by_role("table", name="Confusion matrix")
    expect(confusion.get_by_role("row", name="human yes 6 100 % 0 0 %")).to_be_visible()
    assert report.evaluate("window.sameDocument"), "htmx should swap, not reload the page"

    report.reload()
    expect(auto.get_by_role("heading", name="lexical (old)")).to_be_visible()
    expect(report.get_by_label("Truth")).to_have_value("merged")
    expect(report.get_by_label("Truth")).to_be_visible()  # unfolded, as it is not the usual one

    go_to(report, "Results", "Results")
    expect(report.get_by_label("Truth")).to_have_value("merged")


def test_charts_are_drawn_in_either_theme(report):
    def stroke():
        whisker = "[data-chart=accuracy] svg .mark-rule line[stroke]"
        return report.locator(whisker).last.get_attribute("stroke")

    for name in ("accuracy", "roc", "calibration"):
        expect(report.locator(f"[data-chart={name}] svg")).to_be_visible()

    light = stroke()
    report.get_by_role("button", name="Theme").click()
    expect(report.locator("html")).to_have_attribute("data-theme", "dark")
    report.wait_for_timeout(500)
    assert stroke() != light


def test_charts_are_drawn_also_when_they_unfold(report):
    go_to(report, "Results", "Results")
    expect(report.locator("[data-chart=answer] svg")).to_be_visible()
    expect(report.locator("[data-chart=scenarios] svg")).to_have_count(0)
    report.get_by_text("The same as a chart").click()
    expect(report.locator("[data-chart=scenarios] svg")).to_be_visible()

    go_to(report, "Merged against separate", "Merged against separate")
    expect(report.locator("[data-chart=shifts] svg")).to_have_count(0)
    report.get_by_text("The shifts as a chart").click()
    expect(report.locator("[data-chart=shifts] svg")).to_be_visible()


def test_on_a_small_screen_numbers_and_the_words_of_the_chart_are_whole(report):
    report.set_viewport_size({"width": 390, "height": 844})
    auto = report.get_by_role("region", name="Runs beside people")
    chart = auto.locator("[data-chart=accuracy] svg")
    rows = auto.locator(".auto-table--names tbody tr")

    # As wide as its room and as high as the rows beside it, also after the window has changed.
    expect(chart).to_have_js_property("clientWidth", 180)
    left = box_of(auto.locator(".auto-table--names"))["right"]
    right = box_of(auto.locator(".auto-scroll"))["right"]
    for words in ("human ceiling", "majority label"):
        label = box_of(chart.get_by_text(words))
        assert left <= label["left"] < label["right"] <= right
        assert label["bottom"] <= box_of(rows.first)["top"]
    places = [box_of(chart.get_by_text(words)) for words in ("human ceiling", "majority label")]
    assert places[0]["bottom"] <= places[1]["top"] + 3, "the words lie on each other"
    assert {box_of(row)["height"] for row in rows.all()} == {48}

    go_to(report, "Results", "Results")
    number = report.locator("#scenarios .q-name .q-num").first
    drawn = number.evaluate(
        "e => { const r = document.createRange(); r.selectNodeContents(e);"
        " return r.getBoundingClientRect().left; }"
    )
    assert drawn >= box_of(report.locator("#scenarios .scroll-x").first)["left"]


def box_of(element):
    return element.evaluate("e => e.getBoundingClientRect().toJSON()")


def test_a_table_and_a_figure_are_taken_away(report):
    auto = report.get_by_role("region", name="Runs beside people")
    files = {}
    for name in ("CSV", "SVG"):
        with report.expect_download() as download:
            auto.locator(".sheet-foot").get_by_role("link", name=name).click()
        files[name] = Path(download.value.path()).read_text()

    assert files["CSV"].startswith("study,run,metric,title,")
    assert files["SVG"].startswith("<svg")
    assert "Ceiling: merged arm" in files["SVG"]


@pytest.mark.usefixtures("worker")
def test_one_click_runs_auto_ais_and_fills_the_report(page, sign_in, rosa, tmp_path):
    votes = {f"r{n}": {"attributable": ["yes", "yes", "no" if n % 2 else "yes"]} for n in range(6)}
    study = rated(tmp_path / "a", votes)
    sign_in(rosa)
    page.goto(reverse("evaluation:study-metrics", args=[study.slug]))
    page.evaluate("window.sameDocument = true")

    page.get_by_role("button", name="Run Auto-AIS").click()

    auto = page.get_by_role("region", name="Runs beside people")
    row = auto.get_by_role("row").filter(has_text="Auto-AIS, localized K = 2, added_words")
    expect(row.first).to_be_visible(timeout=30_000)
    expect(page.locator("[data-chart=accuracy] svg")).to_be_visible()
    assert page.evaluate("window.sameDocument"), "htmx should swap, not reload the page"


def test_without_scripts_figures_are_pictures_and_filters_have_a_button(
    browser, live_server, page, sign_in, rosa, tmp_path
):
    study = rated(tmp_path / "a", {f"r{n}": {"q": ["yes", "no", "no"]} for n in range(3)})
    make_scores(make_run(study.dataset), {f"r{n}": 0.9 for n in range(3)})
    sign_in(rosa)
    context = browser.new_context(
        base_url=live_server.url,
        java_script_enabled=False,
        storage_state=page.context.storage_state(),
    )
    plain = context.new_page()
    plain.goto(reverse("evaluation:study-metrics", args=[study.slug]))

    picture = plain.get_by_role("img", name="Accuracy with 95 % intervals").last
    expect(picture).to_have_attribute("src", re.compile(r"figures/accuracy\.svg"))
    plain.get_by_text("Counted:").click()
    plain.get_by_label("Count implied answers in agreement").check()
    plain.get_by_role("button", name="Apply").first.click()
    expect(plain).to_have_url(re.compile("with_implied=on"))
    context.close()

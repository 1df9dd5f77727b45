"""Answers about a graph, rated against it in a browser: alone and together, by keys, on a phone."""

import re
from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Locator, Page, expect

from accounts.models import User
from annotation.models import Rater, Study, Vote
from evaluation.exchange.demo_files import DEMO_FILES
from generation.models import Dataset
from tests.annotation.makers import claimed, opened, raters_of
from tests.e2e.axe import violations
from tests.e2e.walk import sideways
from tests.makers import import_path

pytestmark = pytest.mark.django_db(transaction=True)

ALL_YES = "yyyynyy"  # the fifth: does the evidence contradict it?
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def graph(live_server) -> Dataset:
    """Import the demo's graph: four questions, two answers to each."""
    outcome = import_path(DEMO_FILES / "graph", "Demo graph")
    assert outcome.dataset is not None
    return outcome.dataset


@pytest.fixture
def rating(page: Page, sign_in: Callable[[User], None]) -> Callable[[Study], Rater]:
    """Return a function that signs a rater in and opens their next unit."""

    def rating(study: Study) -> Rater:
        rater = raters_of(study)[0]
        assert rater.user is not None
        sign_in(rater.user)
        unit = claimed(rater)
        page.goto(reverse("annotation:rate-unit", args=[study.slug, unit.unit_id]))
        return rater

    return rating


def only(study: Study, response: str) -> Study:
    """Return a study from which all units but those with one response are let go."""
    study.assignments.exclude(unit__targets__response__key=response).update(is_let_go=True)
    return study


def tables_of(page: Page) -> Locator:
    return page.get_by_role("region", name="Evidence").get_by_role("table")


def press(page: Page, keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def submitted(page: Page) -> None:
    here = page.url
    page.keyboard.press("Control+Enter")
    expect(page).not_to_have_url(here)


def test_an_ais_study_of_the_graph_is_rated_by_keys(page, graph, rating):
    rater = rating(opened(graph))

    for _ in range(8):
        expect(tables_of(page).first).to_be_visible()
        press(page, ALL_YES)
        expect(page.get_by_text("7 of 7 answered")).to_be_visible()
        submitted(page)

    expect(page.get_by_text("Nothing is left to rate. Thank you.")).to_be_visible()
    assert Vote.objects.filter(rater=rater).count() == 8 * 7


def test_an_ais_study_of_the_graph_is_rated_side_by_side_by_keys(page, graph, rating):
    """For three questions both answers were given the same triples, for the fourth others."""
    rater = rating(opened(graph, arms=["merged"]))

    for _ in range(3):
        expect(tables_of(page).first).to_be_visible()
        press(page, ALL_YES * 2)
        expect(page.get_by_text("14 of 14 answered")).to_be_visible()
        submitted(page)

    expect(page.get_by_text("Nothing is left to rate. Thank you.")).to_be_visible()
    assert Vote.objects.filter(rater=rater).count() == 3 * 2 * 7


@pytest.mark.parametrize("arm", ["separate", "merged"])
def test_a_quality_study_of_the_graph_is_rated_by_keys(page, graph, rating, arm):
    n_units, n_responses = {"separate": (8, 1), "merged": (3, 2)}[arm]
    rater = rating(opened(graph, scheme="QUALITY", arms=[arm]))

    for _ in range(n_units):
        knowledge = page.get_by_role("region", name="Evidence for question 2")
        expect(knowledge.get_by_role("table").first).to_be_visible()
        expect(page.get_by_role("table", name=re.compile("F[1-7]"))).to_have_count(
            knowledge.get_by_role("table").count()
        )
        expect(page.locator("main")).not_to_contain_text(re.compile(r"\[F\d|\[NA\]"))
        press(page, "4532" * n_responses)
        n = 4 * n_responses
        expect(page.get_by_text(f"{n} of {n} answered")).to_be_visible()
        submitted(page)

    expect(page.get_by_text("Nothing is left to rate. Thank you.")).to_be_visible()
    votes = Vote.objects.filter(rater=rater)
    assert votes.count() == n_units * n_responses * 4
    said = dict(votes.values_list("question", "answer"))
    assert said == {"coherence": 4, "consistency": 5, "fluency": 3, "relevance": 2}


def test_the_evidence_is_announced_as_tables_with_captions_and_row_headers(page, graph, rating):
    rating(only(opened(graph), "graph-1.t0"))

    light = page.get_by_role("table", name="Ansel Light, F4")

    expect(light.get_by_role("columnheader")).to_have_text(["Relation", "Value"])
    row = light.get_by_role("row").filter(has=page.get_by_role("rowheader", name="height"))
    expect(row.get_by_role("cell")).to_contain_text("41 metres")
    expect(page.get_by_role("heading", name="Ansel Light F4")).to_be_visible()
    names = ["Ilva Marren, F1", "Tomas Sund, F3", "Ansel Light, F4"]
    for name in names:
        expect(page.get_by_role("table", name=name)).to_have_count(1)


def test_a_citation_leads_to_its_row_and_back_by_keys(page, graph, rating):
    rating(only(opened(graph, response_order="fixed", arms=["merged"]), "graph-1.t0"))
    page.evaluate("window.sameDocument = true")
    # The second citation of the first answer is the height of the light.
    citation = page.get_by_role("link", name="Citation 1.2, to the evidence")

    press(page, "y")
    citation.focus()
    page.keyboard.press("Enter")
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="height"))
    expect(row).to_be_focused()
    expect(row).to_be_in_viewport()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Back to citation 1.2")).to_be_focused()
    page.keyboard.press("Enter")

    expect(citation).to_be_focused()
    assert page.evaluate("window.sameDocument")
    assert "#" not in page.url  # nothing for the history
    # 45 metres is in no row: text, without a link.
    expect(page.get_by_text("[F4, height: 45 metres]")).to_be_visible()
    expect(page.get_by_role("link", name="Citation 2.2, to the evidence")).to_have_count(0)
    expect(page.locator(".seg input:checked")).to_have_count(1)
    press(page, "y")  # goes on where it was
    expect(page.locator(".seg input:checked")).to_have_count(2)


def test_find_looks_into_the_tables(page, graph, rating):
    rating(only(opened(graph), "graph-1.t0"))

    press(page, "/")
    page.keyboard.type("light")

    # lighthouse engineer; Ansel Light, as a work and as a heading; lighthouse; light characteristic
    expect(page.locator("[data-find] output")).to_have_text("1 of 5")
    expect(page.locator("mark")).to_have_count(5)


@pytest.mark.parametrize("arm", ["separate", "merged"])
def test_on_a_phone_a_citation_is_followed_by_touch(page, graph, rating, arm):
    page.set_viewport_size(PHONE)
    rating(only(opened(graph, arms=[arm], response_order="fixed"), "graph-2.t0"))

    link = page.get_by_role("link", name=re.compile("^Citation .*1, to the evidence")).first
    link.click()
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="service entry"))
    expect(row).to_be_in_viewport()
    row.get_by_role("link").first.click()

    expect(page.get_by_role("link", name=re.compile("to the evidence$")).first).to_be_in_viewport()
    assert not [*violations(page), *sideways(page)]


@pytest.mark.parametrize("arm", ["separate", "merged"])
def test_quality_is_rated_on_a_phone(page, graph, rating, arm):
    page.set_viewport_size(PHONE)
    rater = rating(only(opened(graph, scheme="QUALITY", arms=[arm]), "graph-1.t0"))
    positions = (1, 2) if arm == "merged" else (1,)

    knowledge = page.get_by_role("region", name="Evidence for question 2")
    knowledge.scroll_into_view_if_needed()
    expect(knowledge.get_by_role("table", name="Ilva Marren, F1")).to_be_visible()
    assert not [*violations(page), *sideways(page)]
    for position in positions:
        for key in ("coherence", "consistency", "fluency", "relevance"):
            page.locator(f"#{key}-{position}").get_by_role("radio", name="4").check()
    page.get_by_role("button", name=re.compile("^Submit")).click()

    expect(page.locator(".seg input:checked")).to_have_count(0)
    assert Vote.objects.filter(rater=rater, answer=4).count() == 4 * len(positions)


def test_without_a_script_the_links_are_links(page, browser, graph, live_server, sign_in):
    study = only(opened(graph), "graph-2.t0")
    rater = raters_of(study)[0]
    sign_in(rater.user)
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    context.add_cookies(page.context.cookies())
    plain = context.new_page()
    plain.goto(reverse("annotation:rate-unit", args=[study.slug, claimed(rater).unit_id]))

    plain.get_by_role("link", name="Citation 1, to the evidence").click()

    expect(plain).to_have_url(re.compile(r"#fact-1-\d+$"))
    expect(plain.locator("tr:target")).to_contain_text("1 March 1846")
    context.close()

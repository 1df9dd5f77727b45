"""A researcher plans a grid, watches a real worker ask it, stops it, and reads its results."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import Locator, Page, expect

from generation.models import Call, Checkpoint, Grid
from tests.e2e.journey import ENDS_WITHIN, Mouse
from tests.generation.grid_runs import valley
from tests.language_model_server import says, stand_in

pytestmark = pytest.mark.django_db(transaction=True)

N_EXAMPLES = 12
# Two prompt types at two temperatures; one example has no golden evidence.
N_CALLS = 2 * N_EXAMPLES + 2 * (N_EXAMPLES - 1)


@pytest.fixture
def dataset(tmp_path):
    return valley(tmp_path, N_EXAMPLES)


@pytest.fixture
def told():
    """Return the name of a listed model behind a slow server."""
    with stand_in() as server:
        server.otherwise = says(" It closed long ago. [eot]", after=0.2)
        Checkpoint.objects.create(
            name="slow-server", backend="openai", location=server.url, served_name="told"
        )
        yield "slow-server"


def bar(page: Page) -> Locator:
    return page.get_by_role("progressbar").first


def is_between(page: Page) -> None:
    """Wait until the bar is neither empty nor full."""
    expect(bar(page)).to_have_attribute(
        "aria-label",
        re.compile(rf": (?!0 )(?!{N_CALLS} )\d+ of {N_CALLS}$"),
        timeout=20_000,
    )


@pytest.mark.usefixtures("worker")
def test_a_grid_is_planned_watched_cancelled_resumed_and_read(page, sign_in, rosa, dataset, told):
    sign_in(rosa)
    page.goto(reverse("generation:dataset", args=["valley"]))
    page.get_by_role("link", name="New grid").click()
    page.evaluate("window.sameDocument = true")
    page.get_by_label("Name").fill("pilot")
    for prompt in page.get_by_role("group", name="Prompt types").get_by_role("checkbox").all():
        prompt.set_checked(prompt.get_attribute("value") in ("no-evidence", "golden"))
    page.get_by_role("checkbox", name=told).check()
    page.get_by_role("checkbox", name="extractive").uncheck()
    expect(page.get_by_role("status")).to_contain_text("4 setups × 12 examples: at most 48 calls.")
    assert page.evaluate("window.sameDocument"), "htmx should count, not a page load"
    page.get_by_role("button", name="Preview calls and cost").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("pilot")
    page.evaluate("window.sameDocument = true")
    start = page.get_by_role("button", name=f"Start {N_CALLS} calls")
    expect(start).to_be_visible(timeout=ENDS_WITHIN)
    plan = page.get_by_role("table", name="Planned calls by model")
    expect(plan).to_contain_text("no golden evidence")
    assert page.evaluate("window.sameDocument"), "htmx should bring the plan, not a page load"
    start.click()

    page.evaluate("window.sameDocument = true")
    is_between(page)
    assert page.evaluate("window.sameDocument"), "htmx should move the bar, not a page load"
    page.get_by_role("button", name="Cancel pilot").click()
    expect(page.get_by_text("cancelled", exact=True)).to_be_visible()
    grid = Grid.objects.get()
    assert grid.state == "cancelled"
    assert 0 < Call.objects.count() < N_CALLS

    page.get_by_role("link", name="Grids").first.click()
    page.get_by_role("button", name="Resume pilot").click()
    page.evaluate("window.sameDocument = true")
    expect(page.get_by_text("done", exact=True)).to_be_visible(timeout=ENDS_WITHIN)
    expect(page.get_by_text(f"{N_CALLS} calls")).to_be_visible()
    assert page.evaluate("window.sameDocument"), "the list should come by htmx as well"
    assert Call.objects.filter(response__isnull=False).count() == N_CALLS

    page.get_by_role("link", name="pilot").click()
    page.get_by_role("table", name="Calls by setup").get_by_role(
        "link", name="golden"
    ).first.click()
    page.get_by_role("table", name="Calls, in the order").get_by_role("link", name="e7").click()
    prompt = page.get_by_role("region", name="Prompt")
    expect(prompt).to_contain_text("Fact: Mill 7 closed in 1907.")
    expect(prompt).to_contain_text("System’s message")  # the server takes chats
    expect(prompt).to_contain_text("When did mill 7 close?")
    said = page.get_by_role("region", name="Response").locator(".response").text_content()
    page.get_by_role("link", name="Its votes and scores").click()
    expect(page.get_by_role("heading", name="Dialog and response")).to_be_visible()
    expect(page.locator(".turn--response")).to_contain_text(said.strip())


def test_a_refused_grid_leads_to_its_first_mistake(page, sign_in, rosa, dataset):
    sign_in(rosa)
    page.goto(reverse("grids:new"))

    page.get_by_label("Temperatures").fill("warm")
    page.get_by_role("button", name="Preview calls and cost").click()

    expect(page.get_by_text("Not planned.")).to_be_visible()
    expect(page.get_by_label("Temperatures")).to_be_focused()
    expect(page.get_by_text("Found 'warm'; expected a number")).to_be_visible()
    assert not Grid.objects.exists()


@pytest.mark.usefixtures("worker")
def test_from_home_a_grid_is_asked_scored_and_drawn_in_four_clicks(page, sign_in, rosa, tmp_path):
    valley(tmp_path, 3)
    sign_in(rosa)
    mouse = Mouse(page)

    mouse.press("link", "New grid")
    mouse.press("button", "Preview calls and cost")
    mouse.press("button", re.compile(r"^Start \d+ calls$"))
    mouse.press("button", "Score these responses")

    expect(page.locator("a.dot:visible").first).to_be_visible(timeout=ENDS_WITHIN)
    mouse.needs_at_most(clicks=4)

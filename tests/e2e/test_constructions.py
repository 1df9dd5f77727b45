"""A construction in the browser: uploaded, written by a scripted model, reviewed, published."""

import os
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import FilePayload, Page, expect

from accounts.access import Role
from generation.models import ConstructionEntry, Dataset
from generation.retrieval.entities import recogniser_for
from tests.conftest import person
from tests.constructed_entries import rows
from tests.e2e.axe import violations
from tests.e2e.test_accessibility import DESK, PHONE
from tests.e2e.walk import sideways
from tests.evaluation.graphs.construction.constructions import listed, writer_server

pytestmark = pytest.mark.django_db(transaction=True)

WITHIN = 60_000  # ms
COLUMNS = ("paragraph", "name_1", "relation", "name_2")


def test_a_construction_from_its_entries_to_its_dataset(page, sign_in, worker, oxigraph):
    sign_in(person("ada", Role.ADMIN))
    page.set_viewport_size(DESK)
    with writer_server() as server:
        listed(server)
        page.goto(reverse("graphs:graphs"))
        page.get_by_role("link", name="Construct a dataset").click()
        page.get_by_role("link", name="New construction").first.click()
        check(page)
        start(page, oxigraph.url)
        expect(page.get_by_role("link", name="Review")).to_be_visible(timeout=WITHIN)
        expect(page.locator(".run .tag")).to_have_text("done", timeout=WITHIN)
    review(page)
    publish(page)


def check(page: Page) -> None:
    """Upload three entries and one with a name too short; look at what the check says."""
    first = [row for row, _ in zip(rows(), range(3), strict=False)]
    lines = [",".join(f'"{row[name]}"' for name in COLUMNS) for row in first]
    text = "\n".join([",".join(COLUMNS), *lines, "Anne.,Anne,spouse,William Shakespeare"])
    upload = FilePayload(name="four.csv", mimeType="text/csv", buffer=text.encode())
    page.get_by_label("Choose a file of entries").set_input_files(upload)
    page.get_by_role("button", name="Check the file").click()

    held = page.get_by_role("region", name="What the file holds")
    expect(held.get_by_role("row", name="To be looked up")).to_contain_text("3")
    expect(held.get_by_role("row", name="Left out: incomplete name")).to_contain_text("1")
    assert not list(complaints(page, "checked"))


def start(page: Page, endpoint: str) -> None:
    page.get_by_text("How it writes:").click()
    page.get_by_label("Rounds").fill("2")
    page.get_by_text("Endpoint: https://query.wikidata.org").click()
    page.get_by_label("Endpoint", exact=True).fill(endpoint)
    page.get_by_role("button", name="Start the construction").click()
    expect(page.get_by_role("alert")).to_contain_text("Not started.")
    page.get_by_label("Allow an endpoint in our own network").check()
    page.get_by_role("button", name="Start the construction").click()
    page.get_by_role("button", name="Start: 12 calls at most").click()


def review(page: Page) -> None:
    """Keep the first with a member taken out, edit the second, drop the third: all by keys."""
    page.get_by_role("link", name="Review").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Artemisia Gentileschi")
    page.wait_for_load_state()  # the script for keys is loaded too
    last = page.get_by_role("row").filter(has=page.get_by_role("checkbox")).last
    last.get_by_role("checkbox").focus()
    page.keyboard.press("Space")
    page.keyboard.press("k")
    expect(page.get_by_text("entry 2 of 4")).to_be_visible()
    page.wait_for_load_state()

    page.keyboard.press("e")
    page.keyboard.type("Who taught Artemisia?")
    page.keyboard.press("Escape")
    page.keyboard.press("k")
    expect(page.get_by_text("entry 3 of 4")).to_be_visible()
    page.wait_for_load_state()

    page.keyboard.press("d")
    page.keyboard.press("Enter")
    expect(
        page.get_by_text("Say why you drop the question. The reason is kept with it.")
    ).to_be_visible()
    expect(page.get_by_label("Why it is dropped")).to_be_focused()
    page.keyboard.type("It cannot be understood.")
    page.keyboard.press("Enter")

    expect(
        page.get_by_text("You have decided about every question of this construction.")
    ).to_be_visible()
    reviewed = ConstructionEntry.objects.exclude(verdict="").order_by("number")
    assert [(e.verdict, len(e.taken_out), e.edited_question) for e in reviewed] == [
        ("keep", 1, ""),
        ("keep", 0, "Who taught Artemisia?"),
        ("drop", 0, ""),
    ]


def publish(page: Page) -> None:
    page.get_by_label("Dataset", exact=True).fill("families")
    page.get_by_role("button", name="Make a dataset of 2 questions").click()
    expect(page.get_by_text("families was made from four.")).to_be_visible()
    recogniser_for(Dataset.objects.get().pk)  # loads spaCy, which takes longer than a page should
    page.get_by_role("link", name="Who taught Artemisia?").click()

    needed = page.get_by_role("table", name="The triples that an answer needs")
    expect(needed.locator("tbody tr")).to_have_count(2)
    expect(needed).to_contain_text("father: Orazio Gentileschi")
    page.goto(reverse("graphs:graph", args=["families"]))
    page.get_by_role("link", name="Construction", exact=True).click()
    expect(
        page.get_by_text("Decisions that you make from now on do not change them.")
    ).to_be_visible()


def complaints(page: Page, name: str):
    """Yield what is wrong with a page: with its widths on a phone and a desk, else at a desk."""
    for size in (PHONE, DESK):
        page.set_viewport_size(size)
        yield from sideways(page)
        if folder := os.environ.get("SHOTS"):
            page.screenshot(path=Path(folder) / f"{name}-{size['width']}.png", full_page=True)
    yield from violations(page)

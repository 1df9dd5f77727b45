"""A graph is imported, asked, walked through step by step, and its citations reported."""

import json
import zipfile
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from generation.models import Dataset
from tests.e2e.journey import ENDS_WITHIN, Mouse
from tests.graph_material import ENTITIES, QUESTION, QUESTIONS, hathaways

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def graph_zip(tmp_path: Path) -> Path:
    path = tmp_path / "graph.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for kind, rows in (("entities", ENTITIES), ("kg_questions", QUESTIONS)):
            archive.writestr(f"{kind}.jsonl", "\n".join(json.dumps(row) for row in rows))
    return path


@pytest.mark.usefixtures("worker")
def test_a_graph_is_imported_asked_and_its_citations_are_reported(
    page, sign_in, adam, rosa, graph_zip
):
    sign_in(adam)
    page.goto(reverse("graphs:graphs"))
    page.get_by_role("link", name="Import a graph").click()
    page.get_by_label("Choose a file").set_input_files(graph_zip)
    page.get_by_label("Dataset").fill("Hathaways")
    page.get_by_role("button", name="Check the file").click()
    page.get_by_role("button", name="Import", exact=False).first.click(timeout=ENDS_WITHIN)
    expect(page.get_by_text("Imported into").first).to_be_visible(timeout=ENDS_WITHIN)
    assert Dataset.objects.get().entities.count() == len(ENTITIES)

    sign_in(rosa)
    mouse = Mouse(page)
    mouse.press("link", "Graph")
    page.evaluate("window.sameDocument = true")
    page.get_by_role("searchbox").fill("bard")
    rows = page.get_by_role("table", name="Entities, by label").get_by_role("row")
    expect(rows).to_have_count(2)  # one of them is the heading
    assert page.evaluate("window.sameDocument"), "htmx should find, not a page load"

    mouse.press("link", "Ask a question")
    mouse.fill("Question", QUESTION)
    mouse.press("button", "Ask")
    expect(page.get_by_role("heading", level=1)).to_have_text(QUESTION)
    expect(page.locator("mark").first).to_have_text("Anne Hathaway1")
    chosen = page.get_by_role("row", name="✓ chosen")
    expect(chosen).to_have_count(2)
    expect(chosen.first).to_contain_text("William Shakespeare")  # the neighbour that was named
    answer = page.get_by_role("region", name="1 answer")
    expect(
        answer.get_by_role("table", name="Citations by sentence, in reading order")
    ).to_be_visible(timeout=ENDS_WITHIN)
    expect(answer.locator(".cite").first).to_be_visible()
    expect(page.get_by_text("The answer is being made.")).to_have_count(0)

    mouse.press("link", "Experiments")
    mouse.press("link", "Citation quality")
    result = page.get_by_role("table", name="Citation quality by model and temperature")
    expect(result.get_by_role("link", name="extractive (0.0)").first).to_be_visible()
    mouse.needs_at_most(clicks=5, fields=1)


def test_the_picture_is_walked_by_keyboard(page, sign_in, rosa, tmp_path):
    dataset = hathaways(tmp_path)
    sign_in(rosa)
    page.goto(reverse("graphs:entity", args=[dataset.slug, dataset.entities.get(qid="Q1").pk]))
    neighbour = page.get_by_role("link", name="spouse: William Shakespeare")
    expect(neighbour).to_have_count(1)  # one of the two pictures is shown

    neighbour.focus()
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", level=1)).to_have_text("William Shakespeare")
    page.set_viewport_size({"width": 390, "height": 844})
    back = page.get_by_role("link", name="spouse: Anne Hathaway")
    expect(back).to_have_count(1)
    back.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Anne Hathaway")
    expect(page.get_by_role("link", name="Anne Hathaway (Q2")).to_be_visible()


def test_names_of_the_picture_fit_their_boxes_in_a_real_browser(page, sign_in, rosa, tmp_path):
    long = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
    names = [long, "MWMWMW WMWMWM MWMWMW WMWMWM MWMWMW", "東京都千代田区千代田一丁目一番一号皇居"]
    triples = [{"relation": f"{name} {n}", "value": name} for n, name in enumerate(names)]
    entity = {"qid": "Q1", "label": long.upper(), "triples": triples}
    dataset = hathaways(tmp_path, entities=[entity], kg_questions=[])
    sign_in(rosa)
    address = reverse("graphs:entity", args=[dataset.slug, dataset.entities.get().pk])

    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(address)
        too_wide = page.evaluate(
            """() => [...document.querySelectorAll('.hop-node')]
            .filter(node => node.getClientRects().length)
            .flatMap(node => [...node.querySelectorAll('text')].filter(text =>
                text.getBBox().width > node.querySelector('rect').getBBox().width)
                .map(text => text.textContent))"""
        )
        assert too_wide == [], width

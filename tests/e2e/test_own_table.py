"""A table of one's own, from upload to an open study, in few clicks and by keyboard alone."""

import csv
import random
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from openpyxl import Workbook
from playwright.sync_api import Page, expect

from annotation.models import Study
from generation.models import Dataset
from tests.annotation.planned import make_raters
from tests.e2e.journey import Keyboard, Mouse
from tests.e2e.rating.keys import ALL_YES

HEADER = ["question", "context", "answer", "model"]
SENTENCE = "the light stands on a rock north of the old port and was built by hand of grey stone"


def rows() -> list[list[str]]:
    """Thirty responses to fifteen questions: long contexts, Arabic, emoji, HTML, citations."""
    drawn = random.Random(1)
    found = []
    for number in range(15):
        n_words = 500 + 2_500 * number // 14
        context = " ".join(drawn.choices(SENTENCE.split(), k=n_words)).capitalize() + "."
        question = f"Who built light number {number}?"
        answer = " ".join(f"It was number {n} [{n}]." for n in range(1, 21))
        if number == 1:
            question, answer = "من بنى المنارة؟", "بنتها إيلفا مارين عام ١٨٤٦."
        if number == 2:
            answer = "Ilva Marren 🗼 <b>built</b> it & <script>nobody</script> else."
        found += [
            [question, context, answer, "small"],
            [question, context, f"{answer} Sure.", "large"],
        ]
    return found


def as_csv(path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([HEADER, *rows()])


def as_workbook(path: Path) -> None:
    book = Workbook(write_only=True)
    sheet = book.create_sheet()
    for row in (HEADER, *rows()):
        sheet.append(row)
    book.save(path)


def as_parquet(path: Path) -> None:
    pq.write_table(pa.table(dict(zip(HEADER, zip(*rows(), strict=True), strict=True))), path)


# Two models that answer three questions: short enough to be checked at once.
PASTED = "\n".join(
    [
        "\t".join(HEADER),
        *(
            f"Who built light {n}?\tAda Marren built light {n}.\tIt was Ada {n}.\t{model}"
            for n in (1, 2, 3)
            for model in ("small", "large")
        ),
    ]
)


def plan_and_open(page: Page, somebody: Mouse) -> Study:
    """Take what was just imported to an open study."""
    somebody.press("link", "New study")
    somebody.fill("Name", "Lights")
    for label in ("large", "small", "Every account with the rater role"):
        somebody.tick(label)
    somebody.press("button", "Plan the study")
    somebody.press("button", "Open the study")
    expect(page.get_by_role("heading", name="The study is open")).to_be_visible()
    study = Study.objects.get()
    assert (study.state, study.dataset) == (Study.State.OPEN, Dataset.objects.get())
    return study


def open_a_study(page: Page, somebody: Mouse, path: Path) -> None:
    """Take a table from Home to an open study."""
    somebody.press("link", "Import data")
    somebody.choose_file(path)
    somebody.press("button", "Check the file")
    expect(page.get_by_role("heading", name="Every row can be read")).to_be_visible()
    columns = page.get_by_role("form", name="Columns of the file")
    for column, role in zip(HEADER, ("question", "shown", "response", "setup"), strict=True):
        expect(columns.get_by_label(f"What {column} is")).to_have_value(role)
    expect(page.get_by_text("intervals treat each example as a dialog")).to_be_visible()
    expect(page.get_by_role("heading", name="Example 1, as raters will see it")).to_be_visible()
    somebody.press("button", "Import")
    study = plan_and_open(page, somebody)
    assert study.dataset.responses.count() == 30
    assert study.dataset.examples.count() == 15


@pytest.mark.parametrize(
    ("name", "write"), [("answers.xlsx", as_workbook), ("answers.parquet", as_parquet)]
)
@pytest.mark.usefixtures("worker")
def test_a_table_becomes_an_open_study_in_eleven_clicks(page, sign_in, adam, tmp_path, name, write):
    write(tmp_path / name)
    make_raters(5)
    sign_in(adam)
    mouse = Mouse(page)

    open_a_study(page, mouse, tmp_path / name)

    mouse.needs_at_most(clicks=11, fields=1)


@pytest.mark.usefixtures("worker")
def test_a_researcher_does_it_by_keyboard_alone(page, sign_in, rosa, tmp_path):
    as_csv(tmp_path / "answers.csv")
    make_raters(5)
    sign_in(rosa)

    open_a_study(page, Keyboard(page), tmp_path / "answers.csv")


@pytest.mark.usefixtures("worker")
def test_pasted_rows_are_rated_and_read(page, sign_in, adam):
    raters = make_raters(5)
    sign_in(adam)
    mouse = Mouse(page)
    mouse.press("link", "Import data")
    mouse.fill("Or paste rows here", PASTED)
    mouse.press("button", "Check the file")
    mouse.press("button", "Import")
    plan_and_open(page, mouse)
    mouse.needs_at_most(clicks=9, fields=2)

    sign_in(raters[0])
    rater = Mouse(page)
    rater.press("button", re.compile("^Rate next"))
    for question, key in zip(page.locator("fieldset.question").all(), ALL_YES, strict=True):
        rater.answer(question, {"y": "Yes", "n": "No"}[key])
    rater.press("button", re.compile("^Submit"))
    expect(page.locator(".just-submitted")).to_be_visible()
    rater.needs_at_most(clicks=9)

    sign_in(adam)
    reader = Mouse(page)
    reader.press("link", "Results")
    expect(page.get_by_text("Interim")).to_be_visible()
    reader.needs_at_most(clicks=1)

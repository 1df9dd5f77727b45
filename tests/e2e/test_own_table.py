"""A table of one's own, from upload to an open study, in few clicks and by keyboard alone."""

import csv
import random
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.urls import reverse
from openpyxl import Workbook
from playwright.sync_api import Page, expect

from annotation.models import Study
from generation.models import Dataset
from tests.annotation.planned import make_raters

HEADER = ["question", "context", "answer", "model"]
SENTENCE = "the light stands on a rock north of the old port and was built by hand of grey stone"
MOST_CLICKS = 12
Role = Literal["button", "link"]


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


class Mouse:
    """A user with a mouse, whose clicks are counted."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.n_clicks = 0

    def press(self, role: Role, name: str) -> None:
        """Press a link or a button."""
        self._page.get_by_role(role, name=name, exact=True).first.click()
        self.n_clicks += 1

    def tick(self, label: str) -> None:
        self._page.get_by_role("checkbox", name=label).first.check()
        self.n_clicks += 1

    def choose_file(self, path: Path) -> None:
        self._page.get_by_label("Choose a file").set_input_files(path)
        self.n_clicks += 2  # the browser's own dialog: open it, choose


class Keyboard:
    """A user without a mouse, who presses the focused element by Enter, and ticks it by Space."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def press(self, role: Role, name: str) -> None:
        self._page.get_by_role(role, name=name, exact=True).first.focus()
        self._page.keyboard.press("Enter")

    def tick(self, label: str) -> None:
        self._page.get_by_role("checkbox", name=label).first.focus()
        self._page.keyboard.press("Space")

    def choose_file(self, path: Path) -> None:
        field = self._page.get_by_label("Choose a file")
        field.focus()
        expect(field).to_be_focused()
        field.set_input_files(path)  # the dialog is the browser's own


def open_a_study(page: Page, somebody: Mouse | Keyboard, path: Path) -> None:
    """Take a table from the home page to an open study."""
    page.goto(reverse("home"))
    somebody.press("link", "Datasets")
    somebody.press("link", "Import")
    somebody.choose_file(path)
    somebody.press("button", "Check the file")
    expect(page.get_by_role("heading", name="Every row can be read")).to_be_visible()
    columns = page.get_by_role("form", name="Columns of the file")
    for column, role in zip(HEADER, ("question", "shown", "response", "setup"), strict=True):
        expect(columns.get_by_label(f"What {column} is")).to_have_value(role)
    expect(page.get_by_text("intervals treat each example as a dialog")).to_be_visible()
    expect(page.get_by_role("heading", name="Example 1, as raters will see it")).to_be_visible()
    somebody.press("button", "Import")
    somebody.press("link", "New study")
    page.get_by_label("Name", exact=True).fill("Lights")
    for label in ("large", "small", "Every account with the rater role"):
        somebody.tick(label)
    somebody.press("button", "Plan the study")
    somebody.press("button", "Open the study")
    expect(page.get_by_role("heading", name="The study is open")).to_be_visible()
    study = Study.objects.get()
    assert (study.state, study.dataset) == (Study.State.OPEN, Dataset.objects.get())
    assert study.dataset.responses.count() == 30
    assert study.dataset.examples.count() == 15


@pytest.mark.parametrize(
    ("name", "write"),
    [("answers.csv", as_csv), ("answers.xlsx", as_workbook), ("answers.parquet", as_parquet)],
)
@pytest.mark.usefixtures("worker")
def test_a_table_becomes_an_open_study_in_twelve_clicks(page, sign_in, adam, tmp_path, name, write):
    write(tmp_path / name)
    make_raters(5)
    sign_in(adam)
    mouse = Mouse(page)

    open_a_study(page, mouse, tmp_path / name)

    assert mouse.n_clicks <= MOST_CLICKS


@pytest.mark.usefixtures("worker")
def test_a_researcher_does_it_by_keyboard_alone(page, sign_in, rosa, tmp_path):
    as_csv(tmp_path / "answers.csv")
    make_raters(5)
    sign_in(rosa)

    open_a_study(page, Keyboard(page), tmp_path / "answers.csv")

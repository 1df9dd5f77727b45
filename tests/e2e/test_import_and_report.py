"""From a file with mistakes to a report: an admin imports, a researcher reads."""

import zipfile
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotation.models import Vote
from generation.models import Dataset

EXAMPLES = """id,turns,evidence
q1,When did the mill close?,The mill closed in 1971 after the flood.
q2,Who built it?,"Built by Ana Ruiz, an engineer."
"""
RESPONSES = """id,example,setup,text
r1,q1,model-a,It closed in 1971.
r2,q2,model-a,Ben Ruiz built it.
"""
FIXED = """response,rater,question,answer
r1,anna,attributed,yes
r1,ben,attributed,yes
r1,cleo,attributed,no
r2,anna,attributed,no
r2,ben,attributed,no
r2,cleo,attributed,no
"""
# Three bad rows: no such response, no such answer, no rater.
BROKEN = (
    FIXED.replace("r1,cleo", "r9,cleo")
    .replace("r2,anna,attributed,no", "r2,anna,attributed,perhaps")
    .replace("r2,ben", "r2,")
)


@pytest.fixture
def write_zip(tmp_path: Path):
    def write(name: str, votes: str) -> Path:
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("examples.csv", EXAMPLES)
            archive.writestr("responses.csv", RESPONSES)
            archive.writestr("votes.csv", votes)
        return tmp_path / name

    return write


def choose(page: Page, file: Path) -> None:
    page.goto(reverse("evaluation:import"))
    page.get_by_label("Choose a file").set_input_files(file)
    page.get_by_label("Dataset").fill("Mill pilot")
    page.get_by_role("button", name="Check the file").click()


@pytest.mark.usefixtures("worker")
def test_an_admin_mends_a_file_and_a_researcher_reads_its_report(
    page, sign_in, adam, rosa, write_zip
):
    sign_in(adam)

    choose(page, write_zip("broken.zip", BROKEN))
    expect(page.get_by_role("heading", name="3 rows cannot be read")).to_be_visible()
    problems = page.get_by_role("table", name="Problems by line")
    for line, found, expected in [
        ("4", 'response: "r9"', "Give the id of a response of this dataset"),
        ("5", 'answer: "perhaps"', "Give no or yes"),
        ("6", "rater: nothing", "Give text that is not empty"),
    ]:
        row = problems.get_by_role("row").filter(has_text=found)
        expect(row).to_contain_text(line)
        expect(row).to_contain_text(expected)
    assert not Dataset.objects.exists()

    page.get_by_role("link", name="Upload the fixed file").click()
    choose(page, write_zip("fixed.zip", FIXED))
    expect(page.get_by_role("heading", name="Every row can be read")).to_be_visible()
    assert not Dataset.objects.exists()
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("Imported into Mill pilot.")).to_be_visible()
    assert Vote.objects.count() == 6

    sign_in(rosa)
    page.goto(reverse("annotation:studies"))
    page.get_by_role("link", name="Mill pilot").click()
    # Two items of three votes: pairs agree in 1 of 3 and 3 of 3, so 4 of 6. Majorities: yes, no.
    said = page.get_by_role("table", name="Answers of the separate arm").get_by_role("row").nth(1)
    expect(said).to_contain_text("Attributed")
    expect(said).to_contain_text("50.0")
    expect(said).to_contain_text("no: 1, yes: 1")
    page.get_by_role("link", name="Raters", exact=True).click()
    agreement = page.get_by_role("table", name="Agreement between raters").get_by_role("row").nth(1)
    expect(agreement).to_contain_text("66.7")
    expect(agreement).to_contain_text("2 × 3")


@pytest.mark.usefixtures("worker")
def test_bad_rows_can_be_skipped_and_downloaded(page, sign_in, adam, write_zip):
    sign_in(adam)
    choose(page, write_zip("broken.zip", BROKEN))

    page.get_by_label("Skip bad rows").check()
    page.get_by_role("button", name="Import the rest").click()

    expect(page.get_by_text("3 bad rows were left out.")).to_be_visible()
    assert Vote.objects.count() == 3
    with page.expect_download() as download:
        page.get_by_role("link", name="All problems as CSV").click()
    lines = Path(download.value.path()).read_text().splitlines()
    assert lines[0] == "file,line,field,found,expected"
    assert len(lines) == 4

"""The command doctor: a look at a file, which stores nothing and ends with 0 when it is good."""

import io

import pytest
from django.core.management import CommandError, call_command
from openpyxl import Workbook

from tests.makers import example_row, is_empty, response_row, vote_row, write_files

pytestmark = pytest.mark.once

HEADER = "question,answer,context,model\n"


def looked_at(path, **options):
    said = io.StringIO()
    call_command("doctor", str(path), stdout=said, **options)
    assert is_empty()
    return said.getvalue()


def refused(path, **options):
    said, trouble = io.StringIO(), io.StringIO()
    with pytest.raises(CommandError) as error:
        call_command("doctor", str(path), stdout=said, stderr=trouble, **options)
    assert is_empty()
    return said.getvalue(), trouble.getvalue(), str(error.value)


def test_a_good_table_says_what_it_is_and_what_it_can_be_used_for(tmp_path):
    (tmp_path / "t.csv").write_text(
        f"{HEADER}Who?,She.,It is tall.,small\nWho?,He.,It is tall.,large\n"
    )

    said = looked_at(tmp_path / "t.csv")

    assert "t.csv is read as table.\nCSV with commas. Its columns:\n" in said
    assert "  question: Question (Who?)\n" in said
    assert "  context: Evidence shown (It is tall.)\n" in said
    assert "No dialog column: intervals treat each example as a dialog of its own." in said
    assert "responses: 2 new" in said
    for line in (
        "Rating by SSA: yes",
        "Rating by AIS: yes",
        "Comparison of setups and trade-offs: yes",
        "Agreement between raters: needs votes of two raters",
        "Recall of retrieval: needs golden evidence, and passages to search",
    ):
        assert line in said
    assert "It can be imported." in said


def test_votes_of_both_arms_are_for_agreement_and_for_the_comparison(tmp_path):
    folder = write_files(
        tmp_path / "pilot",
        examples=[example_row(evidence=[{"text": "Tall.", "golden": True}])],
        responses=[response_row()],
        votes=[vote_row("r1", "r1"), vote_row("r1", "r2", "no", arm="merged")],
    )

    said = looked_at(folder)

    for title in (
        "Agreement between raters",
        "Agreement of metrics with people",
        "Merged against separate",
        "Rating by AIS",
    ):
        assert f"{title}: yes" in said


def test_a_table_that_nobody_knows_is_told_by_its_columns(tmp_path):
    (tmp_path / "t.csv").write_text("frage,text\nWho?,She.\n")

    said, _, error = refused(tmp_path / "t.csv")

    assert "  frage: Question (Who?)\n  text: stays in meta (She.)\n" in said
    assert "give the file with --mapping" in error
    (tmp_path / "m.toml").write_text('[columns]\nfrage = "question"\ntext = "response"\n')
    assert "It can be imported." in looked_at(tmp_path / "t.csv", mapping=tmp_path / "m.toml")


def test_problems_are_listed_by_line(tmp_path):
    (tmp_path / "t.csv").write_text(f"{HEADER},She.,x,small\nWho?,He.,y,large\n")

    said, trouble, error = refused(tmp_path / "t.csv")

    assert "t.csv, line 2, question: found nothing; expected text that is not empty" in trouble
    assert "responses: 1 new, 1 bad" in said
    assert error.startswith("Found 1 problem.")


def test_what_is_no_data_is_one_error(tmp_path):
    (tmp_path / "t.pdf").write_bytes(b"%PDF-1.7")

    assert "a file that Attest does not recognise" in refused(tmp_path / "t.pdf")[2]


def test_of_several_likely_columns_of_votes_a_mapping_chooses(tmp_path):
    (tmp_path / "t.csv").write_text(
        "question,answer,annotator,good,true\nWho?,She.,r1,4,yes\nWho?,She.,r2,2,no\n"
    )

    said, _, error = refused(tmp_path / "t.csv")

    assert "  good: Vote (4; 2)\n  true: Vote (yes; no)\n" in said
    assert "which of the columns good and true hold votes of its raters" in error


def test_a_sheet_and_a_line_are_chosen_and_what_is_not_read_is_said(tmp_path):
    book = Workbook()
    notes, data = book.worksheets[0], book.create_sheet("Ratings")
    notes.append(["question", "answer"])
    for row in (["Pilot"], ["question", "answer"], ["Who?", True]):
        data.append(row)
    book.save(tmp_path / "t.xlsx")

    said = looked_at(tmp_path / "t.xlsx", sheet="Ratings")
    assert 'An Excel workbook, sheet "Ratings", header in line 2. Its columns:' in said
    assert "  answer: Response (TRUE)\n" in said
    assert 'not read: sheet "Sheet", line 1, above the header' in said
    assert "responses: 1 new" in looked_at(tmp_path / "t.xlsx", sheet="Ratings", header_line=2)
    error = refused(tmp_path / "t.xlsx", sheet="Ratings", header_line=7)[2]
    assert error == 't.xlsx, sheet "Ratings": found 3 lines; expected a header in line 7'

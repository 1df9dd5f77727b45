"""Answers to a form are votes on the items of a second table, and no address comes in."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from openpyxl import Workbook

from evaluation.exchange.mappings import look_as_json
from generation.importers import DatasetError, UnmappedError
from generation.records import Problem
from tests.generation.importers.reading import opened

DOCS = (Path(__file__).parents[4] / "docs" / "formats.md").read_text("utf-8")
FORM, ITEMS = DOCS.partition("### Google Forms and Microsoft Forms")[2].split("```\n")[1:4:2]
NO_ITEM = "columns of the form that are no item of the second table"
NO_TIME = "times of answers that are not in ISO 8601"


def read(folder):
    with opened(folder) as material:
        return {kind: list(material.records(kind)) for kind in material.kinds}, material


def written(tmp_path, form, items=ITEMS):
    (tmp_path / "form.csv").write_text(form)
    (tmp_path / "items.csv").write_text(items)
    return tmp_path


def votes_in(found):
    text_of = {each.key: each.text for each in found["responses"]}
    return [(text_of[each.response], each.question, each.answer) for each in found["votes"]]


def test_the_form_of_the_docs_has_two_votes_of_one_rater(tmp_path):
    found, material = read(written(tmp_path, FORM))

    assert material.look.recipe == "Google Forms or Microsoft Forms"
    asked = "Is answer supported?"
    assert votes_in(found) == [("Ilva Marren.", asked, "yes"), ("In 1846.", asked, "no")]
    assert {each.rater.partition("-")[0] for each in found["votes"]} == {"rater"}
    assert {each.at for each in found["votes"]} == {datetime(2026, 3, 4, 10, 30, 12, tzinfo=UTC)}
    assert material.n_left_out == {}
    assert "anna@example.org" not in repr((found, look_as_json(material.look)))


def test_what_is_no_vote_is_counted_and_an_item_without_any_is_a_response(tmp_path):
    form = (
        "Zeitstempel,E-Mail-Adresse,Supported? [q1],Fluent? [q1],Remarks\n"
        "2026/03/04 10:30:12 AM GMT+1,anna@example.org,yes,4,fine\n"
        "2026-03-04 11:30:12,ben@example.org,,5,\n"
    )

    found, material = read(written(tmp_path, form))

    assert votes_in(found) == [
        ("Ilva Marren.", "Supported?", "yes"),
        ("Ilva Marren.", "Fluent?", "4"),
        ("Ilva Marren.", "Fluent?", "5"),
    ]
    assert [each.text for each in found["responses"]] == ["Ilva Marren.", "In 1846."]
    assert material.n_left_out == {NO_ITEM: 1, NO_TIME: 1}
    # One cell is empty, and the second item has no column.
    assert material.notes["cells without a vote (empty)"] == 2


def test_questions_of_microsoft_forms_are_found_by_their_text(tmp_path):
    book = Workbook()
    asked = ("Is 'She.' right?", "Is 'So.' right?")
    for row in (
        ["ID", "Start time", "Completion time", "Email", "Name", *asked],
        [1, datetime(2026, 3, 4, 10), datetime(2026, 3, 4, 10, 30), "anonymous", None, True, "no"],
        [2, datetime(2026, 3, 4, 11), datetime(2026, 3, 4, 11, 30), "anonymous", None, "yes", "no"],
    ):
        book.worksheets[0].append(row)
    book.save(tmp_path / "answers.xlsx")
    items = f"form question,question,answer\n{asked[0]},Who?,She.\n{asked[1]},Why?,So.\n"
    (tmp_path / "items.csv").write_text(items)

    found, material = read(tmp_path)

    assert votes_in(found) == [
        ("She.", "vote", "TRUE"),
        ("So.", "vote", "no"),
        ("She.", "vote", "yes"),
        ("So.", "vote", "no"),
    ]
    assert len({each.rater for each in found["votes"]}) == 2
    assert {each.at.minute for each in found["votes"]} == {30}
    assert material.n_left_out == {}


def test_a_bad_row_of_either_table_is_a_problem_with_its_place(tmp_path):
    folder = written(tmp_path, FORM + "2026-03-04,x\n", ITEMS + "q3\n")

    found, _ = read(folder)

    problems = [str(each) for each in found["responses"] if isinstance(each, Problem)]
    assert problems == [
        "items.csv, line 4: found 1 cells; expected 3, as the header has",
        "form.csv, line 3: found 2 cells; expected 4, as the header has",
    ]


@pytest.mark.parametrize(
    "items",
    [
        "key,question,answer\nx1,Who?,She.\n",  # no item of the form
        "key,question,answer\nq1,Who?,She.\nq1,Why?,So.\n",  # one key twice
        "Timestamp,key,question,answer\n1,q1,Who?,She.\n",  # two forms
    ],
)
def test_a_second_table_that_is_not_of_the_items_is_one_error(tmp_path, items):
    with pytest.raises(DatasetError, match="expected a table with a column question"):
        read(written(tmp_path, FORM, items))


def test_a_form_alone_asks_for_its_columns_without_an_address(tmp_path):
    (tmp_path / "form.csv").write_text(FORM)

    with pytest.raises(UnmappedError) as error:
        read(tmp_path / "form.csv")

    assert "example.org" not in str(look_as_json(error.value.look))

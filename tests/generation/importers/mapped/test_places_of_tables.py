"""The table in a file is found below titles, in any sheet and in any form of JSON."""

import json
from datetime import date, datetime
from pathlib import Path

import pytest
from openpyxl import Workbook

from generation.importers import DatasetError, UnmappedError
from generation.importers.mapped.likely_headers import PlaceError
from generation.importers.mapped.mapping import ColumnMapping, read_mapping
from generation.records import Problem
from tests.generation.importers.reading import opened

DOCS = (Path(__file__).parents[4] / "docs" / "formats.md").read_text("utf-8")
LINES = DOCS.partition("### Where the table is in a file")[2].partition("|---|---|---|\n")[2]
FILES = [line.strip("| ").split(" | ") for line in LINES.partition("\n\n")[0].splitlines()]


def said_of(path, mapping=None):
    """Return the kind of a table, and its questions and answers, in the words of the docs."""
    try:
        with opened(path, mapping=mapping) as material:
            examples = {each.key: each.turns[0].text for each in material.records("examples")}
            responses = list(material.records("responses"))
    except UnmappedError as error:
        names = ", ".join(f"`{column.name}`" for column in error.look.columns)
        return error.look.kind, f"you are asked what {names} are"
    said = (f"{examples[each.example]} {each.text}" for each in responses)
    return material.look.kind, ", ".join(said)


@pytest.mark.parametrize(("content", "kind", "rows"), FILES)
def test_a_table_is_found_as_the_docs_say(tmp_path, content, kind, rows):
    text = content.strip("`").replace("\\|", "|")
    text = text.replace(" / ", "\n").replace("␍", "\r")
    path = tmp_path / ("t.json" if text[0] in "[{" else "t.csv")
    path.write_bytes(text.encode())

    assert said_of(path) == (kind, rows)


def test_the_docs_have_files_to_try():
    assert len(FILES) >= 14


def book(path, **sheets):
    book = Workbook()
    book.remove(book.worksheets[0])
    for title, rows in sheets.items():
        sheet = book.create_sheet(title.replace("_", " "))
        if title.startswith("hidden"):
            sheet.sheet_state = "hidden"
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


NOTES = [["These are our answers."], ["Column", "Meaning"], ["question", "what was asked"]]
DATA = [["question", "answer", "model"], ["Who?", "She.", "m"], ["Why?", "So.", "m"]]
OTHERS = [["frage", "text", "modell"], ["Who?", "She.", "m"], ["Why?", "So.", "m"]]
TITLED = [["Pilot", None, None], [], ["Material", None, "Made by"], *DATA]


@pytest.mark.parametrize(
    ("sheets", "sheet", "line", "not_read"),
    [
        ({"Data": DATA}, "Data", 1, []),
        ({"Read_me": NOTES, "Data": DATA}, "Data", 1, ['sheet "Read me"']),
        ({"Data": DATA, "More": DATA}, "Data", 1, ['sheet "More"']),
        ({"hidden": DATA, "Data": OTHERS}, "Data", 1, ['sheet "hidden"']),
        ({"Read_me": NOTES, "Data": OTHERS}, "Data", 1, ['sheet "Read me"']),
        ({"Empty": [], "Data": TITLED}, "Data", 4, ["lines 1 to 3, above the header"]),
        ({"Data": [["Pilot"], *OTHERS]}, "Data", 2, ["line 1, above the header"]),
    ],
)
def test_the_likely_sheet_and_header_are_proposed(tmp_path, sheets, sheet, line, not_read):
    path = book(tmp_path / "t.xlsx", **sheets)

    try:
        with opened(path) as material:
            look = material.look
            assert material.ignored == not_read
    except UnmappedError as error:
        look = error.look

    assert (look.place.sheet, look.place.header_line) == (sheet, line)
    assert look.place.not_read == not_read
    assert look.mapping.sheet == ("" if look.place.is_first else sheet)
    assert read_mapping(look.mapping.as_toml(), is_whole=False) == look.mapping


def test_a_table_of_markdown_is_one_error_that_says_what_a_table_is(tmp_path):
    (tmp_path / "t.csv").write_text("| question | answer |\n|---|---|\n| Who? | She. |\n")

    with pytest.raises(PlaceError, match="line 1: found an empty column at both ends, as in a ta"):
        opened(tmp_path / "t.csv")


def test_a_mapping_chooses_sheet_and_line_and_recognises_or_names_the_columns(tmp_path):
    path = book(tmp_path / "t.xlsx", Data=DATA, Second=[["Note", "x"], *DATA[:2]])
    second = read_mapping('sheet = "Second"\nheader_line = 2')

    assert said_of(path, second) == (
        'an Excel workbook, sheet "Second", header in line 2',
        "Who? She.",
    )
    named = read_mapping('sheet = "Second"\n[columns]\nquestion = "question"\nmodel = "response"')
    assert said_of(path, named)[1] == "Who? m"
    first = read_mapping('[columns]\nquestion = "question"\nmodel = "response"')
    assert said_of(path, first)[1] == "Who? m, Why? m"


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ({"sheet": "Dta"}, 't.xlsx: found the sheets "Data", "x"; expected a sheet "Dta"'),
        ({"header_line": 9}, 't.xlsx, sheet "Data": found 3 lines; expected a header in line 9'),
        ({"sheet": "x"}, "t.xlsx, line 1, a: found two columns with this name; expected each"),
    ],
)
def test_a_place_that_has_no_table_is_one_error_with_the_other_places(tmp_path, place, message):
    path = book(tmp_path / "t.xlsx", Data=DATA, x=[["a", "a"]])

    with pytest.raises(PlaceError) as error:
        opened(path, mapping=ColumnMapping(**place))

    assert str(error.value).startswith(message)
    assert error.value.place.sheets == ("Data", "x")


@pytest.mark.parametrize(
    ("name", "place", "message"),
    [
        (
            "t.csv",
            {"sheet": "x"},
            'found CSV with commas; expected an Excel workbook, as a sheet "x"',
        ),
        ("t.csv", {"header_line": 4}, "t.csv, line 4: found no such line; expected a header"),
        ("t.csv", {"header_line": 3}, 't.csv, line 3: found "end"; expected a header'),
        ("t.jsonl", {"header_line": 2}, "found JSON Lines; expected a workbook or CSV, as line 2"),
    ],
)
def test_files_without_sheets_or_lines_say_so(tmp_path, name, place, message):
    rows = {"t.csv": "question,answer\nWho?,She.\nend\n", "t.jsonl": '{"question": "Who?"}\n' * 2}
    (tmp_path / name).write_text(rows[name])

    with pytest.raises(DatasetError) as error:
        opened(tmp_path / name, mapping=ColumnMapping(**place))

    assert message in str(error.value)


@pytest.mark.parametrize("rows", [[], [["only a title"]]])
def test_a_workbook_without_a_table_is_not_spoken_of_as_bytes(tmp_path, rows):
    path = book(tmp_path / "t.xlsx", Data=rows)

    said = [trouble_of(path, format) for format in (None, "table", "ais", "trec-run", "ntriples")]

    assert all(said)
    assert not any(word in each for each in said for word in ("byte", "encoding", "UTF-8"))


def trouble_of(path, format):
    try:
        with opened(path, format=format) as material:
            found = [each for kind in material.kinds for each in material.records(kind)]
    except DatasetError as error:
        return str(error)
    return "; ".join(str(each) for each in found if isinstance(each, Problem))


def test_cells_of_text_are_as_excel_shows_them_and_votes_and_scores_are_values(tmp_path):
    header = ["question", "answer", "annotator", "good", "trust"]
    rows = [
        ["Is it so?", True, "r1", True, 0.5],
        ["When?", date(2026, 3, 4), "r1", False, 0.1234],
        ["How much?", 0.125, "r1", True, 1],
        ["And then?", datetime(2026, 3, 4, 10, 30), "r1", True, 0.07],
        ["How many?", 12.0, "r1", False, None],
    ]
    path = tmp_path / "t.xlsx"
    book = Workbook()
    sheet = book.create_sheet("Data", 0)
    for row in (header, *rows):
        sheet.append(row)
    for cell in (sheet["B4"], *(sheet[f"E{line}"] for line in range(2, 7))):
        cell.number_format = "0.0%"
    sheet["B6"].number_format = '0" % of 3"'
    book.save(path)
    columns = (
        '[columns]\nquestion = "question"\nanswer = "response"\nannotator = "rater"\n'
        'good = "vote"\ntrust = "score"\n[values.good]\nyes = "supported"\n'
    )

    with opened(path, mapping=read_mapping(columns)) as material:
        responses = [each.text for each in material.records("responses")]
        votes = [each.answer for each in material.records("votes")]
        scores = [each.score for each in material.records("scores")]

    assert responses == ["TRUE", "2026-03-04", "12.5%", "2026-03-04T10:30:00", "12"]
    assert votes == ["supported", "FALSE", "supported", "supported", "FALSE"]
    assert scores == [0.5, 0.1234, 1.0, 0.07]


def test_a_frame_of_pandas_keeps_the_names_of_its_rows_unless_they_count_them(tmp_path):
    frame = {"question": {"3": "Who?", "7": "Why?"}, "answer": {"3": "She.", "7": "So."}}
    (tmp_path / "t.json").write_text(json.dumps({**frame, "contexts": {"3": ["x"], "7": ["y"]}}))

    with opened(tmp_path / "t.json") as material:
        metas = [each.meta for each in material.records("responses")]

    assert metas == [{"index": "3"}, {"index": "7"}]
    assert "scores" not in material.kinds


def test_a_frame_whose_rows_have_any_names_is_told_by_their_number(tmp_path):
    names = [f"row {'x' * n}" for n in range(9)]
    frame = {c: {name: f"{c} {name}?" for name in names} for c in ("question", "answer")}
    (tmp_path / "t.json").write_text(json.dumps(frame))

    with opened(tmp_path / "t.json") as material:
        assert [each.meta["index"] for each in material.records("responses")] == names


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (
            {"columns": ["question", "answer"], "data": [["Who?", "She."], ["A"]]},
            '["A"]; expected an object',
        ),
        ([["Who?", "She."], {"a": 1}], '{"a": 1}; expected a list of cells'),
    ],
)
def test_a_frame_in_no_known_form_is_a_problem_and_no_fault(tmp_path, content, found):
    (tmp_path / "t.json").write_text(json.dumps(content))
    mapping = ColumnMapping(columns={"1": "question", "2": "response"})

    with opened(tmp_path / "t.json", mapping=mapping if isinstance(content, list) else None) as m:
        problems = [each for each in m.records("responses") if isinstance(each, Problem)]

    assert found in str(problems[0])

"""One table, whatever kind of file it is in: each gives the same records."""

import json
import re
import zipfile
from contextlib import closing
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from openpyxl import Workbook

from generation.importers import DatasetError, UnmappedError, recognise
from generation.importers.limits import Limits
from generation.importers.mapped.mapping import read_mapping
from generation.importers.mapped.material import MappedMaterial
from generation.importers.sources import Source
from generation.records import Problem
from tests.generation.importers.reading import opened

ROWS = [
    {"question": "Who built it?", "answer": "Ilva Marren.", "context": "Ilva built it.", "year": 3},
    {"question": "متى؟", "answer": "1846 🗼", "context": "<b>In 1846</b>", "year": 4},
]
COLUMNS = list(ROWS[0])
PASSAGE = "Ilva Marren designed the Ansel Light in 1846."


def workbook(path, *rows, sheets=()):
    book = Workbook(write_only=True)
    for title, content in (*sheets, ("data", rows)):
        sheet = book.create_sheet(title)
        for row in content:
            sheet.append(row)
    book.save(path)
    return path


def parquet(path, **columns):
    pq.write_table(pa.table(columns), path)
    return path


def arrow_folder(path):
    path.mkdir()
    table = pa.table({name: [row[name] for row in ROWS] for name in COLUMNS})
    for number, part in enumerate((table.slice(0, 1), table.slice(1))):
        with pa.ipc.new_stream(path / f"data-{number}.arrow", part.schema) as writer:
            writer.write_table(part)
    (path / "dataset_info.json").write_text("{}")
    (path / "state.json").write_text("{}")
    return path


def csv(path, encoding="utf-8", delimiter=","):
    lines = (COLUMNS, *(map(str, row.values()) for row in ROWS))
    path.write_text("".join(f"{delimiter.join(line)}\n" for line in lines), encoding=encoding)
    return path


MAKERS = {
    "comma.csv": csv,
    "semicolon.csv": lambda path: csv(path, delimiter=";"),
    "marked.csv": lambda path: csv(path, "utf-8-sig"),
    "wide.csv": lambda path: csv(path, "utf-16", "\t"),
    "t.xlsx": lambda path: workbook(path, COLUMNS, *(list(row.values()) for row in ROWS)),
    "t.parquet": lambda path: parquet(path, **{n: [row[n] for row in ROWS] for n in COLUMNS}),
    "folder": arrow_folder,
    "t.jsonl": lambda path: path.write_text("\n".join(map(json.dumps, ROWS))),
    "list.json": lambda path: path.write_text(json.dumps(ROWS)),
    "inside.json": lambda path: path.write_text(json.dumps({"of": {"data": ROWS}}, indent=1)),
    "responses.csv": csv,  # a name that interchange files have
}


@pytest.mark.parametrize("name", MAKERS)
def test_the_same_rows_give_the_same_records(tmp_path, name):
    path = tmp_path / name
    MAKERS[name](path)

    with opened(path) as material:
        responses = list(material.records("responses"))
        passages = list(material.records("passages"))
        assert material.format == "table"
        assert material.look.columns[3].name == "year"

    assert [each.text for each in responses] == ["Ilva Marren.", "1846 🗼"]
    assert [each.text for each in passages] == ["Ilva built it.", "<b>In 1846</b>"]
    assert [str(each.meta["year"]) for each in responses] == ["3", "4"]


def test_the_first_sheet_with_rows_is_read_and_its_cells_are_texts(tmp_path):
    path = workbook(
        tmp_path / "t.xlsx",
        ["question", "answer", "model", "when", "good"],
        ["Who?", 1846.0, 4.5, date(2026, 1, 2), True],
        [None],
        ["When?", "Then."],
        sheets=[("empty", [])],
    )

    with opened(path) as material:
        one, two = material.records("responses")

    assert (one.text, one.setup.name) == ("1846", "4.5")
    assert one.meta == {"when": "2026-01-02", "good": "TRUE"}
    assert (two.text, two.where.line) == ("Then.", 4)


@pytest.mark.parametrize(
    ("row", "field", "found"),
    [
        (["Who?", "=A1"], "B2", 'a formula "=A1"'),
        (["Who?", "#REF!"], "B2", 'an error "#REF!"'),
        (["question", "answer"], "", "the header again"),
        (["Who?", "She.", "x"], "", "3 cells"),
    ],
)
def test_a_row_of_a_workbook_that_cannot_be_read_is_a_problem_with_its_place(
    tmp_path, row, field, found
):
    path = workbook(tmp_path / "t.xlsx", ["question", "answer"], row, ["When?", "Then."])

    with opened(path) as material:
        problem, response = material.records("responses")

    assert isinstance(problem, Problem)
    assert (problem.where.line, problem.field, problem.found) == (2, field, found)
    assert response.text == "Then."


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ([{"a": 1}, {"a": 2}], ("answer", '{"a": 1}', "text")),
        ([b"x", b"y"], None),
        ([["a", "b"], ["b"]], ("answer", '["a", "b"]', "text")),
    ],
)
def test_a_parquet_file_of_the_wrong_type_says_so(tmp_path, values, problem):
    path = parquet(tmp_path / "t.parquet", question=["Who?", "When?"], answer=values)

    with opened(path) as material:
        first, _ = material.records("responses")

    if problem is None:
        assert first.text == "1 bytes"
    else:
        assert first[1:] == problem


def test_values_that_json_does_not_know_are_texts_or_nothing(tmp_path):
    path = parquet(
        tmp_path / "t.parquet",
        question=["Who?"],
        answer=["She."],
        score=[float("nan")],
        day=[date(2026, 1, 2)],
        tags=[["a", "b"]],
    )

    with opened(path) as material:
        (response,) = material.records("responses")

    assert response.meta == {"score": None, "day": "2026-01-02", "tags": ["a", "b"]}


@pytest.mark.parametrize("name", ["t.parquet", "t.xlsx"])
def test_a_damaged_file_is_one_error(tmp_path, name):
    path = tmp_path / name
    MAKERS[name](path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])

    with pytest.raises(DatasetError, match=f"{name}: found|damaged"):
        opened(path)


def test_a_workbook_that_would_become_very_much_is_refused(tmp_path):
    path = MAKERS["t.xlsx"](tmp_path / "t.xlsx")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as members:
        members.writestr("xl/media/image.bmp", bytes(70 * 1024**2))

    with pytest.raises(DatasetError, match="bytes once unpacked"):
        opened(path)


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (4, ""),
        (999, ""),  # 998 rows before it, of which 997 are blank
        (1000, "found more than 999 rows; expected at most that many rows in one import, with the"),
        (1_048_577, "found more than 999 rows"),
    ],
)
def test_blank_rows_of_a_workbook_count(tmp_path, number, says):
    path = with_last_row(tmp_path, number)

    with closing(Source(path, Limits(max_rows=999))) as source:
        said = ""
        try:
            MappedMaterial(source)
        except DatasetError as error:
            said = str(error)

    assert bool(says) == bool(said)
    assert says in said


@pytest.mark.parametrize("number", [1_048_577, 1_000_000_000])
def test_a_row_that_excel_does_not_have_is_refused(tmp_path, number):
    with pytest.raises(DatasetError) as error:
        opened(with_last_row(tmp_path, number))

    assert str(error.value) == (
        't.xlsx, sheet "data": found a row whose number is above 1,048,576; '
        "expected as many rows as Excel has, or fewer"
    )


def with_last_row(folder, number):
    """Write a workbook whose third and last row has this number."""
    plain = MAKERS["t.xlsx"](folder / "plain.xlsx")
    with (
        zipfile.ZipFile(plain) as sound,
        zipfile.ZipFile(folder / "t.xlsx", "w", zipfile.ZIP_DEFLATED) as changed,
    ):
        for name in sound.namelist():
            content = sound.read(name).decode()
            if name.startswith("xl/worksheets/"):
                content = content.replace('<row r="3"', f'<row r="{number}"')
                content = re.sub(r'r="([A-D])3"', rf'r="\g<1>{number}"', content)
            changed.writestr(name, content)
    return folder / "t.xlsx"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([["Results", None, None], ["a", None, None]], '["Results", "", ""]'),
        ([[f"c{n}" for n in range(1, 1003)]], "1,002 columns; expected at most 1,000"),
    ],
)
def test_a_title_above_and_very_many_columns_are_named(tmp_path, lines, message):
    text = "".join(",".join(cell or "" for cell in line) + "\n" for line in lines)
    (tmp_path / "t.csv").write_text(text)

    with pytest.raises(DatasetError) as error:
        opened(tmp_path / "t.csv")

    assert message in str(error.value)


def test_a_table_that_nobody_has_mapped_comes_with_its_columns(tmp_path):
    rows = [
        {
            "frage": "Who built it?",
            "text": "Ilva.",
            "quellen": [PASSAGE, PASSAGE],
            "s": {"f1": 0.5},
        },
        {"frage": "When?", "text": "In 1846.", "quellen": [PASSAGE], "s": {"f1": 1}},
    ]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))

    with pytest.raises(UnmappedError) as error:
        opened(tmp_path / "t.jsonl")

    columns = error.value.look.columns
    # Recognised by their contents, which do not tell which column is the response.
    assert [(column.name, column.role) for column in columns] == [
        ("frage", "question"),
        ("text", ""),
        ("quellen", "shown"),
        ("s", "scores"),
    ]
    assert columns[1].samples == ("Ilva.", "In 1846.")


def test_a_mapping_reads_a_list_inside_a_file(tmp_path):
    content = {"meta": [{"a": 1}, {"a": 2}, {"a": 3}], "data": {"rows": ROWS[:1]}}
    (tmp_path / "t.json").write_text(json.dumps(content))
    columns = '[columns]\nquestion = "question"\nanswer = "response"\n'

    with opened(tmp_path / "t.json", mapping=read_mapping('rows = "data.rows"\n' + columns)) as m:
        (response,) = m.records("responses")
    assert response.text == "Ilva Marren."

    with pytest.raises(DatasetError, match=r"t.json, data.x: found null; expected a list of rows"):
        opened(tmp_path / "t.json", mapping=read_mapping('rows = "data.x"\n' + columns))


def test_windows_1252_is_recognised_and_said(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("question;answer\nOù œuvre-t-il ?;À l’île – là\n".encode("windows-1252"))

    with opened(path) as material:
        [response] = material.records("responses")
        look = material.look

    assert response.text == "À l’île – là"
    assert (look.kind, look.mapping.encoding) == (
        "CSV with semicolons, Windows-1252",
        "windows-1252",
    )


@pytest.mark.parametrize(
    "text",
    [
        "question,answer\nWer?,Münder und M\xfcnder\n".encode() + b"Wo?,M\xfcnden\n",
        b"question,answer\nWo?,M\xfcnden\x02\n",  # control characters are in no text
        b"question,answer\nWo?,\x81\x8d\n",  # undefined in Windows-1252
    ],
)
def test_what_is_no_windows_1252_for_sure_is_a_problem_that_names_its_line(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_bytes(text)

    with opened(path) as material:
        [problem] = [row for row in material.records("responses") if isinstance(row, Problem)]

    assert str(problem).startswith(f"t.csv, line {text.count(10)}: found byte 0x")
    assert "choose Windows-1252 as its encoding" in problem.expected


@pytest.mark.parametrize("name", ["raters.csv", "votes.csv", "responses.csv", "scores-2026.csv"])
def test_a_table_of_answers_is_one_whatever_its_name(tmp_path, name):
    path = tmp_path / name
    path.write_text("question,answer,rater1,rater2\nWho?,She.,yes,no\n", encoding="utf-8")

    assert recognise(path) == "table"

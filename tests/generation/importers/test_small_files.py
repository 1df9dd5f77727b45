"""Small files stay small: limits count what a file becomes, not the bytes it has."""

import json
import zipfile
from typing import Any

import pytest

from evaluation.exchange.interchange import weight
from generation.importers import DatasetError, open_material, recognise
from generation.importers.errors import EXCERPT_LENGTH, excerpt
from generation.importers.fields import MOST_PROBLEMS, Row
from generation.importers.json_text import MOST_VALUES, JSONTrouble, parse_json
from generation.importers.limits import Limits
from generation.importers.treccast import MOST_TURNS
from generation.records import Problem, Where
from tests.generation.importers.reading import ENTITY, RESPONSE, read_csv, read_lines, the_problem


@pytest.mark.parametrize(
    "text",
    [
        "[" + "[]," * MOST_VALUES + "0]",
        "[" + "0," * MOST_VALUES + "0]",
        "[" + '{"a":0},' * (MOST_VALUES // 2) + "0]",
        "[" + '{"a":"b,c"},' * (MOST_VALUES // 2) + "0]",
    ],
    ids=["lists", "numbers", "objects", "objects with texts"],
)
def test_json_of_too_many_values_is_refused_before_they_are_made(text):
    with pytest.raises(JSONTrouble, match="found more than 1,000,000 values"):
        parse_json(text, 32)


def test_commas_and_brackets_in_texts_are_no_values():
    text = json.dumps(['a, [b], {c}, \\ and "d", ' * MOST_VALUES])

    assert len(parse_json(text, 32)) == 1


def test_a_csv_row_of_too_many_cells_is_one_problem(tmp_path):
    header, row = "response,rater,question,answer\n", "r1,anna,good,yes\n"

    problem, vote = read_csv(tmp_path, "votes", header + "," * MOST_VALUES + "\n" + row)

    assert problem.found == "a row of more than 1,000,000 values"
    assert vote.rater == "anna"


def test_a_csv_row_counts_the_json_in_its_cells(tmp_path):
    cell = "[" + "[]," * (MOST_VALUES // 4) + "0]"
    row = ",".join(f'"{cell}"' for _ in range(3))

    found = read_csv(tmp_path, "responses", f"id,example,setup,text,a,b,c\nr1,e1,s,t,{row}\n")

    assert the_problem(found).found == "a row of more than 1,000,000 values"


def test_a_row_of_which_everything_is_wrong_has_some_problems():
    row = Row(Where("entities.jsonl", 1), {"aliases": [0.5] * 1000})

    row.keys("aliases", row.values["aliases"])

    assert len(row.problems) == MOST_PROBLEMS
    assert row.problems[-1].field == f"aliases[{MOST_PROBLEMS}]"


@pytest.mark.parametrize(
    ("kind", "row", "field"),
    [
        ("examples", {"id": "e1"}, "turns"),
        ("kg_questions", {"id": "k1", "question": "Who?"}, "entities"),
        ("entities", {"qid": "Q1", "label": "L"}, "triples"),
    ],
)
def test_a_list_of_more_than_32_768_entries_is_a_problem(tmp_path, kind, row, field):
    turn = {"speaker": "user", "text": "Why?"}
    item = {"turns": turn, "entities": "Q1", "triples": {"relation": "r", "value": "v"}}[field]

    problem = the_problem(read_lines(tmp_path, kind, row | {field: [item] * 32_769}))

    assert (problem.field, problem.found) == (field, "32,769 entries")


def test_the_field_of_a_problem_is_short_however_long_a_key_is(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps([["Why?", [{"qid": "Q1", "b" * 10_000: 1}]]]))

    with open_material(tmp_path / "a.json", "biokalma") as material:
        problems: Any = list(material.records("kg_questions"))

    assert max(len(problem.field) for problem in problems) < 400


def test_an_excerpt_of_a_large_value_writes_only_its_beginning():
    class Counted(list[int]):
        n = 0

        def __iter__(self):
            for item in super().__iter__():
                Counted.n += 1
                yield item

    quoted = excerpt(Counted([1] * 100_000))

    assert len(quoted) == EXCERPT_LENGTH
    assert Counted.n < 100


def test_an_excerpt_is_json_as_before():
    value = {"a": [1, None, True], "b": "é\n"}

    assert excerpt(value) == json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize("text", ["[" * 100_000, "9" * 5_000, "[" * 100_000 + "]" * 100_000])
def test_a_setting_may_be_a_text_of_brackets_or_digits(tmp_path, text):
    (response,) = read_lines(
        tmp_path, "responses", RESPONSE | {"setup": {"model": "m", "note": text}}
    )

    assert response.setup.settings == {"note": text}


@pytest.mark.parametrize("value", ["[" * 100_000, "9" * 5_000])
@pytest.mark.parametrize("file", ["study.json", "scheme.json"])
def test_deep_brackets_and_long_numbers_in_settings_are_told(tmp_path, file, value):
    (tmp_path / "votes.csv").write_text("response,rater,question,answer\n")
    (tmp_path / file).write_text(f'{{"seed": {value}')

    with pytest.raises(
        DatasetError, match=f"{file}: found .* expected (at most 32|a shorter number)"
    ):
        open_material(tmp_path)


# --- whole files ----------------------------------------------------------------------------


def test_a_large_study_json_is_refused(tmp_path):
    (tmp_path / "votes.csv").write_text("response,rater,question,answer\n")
    (tmp_path / "study.json").write_text(json.dumps({"name": "a" * 2 * 1024**2}))

    with pytest.raises(DatasetError, match="found more than 1,048,576 bytes"):
        open_material(tmp_path)


def test_a_file_that_unpacks_to_a_hundred_times_its_size_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("votes.jsonl", b"\n" * 200_000)

    with pytest.raises(DatasetError, match="at most 100 times the size of the packed file"):
        open_material(tmp_path / "a.zip", limits=Limits(always_unpacked=1))


@pytest.mark.parametrize("name", ["ais", "begin"])
def test_a_published_format_in_memory_takes_so_many_rows(tmp_path, name):
    header, row = {
        "ais": (
            "ex-idx,doc-url,doc-url-hash,model-name,output,INT,INT & AIS,Flagged,Q1,Q2,"
            "# agree (INT),# agree (AIS)",
            "e{},,,m,,0,0,0,,,-1,-1",
        ),
        "begin": (
            "model_name\tdata_source\tknowledge\tmessage\tresponse\tbegin_label",
            "m\ts\tk\t{}\tr\tGeneric",
        ),
    }[name]
    lines = [header, *(row.format(n) for n in range(4))]
    (tmp_path / "a.tsv").write_text("\n".join(lines) + "\n")

    with (
        open_material(tmp_path / "a.tsv", limits=Limits(max_rows_in_memory=3)) as material,
        pytest.raises(DatasetError, match="found more than 3 rows"),
    ):
        list(material.records("responses"))


# --- TREC CAsT ------------------------------------------------------------------------------


def topics_of(tmp_path, n_turns):
    turn = {"raw_utterance": "Why?", "passage": "So.", "canonical_result_id": "d", "passage_id": 1}
    turns = [{"number": number, **turn} for number in range(n_turns)]
    path = tmp_path / "topics.json"
    path.write_text(json.dumps([{"number": 1, "turn": turns}]))
    return open_material(path)


def test_a_topic_has_at_most_1_000_turns(tmp_path):
    with topics_of(tmp_path, MOST_TURNS + 1) as material:
        problem = the_problem(material.records("examples"))

    assert (problem.field, problem.found) == ("turn", "1,001 turns")


def test_a_topic_is_handed_on_example_by_example_and_can_be_stopped(tmp_path):
    class Stop(Exception):
        pass

    n_signs, examples = 0, []

    def stop_the_third_time():
        nonlocal n_signs
        n_signs += 1
        if n_signs == 3:
            raise Stop

    with topics_of(tmp_path, MOST_TURNS) as material:
        material.on_work = stop_the_third_time
        with pytest.raises(Stop):
            examples.extend(material.records("examples"))

    assert [len(example.turns) for example in examples[:3]] == [1, 3, 5]
    assert len(examples) < MOST_TURNS / 2


# --- what a record takes --------------------------------------------------------------------


def test_the_weight_of_a_record_counts_all_its_texts_and_parts(tmp_path):
    meta = {"notes": ["n" * 5000], "a" * 3000: 1}
    rows = [{"id": "e1", "turns": None}, {"id": "e1", "turns": None, "meta": meta}]
    plain, heavy = read_lines(tmp_path, "examples", *rows)

    assert 8000 < weight(heavy) - weight(plain) < 9000
    (entity,) = read_lines(
        tmp_path, "entities", ENTITY | {"triples": [{"relation": "a", "value": "b"}] * 1000}
    )
    assert weight(entity) > 1000 * 100


# --- told for what they are -----------------------------------------------------------------


def test_a_workbook_that_cannot_be_read_is_named(tmp_path):
    workbook = tmp_path / "votes.xlsx"
    with zipfile.ZipFile(workbook, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<workbook/>")
    (tmp_path / "votes.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500))

    with pytest.raises(DatasetError, match=r"votes\.xls: found an old Excel workbook; expected an"):
        recognise(tmp_path / "votes.xls")
    with pytest.raises(DatasetError, match=r"votes\.xlsx: found a damaged Excel workbook"):
        recognise(workbook)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "a.jsonl",
            '{"id": "e1", "turns": [}\n',
            "a.jsonl, line 1: found text that is not JSON .Expecting value, at ch",
        ),
        ("a.jsonl", '\n{"id": 1, "id": 2}\n', 'a.jsonl, line 2: found the key "id" twice'),
        (
            "a",
            '{"id": "e1", "turns": ' + "[" * 5000,
            "a, line 1: found brackets that are nested too deep",
        ),
        ("a.json", '[{"id": "e1",}]', "Illegal trailing comma|Expecting pro"),
        ("a.json", '{"tasks": 1,\n "evaluations": oh}', "Expecting value"),
        ("a.csv", "r\x81ponse,rater\n", "a.csv, line 1: found byte 0x81 at byte 2 of the line"),
    ],
)
def test_a_lone_file_with_a_bad_beginning_names_that_error(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content.encode("latin-1"))

    with pytest.raises(DatasetError, match=said):
        recognise(tmp_path / name)


def latin_1(tmp_path, n_lines):
    names = "".join(f"r{n},Andr\xe9,good,yes\n" for n in range(n_lines))
    path = tmp_path / "votes.csv"
    path.write_bytes(("response,rater,question,answer\n" + names).encode("latin-1"))
    return path


def test_one_line_that_is_no_utf_8_is_a_problem_of_that_line(tmp_path):
    with open_material(latin_1(tmp_path, 1)) as material:
        problem = the_problem(material.records("votes"))

    assert problem.where.line == 2
    assert "Windows-1252" in problem.expected


def test_a_file_in_another_encoding_is_one_problem(tmp_path):
    with open_material(latin_1(tmp_path, 40)) as material:
        rows = material.records("votes")
        assert isinstance(next(rows), Problem)
        with pytest.raises(DatasetError, match=r"votes.csv, line 2: found byte 0xe9 .* and more"):
            next(rows)


def test_a_file_is_read_as_windows_1252_by_choice(tmp_path):
    with open_material(latin_1(tmp_path, 2), encoding="windows-1252") as material:
        votes: Any = list(material.records("votes"))

    assert [vote.rater for vote in votes] == ["André", "André"]


def test_entries_of_a_list_in_another_encoding_are_one_problem(tmp_path):
    entry = '["Où?", [{"qid": "Q1", "name": "É"}]]'
    (tmp_path / "a.json").write_bytes(f"[{entry}, {entry}, {entry}]".encode("latin-1"))

    with (
        open_material(tmp_path / "a.json") as material,
        pytest.raises(DatasetError, match=r"a.json, line 1: found byte 0xf9 .* and more"),
    ):
        list(material.records("kg_questions"))
    with open_material(tmp_path / "a.json", encoding="windows-1252") as material:
        questions: Any = list(material.records("kg_questions"))

    assert questions[0].question == "Où?"

"""The interchange format: every field, every way a row can be wrong."""

import csv
import json
from collections import defaultdict
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.schemes import load_scheme
from generation.importers import DatasetError, Limits, open_material
from generation.importers.interchange_rows import ROW_KINDS, passage_key
from generation.importers.records import (
    ExampleRecord,
    PassageRecord,
    Problem,
    TurnRecord,
    VoteRecord,
    Where,
)
from tests import published

EXAMPLE = {"id": "e1", "turns": [{"speaker": "user", "text": "Why?"}]}
RESPONSE = {"id": "r1", "example": "e1", "setup": "plain", "text": "Because."}
VOTE = {"response": "r1", "rater": "anna", "question": "sensible", "answer": "yes"}
ENTITY = {"qid": "Q1", "label": "Rome", "triples": []}


def read_lines(tmp_path, kind, *rows, limits=None):
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (tmp_path / f"{kind}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read(tmp_path, kind, limits)


def read_csv(tmp_path, kind, text, limits=None):
    (tmp_path / f"{kind}.csv").write_text(text, encoding="utf-8", newline="")
    return read(tmp_path, kind, limits)


def read(folder, kind, limits=None):
    with open_material(folder, limits=limits) as material:
        return list(material.records(kind))


def the_problem(items):
    (problem,) = items
    assert isinstance(problem, Problem), problem
    return problem


# Examples


def test_an_example_with_everything(tmp_path):
    row = {
        "id": "e1",
        "dialog": "c7",
        "turns": [
            {"speaker": "User", "text": "Hi"},
            {"speaker": "Wizard", "text": "Hello", "parent": 0},
            {"speaker": "USER", "text": "Why?", "parent": 0},
        ],
        "golden_answer": "So.",
        "evidence": [
            {"id": "p1", "text": "A.", "title": "T", "url": "http://x", "golden": True},
            {"text": "B."},
        ],
        "meta": {"topic": "law"},
        "difficulty": 3,
    }

    (example,) = read_lines(tmp_path, "examples", row)

    assert example == ExampleRecord(
        where=Where("examples.jsonl", 1),
        key="e1",
        dialog="c7",
        turns=(
            TurnRecord("user", "Hi", -1),
            TurnRecord("Wizard", "Hello", 0),
            TurnRecord("user", "Why?", 0),
        ),
        golden_answer="So.",
        evidence=(
            PassageRecord("p1", "A.", "T", "http://x", True),
            # printf '\nB.' | sha256sum | cut -c1-16
            PassageRecord("sha:2183289bd044de0d", "B.", "", "", False),
        ),
        meta={"topic": "law", "difficulty": 3},
    )


def test_an_example_with_nothing_optional(tmp_path):
    (example,) = read_lines(tmp_path, "examples", EXAMPLE)

    assert (example.dialog, example.golden_answer, example.evidence) == ("e1", None, ())
    assert example.turns == (TurnRecord("user", "Why?", -1),)


def test_turns_null_says_that_the_dialog_is_not_known(tmp_path):
    (example,) = read_lines(tmp_path, "examples", {"id": "e1", "turns": None})

    assert example.turns == ()


@pytest.mark.parametrize(
    ("change", "field", "found"),
    [
        ({"id": ""}, "id", '""'),
        ({"id": "  "}, "id", '"  "'),
        ({"id": None}, "id", "nothing"),
        ({"id": True}, "id", "true"),
        ({"id": "x" * 201}, "id", "201 characters"),
        ({"dialog": ["c"]}, "dialog", '["c"]'),
        ({"turns": []}, "turns", "an empty list"),
        ({"turns": "Why?"}, "turns", '"Why?"'),
        ({"turns": ["Why?"]}, "turns[1]", '"Why?"'),
        ({"turns": [{"text": "Why?"}]}, "turns[1].speaker", "nothing"),
        ({"turns": [{"speaker": "user"}]}, "turns[1].text", "nothing"),
        ({"turns": [{"speaker": "user", "text": " "}]}, "turns[1]", '" "'),
        ({"turns": [{"speaker": "bot", "text": "Hi"}]}, "turns[1]", '"bot"'),
        ({"turns": [{"speaker": "user", "text": "a", "parent": 0}]}, "turns[1].parent", "0"),
        ({"turns": [{"speaker": "user", "text": "a", "parent": -2}]}, "turns[1].parent", "-2"),
        ({"turns": [{"speaker": "user", "text": "a", "parent": "-1"}]}, "turns[1].parent", '"-1"'),
        ({"golden_answer": 3}, "golden_answer", "3"),
        ({"evidence": {}}, "evidence", "{}"),
        ({"evidence": [{"id": "p"}]}, "evidence[1].text", "nothing"),
        ({"evidence": [{"text": "a", "golden": "maybe"}]}, "evidence[1].golden", '"maybe"'),
        ({"evidence": [{"text": "a"}, {"text": "a"}]}, "evidence[2].id", "again"),
        ({"meta": []}, "meta", "[]"),
    ],
)
def test_a_bad_field_of_an_example_is_a_problem_and_others_are_read(tmp_path, change, field, found):
    first, problem, last = read_lines(tmp_path, "examples", EXAMPLE, EXAMPLE | change, EXAMPLE)

    assert isinstance(problem, Problem)
    assert problem.where == ("examples.jsonl", 2)
    assert problem.field == field
    assert found in problem.found
    assert problem.expected
    assert first.key == last.key == "e1"


def test_every_problem_of_a_row_is_told_and_excerpts_are_short(tmp_path):
    row = {"turns": 5, "golden_answer": ["long " * 100]}

    problems = read_lines(tmp_path, "examples", row)

    assert [problem.field for problem in problems] == ["id", "turns", "golden_answer"]
    assert max(len(problem.found) for problem in problems) == 80
    assert str(problems[0]) == (
        "examples.jsonl, line 1, id: found nothing; expected text that is not empty"
    )


# Responses and setups


def test_a_response_with_everything(tmp_path):
    row = RESPONSE | {
        "evidence_shown": ["p1", 2],
        "graph_shown": [["Q1", "area", 1285]],
        "removed": [],
        "meta": {"tokens": 5},
        "price": 0.1,
    }

    (response,) = read_lines(tmp_path, "responses", row)

    assert (response.key, response.example, response.text) == ("r1", "e1", "Because.")
    assert response.evidence_shown == ("p1", "2")
    assert response.graph_shown == (("Q1", "area", "1285"),)
    assert response.removed == ()
    assert response.meta == {"tokens": 5, "price": 0.1}
    assert response.setup == ("plain", "", None, "", "", {})


def test_what_a_response_does_not_say_is_none_and_not_empty(tmp_path):
    (response,) = read_lines(tmp_path, "responses", RESPONSE)

    assert response.evidence_shown is response.graph_shown is response.removed is None


@pytest.mark.parametrize(
    ("setup", "name"),
    [
        ({"model": "gpt-4o"}, "gpt-4o"),
        (
            {"run": 2, "prompt": "golden", "temperature": 0.7, "model": "gpt-4o"},
            "gpt-4o · T 0.7 · golden · run 2",
        ),
        ({"model": "m", "temperature": 0}, "m · T 0.0"),
        ({"model": "m", "top_k": 5, "mode": "x", "a": [1]}, "m · a=[1] · mode=x · top_k=5"),
        ({"model": "m", "name": "Mine"}, "Mine"),
    ],
)
def test_a_setup_object_gets_a_readable_name(tmp_path, setup, name):
    (response,) = read_lines(tmp_path, "responses", RESPONSE | {"setup": setup})

    assert response.setup.name == name


def test_different_setups_never_share_a_name_and_equal_ones_do(tmp_path):
    different = [
        {"model": "m"},
        {"model": "m", "prompt": "T 0.7"},
        {"model": "m", "temperature": 0.7},
        {"model": "m · T 0.7"},
        {"model": "m", "prompt": "run 2"},
        {"model": "m", "run": "2"},
        {"model": "m", "a": 1},
        {"model": "m", "a": "1"},
        {"model": "m", "a": None},
        {"model": "m", "a": "x · b=y"},
        {"model": "m", "a": "x", "b": "y"},
        {"model": "m", "prompt": "a=1"},
        {"model": "m", "a": "x" * 400},
        {"model": "m", "a": "x" * 401},
    ]
    equal = [{"model": "m", "a": 1}, {"a": 1, "model": "m", "prompt": None}]

    rows = [RESPONSE | {"setup": setup} for setup in [*different, *equal]]
    names = [response.setup.name for response in read_lines(tmp_path, "responses", *rows)]

    assert len(set(names[: len(different)])) == len(different)
    assert names[len(different)] == names[-1] == "m · a=1"
    assert max(map(len, names)) <= 300


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"setup": None}, "setup"),
        ({"setup": 5}, "setup"),
        ({"setup": {}}, "setup.model"),
        ({"setup": {"model": "m", "temperature": "hot"}}, "setup.temperature"),
        ({"setup": {"model": "m", "temperature": True}}, "setup.temperature"),
        ({"text": None}, "text"),
        ({"example": 1.5}, "example"),
        ({"evidence_shown": "p1"}, "evidence_shown"),
        ({"evidence_shown": [None]}, "evidence_shown[1]"),
        ({"graph_shown": [["Q1", "area"]]}, "graph_shown[1]"),
        ({"removed": [["Q1", "area", None]]}, "removed[1].value"),
    ],
)
def test_a_bad_field_of_a_response_is_a_problem(tmp_path, change, field):
    assert the_problem(read_lines(tmp_path, "responses", RESPONSE | change)).field == field


# Votes, scores, flags, raters


def test_a_vote_with_everything(tmp_path):
    text = (
        "response,rater,question,answer,arm,citation,position,seconds,at,implied\n"
        "r1,anna,sensible,yes,merged,2,1,12.5,2024-01-31T10:00:00+02:00,1\n"
    )

    assert read_csv(tmp_path, "votes", text) == [
        VoteRecord(
            Where("votes.csv", 2),
            "r1",
            "anna",
            "sensible",
            "yes",
            "merged",
            2,
            1,
            12.5,
            datetime(2024, 1, 31, 8, 0, tzinfo=UTC),
            True,
        )
    ]


def test_a_vote_with_nothing_optional(tmp_path):
    (vote,) = read_lines(tmp_path, "votes", VOTE)

    assert vote[5:] == ("separate", None, None, None, None, False)


@pytest.mark.parametrize(
    ("answer", "text"),
    [(True, "yes"), (False, "no"), (3, "3"), (3.0, "3"), (2.5, "2.5"), (" mostly ", "mostly")],
)
def test_an_answer_stays_text(tmp_path, answer, text):
    (vote,) = read_lines(tmp_path, "votes", VOTE | {"answer": answer})

    assert vote.answer == text


@pytest.mark.parametrize(
    ("at", "moment"),
    [
        ("2024-10-01T10:09:07", datetime(2024, 10, 1, 10, 9, 7, tzinfo=UTC)),
        ("2024-10-01 10:09:07Z", datetime(2024, 10, 1, 10, 9, 7, tzinfo=UTC)),
        ("20241001", datetime(2024, 10, 1, tzinfo=UTC)),
        (1727777347, datetime(2024, 10, 1, 10, 9, 7, tzinfo=UTC)),
        ("1727777347.5", datetime(2024, 10, 1, 10, 9, 7, 500_000, tzinfo=UTC)),
    ],
)
def test_a_moment_is_iso_or_unix_seconds_and_utc(tmp_path, at, moment):
    (vote,) = read_lines(tmp_path, "votes", VOTE | {"at": at})

    assert vote.at == moment


@pytest.mark.parametrize("implied", [True, 1, "true", "YES", "1"])
def test_implied_has_many_spellings(tmp_path, implied):
    (vote,) = read_lines(tmp_path, "votes", VOTE | {"implied": implied})

    assert vote.is_implied


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"response": None}, "response"),
        ({"rater": " "}, "rater"),
        ({"rater": "r" * 101}, "rater"),
        ({"question": ""}, "question"),
        ({"question": "q" * 65}, "question"),
        ({"answer": None}, "answer"),
        ({"answer": [1]}, "answer"),
        ({"arm": "both"}, "arm"),
        ({"arm": ["separate"]}, "arm"),
        ({"citation": 0}, "citation"),
        ({"citation": True}, "citation"),
        ({"position": 1.5}, "position"),
        ({"seconds": -1}, "seconds"),
        ({"seconds": "12"}, "seconds"),
        ({"at": "yesterday"}, "at"),
        ({"at": 1727777347000}, "at"),  # milliseconds
        ({"implied": "perhaps"}, "implied"),
    ],
)
def test_a_bad_field_of_a_vote_is_a_problem(tmp_path, change, field):
    assert the_problem(read_lines(tmp_path, "votes", VOTE | change)).field == field


@pytest.mark.parametrize("score", ["nan", "inf", "-inf", "1e999", "high", "", "1,5"])
def test_a_score_is_a_finite_number(tmp_path, score):
    text = f'response,metric,score\nr1,auto_ais,"{score}"\nr1,auto_ais,-0.25\n'

    problem, good = read_csv(tmp_path, "scores", text)

    assert problem.field == "score"
    assert (good.score, good.citation, good.signature) == (-0.25, None, "")


def test_flags_and_raters(tmp_path):
    (tmp_path / "flags.csv").write_text("response,rater,arm,reason\nr1,anna,merged,empty\n")
    (tmp_path / "raters.csv").write_text("Rater,Excluded,gold score\nanna,yes,0.8\nben,,\n")

    with open_material(tmp_path) as material:
        assert material.kinds == ("raters", "flags")
        assert [flag[1:] for flag in material.records("flags")] == [
            ("r1", "anna", "merged", "empty")
        ]
        assert [rater[1:] for rater in material.records("raters")] == [
            ("anna", True, 0.8, None),
            ("ben", None, None, None),
        ]
        assert material.ignored == []


# Knowledge graphs


def test_entities_and_questions_about_them(tmp_path):
    entity = ENTITY | {
        "type": "city",
        "aliases": ["Roma"],
        "triples": [
            {"relation": "country", "value": "Italy", "value_qid": "Q38"},
            {"relation": "area", "value": 1285},
        ],
    }
    question = {
        "id": "k1",
        "question": "Where is Rome?",
        "entities": ["Q1"],
        "minimum": [["Q1", "country", "Italy", 1], ["Q1", "area", "1285"]],
    }

    (rome,) = read_lines(tmp_path, "entities", entity)
    (asked,) = read_lines(tmp_path, "kg_questions", question)

    assert rome[1:] == (
        "Q1",
        "Rome",
        "city",
        ("Roma",),
        "",
        (("country", "Italy", "Q38"), ("area", "1285", "")),
    )
    assert asked[1:] == (
        "k1",
        "Where is Rome?",
        ("Q1",),
        None,
        (("Q1", "country", "Italy", 1), ("Q1", "area", "1285", None)),
    )


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"label": " "}, "label"),
        ({"triples": None}, "triples"),
        ({"triples": [["country", "Italy"]]}, "triples[1]"),
        ({"triples": [{"relation": "", "value": "x"}]}, "triples[1].relation"),
        ({"aliases": [""]}, "aliases[1]"),
    ],
)
def test_a_bad_field_of_an_entity_is_a_problem(tmp_path, change, field):
    assert the_problem(read_lines(tmp_path, "entities", ENTITY | change)).field == field


# JSON


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("{", "Expecting property name"),
        ("[1]", "[1]"),
        ('{"response": "a", "response": "b"}', 'the key "response" twice'),
        ('{"seconds": NaN}', "NaN"),
        ('{"seconds": -Infinity}', "-Infinity"),
        ('{"seconds": 1e999}', "1e999"),
        ('{"seconds": ' + "9" * 5000 + "}", "Exceeds the limit"),
        ('{"a": ' * 40 + "1" + "}" * 40, "more than 32 levels"),
        ("[" * 100_000, "nested too deep"),
        (r'{"rater": "a\u0000"}', "a NUL character"),
        (r'{"rater": "\ud800"}', "a lone surrogate"),
        (r'{"\udfff": 1}', "a lone surrogate"),
    ],
)
def test_bad_json_is_a_problem_of_its_line(tmp_path, line, found):
    problem, good = read_lines(tmp_path, "votes", line, VOTE)

    assert problem.where == ("votes.jsonl", 1)
    assert found in problem.found
    assert good.rater == "anna"


def test_surrogate_pairs_and_bracketed_texts_are_good_json(tmp_path):
    line = json.dumps(VOTE | {"rater": "😀", "answer": "[[[" * 20})
    assert "\\ud83d\\ude00" in line

    (vote,) = read_lines(tmp_path, "votes", line)

    assert (vote.rater, vote.answer) == ("😀", "[[[" * 20)


def test_blank_lines_are_passed_over_and_counted_in_line_numbers(tmp_path):
    (vote,) = read_lines(tmp_path, "votes", "", "  ", VOTE)

    assert vote.where.line == 3


# CSV


def test_nested_cells_hold_json_or_the_plain_conveniences(tmp_path):
    text = (
        "id;turns;evidence;topic\n"
        'e1;"[{""speaker"": ""user"", ""text"": ""Why?""}]";"[{""text"": ""A.""}]";law\n'
        "e2;[What?] Why?;Golden text.;\n"
        "e3;null;;\n"
    )

    first, second, third = read_csv(tmp_path, "examples", text)

    assert first.turns == second._replace(turns=(TurnRecord("user", "Why?", -1),)).turns
    assert first.evidence == (PassageRecord(passage_key("", "A."), "A.", "", "", False),)
    assert first.meta == {"topic": "law"}
    assert second.turns == (TurnRecord("user", "[What?] Why?", -1),)
    assert [(p.text, p.is_golden) for p in second.evidence] == [("Golden text.", True)]
    assert third.turns == ()


def test_broken_json_in_a_cell_is_a_problem(tmp_path):
    text = 'id,turns\ne1,"[{""speaker"": ""user"""\n'

    assert the_problem(read_csv(tmp_path, "examples", text)).field == "turns"


def test_a_setup_cell_is_a_name_or_json(tmp_path):
    text = (
        "id,example,setup,text,evidence_shown\n"
        'r1,e1,gpt-4o,"A.",\n'
        'r2,e1,"{""model"": ""gpt-4o"", ""temperature"": 0.7}",B.,"[""p1""]"\n'
        'r3,e1,"{""model"": ",C.,\n'
    )

    first, second, problem = read_csv(tmp_path, "responses", text)

    assert (first.setup.name, first.setup.model) == ("gpt-4o", "")
    assert (second.setup.name, second.setup.model) == ("gpt-4o · T 0.7", "gpt-4o")
    assert (first.evidence_shown, second.evidence_shown) == (None, ("p1",))
    assert problem.field == "setup"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_delimiters_and_quoted_line_breaks(tmp_path, delimiter, line_end):
    rows = [
        "response,rater,question,answer".replace(",", delimiter),
        delimiter.join(["r1", f'"an{line_end}na"', "sensible", "yes"]),
        delimiter.join(["r2", '"b""e, n; "', "sensible", "no"]),
    ]

    first, second = read_csv(tmp_path, "votes", line_end.join(rows) + line_end)

    assert (first.rater, first.where.line) == (f"an{line_end}na", 2)
    assert (second.rater, second.where.line) == ('b"e, n;', 4)


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("r1,anna,sensible", "3 cells"),
        ("r1,anna,sensible,yes,", "5 cells"),
        ('r1,"anna"x,sensible,yes', "expected after"),
    ],
)
def test_a_row_of_the_wrong_shape_is_a_problem(tmp_path, row, found):
    text = f"response,rater,question,answer\n{row}\n\nr2,ben,sensible,no\n"

    problem, good = read_csv(tmp_path, "votes", text)

    assert problem.where == ("votes.csv", 2)
    assert found in problem.found
    assert (good.rater, good.where.line) == ("ben", 4)


def test_an_open_quote_does_not_swallow_the_file(tmp_path):
    header = "response,rater,question,answer\n"
    rows = [f"r{n},anna,sensible,yes\n" for n in range(100)]
    rows[3] = 'r3,"anna,sensible,yes\n'

    found = read_csv(tmp_path, "votes", header + "".join(rows), Limits(max_line_bytes=500))

    problems = [item for item in found if isinstance(item, Problem)]
    assert [problem.where.line for problem in problems] == [5]
    assert "a row of more than 500 characters" in problems[0].found
    assert found[-1].response == "r99"


def test_an_open_quote_at_the_end_is_a_problem(tmp_path):
    problem = the_problem(
        read_csv(tmp_path, "votes", 'response,rater,question,answer\nr1,anna,sensible,"yes\n')
    )

    assert problem.where.line == 2


def test_large_cells_are_read_up_to_the_limit(tmp_path):
    text = "id,example,setup,text\nr1,e1,s," + "x" * 200_000 + "\nr2,e1,s,short\n"

    large, _ = read_csv(tmp_path, "responses", text)
    problem, short = read_csv(tmp_path, "responses", text, Limits(max_line_bytes=100_000))

    assert len(large.text) == 200_000  # the csv module's own limit is 131,072
    assert "more than 100,000 bytes" in problem.found
    assert short.text == "short"


def test_a_bad_line_inside_a_quoted_cell_spoils_its_row_only(tmp_path):
    data = b'response,rater,question,answer\nr1,"an\n\xff\nna",sensible,yes\nr2,ben,sensible,no\n'
    (tmp_path / "votes.csv").write_bytes(data)

    problem, good = read(tmp_path, "votes")

    assert (problem.where.line, good.rater) == (3, "ben")


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", ""),
        ("response,rater,question\nr1,anna,sensible\n", "answer"),
        ("response,rater,question,answer,answer\nr1,anna,sensible,yes,no\n", "answer"),
    ],
)
def test_a_file_without_a_usable_header_is_one_problem(tmp_path, text, field):
    problem = the_problem(read_csv(tmp_path, "votes", text))

    assert problem.where == ("votes.csv", 1)
    assert problem.field == field


def test_unknown_columns_of_flat_files_are_listed_once(tmp_path):
    (tmp_path / "votes.csv").write_text("response,rater,question,answer,mood\nr1,a,s,yes,good\n")
    (tmp_path / "scores.jsonl").write_text(
        '{"response": "r", "metric": "m", "score": 1, "x": 0}\n' * 3
    )

    with open_material(tmp_path) as material:
        for kind in material.kinds * 2:
            list(material.records(kind))

        assert material.ignored == ["votes.csv: column 'mood'", "scores.jsonl: key 'x'"]


# The whole folder


def test_study_and_scheme_are_handed_on(tmp_path):
    (tmp_path / "votes.csv").write_text("response,rater,question,answer\n")
    (tmp_path / "study.json").write_text('{"arms": ["separate"]}')
    (tmp_path / "scheme.json").write_text('{"key": "x", "questions": []}')

    with open_material(tmp_path) as material:
        assert material.study == {"arms": ["separate"]}
        assert material.scheme == {"key": "x", "questions": []}
        assert material.ignored == []


@pytest.mark.parametrize("content", ["[]", "{", '{"a": 1, "a": 2}', '{"a": NaN}', '"\\ud800"'])
def test_a_broken_study_file_stops_the_import(tmp_path, content):
    (tmp_path / "votes.csv").write_text("response,rater,question,answer\n")
    (tmp_path / "study.json").write_text(content)

    with pytest.raises(DatasetError, match=r"study\.json"):
        open_material(tmp_path)


def test_kinds_come_in_the_order_of_storing(tmp_path):
    for kind in ROW_KINDS:
        (tmp_path / f"{kind}.jsonl").write_text("")

    with open_material(tmp_path) as material:
        assert material.kinds == (
            "entities",
            "examples",
            "kg_questions",
            "responses",
            "raters",
            "votes",
            "flags",
            "scores",
        )


# Round trip

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
keys = texts.map(str.strip).filter(bool)
turns = st.builds(TurnRecord, keys.filter(lambda s: s.lower() != "user"), texts, st.just(-1))
questions = st.builds(TurnRecord, st.just("user"), texts.filter(str.strip), st.just(-1))
passages = st.builds(PassageRecord, keys, texts.filter(str.strip), texts, texts, st.booleans())
examples = st.builds(
    ExampleRecord,
    where=st.just(Where("examples.jsonl", 1)),
    key=keys,
    dialog=keys,
    turns=st.tuples(turns, questions),
    golden_answer=st.none() | texts,
    evidence=st.lists(passages, max_size=3, unique_by=lambda p: p.key).map(tuple),
    meta=st.dictionaries(texts, texts | st.integers(0, 9) | st.booleans(), max_size=3),
)
votes = st.builds(
    VoteRecord,
    where=st.just(Where("votes.csv", 2)),
    response=keys,
    rater=keys,
    question=keys,
    answer=keys,
    arm=st.sampled_from(["separate", "merged"]),
    citation=st.none() | st.integers(1, 99),
    position=st.none() | st.integers(1, 99),
    seconds=st.none() | st.floats(0, 1e6),
    at=st.none() | st.datetimes(timezones=st.just(UTC)),
    is_implied=st.booleans(),
)
round_trip = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@round_trip
@given(example=examples)
def test_an_example_written_as_json_is_read_as_it_was(tmp_path, example):
    row = {
        "id": example.key,
        "dialog": example.dialog,
        "turns": [turn._asdict() for turn in example.turns],
        "golden_answer": example.golden_answer,
        "evidence": [
            {"id": p.key, "text": p.text, "title": p.title, "url": p.url, "golden": p.is_golden}
            for p in example.evidence
        ],
        "meta": example.meta,
    }

    assert read_lines(tmp_path, "examples", json.dumps(row, ensure_ascii=False)) == [example]


@round_trip
@given(vote=votes)
def test_a_vote_written_as_csv_is_read_as_it_was(tmp_path, vote):
    names = ["response", "rater", "question", "answer", "arm", "citation", "position", "seconds"]
    with (tmp_path / "votes.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*names, "at", "implied"])
        at = "" if vote.at is None else vote.at.isoformat()
        writer.writerow([*vote[1:9], at, "yes" if vote.is_implied else "no"])

    assert read(tmp_path, "votes") == [vote]


# Anything at all

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)


def read_everything(folder):
    try:
        with open_material(folder) as material:
            return [item for kind in material.kinds for item in material.records(kind)]
    except DatasetError as error:
        return [error]


@pytest.mark.parametrize("kind", sorted(ROW_KINDS))
@round_trip
@given(data=st.data())
def test_whatever_the_fields_hold_the_answer_is_a_record_or_a_problem(tmp_path, kind, data):
    fields = sorted(ROW_KINDS[kind].fields)
    rows = data.draw(
        st.lists(st.fixed_dictionaries(dict.fromkeys(fields, json_values)), max_size=2)
    )
    lines = [json.dumps(row) for row in rows]
    (tmp_path / f"{kind}.jsonl").write_text("\n".join(lines), encoding="utf-8")

    items = read_everything(tmp_path)

    assert len({item.where.line for item in items}) == len(rows)
    json.dumps([list(item) for item in items if isinstance(item, Problem)]).encode()
    "".join(str(item) for item in items if isinstance(item, Problem)).encode()  # can be stored


@pytest.mark.parametrize("name", ["votes.csv", "votes.jsonl", "examples.csv.gz", "d.zip", "x.json"])
@round_trip
@given(data=st.binary(max_size=300), begin=st.sampled_from([b"", b"{", b"\x1f\x8b\x08", b"PK\3\4"]))
def test_whatever_the_bytes_are_the_answer_is_a_record_a_problem_or_an_error(
    tmp_path, name, data, begin
):
    path = tmp_path / name
    path.write_bytes(begin + data)

    for item in read_everything(path):
        str(item).encode()


# Published ratings through the interchange format

PUBLISHED = {
    # examples, responses, votes: from the PROVENANCE.md files; InfoTabS 1779·5 + 9·10 + 3·4,
    # FED 225 items · 9 qualities · 5 ratings less 6 that say 'N/A ('
    "qags": (published.write_qags, published.qags_matrix, 239, 239, 717),
    "infotabs": (published.write_infotabs, published.infotabs_matrix, 200, 1791, 8997),
    "fed": (published.write_fed, published.fed_matrix, 225, 225, 10_119),
}


@pytest.fixture(scope="module", params=sorted(PUBLISHED))
def real(request, tmp_path_factory):
    shared = published.shared_folder()
    if not (shared / "data").exists():
        pytest.skip(f"no real data at {shared}")
    write, matrix, *sizes = PUBLISHED[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    write(shared, folder)
    with open_material(folder) as material:
        found = {kind: list(material.records(kind)) for kind in material.kinds}
        return found, load_scheme(material.scheme), matrix(shared), tuple(sizes)


def test_published_ratings_are_read_whole(real):
    found, scheme, _, sizes = real

    assert not [item for items in found.values() for item in items if isinstance(item, Problem)]
    assert tuple(len(found[kind]) for kind in ("examples", "responses", "votes")) == sizes
    assert len({(vote.response, vote.rater, vote.question) for vote in found["votes"]}) == sizes[2]
    answers = {(vote.question, vote.answer) for vote in found["votes"]}
    assert None not in {scheme.question(key).scale.answer(answer) for key, answer in answers}


def test_published_votes_are_those_of_the_raw_files(real):
    found, _, matrix, _ = real
    by_item = defaultdict(list)
    for vote in found["votes"]:
        by_item[vote.question, vote.response].append(vote.answer)

    read_back: published.Matrix = {question: [] for question in matrix}
    for response in found["responses"]:
        for question in matrix:
            read_back[question].append(by_item[question, response.key])

    assert read_back == matrix

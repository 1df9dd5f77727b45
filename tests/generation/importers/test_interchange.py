"""The interchange format: every field, every way a row can be wrong."""

from datetime import UTC, datetime

import pytest

from generation.importers import open_material
from generation.records import ExampleRecord, PassageRecord, Problem, TurnRecord, VoteRecord, Where
from tests.generation.importers.reading import (
    ENTITY,
    EXAMPLE,
    RESPONSE,
    VOTE,
    opened,
    read_csv,
    read_lines,
    the_problem,
)

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
        ({"golden_answer": [3]}, "golden_answer", "[3]"),
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
    assert response.setup == ("plain", "", None, "", "", {}, {})


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
        "response,rater,question,answer,arm,citation,position,seconds,at,implied,source_id\n"
        "r1,anna,sensible,yes,merged,2,1,12.5,2024-01-31T10:00:00+02:00,1,a 7\n"
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
            "a 7",
        )
    ]


def test_a_vote_with_nothing_optional(tmp_path):
    (vote,) = read_lines(tmp_path, "votes", VOTE)

    assert vote[5:12] == ("separate", None, None, None, None, False, "")
    assert vote[12:] == (False, ("question", "answer"), None, "")


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


def test_an_answer_that_is_missing_is_an_empty_cell_and_no_answer_at_all_a_problem(tmp_path):
    (vote,) = read_lines(tmp_path, "votes", VOTE | {"answer": None})
    assert vote.answer == ""

    without = {key: value for key, value in VOTE.items() if key != "answer"}
    assert the_problem(read_lines(tmp_path, "votes", without)).field == "answer"


def test_a_bad_score_costs_its_score_and_one_that_says_nothing_is_counted(tmp_path):
    cells = ["0.5", "nan", "NA", "", "inf", "1e999", "high", '"1,5"', '"1,500"', "-1e13", "50%"]
    lines = "".join(f"r{n},faithful,{cell}\n" for n, cell in enumerate(cells))
    (tmp_path / "scores.csv").write_text(f"response,metric,score\n{lines}", encoding="utf-8")

    with opened(tmp_path) as material:
        found = {score.response: score for score in material.records("scores")}
        notes = material.notes

    assert {key: score.score for key, score in found.items() if not score.problem} == {
        "r0": 0.5,
        "r7": 1.5,
        "r10": 0.5,
    }
    assert {key: score.problem for key, score in found.items() if score.problem} == {
        "r4": 'found "inf"; expected a number',
        "r5": 'found "1e999"; expected a number from -1e+12 to 1e+12',
        "r6": 'found "high"; expected a number',
        "r8": 'found "1,500"; expected a point in the number, or decimal = "," in a mapping',
        "r9": 'found "-1e13"; expected a number from -1e+12 to 1e+12',
    }
    assert notes == {
        'cells without a score ("nan")': 1,
        'cells without a score ("NA")': 1,
        "cells without a score (empty)": 1,
        "cells of scores that are no number, which is kept as the reason": 5,
        "cells of scores with a decimal comma": 1,
        "cells of scores in percent, read as shares (50% is 0.5)": 1,
    }


@pytest.mark.parametrize("gold_score", [-0.1, 1.01, 1.7e308])
def test_the_gold_score_of_a_rater_is_a_share(tmp_path, gold_score):
    found = read_lines(tmp_path, "raters", {"rater": "anna", "gold_score": gold_score})

    problem = the_problem(found)
    assert (problem.field, problem.expected) == ("gold_score", "a number from 0 to 1")


def test_flags_and_raters(tmp_path):
    (tmp_path / "flags.csv").write_text("response,rater,arm,reason\nr1,anna,merged,empty\n")
    (tmp_path / "raters.csv").write_text(
        "Rater,Excluded,gold score,excluded reason\nanna,yes,0.8,Clicks.\nben,,,\n"
    )

    with open_material(tmp_path) as material:
        assert material.kinds == ("raters", "flags")
        assert [flag[1:] for flag in material.records("flags")] == [
            ("r1", "anna", "merged", "empty")
        ]
        assert [rater[1:] for rater in material.records("raters")] == [
            ("anna", True, 0.8, None, "Clicks."),
            ("ben", None, None, None, None),
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
        False,
        False,
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

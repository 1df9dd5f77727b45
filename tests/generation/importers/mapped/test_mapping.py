"""A mapping gives the meaning of a table's columns: its file, and the records of the rows."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from generation.importers import DatasetError, open_material
from generation.importers.mapped.mapping import ColumnMapping, read_mapping
from generation.importers.mapped.recipes import RECIPES
from generation.importers.mapped.roles import ROLES
from generation.records import Problem

FULL = """
title = "Answers of the pilot"
rows = "results.items"
sheet = "Answers"
header_line = 3
encoding = "windows-1252"
delimiter = "|"
decimal = ","
needs = ["query"]

[columns]
query = "question"
"answer.text" = "response"
quality = "score"
supported = "vote"

[names]
supported = "attributable"

[values.supported]
"fully supported" = "yes"
"not supported" = "no"

[scales]
supported = "yes_no"

[constants]
setup = "model-a"
"""


def table(tmp_path, *lines, encoding="utf-8", name="t.csv"):
    path = tmp_path / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding=encoding)
    return path


def read(path, text, kind):
    with open_material(path, mapping=read_mapping(text)) as material:
        found = {each: list(material.records(each)) for each in material.kinds}
        return found[kind], {**material.notes, **material.n_left_out}


def test_what_is_written_is_read_back():
    mapping = read_mapping(FULL)

    assert mapping.of("vote") == ("supported",)
    assert mapping.values == {"supported": {"fully supported": "yes", "not supported": "no"}}
    assert read_mapping(mapping.as_toml()) == mapping
    small = ColumnMapping(columns={"q": "question", "a": "response"})
    assert small.as_toml() == '[columns]\nq = "question"\na = "response"\n'


COLUMNS = '[columns]\nq = "question"\na = "response"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[columns", "mapping: found text that is not TOML (Expected ']'"),
        ("x = 1\n" + COLUMNS, 'mapping: found ["x"]; expected one of title, reader,'),
        ("", "mapping, columns: found {}; expected a column with the responses"),
        (
            COLUMNS + 'z = "colour"',
            'mapping, columns."z": found "colour"; expected one of question,',
        ),
        (COLUMNS + "z = 3", "mapping, columns.z: found 3; expected a text"),
        ("columns = 3", "mapping, columns: found 3; expected a table of texts"),
        ("needs = 3\n" + COLUMNS, "mapping, needs: found 3; expected a list of columns"),
        ("values = 3\n" + COLUMNS, "mapping, values: found 3; expected tables of texts"),
        (COLUMNS + '[names]\nz = "s"', 'mapping, names: found ["z"]; expected columns of this'),
        (COLUMNS + '[values.z]\na = "b"', 'mapping, values: found ["z"]; expected columns of this'),
        (COLUMNS + '[scales]\nq = "yes_no"', 'scales: found ["q"]; expected columns of votes of'),
        (COLUMNS + 'v = "vote"\n[scales]\nv = "5 to 1"', 'found "5 to 1"; expected "yes_no" or'),
        (COLUMNS + 'v = "vote"\n[scales]\nv = ["a"]', 'found ["a"]; expected at least two labels'),
        ("scales = 3\n" + COLUMNS, "mapping, scales: found 3; expected a table of scales"),
        (COLUMNS + '[constants]\ncolour = "s"', 'found "colour"; expected setup or rater'),
        (COLUMNS + '[constants]\nsetup = " "', 'found " "; expected 1 to 100 characters'),
        ('delimiter = "x"\n' + COLUMNS, 'mapping, delimiter: found "x"; expected one of ",", ";"'),
        ("header_line = 0\n" + COLUMNS, "header_line: found 0; expected a whole number from 1 to"),
        ("header_line = true\n" + COLUMNS, "header_line: found true; expected a whole number"),
        ("sheet = 2\n" + COLUMNS, "mapping, sheet: found 2; expected a text"),
        ('decimal = "x"\n' + COLUMNS, 'mapping, decimal: found "x"; expected "." or ","'),
        (
            'system_messages = "x"\n' + COLUMNS,
            'system_messages: found "x"; expected shown or golden',
        ),
        ('encoding = "x"\n' + COLUMNS, 'mapping, encoding: found "x"; expected utf-8 or'),
        (COLUMNS + 'b = "response"\ni = "response_id"', "or no column of their ids"),
        (COLUMNS + 'b = "response"\ns = "score"', "or no column of scores"),
        (COLUMNS + 'b = "response"\nm = "setup"', "or no column of setups"),
        (COLUMNS + 'v = "vote"\nw = "vote"\nx = "asked"', "found 2 columns of votes, and a column"),
        ('title = "\\u0000"\n' + COLUMNS, "mapping, title: found a NUL character"),
        ("title = '" + "x" * 300_000 + "'\n" + COLUMNS, "characters; expected at most 262,144"),
    ],
)
def test_what_is_no_mapping_is_one_error(text, message):
    with pytest.raises(DatasetError, match=re.escape(message)):
        read_mapping(text)


def test_a_column_that_the_table_lacks_is_one_error(tmp_path):
    path = table(tmp_path, "q,b", "Who?,She.")

    with pytest.raises(
        DatasetError, match=r't.csv: found the columns \["q", "b"\]; expected a column a'
    ):
        open_material(path, mapping=read_mapping(COLUMNS))


def test_each_column_of_responses_is_a_setup(tmp_path):
    path = table(tmp_path, "q,small,large", "Who?,She.,He.", "When?,In 1846.,")
    text = (
        '[columns]\nq = "question"\nsmall = "response"\nlarge = "response"\n'
        '[names]\nlarge = "the large one"'
    )

    responses, notes = read(path, text, "responses")

    assert [(each.setup.name, each.text) for each in responses] == [
        ("small", "She."),
        ("the large one", "He."),
        ("small", "In 1846."),
    ]
    assert notes["cells without a response of their setup"] == 1


def test_fields_of_objects_are_columns_by_their_path(tmp_path):
    path = tmp_path / "t.json"
    item = {"in": {"q": "Who?"}, "out": {"text": "She.", "cost": 3}, "tag": "x"}
    path.write_text(json.dumps({"results": {"items": [item]}}))
    text = 'rows = "results.items"\n[columns]\n"in.q" = "question"\n"out.text" = "response"'

    (response,), _ = read(path, text, "responses")

    assert (response.text, response.meta) == ("She.", {"out": {"cost": 3}, "tag": "x"})


def test_scores_are_numbers_with_a_comma_too(tmp_path):
    lines = ("q;a;faithfulness;fluency", "Who?;She.;0,75;1", "When?;Then.;;x")
    text = 'decimal = ","\n' + COLUMNS + 'faithfulness = "score"\nfluency = "score"\n'

    scores, _ = read(table(tmp_path, *lines[:2]), text, "scores")

    assert [(each.metric, each.score) for each in scores] == [
        ("faithfulness", 0.75),
        ("fluency", 1),
    ]
    responses, _ = read(table(tmp_path, *lines), text, "responses")
    assert [response.text for response in responses] == ["She.", "Then."]
    (*_, bad), notes = read(table(tmp_path, *lines), text, "scores")
    assert (bad.metric, bad.score, bad.problem) == (
        "fluency",
        None,
        'found "x"; expected a number',
    )
    assert notes["cells without a score (empty)"] == 1


def test_scores_of_a_list_say_why_there_is_none(tmp_path):
    path = tmp_path / "t.jsonl"
    metrics = [{"name": "faithfulness", "score": 0.5}, {"name": "bias", "error": "no reply"}]
    row = {"q": "Who?", "a": "She.", "m": metrics, "named": {"short": True, "none": None}}
    path.write_text(json.dumps(row))

    scores, _ = read(path, COLUMNS + 'm = "scores"\nnamed = "scores"', "scores")

    assert [(each.metric, each.score, each.problem) for each in scores] == [
        ("faithfulness", 0.5, ""),
        ("bias", None, "no reply"),
        ("short", 1.0, ""),
    ]


def test_votes_of_one_response_stand_in_rows_of_its_raters(tmp_path):
    path = table(
        tmp_path,
        "q,a,model,who,supported",
        "Who?,She.,m,anna,Supported",
        "Who?,She.,m,ben@example.org,Not",
        "Who?,She.,m,r3,",
        "Who?,He.,m,r3,Supported",
    )
    text = (
        COLUMNS
        + 'model = "setup"\nwho = "rater"\nsupported = "vote"\n'
        + '[names]\nsupported = "attributable"\n[values.supported]\nSupported = "yes"\nNot = "no"'
    )

    responses, _ = read(path, text, "responses")
    votes, notes = read(path, text, "votes")

    she, he = responses
    assert (she.text, he.text, he.key) == ("She.", "He.", f"{she.key}|2")
    assert [(vote.response, vote.question, vote.answer) for vote in votes] == [
        (she.key, "attributable", "yes"),
        (she.key, "attributable", "no"),
        (he.key, "attributable", "yes"),
    ]
    anna, ben, third = (vote.rater for vote in votes)
    assert third == "r3"  # a code already
    assert re.fullmatch("rater-[0-9a-f]{8}", anna)
    assert anna != ben
    assert notes["raters whose names were replaced by codes"] == 2


def test_a_row_may_say_which_question_its_vote_answers(tmp_path):
    path = table(tmp_path, "q,a,criterion,grade", "Who?,She.,fluency,4", "Who?,She.,truth,2")

    votes, notes = read(path, COLUMNS + 'criterion = "asked"\ngrade = "vote"', "votes")

    assert [(vote.question, vote.answer, vote.rater) for vote in votes] == [
        ("fluency", "4", "published"),
        ("truth", "2", "published"),
    ]
    assert notes["votes without a rater, which count as votes of one rater, published"] == 2


RATED = COLUMNS + 'who = "rater"\nfluent = "vote"\ntrue = "vote"\ntook = "seconds"\nday = "at"\n'


def test_each_vote_of_a_row_has_the_time_that_the_row_took(tmp_path):
    path = table(
        tmp_path,
        "q;a;who;fluent;true;took;day",
        "Who?;She.;r1;4;yes;12,5;2026-05-03T10:00:00+02:00",
        "Who?;She.;r2;3;;0;",
        "When?;Then.;r1;2;no;;2026-05-03 10:00",
    )

    votes, _ = read(path, 'decimal = ","\n' + RATED, "votes")

    in_utc = datetime(2026, 5, 3, 8, tzinfo=UTC)  # ten o'clock, two hours ahead of UTC
    without_a_zone = datetime(2026, 5, 3, 10, tzinfo=UTC)
    assert [(vote.rater, vote.question, vote.seconds, vote.at) for vote in votes] == [
        ("r1", "fluent", 12.5, in_utc),
        ("r1", "true", 12.5, in_utc),
        ("r2", "fluent", 0, None),
        ("r1", "fluent", None, without_a_zone),
        ("r1", "true", None, without_a_zone),
    ]


@pytest.mark.parametrize(
    ("row", "field", "found", "expected"),
    [
        ({"took": -1}, "took", "-1", "seconds, 0 or more"),
        ({"took": "12"}, "took", '"12"', "a finite number"),
        ({"took": [3]}, "took", "[3]", "a finite number"),
        ({"day": "today"}, "day", '"today"', "a date and time in ISO 8601, or Unix seconds"),
    ],
)
def test_a_time_that_is_none_is_a_problem_of_its_row(tmp_path, row, field, found, expected):
    path = tmp_path / "t.jsonl"
    good = {"q": "Who?", "a": "She.", "who": "r1", "fluent": 4, "true": "yes"}
    good |= {"took": 3, "day": "2026-05-03"}
    path.write_text(f"{json.dumps(good)}\n{json.dumps(good | {'who': 'r2'} | row)}")

    responses, _ = read(path, RATED, "responses")
    votes, _ = read(path, RATED, "votes")

    (problem,) = [each for each in responses if isinstance(each, Problem)]
    assert problem == ((path.name, 2), field, found, expected)
    assert {(vote.rater, vote.seconds) for vote in votes} == {("r1", 3)}


def test_earlier_turns_are_messages_or_texts_in_turn(tmp_path):
    path = tmp_path / "t.jsonl"
    rows = [
        {"q": "And when?", "a": "In 1846.", "h": ["Who built it?", "Ilva Marren."]},
        {"q": "And why?", "a": "For ships.", "h": [{"role": "user", "content": "Hello."}]},
        {"q": "Who?", "a": "She.", "h": None},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))

    examples, _ = read(path, COLUMNS + 'h = "history"', "examples")

    assert [
        [(turn.speaker, turn.text, turn.parent) for turn in each.turns] for each in examples
    ] == [
        [
            ("user", "Who built it?", -1),
            ("assistant", "Ilva Marren.", 0),
            ("user", "And when?", 1),
        ],
        [("user", "Hello.", -1), ("user", "And why?", 0)],
        [("user", "Who?", -1)],
    ]


def test_what_a_table_lacks_is_said_with_what_it_costs():
    lacks = ColumnMapping(columns={"q": "question", "a": "response"}).what_is_missing

    assert lacks[0] == "No dialog column: intervals treat each example as a dialog of its own."
    assert "No evidence column: raters can rate SSA, but not AIS." in lacks
    two = ColumnMapping(columns={"q": "question", "a": "response", "b": "response"})
    assert "No setup column: all responses belong to one setup." in lacks
    assert "No setup column: all responses belong to one setup." not in two.what_is_missing


def test_lists_as_pandas_writes_them_are_lists(tmp_path):
    path = table(
        tmp_path,
        "q,a,c",
        """Who?,She.,"['It is tall.', ""It isn't wide.""]\"""",
        """When?,Then.,"['It is old.'\n \"\"It's grey.\"\"]\"""",  # numpy's array
    )

    passages, _ = read(path, COLUMNS + 'c = "shown"', "passages")

    assert [each.text for each in passages] == [
        "It is tall.",
        "It isn't wide.",
        "It is old.",
        "It's grey.",
    ]


@pytest.mark.parametrize("cell", [r"['a\ud800']", r"['a\x00']", "['a'\n 'b\\ud800']"])
def test_a_list_with_a_text_that_cannot_be_stored_stays_as_it_is_written(tmp_path, cell):
    path = table(tmp_path, "q,a,c", f'Who?,She.,"{cell}"')

    [passage], _ = read(path, COLUMNS + 'c = "shown"', "passages")

    assert passage.text == cell


def test_the_docs_have_each_role_as_it_is_declared():
    docs = (Path(__file__).parents[4] / "docs" / "formats.md").read_text("utf-8")

    for key, role in ROLES.items():
        names = ", ".join(f"`{name}`" for name in role.names)
        assert f"| `{key}` | {role.holds} | {names} |" in docs
    for recipe in RECIPES:
        assert recipe.title.partition(" ")[0].rstrip(",") in docs

"""Interchange files as a whole: JSON, CSV, folders, and what comes out as it went in."""

import csv
import json
from collections import defaultdict
from datetime import UTC

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.schemes import load_scheme
from generation.importers import DatasetError, Limits, open_material
from generation.importers.interchange_rows import ROW_KINDS, passage_key
from generation.records import ExampleRecord, PassageRecord, Problem, TurnRecord, VoteRecord, Where
from tests import published
from tests.generation.importers.reading import (
    VOTE,
    read,
    read_csv,
    read_lines,
    the_problem,
)

# JSON


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("{", "Expecting property name"),
        ("[1]", "[1]"),
        ('{"response": "a", "response": "b"}', 'the key "response" twice'),
        ('{"seconds": ' + "9" * 5000 + "}", "a number of thousands of digits"),
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
            "passages",
            "examples",
            "kg_questions",
            "samples",
            "rankings",
            "responses",
            "raters",
            "votes",
            "flags",
            "adjudications",
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
    source_id=st.just("") | keys,
    is_told=st.just(False),
    columns=st.just(("question", "answer")),
    item=st.none(),
    rest=st.just(""),
)
round_trip = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


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
        writer.writerow([*names, "at", "implied", "source_id"])
        at = "" if vote.at is None else vote.at.isoformat()
        implied = "yes" if vote.is_implied else "no"
        writer.writerow([*vote[1:9], at, implied, vote.source_id])

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

    may_say_nothing = (str, float, type(None))  # 'NA' and NaN: there is no score
    n_empty = sum(isinstance(row.get("score"), may_say_nothing) for row in rows)
    assert len(rows) - len({item.where.line for item in items}) <= n_empty
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
def real(request, shared, tmp_path_factory):
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


@pytest.mark.parametrize(
    "text",
    [
        "sep=;\nresponse;rater;question;answer\nr1;anna;good;yes\n",
        "response|rater|question|answer\nr1|anna|good|yes\n",
        "response,rater,question,answer\rr1,anna,good,yes\r",
    ],
)
def test_votes_are_read_however_a_spreadsheet_wrote_the_table(tmp_path, text):
    [vote] = read_csv(tmp_path, "votes", text)

    assert (vote.response, vote.rater, vote.question, vote.answer) == ("r1", "anna", "good", "yes")

"""Votes inside the cells of a table are votes, or the import says what it loses."""

import json
from pathlib import Path

import pytest

from generation.importers import DatasetError, UnmappedError
from generation.importers.fields import Row
from generation.importers.mapped.mapping import read_mapping
from generation.importers.mapped.material import WITH_LATE_RATERS
from generation.importers.mapped.task_answers import COLUMN, opened_answers
from generation.importers.mapped.votes_in_cells import STAY
from generation.records import Problem, Where
from tests.generation.importers.reading import opened

DOCS = (Path(__file__).parents[4] / "docs" / "formats.md").read_text("utf-8")
LINES = DOCS.partition("| a field of `taskAnswers` says |")[2].partition("|---|---|\n")[2]
SAID = [line.strip("| ").split(" | ") for line in LINES.partition("\n\n")[0].splitlines()]
ASKED = {"question": "Who?", "answer": "She."}
MAPPED = '[columns]\nquestion = "question"\nanswer = "response"\n'


def read(tmp_path, *rows, mapping=None):
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(json.dumps(ASKED | row) for row in rows), encoding="utf-8")
    with opened(path, mapping=read_mapping(MAPPED + mapping) if mapping else None) as material:
        return {kind: list(material.records(kind)) for kind in material.kinds}, material


def votes_in(found):
    return [(vote.rater, vote.question, vote.answer) for vote in found.get("votes", ())]


def test_objects_in_json_are_votes_and_say_the_rest_of_it(tmp_path):
    ratings = [
        {"annotator_id": "r1", "criterion": "true", "score": 4, "lead_time": 30, "note": "Fine."},
        {"annotator_id": "r1", "criterion": "fluent", "score": 5, "lead_time": 30, "note": ""},
        {"annotator_id": "r2", "criterion": "true", "score": 2, "lead_time": 12.5, "note": ""},
    ]

    found, material = read(tmp_path, {"ratings": ratings}, {"answer": "He.", "ratings": []})

    assert votes_in(found) == [("r1", "true", "4"), ("r1", "fluent", "5"), ("r2", "true", "2")]
    assert [vote.seconds for vote in found["votes"]] == [30, 30, 12.5]
    assert [response.text for response in found["responses"]] == ["She.", "He."]
    assert material.losses == {}


def test_a_mapping_opens_the_lists_that_it_names_and_no_others(tmp_path):
    row = {"who": ["r1", "r2"], "said": ["yes", "no"]}

    found, _ = read(tmp_path, row, mapping='"who[]" = "rater"\n"said[]" = "vote"\n')
    assert votes_in(found) == [("r1", "said", "yes"), ("r2", "said", "no")]

    found, _ = read(tmp_path, row)
    assert found["responses"][0].meta == row


@pytest.mark.parametrize(
    ("row", "named"),
    [
        ({"raters": ["r1"], "scores": [1, 2]}, "1 in raters and 2 in scores"),
        ({"raters": ["r1", "r2"], "scores": 3}, "scores: found 3"),
    ],
)
def test_lists_that_do_not_fit_are_a_bad_row(tmp_path, row, named):
    good = {"raters": ["r1", "r2"], "scores": [2, 1]}

    other = {"answer": "He.", "raters": ["r1", "r2"], "scores": [3, 3]}
    found, _ = read(tmp_path, good, other, row | {"answer": "It."})

    [problem] = (each for each in found["responses"] if isinstance(each, Problem))
    assert named in str(problem)
    assert len(found["votes"]) == 4


@pytest.mark.parametrize(
    ("cell", "column"),
    [
        ([4, 5, 4], "ratings"),
        (["good", "good", "bad"], "labels"),
        ([{"score": 4, "label": "good"}], "annotations"),
    ],
)
def test_votes_without_raters_need_a_yes(tmp_path, cell, column):
    found, material = read(tmp_path, {column: cell}, {"answer": "He."})

    assert material.losses == {f"cells of {column}, {STAY}": 1}
    assert found["responses"][0].meta == {column: cell}


@pytest.mark.parametrize(
    "row",
    [
        {"labels": ["sport", "music"]},  # These are tags.
        {"contexts": ["a", "b"], "scores": [0.5, 0.7]},  # A retriever gave them.
        {"turns": [{"user": "Hi", "assistant": "Hello"}]},
        {"annotations": [{"start": 0, "end": 3, "type": "PER"}]},
    ],
)
def test_what_is_no_vote_stays_as_it_is(tmp_path, row):
    found, material = read(tmp_path, row)

    assert "votes" not in found
    assert material.losses == {}


def test_raters_of_later_rows_are_not_lost_in_silence(tmp_path):
    rows = [{"answer": f"No. {n}", "votes": {"r1": 4, "r2": 5}} for n in range(100)]
    late = {"answer": "So.", "votes": {"r1": 4, "r9": 5}}

    found, material = read(tmp_path, *rows, late)

    assert material.losses == {f"cells of votes {WITH_LATE_RATERS}": 1}
    assert found["responses"][-1].meta == {"votes": {"r9": 5}}


def test_an_object_of_words_is_asked_about(tmp_path):
    with pytest.raises(UnmappedError, match=r"labels\.ann and labels\.ben hold votes"):
        read(tmp_path, {"labels": {"ann": "good", "ben": "bad"}})


@pytest.mark.parametrize(("fields", "vote"), SAID)
def test_a_field_of_task_answers_is_a_vote_as_the_docs_say(fields, vote):
    for field in fields.strip("`").split("`, `"):
        cell = json.dumps([{"q": json.loads(field), "comment": "Fine."}])
        row = Row(Where("t.csv", 1), opened_answers(Row(Where("t.csv", 1), {COLUMN: cell})))
        assert row.values.keys() == {"Answer.q", "taskAnswers.comment"}
        said = "no vote" if row.is_empty("Answer.q") else row.word("Answer.q")
        assert said == vote, field


HITS = (
    "HITId,AssignmentId,WorkerId,Input.question,Input.answer,Answer.taskAnswers\n"
    '3AB,3X1,A2ZDEERVRN5AMC,Who?,She.,"[{""ok"":{""yes"":true,""no"":false},""fluent"":4}]"\n'
    '3AB,3X2,A1B2C3D4E5F6G7,Who?,She.,"[{""ok"":{""yes"":false,""no"":true},""fluent"":2}]"\n'
)


def test_task_answers_of_mechanical_turk_are_votes(tmp_path):
    """Rows after https://docs.aws.amazon.com/sagemaker (crowd HTML elements, their output)."""
    path = tmp_path / "Batch_1_batch_results.csv"
    path.write_text(HITS + "3AC,3X3,A1B2C3D4E5F6G7,Why?,So.,{oops\n", encoding="utf-8")

    with opened(path) as material:
        found = {kind: list(material.records(kind)) for kind in material.kinds}

    assert material.look.recipe == "Mechanical Turk (results of a batch)"
    assert votes_in(found) == [
        ("A2ZDEERVRN5AMC", "ok", "yes"),
        ("A2ZDEERVRN5AMC", "fluent", "4"),
        ("A1B2C3D4E5F6G7", "ok", "no"),
        ("A1B2C3D4E5F6G7", "fluent", "2"),
    ]
    [problem] = (each for each in found["responses"] if isinstance(each, Problem))
    assert f"line 4, {COLUMN}: found" in str(problem)


def test_passages_with_labels_are_not_taken_for_passages_in_silence(tmp_path):
    path = tmp_path / "export.jsonl"
    path.write_text('{"id": 1, "text": "It is tall.", "label": ["yes"]}\n', encoding="utf-8")

    with pytest.raises(DatasetError, match='"label"'):
        opened(path)

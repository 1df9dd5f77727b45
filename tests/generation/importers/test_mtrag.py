"""MTRAG human evaluation: tasks, documents and ratings become examples, votes and scores."""

import copy
import json
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest

from annotation.schemes import load_scheme
from generation.importers import DatasetError, Limits, open_material
from generation.records import Problem

RATING = {"timestamp": 1727777347.0, "duration": 1407.0, "value": "4"}
DATA: dict[str, Any] = {
    "name": "made by hand",
    "metrics": [
        {
            "name": "faithfulness",
            "description": "The response is grounded.",
            "values": [
                {"value": "1", "display_value": "Not at all"},
                {"value": "4", "display_value": "Fully"},
            ],
        }
    ],
    "documents": [{"document_id": "d1", "title": "Law library", "text": "Open to all."}],
    "tasks": [
        {
            "task_id": "c1<::>2",
            "input": [
                {"speaker": "user", "text": "Hi"},
                {"speaker": "agent", "text": "Hello"},
                {"speaker": "user", "text": "May I visit?"},
            ],
            "contexts": [{"document_id": "d1"}],
            "targets": [{"speaker": "agent", "text": "Yes."}],
            "Answerability": ["ANSWERABLE"],
            "Collection": "law",
        }
    ],
    "evaluations": [
        {
            "task_id": "c1<::>2",
            "model_id": "gpt",
            "model_response": "You may.",
            "annotations": {
                "faithfulness": {"11": RATING, "12": RATING | {"value": 3}},
                "win-rate": {"11": {"value": 50.0}},
                "rl_f": {"composite": {"value": 0.5}},
                "RougeL": {"system": {"value": 1}},
            },
        }
    ],
}


def read(tmp_path, data):
    path = tmp_path / "mtrag.json"
    path.write_text(json.dumps(data))
    with open_material(path, format="mtrag") as material:
        return material, {kind: list(material.records(kind)) for kind in material.kinds}


def test_a_task_is_an_example_with_its_contexts_as_golden_and_shown_evidence(tmp_path):
    _, found = read(tmp_path, DATA)

    (example,), (response,) = found["examples"], found["responses"]
    assert (example.key, example.dialog, example.golden_answer) == ("c1<::>2", "c1", "Yes.")
    assert [(t.speaker, t.parent) for t in example.turns] == [
        ("user", -1),
        ("assistant", 0),
        ("user", 1),
    ]
    assert example.evidence == (("d1", "Open to all.", "Law library", "", True),)
    assert example.meta == {"Answerability": ["ANSWERABLE"], "Collection": "law"}
    assert (response.key, response.example) == ("c1<::>2|gpt", "c1<::>2")
    assert (response.setup.name, response.text) == ("gpt", "You may.")
    assert response.evidence_shown == ("d1",)


def test_raters_named_by_digits_vote_and_pseudo_raters_score(tmp_path):
    material, found = read(tmp_path, DATA)

    assert [(v.rater, v.question, v.answer) for v in found["votes"]] == [
        ("11", "faithfulness", "4"),
        ("12", "faithfulness", "3"),
    ]
    # 1,727,777,347 s after 1970 is 1 October 2024, 10:09:07 UTC
    assert found["votes"][0].at == datetime(2024, 10, 1, 10, 9, 7, tzinfo=UTC)
    assert found["votes"][0].seconds == 1407
    assert [(s.metric, s.score, s.signature) for s in found["scores"]] == [
        ("rl_f", 0.5, "composite"),
        ("RougeL", 1.0, "system"),
    ]
    assert material.n_left_out == {"win-rate": 1}


def test_the_scheme_is_ordinal_with_the_words_of_the_file(tmp_path):
    material, _ = read(tmp_path, DATA)

    scheme = load_scheme(material.scheme)

    assert scheme.keys == ("naturalness", "appropriateness", "completeness", "faithfulness")
    question = scheme.questions[3]
    assert question.scale.values == (1, 2, 3, 4)
    assert (question.wording, question.ends) == (
        "The response is grounded.",
        ("Not at all", "Fully"),
    )


@pytest.mark.parametrize(
    ("path", "value", "kind", "field"),
    [
        (["evaluations", 0, "task_id"], "c9", "responses", "task_id"),
        (["evaluations", 0, "task_id"], ["c9"], "responses", "task_id"),
        (["evaluations", 0, "model_response"], None, "responses", "model_response"),
        (["tasks", 0, "contexts", 0, "document_id"], "d9", "examples", "contexts"),
        (["tasks", 0, "input", 2, "speaker"], "agent", "examples", "input"),
        (["tasks", 0], "text", "examples", "task_id"),
        (["evaluations", 0, "annotations", "faithfulness", "11", "value"], "5", "votes", "value"),
        (["evaluations", 0, "annotations", "faithfulness", "bob"], RATING, "votes", "bob"),
        (["evaluations", 0, "annotations", "rl_f", "composite", "value"], "x", "scores", "value"),
        (["evaluations", 0, "annotations", "rl_f", "composite", "value"], 1e99, "scores", "value"),
    ],
)
def test_what_breaks_the_format_is_a_problem_of_its_entry(tmp_path, path, value, kind, field):
    data = copy.deepcopy(DATA)
    place: Any = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value

    _, found = read(tmp_path, data)

    problems = [item for item in found[kind] if isinstance(item, Problem)]
    assert problems
    assert problems[0].where == ("mtrag.json", 1)
    assert any(field in problem.field for problem in problems)


@pytest.mark.parametrize("name", [{"is": "an object"}, ["faithfulness"], None, 3])
def test_a_metric_without_a_name_describes_no_question(tmp_path, name):
    metrics = [{"name": name, "description": "Unheard of."}]

    material, _ = read(tmp_path, DATA | {"metrics": metrics})

    assert load_scheme(material.scheme).questions[3].wording == "Faithfulness"


def test_a_file_of_another_shape_or_size_stops_the_import(tmp_path):
    with pytest.raises(DatasetError, match="evaluations"):
        read(tmp_path, {"tasks": [], "documents": []})
    with pytest.raises(DatasetError, match="more than 20 bytes"):
        open_material(tmp_path / "mtrag.json", "mtrag", Limits(max_whole_json_bytes=20))


def test_the_published_part_is_read_whole(shared):
    path = shared / "data/mtrag_human_eval/mtrag_human_eval_part1.json"

    with open_material(path) as material:
        found: dict[str, Any] = {k: list(material.records(k)) for k in material.kinds}
        left_out = material.n_left_out
        load_scheme(material.scheme)

    assert not [item for items in found.values() for item in items if isinstance(item, Problem)]
    # PROVENANCE.md: 77 tasks, 231 rated answers, 176 passages, 7 raters
    assert len(found["examples"]) == 77
    assert len({response.key for response in found["responses"]}) == 231
    assert (
        len({passage.key for example in found["examples"] for passage in example.evidence}) == 176
    )
    assert len({vote.rater for vote in found["votes"]}) == 7
    assert {vote.answer for vote in found["votes"]} == {"1", "2", "3", "4"}
    # counted in the raw JSON with the standard library alone
    assert Counter(vote.question for vote in found["votes"]) == {
        "naturalness": 681,
        "appropriateness": 681,
        "completeness": 678,
        "faithfulness": 684,
    }
    assert len(found["scores"]) == 7 * 231
    assert left_out == {"win-rate": 693}

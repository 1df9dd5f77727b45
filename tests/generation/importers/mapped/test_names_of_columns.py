"""A table of questions and answers: what its columns become, by their names."""

import json
import re

import pytest

from generation.importers import DatasetError, open_material
from generation.records import Problem
from tests.generation.importers.reading import opened

QUESTION = "Who built the light?"
PASSAGE = "Ilva Marren designed the Ansel Light in 1846."


def read(path, kind=None):
    with open_material(path) as material:
        assert material.format == "table"
        found = {each: list(material.records(each)) for each in material.kinds}
        return (found[kind] if kind else found), material.notes


def csv_file(tmp_path, *lines, name="answers.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding=encoding)
    return path


def json_file(tmp_path, *rows):
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_answers_to_one_question_are_responses_to_one_example(tmp_path):
    found, notes = read(
        csv_file(
            tmp_path,
            "question,context,answer,model,cost",
            f"{QUESTION},{PASSAGE},Ilva Marren did.,small,3",
            f'{QUESTION},{PASSAGE},"Her husband, Tomas Sund.",large,',
        )
    )

    (example,), (passage,) = found["examples"], found["passages"]
    assert example.turns == (("user", QUESTION, -1),)
    assert (example.dialog, example.evidence, example.golden_answer) == (example.key, (), None)
    assert passage.text == PASSAGE
    small, large = found["responses"]
    assert (small.example, small.setup.name, small.setup.model) == (example.key, "small", "small")
    assert (large.text, large.evidence_shown) == ("Her husband, Tomas Sund.", (passage.key,))
    assert (small.meta, large.meta) == ({"cost": "3"}, {})
    assert notes == {"examples without a dialog, because no column names one": 1}


def test_rows_as_ragas_writes_them_are_read_without_a_word(tmp_path):
    """The columns of RAGAS' dataset (0.2): messages, lists of contexts, a reference."""
    messages = [
        {"type": "human", "content": "Tell me about the light."},
        {"type": "ai", "content": "It stands at Port Ansel."},
        {"type": "human", "content": QUESTION},
    ]
    row = {
        "user_input": messages,
        "retrieved_contexts": [PASSAGE, {"page_content": "It is tall.", "title": "Ansel"}, " "],
        "reference_contexts": [PASSAGE],
        "response": "Ilva Marren.",
        "reference": "Ilva Marren designed it.",
        "faithfulness": 0.5,
    }

    found, _ = read(json_file(tmp_path, row))

    (example,), (response,) = found["examples"], found["responses"]
    assert [(turn.speaker, turn.parent) for turn in example.turns] == [
        ("user", -1),
        ("assistant", 0),
        ("user", 1),
    ]
    assert example.golden_answer == "Ilva Marren designed it."
    assert [(each.text, each.is_golden) for each in example.evidence] == [(PASSAGE, True)]
    assert [(each.title, each.text) for each in found["passages"]] == [
        ("", PASSAGE),
        ("Ansel", "It is tall."),
    ]
    assert len(response.evidence_shown) == 2
    assert response.meta == {}
    (score,) = found["scores"]
    assert (score.metric, score.score) == ("faithfulness", 0.5)
    assert (response.setup.name, response.setup.model) == ("answers", "")


def test_columns_may_be_written_otherwise_and_lists_stand_in_cells(tmp_path):
    lines = (
        "Question;Contexts;Ground Truth;Session ID;System Name;Answer",
        f'{QUESTION};"[""{PASSAGE}"", ""[sic] It is tall.""]";[1846];s1;rag;In 1846.',
        f"{QUESTION};[1] {PASSAGE};;s2;rag;In 1847.",
    )

    found, notes = read(csv_file(tmp_path, *lines))

    one, two = found["responses"]
    assert (len(one.evidence_shown), len(two.evidence_shown)) == (2, 1)
    assert [each.dialog for each in found["examples"]] == ["s1", "s2"]
    assert found["passages"][2].text == f"[1] {PASSAGE}"  # a text that begins with a bracket
    assert (one.setup.name, one.setup.model) == ("rag", "")
    assert notes == {}


def test_another_answer_to_the_same_question_is_another_response(tmp_path):
    lines = ("question,answer", f"{QUESTION},She did.", f"{QUESTION},He did.")

    found, notes = read(csv_file(tmp_path, *lines))

    one, two = found["responses"]
    assert two.key == f"{one.key}|2"
    assert one.evidence_shown is None  # the table does not say
    assert "passages" not in found
    assert notes["responses without evidence, so that AIS cannot be rated"] == 2


def test_long_keys_have_room_also_for_another_answer(tmp_path):
    """An id of 150 signs and a setup of 100 are more than the 200 that a key may have."""
    row = {"qid": "q" * 150, "question": "Who?", "answer": "She.", "model": "m" * 100}

    responses, _ = read(json_file(tmp_path, row, row | {"answer": "He."}), "responses")

    assert [len(response.key) <= 200 for response in responses] == [True, True]
    assert responses[0].key != responses[1].key


def test_answers_without_a_text_are_counted(tmp_path):
    answers = {"Who?": "She.", "When?": "", "Why?": None}
    rows = [{"question": question, "answer": answer} for question, answer in answers.items()]

    responses, notes = read(json_file(tmp_path, *rows), "responses")

    assert [response.text for response in responses] == ["She.", "", ""]
    assert notes["responses without a text, which count as empty answers"] == 2


def test_a_row_that_contradicts_the_first_one_of_its_example_is_counted(tmp_path):
    lines = ("qid,question,reference,answer", "q1,Who?,Ilva,a", "q1,Who?,Tomas,b", "q1,Who?,Ilva,c")

    found, notes = read(csv_file(tmp_path, *lines))

    (example,) = found["examples"]
    assert (example.key, example.golden_answer) == ("q1", "Ilva")
    assert notes["rows that differ from the first row of their example"] == 1


@pytest.mark.parametrize(
    ("row", "field", "found"),
    [
        ({"question": " ", "answer": "x"}, "question", '" "'),
        ({"question": [], "answer": "x"}, "question", "[]"),
        ({"question": [{"role": "user"}], "answer": "x"}, "question[1].content", "nothing"),
        (
            {"question": [{"role": "ai", "content": "Hi."}], "answer": "x"},
            "question",
            '[{"role": "ai", "content": "Hi."}]',
        ),
        (
            {"question": [{"role": "judge", "content": "y"}], "answer": "x"},
            "question[1].role",
            '"judge"',
        ),
        (
            {"question": [{"role": ["user"], "content": "y"}], "answer": "x"},
            "question[1].role",
            '["user"]',
        ),
        ({"question": "Who?", "answer": ["a", "b"]}, "answer", '["a", "b"]'),
        ({"question": "Who?", "answer": "x", "contexts": [{"id": 7}]}, "contexts[1]", '{"id": 7}'),
        ({"question": "Who?", "answer": "x", "model": "m" * 200}, "model", "200 characters"),
    ],
)
def test_a_row_that_cannot_be_read_is_one_problem_with_its_place(tmp_path, row, field, found):
    good = {"question": "Who?", "answer": "She."}

    responses, _ = read(json_file(tmp_path, good, row), "responses")

    (problem,) = [each for each in responses if isinstance(each, Problem)]
    assert (problem.where.line, problem.field) == (2, field)
    assert problem.found.startswith(found)
    assert len(responses) == 2


def test_system_messages_are_not_shown(tmp_path):
    messages = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Who?"}]

    (example,), _ = read(json_file(tmp_path, {"input": messages, "output": "She."}), "examples")

    assert example.turns == (("user", "Who?", -1),)


@pytest.mark.parametrize("name", ["answers.csv", "answers.tsv", "answers"])
def test_it_is_told_by_its_columns_whatever_it_is_called(tmp_path, name):
    path = csv_file(tmp_path, "query\toutput", "Who?\tShe.", name=name, encoding="utf-8-sig")

    (response,), _ = read(path, "responses")

    assert response.text == "She."


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("question,context\nWho?,x\n", 'found the columns ["question", "context"]'),
        ('{"query": "Who?", "label": 1}\n', 'found the columns ["query", "label"]'),
        ("", "found an empty file"),
        ("response,question,answer\nr1,sensible,yes\n", "found the columns"),  # no raters
        ("%PDF-1.7", "found a file that Attest does not recognise"),
    ],
)
def test_what_is_no_table_of_answers_is_told_by_what_it_holds(tmp_path, content, found):
    path = tmp_path / "file"
    path.write_text(content)

    with pytest.raises(DatasetError, match=re.escape(found)):
        open_material(path)


@pytest.mark.parametrize("header", ["question,label", "answer,label", "a,b"])
def test_without_a_question_or_an_answer_the_names_of_columns_are_said(tmp_path, header):
    path = csv_file(tmp_path, header, "x,y")

    with pytest.raises(DatasetError, match="a column question or user_input or user_question"):
        open_material(path)
    with pytest.raises(DatasetError, match="and a column response or answer"):
        open_material(path, format="table")


def test_the_time_of_a_vote_is_told_by_names_that_nothing_else_has(tmp_path):
    path = csv_file(tmp_path, "question,answer,lead_time,voted_at,seconds,at", "Who?,She.,1,2,3,4")

    with opened(path) as material:
        columns = material.look.mapping.columns

    assert {columns.get("lead_time"), columns.get("voted_at")} == {"seconds", "at"}
    assert not {"seconds", "at"} & {*columns}  # may be an answer's as well as a vote's


@pytest.mark.parametrize(
    ("name", "numbers", "is_scores"),
    [
        ("usage", {"prompt_tokens": 11, "completion_tokens": 4, "total_tokens": 15}, False),
        ("tokenUsage", {"total": 15, "prompt": 11}, False),
        ("stats", {"totalTokens": 15, "latencyMs": 320.5, "cost": 0.01}, False),
        ("metrics", {"faithfulness": 0.5, "token_f1": 1}, True),
    ],
)
def test_what_an_answer_took_is_no_score(tmp_path, name, numbers, is_scores):
    messages = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": "She."}]
    rows = [{"messages": messages, "model": model, name: numbers} for model in ("a", "b")]

    found, _ = read(json_file(tmp_path, *rows))

    metrics = {each.metric for each in found.get("scores", ())}
    assert metrics == ({*numbers} if is_scores else set())
    assert (name in found["responses"][0].meta) is not is_scores


def test_what_an_answer_took_is_no_score_in_a_frame_of_a_tool_either(tmp_path):
    header = "question,contexts,answer,faithfulness,token_f1,total_tokens,latency"
    path = csv_file(tmp_path, header, f"{QUESTION},\"['{PASSAGE}']\",She.,0.5,1,15,2.5")

    found, _ = read(path)

    assert [each.metric for each in found["scores"]] == ["faithfulness", "token_f1"]
    assert found["responses"][0].meta.keys() == {"total_tokens", "latency"}

"""Texts and lists in cells are read as the tables in docs/formats.md say, line by line."""

import csv
import json
import re
from pathlib import Path

import pytest

from generation.importers.mapped.mapping import read_mapping
from generation.records import Problem
from tests.generation.importers.reading import opened

DOCS = (Path(__file__).parents[4] / "docs" / "formats.md").read_text("utf-8")
AS_WRITTEN = "the cell as it is written"
UNREAD = "cells of contexts that begin like a list and were taken as one passage"


def lines_under(header):
    """Return each cell of a table in the docs with what is said of it."""
    rows = DOCS.partition(f"| {header} |")[2].partition("\n\n")[0].splitlines()[2:]
    found = [row.strip("| ").rpartition(" | ") for row in rows]
    cells = [(re.findall("`(.+?)`(?:,|$)", written), said) for written, _, said in found]
    return [(cell, said) for several, said in cells for cell in several]


def read(path, mapping=None):
    with opened(path, mapping=mapping and read_mapping(mapping)) as material:
        found = {kind: list(material.records(kind)) for kind in material.kinds}
        return found, material


def csv_file(tmp_path, *rows):
    path = tmp_path / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


def json_file(tmp_path, *rows):
    path = tmp_path / "t.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def texts(found):
    return [passage.text for passage in found["passages"]]


def test_the_docs_have_lines_to_try():
    assert len(lines_under("a cell of evidence says | its passages")) >= 25
    assert len(lines_under("a value says | the text")) >= 20


@pytest.mark.parametrize(
    ("cell", "passages"), lines_under("a cell of evidence says | its passages")
)
def test_a_cell_of_evidence_has_the_passages_that_the_docs_say(tmp_path, cell, passages):
    path = csv_file(tmp_path, ["question", "contexts", "answer"], ["Who?", cell, "She."])

    found, material = read(path)

    if passages == "a bad row":
        assert [type(each) for each in found["responses"]] == [Problem]
        return
    is_counted = passages.endswith(", counted")
    assert material.notes.get(UNREAD, 0) == is_counted
    written = {AS_WRITTEN: [cell], "nothing": []}
    assert texts(found) == written.get(passages.removesuffix(", counted"), passages.split("; "))
    try:
        value = json.loads(cell)
    except ValueError:
        return
    if not all(isinstance(each, int) for each in value):  # JSON says for sure that it is a list
        row = {"question": "Who?", "contexts": value, "answer": "She."}
        assert texts(read(json_file(tmp_path, row))[0]) == texts(found)


@pytest.mark.parametrize(("value", "text"), lines_under("a value says | the text"))
def test_a_value_says_the_text_that_the_docs_say(tmp_path, value, text):
    row = {"question": "Who?", "answer": json.loads(value), "contexts": ["c"]}

    found, material = read(json_file(tmp_path, row))

    (response,) = found["responses"]
    if text == "a bad row":
        assert (response.where.line, response.field) == (1, "answer")
        assert response.expected == "text"
        return
    text, _, counted = text.partition(", and ")
    assert response.text == text
    assert sum(material.n_left_out.values()) == bool(counted)


def test_what_stands_beside_a_text_stays_in_meta(tmp_path):
    answer = {"text": "She.", "tokens": 3}
    row = {"question": {"text": "Who?"}, "answer": answer, "contexts": ["c"], "run": {"id": "x"}}

    found, _ = read(json_file(tmp_path, row))

    (response,) = found["responses"]
    assert response.text == "She."
    assert response.meta == {"answer": {"tokens": 3}, "run": {"id": "x"}}


def test_a_list_of_thousands_in_a_cell_is_read(tmp_path):
    cell = " ".join(["[" + repr("It's a.\n"), *(f"'p{n}'" for n in range(2_000))]) + "]"

    found, _ = read(csv_file(tmp_path, ["question", "contexts", "answer"], ["Who?", cell, "She."]))

    assert len(texts(found)) == 2_001
    assert texts(found)[0] == "It's a.\n"


@pytest.mark.parametrize(
    "cell",
    [
        "[{'role': 'user', 'content': 'Who?'}]",
        "[HumanMessage(content='Who?', additional_kwargs={})]",
        "{'role': 'user', 'content': [{'type': 'text', 'text': 'Who?'}]}",
        "Who?",
    ],
)
def test_a_question_and_an_answer_in_a_cell_may_be_messages_as_python_writes_them(tmp_path, cell):
    answer = cell.replace("user", "assistant").replace("Human", "AI")

    found, _ = read(csv_file(tmp_path, ["question", "answer"], [cell, answer]))

    assert [turn.text for turn in found["examples"][0].turns] == ["Who?"]
    assert found["responses"][0].text == "Who?"


@pytest.mark.parametrize("cell", ['{"a": 1}', "['a', 'b']", '["a", "b"]', "{'name': 'x'}"])
def test_a_list_or_an_object_that_a_model_has_answered_with_stays_as_it_is(tmp_path, cell):
    header = ["question", "answer", "ground_truth"]

    found, material = read(csv_file(tmp_path, header, ["Who?", cell, '{"a": 1}']))

    assert found["responses"][0].text == cell
    assert found["examples"][0].golden_answer == '{"a": 1}'
    assert not material.n_left_out


SYSTEM = {"role": "system", "content": "The light is tall."}
ASKED = {"role": "user", "content": "How tall?"}
CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
TOOL = {"role": "tool", "content": "40 m"}
ANSWER = {"role": "assistant", "content": [{"type": "text", "text": "Very."}]}
MESSAGES = [SYSTEM, ASKED, CALL, TOOL, ANSWER]
RESULT = [{"type": "tool_result", "content": "40 m"}]


@pytest.mark.parametrize(
    ("messages", "counted"),
    [
        (MESSAGES, ["messages of the system", "calls of tools"]),
        ([ASKED, {"role": "user", "content": RESULT}, ANSWER], ["calls of tools"]),
        ([{"role": "user", "parts": [{"text": "How tall?"}]}, ANSWER], []),
        ([{"from": "human", "value": "How tall?"}, {"from": "gpt", "value": "Very."}], []),
    ],
)
def test_messages_that_raters_do_not_see_are_counted(tmp_path, messages, counted):
    found, material = read(json_file(tmp_path, {"messages": messages}))

    assert [turn.text for turn in found["examples"][0].turns] == ["How tall?"]
    assert found["responses"][0].text == "Very."
    left_out = sorted(material.n_left_out, reverse=True)
    for what, beginning in zip(left_out, counted, strict=True):
        assert what.startswith(beginning)


def test_a_user_who_shows_only_an_image_is_a_problem_with_its_place(tmp_path):
    shown = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}

    found, _ = read(json_file(tmp_path, {"messages": [shown, ANSWER]}))

    (problem,) = found["responses"]
    assert problem.field == "messages[1].content"
    assert problem.expected == "text that is not empty"


@pytest.mark.parametrize("role", ["shown", "golden"])
def test_messages_of_the_system_are_evidence_if_a_mapping_says_so(tmp_path, role):
    path = json_file(tmp_path, {"messages": MESSAGES})
    _, told = read(path)
    assert told.look.has_system_messages

    mapping = f'system_messages = "{role}"\n[columns]\nmessages = "messages"\n'
    found, material = read(path, mapping)

    (example,), (response,) = found["examples"], found["responses"]
    shown = [passage.text for passage in found.get("passages", ())]
    assert [shown, [each.text for each in example.evidence]] == (
        [["The light is tall."], []] if role == "shown" else [[], ["The light is tall."]]
    )
    assert bool(response.evidence_shown) == (role == "shown")
    assert not any(what.startswith("messages of the system") for what in material.n_left_out)


def test_a_log_of_requests_and_responses_is_read(tmp_path):
    choice = {"index": 0, "message": {"role": "assistant", "content": "Very."}}
    request = {"model": "m", "messages": [SYSTEM, ASKED], "tools": [{}, {}, {}]}
    row = {"request": request, "response": {"id": "r1", "choices": [choice, choice]}}
    path = json_file(tmp_path, row)
    path.write_text(json.dumps(row, indent=1))

    found, material = read(path)

    (response,) = found["responses"]
    assert (response.key, response.setup.name, response.text) == ("r1", "m", "Very.")
    assert response.meta == {"request": {"tools": [{}, {}, {}]}}
    assert [turn.text for turn in found["examples"][0].turns] == ["How tall?"]
    assert sum(material.n_left_out.values()) == 2  # the system's message, the second choice


@pytest.mark.parametrize("indent", [None, 1])
def test_a_file_that_is_one_object_with_messages_is_one_conversation(tmp_path, indent):
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"id": "c1", "messages": MESSAGES}, indent=indent))

    found, _ = read(path)

    assert [response.text for response in found["responses"]] == ["Very."]
    assert found["responses"][0].meta == {"id": "c1"}


def test_rows_of_the_viewer_of_hugging_face_are_read_and_cut_cells_counted(tmp_path):
    row = {"Question": "Who?", "contexts": ["c"], "Answer": "She.", "faithfulness": 0.5}
    path = tmp_path / "t.json"
    viewed = [{"row_idx": 0, "row": row, "truncated_cells": ["contexts"]}]
    path.write_text(json.dumps({"features": [{"name": "a"}, {"name": "b"}], "rows": viewed}))

    found, material = read(path)

    assert [response.text for response in found["responses"]] == ["She."]
    assert [score.metric for score in found["scores"]] == ["faithfulness"]  # RAGAS, in any spelling
    assert material.n_left_out == {"ends of cells that the viewer of Hugging Face has cut off": 1}


@pytest.mark.parametrize(
    ("row", "response"),
    [
        ({"input": "Who?", "actualOutput": "She."}, "She."),
        ({"User Input": "Who?", "Actual Output": "She."}, "She."),
        ({"input": {"question": "Who?"}, "output": {"answer": "She."}}, "She."),
        ({"question": "Who?", "answer": {"text": "She.", "n": 1}}, "She."),
        ({"messages": [{"role": "user", "content": "Who?"}], "answer": "She."}, "She."),
        ({"inputs": {"question": "Who?"}, "outputs": {"answer": "She."}}, "She."),
    ],
)
def test_fields_are_told_in_any_spelling_and_inside_of_objects(tmp_path, row, response):
    found, _ = read(json_file(tmp_path, row))

    assert [turn.text for turn in found["examples"][0].turns] == ["Who?"]
    assert [each.text for each in found["responses"]] == [response]


def test_texts_that_are_encoded_twice_in_all_rows_are_decoded_once(tmp_path):
    header = ["question", "answer"]
    encoded = [[json.dumps('Who is "she"?'), '"She"'], [json.dumps("Who?"), '"He"']]

    found, material = read(csv_file(tmp_path, header, *encoded))
    both = [turn.text for example in found["examples"] for turn in example.turns]
    assert both == ['Who is "she"?', "Who?"]
    assert [each.text for each in found["responses"]] == ['"She"', '"He"']  # a writer's quotes
    assert material.notes["texts that were encoded as JSON twice, which is taken off once"] == 2

    found, _ = read(csv_file(tmp_path, header, *encoded, ["Why?", "So."]))
    assert found["examples"][0].turns[0].text == '"Who is \\"she\\"?"'

"""Langfuse: its rows, in any kind of file, and the faults that they can have."""

import json

import pytest

from generation.importers import DatasetError
from generation.records import Problem
from tests.generation.importers.mapped.langfuse_rows import (
    WRITERS,
    answered,
    as_pages_spell,
    export,
    generation,
    retriever,
    score,
    trace,
)
from tests.generation.importers.reading import opened

DOCUMENTS = [
    {"page_content": "Ilva Marren built it in 1846.", "metadata": {"source": "a"}},
    {"text": "Corran Head is a low cape.", "title": "Cape"},
    "It has 212 steps.",
]


def read(folder, suffix=".jsonl", **files):
    with opened(export(folder, suffix, **files)) as material:
        found = {kind: list(material.records(kind)) for kind in material.kinds}
        problems = [each for each in found["responses"] if isinstance(each, Problem)]
        assert material.look.recipe == "Langfuse"
        return material, found, problems


PROMPT = json.dumps([{"role": "system", "content": "x"}, {"role": "user", "content": "Who?"}])
OBSERVATIONS = [
    answered(session_id="s1"),
    retriever(DOCUMENTS),
    generation(input=PROMPT, session_id="s1"),
]
SCORES = [
    score("s1", "grounded", 0, "CATEGORICAL", string_value="partly"),
    score("s2", "polite", 1, "BOOLEAN", string_value="True"),
    score("s3", "quality", 4),
    score("s4", "grounded", 1, "CATEGORICAL", string_value="fully", author_user_id="user-8"),
    score("s5", "judge", 0.25, source="EVAL", author_user_id=None),
    score("s6", "thumb", 1, "BOOLEAN", string_value="True", source="API", author_user_id=None),
    score("s7", "remark", 0, "TEXT", string_value="So so."),
    score("s8", "topic", 2, "CATEGORICAL", string_value="light", source="EVAL"),
    score("s9", trace_id="t9"),
    score("s10", trace_id=None, session_id="s1"),
]
VOTES = [
    ("user-7", "grounded", "partly"),
    ("user-7", "polite", "True"),
    ("user-7", "quality", "4"),
    ("user-8", "grounded", "fully"),
]


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_trace_is_a_response_with_its_evidence_votes_and_scores(tmp_path, suffix):
    material, found, _ = read(tmp_path, suffix, observations_v2=OBSERVATIONS, scores=SCORES)

    [response] = found["responses"]
    assert (response.key, response.text) == ("o1", "Ilva Marren.")
    assert (response.setup.name, response.setup.model) == ("small", "small")
    assert response.meta == {"trace": "t1", "name": "chat"}
    [example] = found["examples"]
    assert (example.dialog, [turn.text for turn in example.turns]) == ("s1", ["Who built it?"])
    texts = {passage.key: (passage.title, passage.text) for passage in found["passages"]}
    assert [texts[key] for key in response.evidence_shown] == [
        ("", "Ilva Marren built it in 1846."),
        ("Cape", "Corran Head is a low cape."),
        ("", "It has 212 steps."),
    ]
    assert [(vote.rater, vote.question, vote.answer) for vote in found["votes"]] == VOTES
    assert [vote.source_id for vote in found["votes"]] == ["s1", "s2", "s3", "s4"]
    assert [(each.metric, each.score) for each in found["scores"]] == [
        ("judge", 0.25),
        ("thumb", 1),
    ]
    assert material.n_left_out == {
        "scores that are texts": 1,
        "categories that no annotator gave": 1,
        "scores of no trace that is among the files": 2,
    }


@pytest.mark.parametrize("suffix", [".csv", ".json", ".jsonl"])
def test_the_export_of_the_pages_is_read_alike_and_names_become_codes(tmp_path, suffix):
    scores = [as_pages_spell(row) for row in SCORES]
    for row in scores:
        row["authorUserName"] = row["authorUserName"] and "Ilva Marren"
    spans = [as_pages_spell(row) for row in OBSERVATIONS]
    for row in spans:
        del row["sessionId"]
        for name in ("input", "output"):
            if suffix != ".csv" and row[name].startswith("["):
                row[name] = json.loads(row[name])

    _, found, _ = read(
        tmp_path,
        suffix,
        traces=[as_pages_spell(trace("t1", session_id="s1"))],
        observations=spans,
        scores=scores,
    )

    [response] = found["responses"]
    assert (response.key, response.text, response.setup.name) == ("t1", "Ilva Marren.", "small")
    assert (found["examples"][0].dialog, len(found["passages"])) == ("s1", 3)
    assert [(vote.question, vote.answer) for vote in found["votes"]] == [vote[1:] for vote in VOTES]
    [rater] = {vote.rater for vote in found["votes"]}
    assert rater.startswith("rater-")


def test_votes_without_an_author_are_those_of_one_nominal_rater(tmp_path):
    scores = [score("s1"), score("s2", "quality", 4)]
    for row in scores:
        del row["author_user_id"]

    material, found, _ = read(tmp_path, observations=OBSERVATIONS, scores=scores)

    assert [vote.rater for vote in found["votes"]] == ["published", "published"]
    assert (
        material.notes["votes without a rater, which count as votes of one rater, published"] == 2
    )


def test_without_scores_and_retrievers_there_are_responses_alone(tmp_path):
    material, found, _ = read(tmp_path, traces=[trace("t1"), trace("t2")])

    assert material.kinds == ("examples", "responses")
    assert [each.key for each in found["responses"]] == ["t1", "t2"]
    assert found["responses"][0].evidence_shown is None
    assert len(found["examples"]) == 1  # one question, and no session


def test_a_generation_that_a_score_names_is_a_response_beside_its_trace(tmp_path):
    scores = [score("s1", value=1), score("s2", value=2, observation_id="g1")]

    _, found, _ = read(tmp_path, observations=OBSERVATIONS, scores=scores)

    assert [(vote.response, vote.answer) for vote in found["votes"]] == [("o1", "1"), ("g1", "2")]


def test_a_part_that_says_the_same_as_its_trace_is_no_other_response(tmp_path):
    spans = [generation(parent_observation_id="")]
    scores = [score("s1", value=1), score("s2", "quality", value=2, observation_id="g1")]

    _, found, _ = read(tmp_path, traces=[trace("t1")], observations=spans, scores=scores)

    assert [(vote.response, vote.answer) for vote in found["votes"]] == [("t1", "1"), ("t1", "2")]


def test_where_no_part_is_the_trace_each_generation_is_a_response(tmp_path):
    rewriting = generation("g1", parent_observation_id="", output="When was it built?")
    answering = generation("g2", parent_observation_id="", provided_model_name="large")
    scores = [score("s1"), score("s2", value=2, observation_id="g2")]

    material, found, _ = read(tmp_path, observations=[rewriting, answering], scores=scores)

    assert [(each.key, each.setup.name) for each in found["responses"]] == [
        ("g1", "small"),
        ("g2", "large"),
    ]
    assert [(vote.response, vote.answer) for vote in found["votes"]] == [("g2", "2")]
    assert material.n_left_out == {"scores of something in a trace that is no response": 1}


def test_scores_of_what_is_no_response_and_traces_that_say_nothing_are_counted(tmp_path):
    calls_a_tool = json.dumps({"role": "assistant", "content": None, "tool_calls": [{}]})
    silent = generation("g2", "t2", output=calls_a_tool)
    judge = generation("g3", "t3", environment="langfuse-llm-as-a-judge")
    scores = [score("s1", observation_id="r1"), score("s2", trace_id="t2")]

    material, found, _ = read(tmp_path, observations=[*OBSERVATIONS, silent, judge], scores=scores)

    assert [each.key for each in found["responses"]] == ["o1"]
    assert material.n_left_out == {
        "scores of something in a trace that is no response": 2,
        "traces without a question and an answer": 1,
        "observations and traces of Langfuse's own judge": 1,
    }


def test_what_stands_in_two_files_counts_once(tmp_path):
    files = {"observations_1": OBSERVATIONS, "observations_2": OBSERVATIONS, "scores": SCORES}

    _, found, _ = read(tmp_path, **files, scores_2=SCORES[:4])

    assert len(found["responses"]) == 1
    assert [(vote.rater, vote.question, vote.answer) for vote in found["votes"]] == VOTES


ASKED = [{"role": "user", "content": "Who?"}]
ANSWER = {"role": "assistant", "content": "She."}


@pytest.mark.parametrize(
    "said",
    [
        "Who?",
        ASKED,
        ASKED[0],
        {"messages": ASKED, "tools": [{"name": "search"}]},
        {"query": "Who?"},
        {"args": ["Who?"], "kwargs": {}},
        [{"role": "user", "content": [{"type": "text", "text": "Who?"}, {"type": "image"}]}],
        [{"type": "system", "content": "Be kind."}, {"type": "human", "content": "Who?"}],
    ],
)
def test_an_input_is_a_text_or_messages_or_what_one_thing_holds_them(tmp_path, said):
    row = answered(input=said if isinstance(said, str) else json.dumps(said))

    _, found, problems = read(tmp_path, observations=[row])

    assert not problems
    assert [turn.text for turn in found["examples"][0].turns] == ["Who?"]


def test_texts_that_an_older_export_has_encoded_twice_are_decoded_where_all_are(tmp_path):
    encoded = answered(input=json.dumps('Who is "she"?'), output=json.dumps("She."))
    null = answered("o2", "t2", input="null", output=json.dumps("She."))
    messages = answered("o3", "t3", input=json.dumps(ASKED), output=json.dumps(ANSWER))

    material, found, _ = read(tmp_path, observations=[encoded, null, messages])
    asked = [example.turns[0].text for example in found["examples"]]
    assert asked == ['Who is "she"?', "Who?"]
    assert [each.text for each in found["responses"]] == ["She.", "She."]
    assert material.n_left_out == {"traces without a question and an answer": 1}

    _, found, _ = read(tmp_path, observations=[encoded, answered("o4", "t4", input='"Who" is it?')])
    asked = [example.turns[0].text for example in found["examples"]]
    assert asked == ['"Who is \\"she\\"?"', '"Who" is it?']


def test_thoughts_in_an_output_are_counted_and_not_shown(tmp_path):
    parts = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "She."}]
    row = answered(output=json.dumps({"role": "assistant", "content": parts}))

    material, found, _ = read(tmp_path, observations=[row])

    assert [each.text for each in found["responses"]] == ["She."]
    assert material.n_left_out == {"parts of messages in which a model thinks": 1}


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (ANSWER, "She."),
        ([*ASKED, ANSWER], "She."),
        ({"output": "She."}, "She."),
        ({"answer": "She.", "sure": False}, '{"answer": "She.", "sure": false}'),
        ("[1] says so", "[1] says so"),
        ({"n": 0}, "0"),
    ],
)
def test_an_output_is_the_last_message_a_text_or_its_json(tmp_path, said, text):
    row = answered(output=said if isinstance(said, str) else json.dumps(said))

    _, found, _ = read(tmp_path, observations=[row])

    assert [each.text for each in found["responses"]] == [text]


@pytest.mark.parametrize(
    ("output", "texts", "n_without"),
    [
        ({"documents": [{"content": "a"}], "scores": [0.5]}, ["a"], 0),
        ([{"pageContent": "a"}, {"id": 1}, 7], ["a"], 2),
        ("It was built in 1846.", ["It was built in 1846."], 0),
        ("", [], 0),
        ([], [], 0),
    ],
)
def test_documents_without_a_text_are_counted(tmp_path, output, texts, n_without):
    material, found, _ = read(tmp_path, observations=[answered(), retriever(output)])

    assert [passage.text for passage in found["passages"]] == texts
    assert material.n_left_out.get("retrieved documents without a text", 0) == n_without


@pytest.mark.parametrize(
    "wrong",
    [
        score("s1", value=None),
        score("s1", value="good"),
        score("s1", kind="CATEGORICAL"),
        score(None),
    ],
)
def test_a_score_without_a_value_or_an_id_is_a_problem(tmp_path, wrong):
    _, found, problems = read(tmp_path, observations=OBSERVATIONS, scores=[wrong, score("s2")])

    [problem] = problems
    assert (problem.where.file, problem.where.line) == ("scores.jsonl", 1)
    assert len(found["votes"]) == 1


def test_scores_alone_are_nothing_to_import(tmp_path):
    with pytest.raises(DatasetError), opened(export(tmp_path, results=SCORES)):
        pass

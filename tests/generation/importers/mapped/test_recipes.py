"""Files of other tools are read without any question; `tests/data/foreign` has these files."""

import json
from collections import Counter, defaultdict
from datetime import datetime
from pathlib import Path

import pytest

from generation.importers.mapped.recipes import RECIPES
from generation.records import Problem
from tests import published
from tests.generation.importers.reading import opened

FOREIGN = Path(__file__).parents[3] / "data" / "foreign"
PASSAGE = "Ansel Light is a lighthouse on Corran Head. Ilva Marren built it in 1846."
CAPE = "Corran Head is a low cape of grey slate."


def read(name):
    with opened(FOREIGN / name) as material:
        found = {kind: list(material.records(kind)) for kind in material.kinds}
        assert not any(isinstance(each, Problem) for rows in found.values() for each in rows)
        return found, material.look.recipe


@pytest.mark.parametrize(
    ("name", "recipe"),
    [
        ("ragas.jsonl", "RAGAS (0.2 and later)"),
        ("ragas_result.csv", "RAGAS (0.2 and later)"),
        ("ragas01.jsonl", "RAGAS (0.1)"),
        ("ragas01.parquet", "RAGAS (0.1)"),
        ("ragas01_dataset", "RAGAS (0.1)"),
        ("ragas01_result.csv", "RAGAS (0.1)"),
        ("deepeval.json", "deepeval"),
        ("deepeval_run.json", "deepeval"),
    ],
)
def test_five_answers_are_five_examples_with_their_evidence(name, recipe):
    found, told = read(name)

    assert told == recipe
    first, *_, last = found["examples"]
    assert [len(found[kind]) for kind in ("examples", "responses")] == [5, 5]
    assert first.turns[-1].text == "Who built Ansel Light?"
    assert first.golden_answer == "Ilva Marren built Ansel Light in 1846."
    assert last.golden_answer == "Ansel Light has 212 steps."
    assert [each.text for each in found["passages"]][:2] == [PASSAGE, CAPE]
    one, *_, five = found["responses"]
    assert one.text == "Ilva Marren built Ansel Light."
    assert (len(one.evidence_shown), five.evidence_shown) == (2, ())


@pytest.mark.parametrize("name", ["ragas.jsonl", "ragas_result.csv", "deepeval.json"])
def test_reference_contexts_are_golden_evidence(name):
    found, _ = read(name)

    golden = [[passage.text for passage in each.evidence] for each in found["examples"]]
    assert golden[0] == [PASSAGE]


def test_each_metric_of_ragas_is_a_score_and_a_failed_one_is_none():
    found, _ = read("ragas_result.csv")

    scores = {(each.response, each.metric): each.score for each in found["scores"]}
    metrics = {metric for _, metric in scores}
    assert metrics == {
        "exact_match",
        "string_present",
        "non_llm_string_similarity",
        "bleu_score",
        "rouge_score(mode=fmeasure)",
        "non_llm_context_recall",
        "non_llm_context_precision_with_reference",
    }
    assert len(scores) == 7 * 5 - 1  # nothing was retrieved for the last row: no recall of it
    first = found["responses"][0]
    assert scores[first.key, "rouge_score(mode=fmeasure)"] == pytest.approx(5 / 6)  # 2·(5·5)/(5+7)
    assert first.meta == {}


@pytest.mark.parametrize("name", ["ragas_messages.jsonl", "ragas_messages_result.csv"])
def test_a_conversation_s_last_message_is_its_response(name):
    found, recipe = read(name)

    assert recipe == "RAGAS, conversations (0.2 and later)"
    one, two = found["responses"]
    assert (one.text, two.text) == ("Ilva Marren did.", "في منارة أنسل 212 درجة.")
    assert [turn.speaker for turn in found["examples"][0].turns] == ["user", "assistant", "user"]
    # A message that only calls a tool, and what the tool says, are nothing that a user reads.
    assert [turn.speaker for turn in found["examples"][1].turns] == ["user"]


def test_conversations_of_deepeval_are_read_alike():
    found, _ = read("deepeval_turns.json")

    assert [each.text for each in found["responses"]] == [
        "Ilva Marren did.",
        "في منارة أنسل 212 درجة.",
    ]
    assert [(each.metric, each.score) for each in found["scores"]] == [("Turns", 4), ("Turns", 3)]


def test_a_metric_of_deepeval_that_failed_says_why():
    found, _ = read("deepeval.json")

    scores = [(each.metric, each.score, each.problem) for each in found["scores"]]
    assert scores[0] == ("Shared Words", pytest.approx(4 / 7), "")
    assert scores[-1] == ("Retrieved", None, "ValueError: nothing was retrieved")
    assert {each.setup.name for each in found["responses"]} == {"keeper"}


def test_providers_of_promptfoo_are_setups_and_its_checks_are_scores():
    found, recipe = read("promptfoo.json")

    assert recipe == "promptfoo"
    assert [example.key for example in found["examples"]] == list("01234")
    assert found["examples"][0].turns[0].text == "Who built Ansel Light?"
    assert found["examples"][0].golden_answer == "Ilva Marren built Ansel Light in 1846."
    setups = [each.setup.name for each in found["responses"]]
    assert (setups.count("keeper"), setups.count("echo")) == (5, 5)
    scores = {(each.response, each.metric): (each.score, each.problem) for each in found["scores"]}
    keeper = next(
        each for each in found["responses"] if (each.example, each.setup.name) == ("0", "keeper")
    )
    # By its three checks: 0 of weight 1, 0 of 2, and 6/7 of 1: their mean is 6/28.
    assert scores[keeper.key, "promptfoo"] == (pytest.approx(6 / 28), "")
    assert scores[keeper.key, "names the year"] == (0, "")
    failed = next(each for each in found["responses"] if not each.text)
    assert scores[failed.key, "promptfoo"] == (None, "nothing was retrieved")


CASE = {"input": "Who?", "actualOutput": "She.", "retrievalContext": ["It is tall."]}
SCORED = {"score": 0.5, "threshold": 0.5, "success": True}
SNAKE = {"input": "Who?", "actual_output": "She.", "retrieval_context": ["It is tall."]}


@pytest.mark.parametrize(
    "run",
    [
        {"testCases": [CASE]},
        {"testCases": [{**CASE, "metricsData": None, "expectedOutput": None}], "runDuration": 1},
        {"testCases": [{**CASE, "metricsMetadata": [{"metric": "Faith", **SCORED}]}]},
        {
            "test_run_data": {
                "test_cases": [{**SNAKE, "metrics_data": [{"name": "Faith", **SCORED}]}]
            }
        },
        {"test_results": [{**SNAKE, "metrics_data": [{"name": "Faith", **SCORED}]}]},
        {
            "testCases": [],
            "conversational_test_cases": [
                {
                    "turns": [
                        {"role": "user", "content": "Who?"},
                        {"role": "assistant", "content": "She."},
                    ],
                    "metricsData": [{"name": "Faith", **SCORED}],
                }
            ],
        },
    ],
)
def test_a_run_of_any_version_of_deepeval_is_its_own(tmp_path, run):
    (tmp_path / "run.json").write_text(json.dumps(run))

    found, recipe = read(tmp_path / "run.json")

    assert recipe == "deepeval"
    assert [each.text for each in found["responses"]] == ["She."]
    assert found["examples"][0].turns[-1].text == "Who?"
    is_scored = "Faith" in json.dumps(run)
    assert [(s.metric, s.score) for s in found.get("scores", ())] == [("Faith", 0.5)] * is_scored


def results(**names):
    """Return two tests by two providers, with other names of fields. None: it is left out."""
    rows = [
        {
            "provider": {"id": provider},
            "prompt": {"raw": question, "label": "plain"},
            "vars": {"question": question},
            "response": {"output": f"{provider}."},
            "namedScores": {"short": 1},
            "score": 0.5,
            "testIdx": test,
            "promptIdx": 0,
        }
        for test, question in enumerate(["Who?", "Why?"])
        for provider in ("a", "b")
    ]
    return [
        {names.get(name, name): value for name, value in row.items() if names.get(name, name)}
        for row in rows
    ]


@pytest.mark.parametrize(
    "content",
    [
        {"results": {"version": 2, "results": results(testIdx=None, promptIdx=None)}},
        {"version": 1, "results": results(testIdx=None, promptIdx=None, prompt=None)},
        {
            "results": results(
                testIdx="test_idx", promptIdx="prompt_idx", namedScores="named_scores"
            )
        },
        {"results": [{**row, "provider": row["provider"]["id"]} for row in results()]},
        results(),
    ],
)
def test_results_of_any_version_of_promptfoo_are_its_own(tmp_path, content):
    """A list stands for a file with a result on each line."""
    lines = content if isinstance(content, list) else [content]
    (tmp_path / "results.json").write_text("\n".join(map(json.dumps, lines)))

    found, recipe = read(tmp_path / "results.json")

    assert recipe == "promptfoo"
    assert [example.key for example in found["examples"]] == ["0", "1"]
    said = [(each.example, each.setup.name, each.text) for each in found["responses"]]
    assert said == [("0", "a", "a."), ("0", "b", "b."), ("1", "a", "a."), ("1", "b", "b.")]
    assert {(each.metric, each.score) for each in found["scores"]} == {
        ("short", 1),
        ("promptfoo", 0.5),
    }


MARKED = "marks of annotations as ground truth: their answers count as votes, and are in meta too"
PREDICTED = "choices that models predicted, which are no scores: they stay in meta"
OF_LABEL_STUDIO = ["label_studio_export.json", "label_studio_snapshot.json"]


@pytest.mark.parametrize(
    ("name", "predicted"),
    [("label_studio_export.json", {}), ("label_studio_snapshot.json", {PREDICTED: 3})],
)
def test_annotations_of_label_studio_are_votes_and_no_text_of_a_person_comes_in(name, predicted):
    found, recipe = read(name)

    assert recipe == "Label Studio"
    with opened(FOREIGN / name) as material:
        list(material.records("responses"))
        assert material.n_left_out == {
            "annotations that were cancelled": 1,
            "results that are neither a choice nor a number": 2,  # remarks
            MARKED: 1,
            **predicted,
        }
    votes = [(v.response.split("|")[0], v.question, v.answer) for v in found["votes"]]
    assert sorted(votes) == [
        ("1", "grounded", "Supported"),
        ("1", "grounded", "Supported"),
        ("1", "quality", "4"),
        ("1", "quality", "4"),
        ("2", "grounded", "Not supported"),
        ("2", "grounded", "Not supported"),
        ("2", "grounded", "Partly supported"),
        ("2", "problems", "Off topic + Wrong number"),
        ("2", "quality", "1"),
        ("2", "quality", "2"),
        ("3", "grounded", "Supported"),
        ("3", "quality", "5"),
    ]
    assert len({v.rater for v in found["votes"]}) == 3
    assert "example.com" not in repr(found)


@pytest.mark.parametrize("name", OF_LABEL_STUDIO)
def test_votes_of_label_studio_have_the_id_seconds_and_time_of_their_annotation(name):
    found, _ = read(name)

    tasks = json.loads((FOREIGN / name).read_text("utf-8"))
    given = [(t["id"], a) for t in tasks for a in t["annotations"] if not a["was_cancelled"]]
    # Anna and Bert at 1; Anna, Bert and Carla at 2; Bert at 3: as they were sent.
    assert [(task, annotation["lead_time"]) for task, annotation in given] == [
        (1, 18.9),
        (1, 21.75),
        (2, 33.017),
        (2, 40.5),
        (2, 9.1),
        (3, 11.0),
    ]
    assert {(v.response.split("|")[0], v.source_id, v.seconds, v.at) for v in found["votes"]} == {
        (str(task), str(said["id"]), said["lead_time"], datetime.fromisoformat(said["created_at"]))
        for task, said in given
    }


def test_numbers_that_models_gave_in_label_studio_are_scores_and_choices_stay_in_meta():
    found, _ = read("label_studio_snapshot.json")

    scores = [(each.response, each.metric, each.score) for each in found["scores"]]
    assert sorted(scores) == [
        ("1|answers", "judge-1 score", 0.93),
        ("1|answers", "judge-1.quality", 5),
        ("2|answers", "judge-1 score", 0.41),
        ("2|answers", "judge-1.quality", 3),
        ("2|answers", "judge-2 score", 0.77),
        ("2|answers", "judge-2.quality", 2),
    ]
    assert found["responses"][1].meta == {
        "source_id": "q2",
        "system": "rag-a",
        "judge-1.grounded": "Partly supported",
        "judge-2.grounded": "Not supported",
        "ground_truth.grounded": "Not supported",  # Carla's
    }


def test_an_export_of_label_studio_without_predictions_has_no_scores():
    found, _ = read("label_studio_export.json")

    assert "scores" not in found
    assert found["responses"][1].meta["ground_truth.grounded"] == "Not supported"


def test_of_what_one_model_said_of_a_task_in_label_studio_the_last_counts(tmp_path):
    tasks = json.loads((FOREIGN / "label_studio_snapshot.json").read_text("utf-8"))
    for prediction in tasks[1]["predictions"]:
        prediction["model_version"] = "judge"
    path = tmp_path / "snapshot.json"
    path.write_text(json.dumps(tasks))

    found, _ = read(path)

    of_second = {each.metric: each.score for each in found["scores"] if each.response[0] == "2"}
    assert of_second == {"judge.quality": 2, "judge score": 0.77}
    with opened(path) as material:
        list(material.records("responses"))
        assert material.n_left_out["predictions that a later one of the same model replaces"] == 1


def test_wice_is_claims_with_the_published_label(shared):
    found, recipe = read(shared / "data/wice/wice_claim_dev.jsonl")

    labels = Counter(vote.answer for vote in found["votes"])
    assert recipe == "WiCE"
    assert labels == {"yes": 115, "no": 191 + 43}  # supported; partially and not supported
    assert {vote.rater for vote in found["votes"]} == {"published"}
    first = found["responses"][0]
    line = (shared / "data/wice/wice_claim_dev.jsonl").read_text("utf-8").partition("\n")[0]
    raw = json.loads(line)
    assert first.text == raw["claim"]
    assert first.meta["published_label"] == raw["label"]
    support = [raw["evidence"][place] for place in raw["supporting_sentences"][0]]
    golden = [passage.text for passage in found["examples"][0].evidence]
    assert golden == (["\n".join(support)] if support else [])


def test_qags_and_fed_are_the_votes_that_their_files_hold(shared):
    qags, _ = read(shared / "data/qags/mturk_xsum.jsonl")
    fed, _ = read(shared / "data/fed/fed_data_part1.json")

    counted = Counter(vote.answer for vote in qags["votes"])
    raw = [word for item in published.qags_matrix(shared)["supported"] for word in item]
    assert counted == Counter(raw)
    by_question: dict[str, Counter[str]] = defaultdict(Counter)
    for vote in fed["votes"]:
        by_question[vote.question][vote.answer] += 1
    assert {name.lower().replace(" ", "_"): counts for name, counts in by_question.items()} == {
        name: Counter(word for item in items for word in item)
        for name, items in published.fed_matrix(shared).items()
    }
    assert fed["responses"][0].text == published.fed_replies(shared)[0][1]


def test_every_recipe_is_tried_on_what_its_tool_wrote(shared):
    written = [FOREIGN / name for name in WRITTEN]
    written += [shared / "data" / name for name in PUBLISHED]

    told = {read(path)[1] for path in written}
    assert told == {recipe.title for recipe in RECIPES} - ELSEWHERE


ELSEWHERE = {  # These have tests of their own.
    "Appen (Figure Eight, CrowdFlower)",
    "Langfuse",
    "Potato",
    "doccano",
    "Google Forms or Microsoft Forms",
    "Mechanical Turk (results of a batch)",
}
WRITTEN = (
    "ragas.jsonl",
    "ragas01.jsonl",
    "ragas_messages.jsonl",
    "deepeval.json",
    "promptfoo.json",
    "label_studio_export.json",
    "label_studio_export.csv",
)
PUBLISHED = (
    "wice/wice_claim_dev.jsonl",
    "qags/mturk_xsum.jsonl",
    "fed/fed_data_part1.json",
    "infotabs_votes",
)


def test_results_of_mechanical_turk_are_the_votes_of_its_workers(tmp_path):
    """Rows after its documentation: https://docs.aws.amazon.com/AWSMechTurk (batch results)."""
    path = tmp_path / "Batch_1_batch_results.csv"
    path.write_text(
        "HITId,AssignmentId,WorkerId,SubmitTime,WorkTimeInSeconds,Input.question,Input.answer,"
        "Answer.supported,Answer.fluent\n"
        "3AB,3X1,A2ZDEERVRN5AMC,Sat Nov 28 01:01:10 PST 2026,70,Who built it?,A guild.,yes,4\n"
        "3AB,3X2,A1B2C3D4E5F6G7,Sat Nov 28 01:01:30 PST 2026,90,Who built it?,A guild.,no,5\n",
        encoding="utf-8",
    )
    with opened(path) as material:
        responses, votes = (list(material.records(kind)) for kind in ("responses", "votes"))

    assert [each.text for each in responses] == ["A guild."]
    assert [
        (each.rater, each.question, each.answer, each.seconds, each.source_id) for each in votes
    ] == [
        ("A2ZDEERVRN5AMC", "supported", "yes", 70, "3X1"),
        ("A2ZDEERVRN5AMC", "fluent", "4", 70, "3X1"),
        ("A1B2C3D4E5F6G7", "supported", "no", 90, "3X2"),
        ("A1B2C3D4E5F6G7", "fluent", "5", 90, "3X2"),
    ]

"""The scores of a run of Auto-AIS, and the cases that get no score."""

import math
import time

import pytest

from evaluation.backends.base import Entailment
from evaluation.measures.entailment import Pair
from evaluation.models import MetricRun, RunChunk
from evaluation.runs import scoring
from evaluation.runs.progress import run_progress
from evaluation.runs.services.chunks import RUN_CHUNKS
from evaluation.runs.services.runs import resume_run
from generation.model_specs import BackendError
from generation.models import Checkpoint, Response
from tests.evaluation.metric_runs import mill, requested, work
from tests.evaluation.told import CLOSED, claimed, material_of, problems_of, rows_of
from tests.makers import example_row, response_row

pytestmark = pytest.mark.once

State, ChunkState = MetricRun.State, RunChunk.State


# --- scores ---------------------------------------------------------------------------------


def test_a_score_has_the_window_that_gave_it(tmp_path):
    responses = [response_row("r1", text="The mill burned in 1980", evidence_shown=["p1"])]
    run = requested(material_of(tmp_path, responses=responses), flavor="v1", window=1)

    row = rows_of(work(run))["r1"]

    # Content words: mill, burned, 1980. 'The mill closed …' with the question has mill alone;
    # 'It burned down in 1980.' with the question all three.
    assert row.score == 1.0
    passage = Response.objects.get().example.passages.get()
    assert row.windows == [
        {
            "sentence": None,
            "window": 1,
            "passage": passage.pk,
            "first": 1,
            "last": 1,
            "start": 25,
            "end": len(CLOSED),
            "probability": 1.0,
        }
    ]
    assert (row.n_pairs, row.n_truncated, row.is_assumed, len(row.digest)) == (2, 0, False, 16)


def test_split_into_sentences_each_keeps_its_window(tmp_path, told):
    told(
        lambda pair: Entailment(
            0.8 if ("closed" in pair.premise) == (" shut" in pair.hypothesis) else 0.1
        )
    )
    text = "It shut in 1971. Later came a fire. Nobody knows."
    responses = [response_row("r1", text=text, evidence_shown=["p1"])]
    dataset = material_of(tmp_path, responses=responses)

    row = rows_of(
        work(requested(dataset, backend="told", flavor="v2", window=1, hypothesis="mean"))
    )

    assert [(w["sentence"], w["first"]) for w in row["r1"].windows] == [(0, 0), (1, 1), (2, 1)]
    assert row["r1"].score == pytest.approx(0.8)
    assert row["r1"].n_pairs == 6  # 3 sentences × 2 windows


def test_the_whole_evidence_leaves_no_window(tmp_path):
    run = work(requested(mill(tmp_path, 1), window=0))

    assert rows_of(run)["r0"].windows == []
    assert rows_of(run)["r0"].n_pairs == 1


def test_the_model_is_asked_about_the_user_s_last_turn(tmp_path, told):
    backend = told()
    turns = [
        {"speaker": "user", "text": "Hello?"},
        {"speaker": "agent", "text": "Hello."},
        {"speaker": "User", "text": "And who?"},
    ]
    evidence = [{"id": "p1", "text": "Ann.", "golden": True}]
    examples = [example_row("e1", turns=turns, evidence=evidence)]
    responses = [response_row("r1", text="It was Ann.")]
    dataset = material_of(tmp_path, responses=responses, examples=examples)

    work(requested(dataset, backend="told"))

    assert backend.asked == [Pair("Ann. And who?", "And who? It was Ann.")]


def test_nothing_shown_is_0_assumed_without_asking_anybody(tmp_path, told):
    backend = told()
    dataset = material_of(tmp_path, responses=[response_row("r1", evidence_shown=[])])

    row = rows_of(work(requested(dataset, backend="told")))["r1"]

    assert (row.score, row.is_assumed, row.n_pairs, row.problem) == (0.0, True, 0, "")
    assert backend.asked == []


def test_what_says_nothing_is_0_without_asking(tmp_path, told):
    responses = [response_row("r1", text=" \n"), response_row("r2", text="", evidence_shown=[])]
    dataset, backend = material_of(tmp_path, responses=responses), told(0.9)

    for evidence in ("golden", "shown"):
        rows = rows_of(work(requested(dataset, backend="told", evidence=evidence)))
        assert [(row.score, row.is_assumed) for row in rows.values()] == [(0.0, True)] * 2
    assert backend.asked == []


def test_golden_evidence_counts_whatever_was_shown(tmp_path, told):
    dataset = material_of(tmp_path, responses=[response_row("r1", evidence_shown=[])])
    told(0.7)

    row = rows_of(work(requested(dataset, backend="told", evidence="golden")))["r1"]

    assert (row.score, row.is_assumed) == (0.7, False)


def test_what_cannot_be_asked_is_a_row_with_its_reason_and_never_a_0(tmp_path):
    turns = [{"speaker": "user", "text": "Why?"}]
    examples = [
        example_row("e1", turns=turns, evidence=[]),
        example_row("e2", turns=None, evidence=[{"id": "p2", "text": "A.", "golden": True}]),
    ]
    responses = [
        response_row("unknown", "e1"),
        response_row("no-dialog", "e2"),
    ]
    dataset = material_of(tmp_path, responses=responses, examples=examples)

    run = work(requested(dataset))

    assert problems_of(run) == {
        "unknown": "no golden evidence",
        "no-dialog": "the dialog is not known",
    }
    assert {row.score for row in rows_of(run).values()} == {None}
    (progress,) = run_progress(MetricRun.objects.all())
    assert (progress.state, progress.n_failed, progress.n_scored) == ("failed in part", 2, 0)


def test_without_golden_passages_there_is_no_golden_evidence(tmp_path):
    dataset = material_of(
        tmp_path,
        responses=[response_row("r1", evidence_shown=["p1"])],
        examples=[example_row("e1", evidence=[{"id": "p1", "text": "Text.", "golden": False}])],
    )

    golden = work(requested(dataset, evidence="golden"))
    retrieved = work(requested(dataset, evidence="retrieved"))

    assert problems_of(golden) == {"r1": "no golden evidence"}
    assert rows_of(retrieved)["r1"].score is not None


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (Entailment(math.nan, problem="no room"), "no room"),
        (Entailment(math.nan), "the backend gave no probability"),
        (Entailment(math.nan, problem="bad \0 text"), "bad  text"),
    ],
)
def test_one_pair_without_a_probability_fails_its_response_alone(tmp_path, told, bad, problem):
    told(lambda p: bad if "1971" in p.hypothesis else Entailment(0.6, is_truncated=True))

    run = work(requested(mill(tmp_path, 3), backend="told"))

    assert problems_of(run) == {"r1": problem}
    assert [rows_of(run)[key].score for key in ("r0", "r2")] == [0.6, 0.6]
    assert rows_of(run)["r0"].n_truncated == 1


def test_what_breaks_on_one_response_is_tried_three_times_and_spoils_no_other(tmp_path, told):
    def answer(pair: Pair) -> Entailment:
        return Entailment(0.6 / ("1971" not in pair.hypothesis))

    told(answer)

    run = work(requested(mill(tmp_path, 5), backend="told"))

    assert problems_of(run) == {
        "r1": "scoring failed 3 times: ZeroDivisionError: float division by zero"
    }
    assert [row.score for row in rows_of(run).values()].count(0.6) == 4
    assert run.state == State.DONE


def test_an_answer_outside_0_to_1_is_no_score(tmp_path, told):
    told(1.5)

    run = work(requested(mill(tmp_path, 1), backend="told"))

    assert problems_of(run)["r0"].startswith("scoring failed 3 times: ValueError: probability 1.5")


# --- backends that cannot be used -----------------------------------------------------------


def test_a_backend_that_cannot_be_used_fails_the_run_until_somebody_resumes_it(tmp_path, told):
    def broken(pair: Pair) -> Entailment:
        raise BackendError("no such device")

    told(broken)
    run = work(requested(mill(tmp_path), backend="told"))
    assert (run.state, run.error) == (State.FAILED, "no such device")
    assert {chunk.state for chunk in run.chunks.all()} == {ChunkState.QUEUED}
    assert rows_of(run) == {}

    told(0.7)
    assert resume_run(run, None)
    run.refresh_from_db()
    assert (run.state, run.error) == (State.RUNNING, "")

    assert work(run).state == State.DONE
    assert len(rows_of(run)) == 12


def test_what_breaks_outside_of_any_response_fails_the_run_and_says_how(tmp_path):
    run = requested(mill(tmp_path))
    MetricRun.objects.update(metric="gone")

    run = work(run)

    assert run.state == State.FAILED
    assert run.error.endswith("The worker's log has more: KeyError: 'gone'")
    assert {chunk.state for chunk in run.chunks.all()} == {ChunkState.QUEUED}


def test_a_chunk_that_takes_long_leaves_its_rest_for_another_turn(tmp_path, told, monkeypatch):
    run = requested(mill(tmp_path, 120), backend="told")  # chunks of 6
    monkeypatch.setattr("work.claims.TURN_SECONDS", 0.05)
    monkeypatch.setattr(scoring, "SECONDS_BETWEEN_COMMITS", 0.03)  # one response

    def slow(pair: Pair) -> Entailment:
        time.sleep(0.03)
        return Entailment(0.9)

    told(slow)
    RUN_CHUNKS.do(claimed(run))

    first = run.chunks.get(number=1)
    assert (first.state, first.attempts) == (ChunkState.QUEUED, 0)
    assert 0 < len(rows_of(run)) == 6 - len(first.targets) < 6


def test_another_revision_of_the_model_is_refused(tmp_path, told):
    dataset = mill(tmp_path)
    told(0.7, revision="1f2e")
    run = work(requested(dataset, backend="told", model_name="nli"), 1)
    assert run.full_signature.endswith("|v:3|told|revision:1f2e")

    told(0.2, revision="9a9a")
    run = work(run)

    assert run.state == State.FAILED
    assert "revision 1f2e" in run.error
    assert "9a9a" in run.error
    assert {row.score for row in rows_of(run).values()} == {0.7}


def test_the_commit_that_was_loaded_is_kept_for_a_listed_model_of_the_hub(tmp_path, told):
    Checkpoint.objects.create(name="nli", backend="told", location="owner/nli")
    told(0.7, revision="9a" * 20)

    work(requested(mill(tmp_path, 1), backend="told", model_name="nli", location="owner/nli"))

    assert Checkpoint.objects.get().revision == "9a" * 20


def test_no_path_of_the_server_is_stored_with_a_failure(tmp_path, told):
    def fail(pair: Pair) -> Entailment:
        raise OSError(13, "Permission denied", "/srv/models/secret/model.safetensors")

    told(fail)

    run = work(requested(mill(tmp_path, 1), backend="told"))

    (problem,) = problems_of(run).values()
    assert "Permission denied" in problem
    assert "…/model.safetensors" in problem
    assert "/srv" not in problem


def test_a_model_that_is_not_there_is_named_not_located(tmp_path):
    run = work(
        requested(
            mill(tmp_path, 1),
            backend="transformers",
            model_name="nli",
            model_location="/srv/secret/nli",
        )
    )

    assert run.state == State.FAILED
    assert run.error.startswith("nli: found nothing")
    assert "/srv" not in run.error


def test_a_backend_that_reads_otherwise_than_before_is_refused(tmp_path, told):
    dataset = mill(tmp_path)
    told(0.7)
    run = work(requested(dataset, backend="told"), 1)
    MetricRun.objects.update(backend_signature="told|max_tokens:128")

    run = work(run)

    assert run.state == State.FAILED
    assert "started with told|max_tokens:128" in run.error
